/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicts how long steps would take if something were faster: the replay (replay.h) of the steps
 * of a run, of each process or, where collectives match, of the job. It gathers its steps in the
 * pass of the view that it is a part of.
 *
 * Of the steps that count (counted_steps.h), long runs have a sample replayed. The first step is
 * left out: what ran before it is not known. A process without steps counts as one step.
 *
 * A step of a job takes as long as in its slowest process, the one whose steps are longest on
 * average, as in headline.h; a changed one as in what is then the slowest. Without stragglers it
 * takes as long as in the slower of the faster half.
 */
#ifndef REPORT_REPLAY_PREDICTION_H
#define REPORT_REPLAY_PREDICTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/replay/replay.h"
#include "report/replay/step_events.h"
#include "report/analysis/view.h"
#include "report/budget/launch_counter.h"
#include "report/comm/rank_waits.h"

#define PREDICTION_CHANGES 16u

/* Where the unchanged replay is further off, nothing is predicted. */
#define PREDICTION_ERROR_PCT 3.0

/* Means per step. */
struct predicted {
	uint64_t nr_steps; /* that were replayed; 0: none, and nothing is known */
	double step_ns; /* measured, as in the budget: between the ends of all that steps launched
			 */
	/* From the begin of a step to the end of all that it launched, which may be later. */
	double span_ns, span_replayed_ns;
	double unexplained_ns;		 /* see replay_unexplained_ns */
	struct budget_launches launches; /* of prediction_set_launches */
	double span_changed_ns[PREDICTION_CHANGES];
	double least_ns[PREDICTION_CHANGES];		      /* what a device needs for it */
	uint64_t limits[PREDICTION_CHANGES][NR_REPLAY_KINDS]; /* sums */
};

struct prediction {
	/*
	 * Set by the view in its init. scales_of: the bits of struct replay_change that apply to an
	 * operator, a call, or an activity of that name; NULL: none.
	 */
	struct replay_change changes[PREDICTION_CHANGES];
	size_t nr_changes;
	uint32_t (*scales_of)(void *context, uint32_t name, enum replay_item item);
	void *context;
	bool has_no_limits; /* the view does not read `limits` */
	/* Results, after prediction_end. */
	struct predicted *of; /* of each process */
	struct predicted job; /* if is_joined: as its slowest process has it, see below */
	bool is_joined;	      /* processes are replayed together */
	/* while it gathers */
	const struct view_input *input;
	struct step_loader load;
	struct prediction_sums *sums; /* of each process */
	size_t process;		      /* the current one */
	size_t nr_begun, nr_seen, stride;
	/* of jobs whose collectives match */
	struct rank_waits waits;
	struct prediction_step *steps;
	size_t nr_steps, step_capacity;
	bool has_ended;
};

/* The input must stay. */
void prediction_init(struct prediction *prediction, const struct view_input *input);
void prediction_fini(struct prediction *prediction);

/* The callbacks that a view hands on, see struct view_part; context: the prediction. */
extern const struct scan_view prediction_scan;
extern const struct op_view prediction_ops;

/* After the pass; sets the results, once. */
void prediction_end(struct prediction *prediction);

/*
 * After prediction_end: the launches of a process. Where too many lack their activity, nothing is
 * predicted of it, or of the job.
 */
void prediction_set_launches(
	struct prediction *prediction, size_t process, const struct budget_launches *launches);

/* The results of a process: those of the job where it is replayed with others. */
const struct predicted *prediction_of(const struct prediction *prediction, size_t process);

/* The step as its unchanged replay has it, ns. */
static inline double prediction_replayed_ns(const struct predicted *predicted)
{
	return predicted->step_ns + predicted->span_replayed_ns - predicted->span_ns;
}

/* The difference from the measured step, as a share of it. */
double prediction_error_pct(const struct predicted *predicted);

/* Was something replayed, is the error small enough, and were its activities recorded? */
bool prediction_is_known(const struct predicted *predicted);

/*
 * Returns what a change saves per step, ns, at most so much that a device still has the time that
 * it needs. Less than 0 only where a factor makes something longer.
 */
double prediction_saved_ns(const struct predicted *predicted, size_t change);

#endif
