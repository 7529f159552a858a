/* SPDX-License-Identifier: Apache-2.0 */
/* Orders the rows of steps and windows, and leaves out the ends that were none. */
#include "report/model/model_marks.h"

#include <stdlib.h>

#include "report/stream/ticks.h"
#include "report/util/sort.h"

static int compare_steps(const void *a, const void *b)
{
	const struct model_step *one = a, *two = b;

	return ORDER(COMPARE(one->step, two->step), COMPARE(one->tick, two->tick));
}

static int compare_windows(const void *a, const void *b)
{
	const struct model_window *one = a, *two = b;

	return COMPARE(one->tick, two->tick);
}

/*
 * The rows of one thread are in order; those of several, which may end steps and open windows by
 * turns, are as they came. Numbers of a trace say less than its order: it may have several loops.
 */
static void sort(struct process *p)
{
	if (p->stream->is_trace) {
		return;
	}
	if (p->nr_steps) {
		qsort(p->steps, p->nr_steps, sizeof(*p->steps), compare_steps);
	}
	if (p->nr_windows) {
		qsort(p->windows, p->nr_windows, sizeof(*p->windows), compare_windows);
	}
}

/*
 * Of two optimizers that take turns, the first step of the first one counts as the end of a step
 * until the turns are known. The recorder then says when that was. Later steps keep their numbers,
 * which windows and reports of hangs have, too; so one number is missing.
 */
static void drop_inner_end(struct process *p)
{
	int64_t raw = process_number(p, "step.inner_end");
	uint64_t tick = raw < 0 ? 0 : ticks_of_raw(&p->stream->header, (uint64_t)raw);

	for (size_t i = 1; raw >= 0 && i + 1 < p->nr_steps; i++) {
		if (p->steps[i].tick != tick) {
			continue;
		}
		p->nr_steps--;
		for (size_t k = i; k < p->nr_steps; k++) {
			p->steps[k] = p->steps[k + 1];
		}
		return;
	}
}

/* No process runs this long. */
#define MAX_STEP_TICKS (10 * 365 * 86400 * (uint64_t)1000000000u)

/*
 * Old recorders under Paddle's own profiler wrote step ends without a time. The steps before and
 * after such an end are dropped.
 */
static void drop_lost_ends(struct process *p)
{
	for (size_t i = 1; i < p->nr_steps && !p->stream->is_trace; i++) {
		struct model_step *step = &p->steps[i];

		if (step->tick > step[-1].tick && step->tick - step[-1].tick > MAX_STEP_TICKS) {
			step->tick = step[-1].tick;
			step->how = step[-1].how = MODEL_STEP_END;
			p->nr_lost_ends++;
		}
	}
}

void model_marks_order(struct process *process)
{
	sort(process);
	drop_inner_end(process);
	drop_lost_ends(process);
	/*
	 * A single row only marks where recording began: loader workers and launchers have no
	 * steps.
	 */
	if (process->nr_steps == 1) {
		process->nr_steps = 0;
	}
}
