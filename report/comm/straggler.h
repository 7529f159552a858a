/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that the others wait for. In a step of ranks that communicate, who comes late waits less:
 * its device communicates without computing for a shorter time than those of the others, and was
 * computing, copying or idle for longer instead. What these figures are beyond the median of the
 * others in the same step adds up to the delay, so they tell its cause.
 *
 * Memory: 144 bytes for each step of each device.
 */
#ifndef REPORT_COMM_STRAGGLER_H
#define REPORT_COMM_STRAGGLER_H

#include "report/ops/phase.h"

/* Times of a device in a step; the first four are its length. */
enum straggler_figure {
	STRAGGLER_WAITING, /* communication while nothing computed */
	STRAGGLER_COMPUTATION,
	STRAGGLER_COPIES, /* alone, and sets */
	STRAGGLER_IDLE,
	STRAGGLER_PHASES, /* of the host, where operators tell them; other lengths than these */
	STRAGGLER_LAUNCHED = STRAGGLER_PHASES + NR_PHASES, /* what devices computed and copied, by
							      the phase that launched it */
	NR_STRAGGLER_FIGURES = STRAGGLER_LAUNCHED + NR_PHASES,
};

enum straggler_cause {
	STRAGGLER_UNKNOWN, /* nothing makes up for half of the delay: steps are of different lengths
			    */
	STRAGGLER_LOADER,
	STRAGGLER_HOST,
	STRAGGLER_KERNELS,
	STRAGGLER_CLOCK,
	STRAGGLER_COPIED,
	STRAGGLER_NETWORK,   /* of no rank, see network.h */
	STRAGGLER_OPERATORS, /* of a rank without devices */
	NR_STRAGGLER_CAUSES,
};

struct straggler_step {
	uint64_t step;
	int64_t ns[NR_STRAGGLER_FIGURES]; /* then beyond the median of the others */
	int64_t length_ns;
	bool is_compared;
};

/* A device of a rank. */
struct straggler {
	struct straggler_step *steps; /* each number once */
	size_t nr_steps, capacity;
	uint64_t clock_mhz; /* of its GPU, the mean of samples; 0 unknown */
	bool has_phases;
	bool has_launched; /* by phases */
	bool is_host;	   /* it computes by itself, see sweep.h */
	/* Set by stragglers_find: */
	size_t nr_compared, nr_late;
	uint64_t since; /* the first step from which on most are late */
	uint64_t delay_ns,
		delayed_ns; /* the sum of the late steps since then, and of their lengths */
	size_t nr_delayed;  /* that many */
	double mean_ns[NR_STRAGGLER_FIGURES]; /* of these, beyond the median of the others */
	enum straggler_cause cause;
	int phase; /* enum phase, -1 unknown */
};

extern const char *const straggler_causes[NR_STRAGGLER_CAUSES];

void stragglers_find(struct straggler *stragglers, size_t nr);

/* Sets all of the above but cause and phase; of steps that are compared. */
void straggler_sum(struct straggler *straggler);

/* The median of all values but one that is `own`; of an even number the mean of both in the middle.
 */
int64_t straggler_median_of_others(const int64_t *sorted, size_t nr, int64_t own);

#endif
