/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row belongs to the step in which it, or the call that launched it, begins: select.h has the
 * rule of each table. For launched rows the calls are read once, and their steps kept by
 * correlation ID.
 */
#include "report/sql/event.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/model/scan.h"
#include "report/model/select.h"

struct event_steps {
	struct process *process;
	bool has_calls;	     /* `places` is filled */
	size_t last;	     /* the index where the last look-up ended */
	struct idmap places; /* 1 + the index of a step, by the correlation ID of a call */
};

static bool holds(const struct process *process, size_t place, uint64_t tick)
{
	return place + 1 < process->nr_steps && process->steps[place].tick <= tick &&
	       tick < process->steps[place + 1].tick;
}

/*
 * Returns 1 + the index of the step, 0 for none. Rows come mostly by their times, so the next step
 * is close.
 */
static size_t find_place(struct event_steps *steps, uint64_t tick)
{
	const struct process *process = steps->process;
	size_t nr;

	for (size_t near = steps->last; near < steps->last + 2; near++) {
		if (holds(process, near, tick)) {
			steps->last = near;
			return model_step_is_gap(&process->steps[near]) ? 0 : near + 1;
		}
	}
	nr = process_steps_begun(process, tick);
	if (!nr || !holds(process, nr - 1, tick)) {
		return 0;
	}
	steps->last = nr - 1;
	return model_step_is_gap(&process->steps[nr - 1]) ? 0 : nr;
}

static void take_calls(void *context, struct process *process, const struct batch *b)
{
	struct event_steps *steps = context;

	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t correlation = b->col[COL_api_correlation][i];
		size_t place = find_place(steps, b->col[COL_api_begin][i]);

		if (correlation && place) {
			*(uint32_t *)idmap_put(&steps->places, correlation) = (uint32_t)place;
		}
	}
}

struct event_steps *event_steps_create(struct process *process)
{
	struct event_steps *steps = mem_zeroed(1, sizeof(*steps));

	steps->process = process;
	idmap_init(&steps->places, sizeof(uint32_t));
	return steps;
}

void event_steps_prepare(struct event_steps *steps, unsigned int table)
{
	static const struct scan_want wants[] = {
		{SCAN_WITH(GPROF_IS_CALL), COLS(api, begin, correlation), 0}};
	static const struct scan_view view = {.wants = wants,
		.nr_wants = sizeof(wants) / sizeof(wants[0]),
		.on_batch = take_calls};
	struct scan scan = {&view, steps};
	unsigned int column;

	if (!steps->has_calls && steps->process->nr_steps > 1 &&
		select_rule_of(table, &column) == SELECT_LAUNCH) {
		scan_run(&steps->process, 1, &scan, 1);
		steps->has_calls = true;
	}
}

void event_steps_destroy(struct event_steps *steps)
{
	idmap_fini(&steps->places);
	free(steps);
}

static bool step_at_place(const struct event_steps *steps, size_t place, uint64_t *step)
{
	*step = place ? steps->process->steps[place - 1].step : 0;
	return place != 0;
}

bool event_steps_at(struct event_steps *steps, uint64_t tick, uint64_t *step)
{
	return step_at_place(steps, find_place(steps, tick), step);
}

bool event_steps_find(
	struct event_steps *steps, const struct batch *batch, uint32_t row, uint64_t *step)
{
	const uint32_t *place;
	unsigned int column;

	switch (select_rule_of(batch->table, &column)) {
	case SELECT_TICK:
	case SELECT_NVTX:
		return event_steps_at(steps, batch->col[column][row], step);
	case SELECT_LAUNCH:
		place = idmap_get(&steps->places, batch->col[column][row]);
		return step_at_place(steps, place ? *place : 0, step);
	case SELECT_ALL:
		break;
	}
	return false;
}
