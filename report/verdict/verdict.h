/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The causes that make a run slow, the one whose change saves most first. A cause is a group of
 * parts of the time budget that one change removes. Its reach is the time of these parts, and the
 * most that the change can save. The replay predicts what it does save; a prediction beyond the
 * reach is the reach. Times are means per step of all processes that count, as on the first screen;
 * without steps they are of the recording.
 *
 *     lost data    launches without GPU activity: nothing else is said of idle time
 *     start-up     long calls that do not recur; without steps also allocation and loading
 *     straggler    what the other ranks wait for one, or all for each other, and nothing else runs
 *     CPU          the loop, or a thread that launches, is ready to run and has no CPU: by samples,
 *                  within what the host did
 *     loader start  workers that start anew, also where that makes outliers of steps
 *     Python's lock        waits for it (GIL), where calls of the system were recorded
 *     garbage collection   Python's, also where it makes outliers of steps
 *     compilation   torch.compile's, JAX's and others', the same; in the first step alone it is
 *                  start-up
 *     launch, user code, allocation, loader   parts of idle time of these names; without GPUs only
 *                  the last, and user code of steps that have operators
 *     read-back    waits for the GPU, copies from it, and gaps that a wait opened
 *     copies       copies to the GPU, and calls that wait for them
 *     communication   what no computation hides, but for those waits where they are known
 *     gaps         launch latency
 *     kernels      the GPU computes, and no other cause costs much: that is a verdict, too
 *     operators    the same without GPUs
 */
#ifndef REPORT_VERDICT_VERDICT_H
#define REPORT_VERDICT_VERDICT_H

#include "report/advice/judgement.h"
#include "report/analysis/headline.h"
#include "report/replay/prediction.h"
#include "report/verdict/code_form.h"
#include "report/verdict/loader_starts.h"
#include "report/verdict/loader_workers.h"
#include "report/verdict/work_times.h"

extern const char *const verdict_cause_names[NR_VERDICT_CAUSES];

struct verdict_finding {
	enum verdict_cause cause;
	double reach_ns;
	double saved_ns; /* at most reach_ns; below 0: unknown */
	double step_ns;	 /* what it is a share of: the step of the job, or the recording */
	bool is_capped;	 /* the replay predicts more than the reach, or the change may save less */
};

/* The state of view_advice: who wants the verdict beside other views runs that view with them. */
struct verdict {
	struct advice advice; /* gathered in one pass, like the next three */
	struct headline headline;
	struct prediction prediction;
	struct work_times work_times;
	struct idmap scales; /* uint32_t of the replay, by name */
	/* what verdict_find finds */
	bool is_found;
	bool is_capture;      /* start-up is the capture of graphs */
	bool is_compilation;  /* most of start-up is that */
	double after_waits;   /* the share of time in gaps that waits opened that is the host's */
	bool is_in_operators; /* VERDICT_USER is mostly in operators, few of which launch */
	bool is_unexplained;  /* GPUs wait long for what is not recorded, so changes are unknown */
	struct headline_figures figures;
	struct loader_workers workers;
	struct loader_starts starts;
	/* Steps that compile, of how many, and for how long on average */
	uint64_t nr_compiling, nr_compared;
	double compiling_ns;
	bool compiles_later;				    /* not in the first one alone */
	struct verdict_finding findings[NR_VERDICT_CAUSES]; /* in their order */
	size_t nr;
	const struct advice_facts *facts; /* of the first process that counts; NULL: none */
	int64_t late_rank;		  /* that the others wait for; -1: unknown, or several */
	uint32_t late_pid;		  /* of `late`, for traces without ranks */
	bool is_late_mostly;		  /* they wait for others as well */
	const struct straggler *late;	  /* the same, where its steps were compared */
	struct advice_sites work; /* with VERDICT_KERNELS or _OPERATORS: most of it, and the sum of
				     all of it, of the steps that count */
};

/* For a view: the state starts with zeros but for advice.input. */
void verdict_init(void *verdict);
void verdict_fini(void *verdict);

/* Call it after the scan. The first call finds, further ones do nothing. */
void verdict_find(struct verdict *verdict);

/* Returns a mean of the steps that count, of a sum over them. */
double verdict_per_step(const struct verdict *verdict, double ns);

/* Do more threads of the loop's own process compute than it has CPUs, and use most of these? */
bool verdict_is_crowded(const struct verdict *verdict);

/* Returns what the finding saves, or costs where that is unknown, of step_ns in percent. */
double verdict_share_pct(const struct verdict_finding *finding);

/* Appends cause, remedy and saving as one sentence, without a full stop. */
void verdict_add_sentence(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out);

/*
 * Appends the places with most of the time that the cause costs, "" if none is known: means as its
 * own, of the same steps and processes.
 */
void verdict_add_places(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out);

#endif
