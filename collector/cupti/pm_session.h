/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PM sampling of one GPU: CUPTI has the GPU sample its counters into a buffer of the hardware, and
 * each pm_session_decode() takes what has arrived as rows of table sample. Only cupti_pm.c calls
 * it, on the drain thread.
 *
 *   host object    knows the metrics by name, makes the configuration and evaluates samples
 *   sampler        CUPTI's one session of a GPU
 *   image          decoded samples
 *
 * A session that is changed is made again, since CUPTI does not support another configuration.
 */
#ifndef COLLECTOR_CUPTI_PM_SESSION_H
#define COLLECTOR_CUPTI_PM_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_metric {
	char word[32]; /* in GPROF_METRICS; arrays, which need no relocation as the target starts */
	char name[72]; /* CUPTI's */
	double factor;
	uint8_t metric; /* enum gprof_metric */
	bool is_default;
};

#define PM_METRIC(...) +1
enum {
	PM_NR_METRICS = 0
#include "collector/cupti/pm_metrics.def"
};
#undef PM_METRIC

extern const struct pm_metric pm_metrics[PM_NR_METRICS];

/* The time of the last sample, and how long it was; both 0 before the second one. */
struct pm_times {
	uint64_t end_ns, length_ns;
	bool is_first; /* the next sample is the first after a start */
};

struct pm_session {
	void *host, *sampler;
	const char *chip; /* CUPTI's */
	uint8_t *availability, *config, *image;
	size_t availability_bytes, config_bytes, image_bytes;
	const char *names[PM_NR_METRICS];
	uint8_t metrics[PM_NR_METRICS]; /* indices of pm_metrics */
	unsigned int nr_metrics;
	uint32_t unknown, in_more_passes; /* bits: metrics that were left out */
	struct pm_times times;
	uint8_t device;
	bool is_started;
	const char *failed; /* the function that failed last */
};

/*
 * Makes the session with those of the metrics (bits) that the GPU has and that fit in one pass.
 * Returns 0, or CUPTI's code; `failed` is NULL if there is no metric left. pm_session_end follows,
 * whatever it returns.
 */
uint32_t pm_session_begin(
	struct pm_session *session, int device, uint32_t metrics, uint32_t interval_us);

/* Starts the samples, or stops them: a stopped session has nothing left to decode. */
uint32_t pm_session_start(struct pm_session *session);
uint32_t pm_session_stop(struct pm_session *session);

/* Adds the samples that have arrived. Returns 0, or CUPTI's code. */
uint32_t pm_session_decode(struct pm_session *session);

/* Gives everything back to CUPTI. */
void pm_session_end(struct pm_session *session);

/* Drops it without a call of CUPTI, whose driver is gone or another process's. */
void pm_session_forget(struct pm_session *session);

/* ---- pure, for the tests ---- */

/*
 * Takes the times of the next sample. Returns its length in ns, or 0 if nobody knows it: CUPTI
 * gives the first sample after a start a wrong one. nr_lost: the samples that are missing before
 * it.
 */
uint64_t pm_times_take(
	struct pm_times *times, uint64_t start_ns, uint64_t end_ns, uint64_t *nr_lost);

#endif
