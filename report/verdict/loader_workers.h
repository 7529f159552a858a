/* SPDX-License-Identifier: Apache-2.0 */
/* What the workers of data loaders do, by samples of their threads (cpu_waits.h). */
#ifndef REPORT_VERDICT_LOADER_WORKERS_H
#define REPORT_VERDICT_LOADER_WORKERS_H

#include "report/analysis/headline.h"

enum loader_work {
	LOADER_WORK_UNKNOWN, /* the loop loads itself, there are no samples, or no clear answer */
	LOADER_COMPUTES,     /* and CPUs are left for more workers */
	LOADER_FILLS_CPUS,   /* the same, but there are as many workers as CPUs */
	LOADER_LACKS_CPUS,   /* workers are ready to run and have no CPU */
	LOADER_IS_BLOCKED,   /* they wait for something else, such as storage */
};

struct loader_workers {
	enum loader_work work;
	uint64_t nr;	  /* of a loader */
	uint64_t nr_most; /* that find a CPU each, beside those of the other loops on the host */
	double share_pct; /* of the workers' time */
	/* What takes most of it, and enough to be named. */
	struct {
		uint32_t name;	  /* of string_pool.h; 0: unknown */
		bool is_call;	  /* as of os_files_group, "read(...)"; else as code_place has it */
		double share_pct; /* of the workers' time */
		double bytes_per_s; /* of a call */
	} most;
};

/*
 * How many workers a loader needs so that the loop does not wait, if batches come as fast as they
 * do now from each: the loop waits for this share of a step. 0: more than there are CPUs for.
 */
uint64_t loader_workers_wanted(const struct loader_workers *workers, double share_of_step);

/* After headline_figures. */
struct loader_workers loader_workers_of(
	const struct headline *headline, const struct headline_figures *figures);

#endif
