/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the workers of data loaders do: by samples of their threads (cpu_waits.h), of their code and
 * of their waits, and by calls of the system where these were recorded.
 */
#ifndef REPORT_VERDICT_LOADER_WORKERS_H
#define REPORT_VERDICT_LOADER_WORKERS_H

#include "report/analysis/headline.h"
#include "report/budget/code_samples.h"
#include "report/budget/loader_stage.h"
#include "report/verdict/storage_reads.h"

enum loader_work {
	LOADER_WORK_UNKNOWN, /* the loop loads itself, there are no samples, or no clear answer */
	LOADER_COMPUTES,     /* and CPUs are left for more workers */
	LOADER_FILLS_CPUS,   /* the same, but there are as many workers as CPUs */
	LOADER_LACKS_CPUS,   /* workers are ready to run and have no CPU */
	LOADER_IS_BLOCKED,   /* they wait for something else, such as storage */
	LOADER_IS_BUSY,	     /* they compute and wait in turn, but hardly for the loop */
};

/* The kind of thing that takes most of the workers' time. */
enum loader_most {
	LOADER_MOST_UNKNOWN, /* or nothing has enough of it to be named */
	LOADER_MOST_CODE,    /* a line that they compute */
	LOADER_MOST_STAGE,   /* a stage that they compute */
	LOADER_MOST_CALL,    /* a call of the system, as recorded */
	LOADER_MOST_WAIT,    /* a line that waits, by samples */
};

struct loader_workers {
	enum loader_work work;
	uint64_t nr;	  /* of a loader */
	uint64_t nr_cpus; /* that these may use; 0: unknown */
	uint64_t nr_most; /* that find a CPU each, beside those of the other loops on the host */
	double share_pct; /* of the workers' time */
	/* The line or call that takes most of their time. */
	struct {
		enum loader_most what;
		uint32_t name; /* a number of string_pool.h: a line, or "read(/data/...tar)" */
		enum loader_stage stage;    /* of LOADER_MOST_STAGE */
		double line_pct;	    /* the part of the stage at the line `name` */
		struct wait_place_key wait; /* the line that waits, of LOADER_MOST_WAIT */
		double share_pct;	    /* its part of the workers' time */
		double bytes_per_s;	    /* the rate of a LOADER_MOST_CALL */
	} most;
	struct storage_reads reads; /* of all workers */
};

/* Are workers in what takes most of their time because storage delivers what they read? */
bool loader_workers_wait_for_storage(const struct loader_workers *workers);

/*
 * How many workers a loader needs so that the loop does not wait, if batches come as fast as they
 * do now from each: the loop waits for this share of a step. 0: more than there are CPUs for.
 */
uint64_t loader_workers_wanted(const struct loader_workers *workers, double share_of_step);

/*
 * How much shorter a step is, ns, if what takes most of the workers' time took none, where the loop
 * waits for reach_ns of a step of step_ns: the workers make batches as often as the loop takes
 * them, so the step shrinks as their time for a batch does, until the loop waits no more.
 */
double loader_workers_saving(const struct loader_workers *workers, double reach_ns, double step_ns);

/* After headline_figures. */
struct loader_workers loader_workers_of(
	const struct headline *headline, const struct headline_figures *figures);

#endif
