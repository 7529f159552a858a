/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up operators' own times by name, from the last step to the first. */
#include "report/verdict/operator_times.h"

#include <stdlib.h>

#include "report/comm/host_collectives.h"
#include "report/model/device_records.h"
#include "report/util/buf.h"

#define LEAST_SHARE 1000u

/* The step at hand is over. */
static void flush(struct operator_times *times)
{
	for (size_t i = 0; i < times->at.nr; i++) {
		struct operator_time *time = idmap_at(&times->at, i);

		if (time->ns && time->ns >= times->ns / LEAST_SHARE) {
			times->times = array_grow(
				times->times, times->nr, &times->capacity, sizeof(*times->times));
			times->times[times->nr] = *time;
			times->times[times->nr].process = times->nr_processes - 1;
			times->times[times->nr++].step = times->step;
		}
		time->ns = time->nr = 0;
	}
	times->ns = 0;
}

static void begin(void *context, struct process *process)
{
	struct operator_times *times = context;

	times->process = process_has_device_records(process, NULL) ? NULL : process;
	times->nr_processes++;
	times->step_begin = times->step_end = 0;
	idmap_init(&times->at, sizeof(struct operator_time));
}

/* The budget counts loaders and collectives by themselves, with all that is in them. */
static bool computes(const struct op *op)
{
	for (; op; op = op->parent) {
		if (op_class(op->name, op->framework, op->scope) == OP_DATALOADER ||
			host_collective_library_of(op->name)) {
			return false;
		}
	}
	return true;
}

static void go_to_step(struct operator_times *times, uint64_t tick)
{
	const struct process *process = times->process;

	if (tick >= times->step_begin && tick < times->step_end) {
		return;
	}
	flush(times);
	times->step = (uint32_t)process_steps_begun(process, tick);
	times->step_begin = times->step ? process->steps[times->step - 1].tick : 0;
	times->step_end =
		times->step < process->nr_steps ? process->steps[times->step].tick : UINT64_MAX;
}

static void on_op(void *context, const struct op *op)
{
	struct operator_times *times = context;
	uint64_t ticks = op->end - op->begin, ns;
	struct operator_time *time;

	if (!times->process || ticks <= op->child_ticks || !computes(op)) {
		return;
	}
	go_to_step(times, op->begin);
	ns = clock_map_duration(&times->process->host_clock, ticks - op->child_ticks);
	time = idmap_put(&times->at, op->name);
	time->name = op->name;
	time->ns += ns;
	time->nr++;
	times->ns += ns;
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct operator_times *times = context;

	(void)process;
	(void)phases;
	flush(times);
	idmap_fini(&times->at);
}

const struct op_view operator_times_ops = {
	.op_is = OP_IS_OPERATOR,
	.begin = begin,
	.op = on_op,
	.end = end,
};

void operator_times_fini(struct operator_times *times)
{
	free(times->times);
	*times = (struct operator_times){0};
}
