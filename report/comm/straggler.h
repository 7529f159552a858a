/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds ranks that others wait for. The rank that comes late to communication waits less: its GPU
 * communicates without computing for a shorter time than those of the others. Instead it computes,
 * copies or idles longer.
 *
 * The differences of these figures to the median of the others in the same step add up to the
 * delay, so they show its cause. If they do not, the rank may have begun the step later.
 *
 * Memory: 152 bytes for each step of each device.
 */
#ifndef REPORT_COMM_STRAGGLER_H
#define REPORT_COMM_STRAGGLER_H

#include "report/ops/phase.h"

/* Times of a device in a step; the first four add up to its length. */
enum straggler_figure {
	STRAGGLER_WAITING, /* communication while nothing computes */
	STRAGGLER_COMPUTATION,
	STRAGGLER_COPIES, /* copies and sets while nothing else runs */
	STRAGGLER_IDLE,
	STRAGGLER_BEGIN,  /* when the step begins, on the clock of the job; not part of that sum */
	STRAGGLER_PHASES, /* of the host, if there are operators; not part of that sum */
	STRAGGLER_LAUNCHED = STRAGGLER_PHASES + NR_PHASES, /* on the GPU, by the launching phase */
	NR_STRAGGLER_FIGURES = STRAGGLER_LAUNCHED + NR_PHASES,
};

enum straggler_cause {
	STRAGGLER_UNKNOWN, /* nothing explains half of the delay */
	STRAGGLER_LOADER,
	STRAGGLER_HOST,
	STRAGGLER_KERNELS,
	STRAGGLER_CLOCK,
	STRAGGLER_COPIED,
	STRAGGLER_NETWORK,   /* of no rank, see slow_links.h */
	STRAGGLER_OPERATORS, /* of a rank without devices */
	STRAGGLER_LATE,	     /* it does nothing for longer, but begins the step later */
	NR_STRAGGLER_CAUSES,
};

struct straggler_step {
	uint64_t step;
	int64_t ns[NR_STRAGGLER_FIGURES]; /* afterwards: beyond the median of the others */
	int64_t length_ns;
	bool is_compared;
};

/* A device of a rank. */
struct straggler {
	struct straggler_step *steps; /* each number once */
	size_t nr_steps, capacity;
	uint64_t clock_mhz; /* of its GPU, mean of samples; 0: unknown */
	bool has_phases;
	bool has_launched; /* by phases */
	bool has_begins;   /* of steps, on a clock that all share */
	bool is_host;	   /* it computes on the host, see overlap.h */
	bool has_lost;	   /* nobody knows when it was idle: budget_has_lost */
	/* Set by stragglers_find: */
	size_t nr_compared, nr_late;
	/*
	 * The first step from which on most are late, unless that is chance: a rank that is late
	 * now and then is no straggler.
	 */
	uint64_t since;
	uint64_t delay_ns, delayed_ns;	      /* sums over the late steps since then */
	size_t nr_delayed;		      /* number of these */
	double mean_ns[NR_STRAGGLER_FIGURES]; /* of these, beyond the median of the others */
	enum straggler_cause cause;
	int phase; /* enum phase, -1: unknown */
};

extern const char *const straggler_causes[NR_STRAGGLER_CAUSES];

void stragglers_find(struct straggler *stragglers, size_t nr);

/* Sets all of the above but cause and phase. The steps have been compared. */
void straggler_sum(struct straggler *straggler);

/*
 * The median of all values but one that is `own`; the mean of the middle two if their number is
 * even.
 */
int64_t straggler_median_of_others(const int64_t *sorted, size_t nr, int64_t own);

#endif
