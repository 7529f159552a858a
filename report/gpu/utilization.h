/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how much of CPU, memory and GPUs was in use over time: what the samplers saw, and of
 * each device the union of its kernels, copies and sets. The time of a process is cut into buckets
 * as the TensorBoard plugin does it: at most 100, each a power of ten of microseconds long. Bounded
 * by the number of devices.
 *
 * What samples say is also added up over the steps that count (counted_steps.h). A sample that
 * covers a time, as a slope or a mean does, is taken as even in it: it counts for the steps in
 * proportion to their part of it.
 *
 * CPU(Process) is the CPU time of the process in the time that passed, so 100 % is one core;
 * CPU(System) is busy in busy and idle time of all CPUs; user, system and iowait are parts of the
 * same.
 */
#ifndef REPORT_GPU_UTILIZATION_H
#define REPORT_GPU_UTILIZATION_H

#include "report/gpu/gpu_activities.h"
#include "report/util/intervals.h"

#define USAGE_BUCKETS 100u

/* The way in which samples become a shown value. */
enum utilization_meaning {
	USAGE_UNKNOWN, /* of a newer recorder */
	USAGE_UNION,   /* none: records of work, % of the time */
	USAGE_SHOWN,   /* times factor */
	USAGE_PER_CPU, /* rises in ns: its share of the time that passed, % */
	USAGE_PER_S,   /* rises: so many a second, times factor */
	USAGE_PER_ALL, /* rises: its share of the next metric that is USAGE_ALL, % */
	USAGE_ALL,     /* time of all CPUs, busy or not; not shown itself */
	USAGE_REASONS, /* bits: % of samples that have some */
	USAGE_LENGTH,  /* of the means that follow, ns; not shown itself */
	USAGE_MEAN,    /* times factor, over that length until the sample */
};

struct utilization_metric {
	const char *key; /* of the raw value, which ends in its unit */
	const char *name, *unit;
	enum utilization_meaning meaning;
	double factor;
};

/* By enum gprof_metric, and one that is none of them. */
#define USAGE_GPU_UNION	  0u
#define USAGE_NO_DEVICE	  255u
#define USAGE_MAX_METRICS 48u
extern const struct utilization_metric usage_metrics[];

/* Bits of GPROF_METRIC_GPU_THROTTLE_REASONS that somebody minds: not idle, nor clocks that were
 * set. */
#define USAGE_SLOW_REASONS 0xfcu
extern const size_t usage_nr_metrics;

/* The longest time that the samplers take for all values of one look. */
#define USAGE_LOOK_NS 10000000u

/* One metric of a device of a process. */
struct utilization_series {
	struct process *process;
	uint32_t device; /* USAGE_NO_DEVICE: of process or host; UINT32_MAX: unknown */
	uint8_t metric;
	bool is_sampled;	     /* ns and value are those of a sample */
	uint64_t nr;		     /* samples, or records of work; in the time that is chosen */
	uint64_t ns, value;	     /* of the last sample; of a union: it is counted up to here */
	uint64_t rise, rise_from_ns; /* USAGE_PER_ALL: since the sample before */
	double sum, min, max, weight;
	/* The part of both that lies in steps. Samples of a moment weigh 1, others their ns. */
	double step_sum, step_weight;
	uint64_t steps_ns, nr_steps; /* of the process, those that count */
	double points[USAGE_BUCKETS], weights[USAGE_BUCKETS];
	uint64_t bits;
	uint64_t begin, end; /* of the process, with its samples; CLOCK_MONOTONIC ns */
	uint64_t width;	     /* of its buckets, ns */
	size_t nr_buckets;
	size_t bucket; /* of the last span */
	uint64_t bucket_begin;
};

struct utilization {
	struct utilization_series *series; /* those of a process together */
	size_t nr_series, capacity;
	struct process *process; /* the current one */
	uint64_t begin, end, width;
	size_t nr_buckets;
	size_t last_union;	/* index of the series of the last record's device */
	struct intervals steps; /* of the current process, those that count, ns */
	uint64_t steps_ns, nr_steps;
	struct intervals part; /* of the steps, in the time of a sample */
};

/* The table of samples, for what a view's scan wants. */
#define UTILIZATION_WANTS                                     \
	{                                                     \
		GPROF_TABLE_sample, COL_ALL(NR_COL_sample), 0 \
	}

/* Starts with all zeros. It takes batches of samples, and activities as on_activity gets them. */
void utilization_begin(struct utilization *usage, struct process *process);
void utilization_take_samples(struct utilization *usage, const struct batch *batch);
void utilization_take(struct utilization *usage, const struct gpu_activity *work);
void utilization_end(struct utilization *usage);
void utilization_fini(struct utilization *usage);

/* The mean in a bucket; false if it has no sample. */
bool utilization_bucket(const struct utilization_series *series, size_t bucket, double *value);

/* Finds a series of that process; NULL if there is none. */
const struct utilization_series *utilization_find(const struct utilization *usage,
	const struct process *process, uint8_t metric, uint32_t device);

#endif
