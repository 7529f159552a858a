/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up times of kernels, or operators' own times, by name. A part of the pass that verdict.c
 * runs; work_times_top() joins the processes that count, and names what takes most.
 *
 * Kernels count in the step that launched them. Operators, and kernels without a call, count by
 * their begin; because the walk goes back in time, the step that was found last mostly serves
 * again.
 */
#include "report/verdict/work_times.h"

#include <stdlib.h>
#include <string.h>

#include "report/comm/host_collectives.h"
#include "report/model/device_records.h"
#include "report/table/short_names.h"
#include "report/util/buf.h"
#include "report/util/sort.h"
#include "report/util/string_pool.h"

static void begin(void *context, struct process *process)
{
	struct work_times *times = context;

	times->process = process;
	times->nr_processes++;
	times->has_gpu = process_has_device_records(process, NULL);
	times->step_begin = times->step_end = 0;
	idmap_init(&times->at, sizeof(struct work_time));
	counted_steps_init(&times->counted, process, false);
}

static void add(struct work_times *times, uint32_t name, uint64_t ns)
{
	struct work_time *time = idmap_put(&times->at, name);

	time->name = name;
	time->ns += ns;
	time->nr++;
}

/* ---- steps ---- */

/* Returns the begin of a step, counted as process_steps_begun does, in time or ticks. */
static uint64_t edge(const struct work_times *times, size_t step)
{
	struct process *process = times->process;
	uint64_t tick;

	if (!step || step > process->nr_steps) {
		return step ? UINT64_MAX : 0;
	}
	tick = process->steps[step - 1].tick;
	return times->has_gpu ? clock_map_time(&process->host_clock, tick) : tick;
}

/* Is it in a step that counts? */
static bool counts_at(struct work_times *times, uint64_t at)
{
	size_t step;

	if (at >= times->step_begin && at < times->step_end) {
		return times->counts;
	}
	BISECT(step, 1, times->process->nr_steps + 1, edge(times, step) <= at);
	step--;
	times->step_begin = edge(times, step);
	times->step_end = edge(times, step + 1);
	times->counts = times->counted.counts[0] || times->counted.counts[step];
	return times->counts;
}

/* ---- kernels ---- */

/* Kernels belong to the step that launched them, as in the budget. */
static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct work_times *times = context;
	const struct counted_steps *counted = &times->counted;

	(void)op;
	if (record->table != GPROF_TABLE_kernel || !record->is_timed || record->is_communication ||
		record->end_ns < record->begin_ns) {
		return;
	}
	if (call ? counted->counts[0] || counted->counts[call->step]
		 : counts_at(times, record->begin_ns)) {
		add(times, process_shape_name(times->process, record->shape),
			record->end_ns - record->begin_ns);
	}
}

/* ---- operators ---- */

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

static void on_op(void *context, const struct op *op)
{
	struct work_times *times = context;
	uint64_t ticks = op->end - op->begin;

	if (ticks > op->child_ticks && counts_at(times, op->begin) && computes(op)) {
		add(times, op->name,
			clock_map_duration(&times->process->host_clock, ticks - op->child_ticks));
	}
}

/* Kernels compute where there are any. */
static bool has_ops(const struct process *process)
{
	return !process_has_device_records(process, NULL);
}

/* ---- the pass ---- */

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct work_times *times = context;

	(void)process;
	(void)phases;
	for (size_t i = 0; i < times->at.nr; i++) {
		times->times = array_grow(
			times->times, times->nr, &times->capacity, sizeof(*times->times));
		times->times[times->nr] = *(struct work_time *)idmap_at(&times->at, i);
		times->times[times->nr++].process = times->nr_processes - 1;
	}
	idmap_fini(&times->at);
	counted_steps_fini(&times->counted);
}

const struct op_view work_times_ops = {
	.op_is = OP_IS_OPERATOR,
	.has_ops = has_ops,
	.begin = begin,
	.op = on_op,
	.record = on_record,
	.end = end,
};

void work_times_fini(struct work_times *times)
{
	free(times->times);
	*times = (struct work_times){0};
}

/* ---- those with most time ---- */

#define NO_KERNEL_NAME "a kernel without a name"

/* Does a kernel have no name? The table of kernels tells such ones apart by numbers. */
static bool lacks_name(const char *text)
{
	return strncmp(text, "(unknown kernel", strlen("(unknown kernel")) == 0;
}

/*
 * Takes the kernels or operators with most time, with names as a table of them has, and the sum of
 * all.
 */
static void take_top(const struct advice_sites *all, bool are_kernels, unsigned int name_width,
	struct advice_sites *work)
{
	const struct advice_site *top[ADVICE_NR_TOP_SITES] = {NULL};
	struct short_names *names = short_names_create(are_kernels);

	advice_sites_find_top(all, ADVICE_GAP, 1u << ADVICE_LATER, top);
	for (size_t i = 0; i < ADVICE_NR_TOP_SITES && top[i]; i++) {
		short_names_add(names, top[i]->key.place.what);
	}
	short_names_choose(names);
	short_names_cut(names, name_width);
	for (size_t i = 0; i < ADVICE_NR_TOP_SITES && top[i]; i++) {
		size_t nr_bytes;
		const char *name = short_names_text(names, top[i]->key.place.what, &nr_bytes);
		struct gap_place_key place;

		if (lacks_name(string_pool_text(top[i]->key.place.what, NULL))) {
			name = NO_KERNEL_NAME;
			nr_bytes = strlen(NO_KERNEL_NAME);
		}
		place = (struct gap_place_key){.what = string_pool_intern(name, nr_bytes)};

		advice_sites_add_sum(
			work, ADVICE_GAP, ADVICE_LATER, &top[i]->sums[ADVICE_LATER], &place);
	}
	work->sums[ADVICE_GAP][ADVICE_LATER] = all->sums[ADVICE_GAP][ADVICE_LATER];
	short_names_destroy(names);
}

void work_times_top(const struct work_times *times, const struct headline *headline,
	bool are_kernels, unsigned int name_width, struct advice_sites *top)
{
	struct advice_sites all = {0};

	for (size_t i = 0; i < times->nr; i++) {
		const struct work_time *time = &times->times[i];
		const struct gap_place_key place = {.what = time->name};

		if (headline->processes[time->process].is_main) {
			advice_sites_add_sum(&all, ADVICE_GAP, ADVICE_LATER,
				&(struct advice_sum){time->nr, time->ns}, &place);
		}
	}
	take_top(&all, are_kernels, name_width, top);
	advice_sites_fini(&all);
}
