/* SPDX-License-Identifier: Apache-2.0 */
#include "report/breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "report/buf.h"
#include "report/interval_heap.h"

#define STEP_RANGE "ProfilerStep#"

/* Sets are sorted and joined once they have so many intervals, or twice as many as last time. */
#define MERGE_AT 65536u

const char *const breakdown_keys[NR_BREAKDOWN_PARTS] = {"kernel_ns", "memcpy_ns", "memset_ns",
	"communication_ns", "runtime_ns", "dataloader_ns", "cpu_exec_ns", "other_ns"};
const char *const breakdown_titles[NR_BREAKDOWN_PARTS] = {"Kernel", "Memcpy", "Memset",
	"Communication", "Runtime", "DataLoader", "CPU Exec", "Other"};

/* ---- steps ---- */

static uint64_t ns_of(struct breakdown *breakdown, uint64_t tick)
{
	return clock_map_time(&breakdown->process->host_clock, tick);
}

/* Those whose end is marked; from the last mark on nothing is known to end. */
static void find_steps(struct breakdown *breakdown)
{
	const struct process *process = breakdown->process;
	size_t nr = process->nr_steps;

	breakdown->has_steps = nr > 1;
	breakdown->steps = mem_zeroed(nr + 1, sizeof(*breakdown->steps));
	breakdown->step_of = mem_zeroed(nr + 1, sizeof(*breakdown->step_of));
	if (!breakdown->has_steps) {
		breakdown->steps[breakdown->nr_steps++] =
			(struct breakdown_step){.begin_ns = process->first_ns,
				.end_ns = process->last_ns,
				.is_whole = true};
		return;
	}
	for (size_t i = 0; i + 1 < nr; i++) {
		if (model_step_is_gap(&process->steps[i])) {
			continue;
		}
		breakdown->steps[breakdown->nr_steps++] =
			(struct breakdown_step){.number = process->steps[i].step,
				.place = (uint32_t)i + 1,
				.begin_ns = ns_of(breakdown, process->steps[i].tick),
				.end_ns = ns_of(breakdown, process->steps[i + 1].tick)};
		breakdown->step_of[i + 1] = (uint32_t)breakdown->nr_steps;
	}
}

void breakdown_begin(struct breakdown *breakdown, struct process *process)
{
	*breakdown = (struct breakdown){.process = process, .closed_ns = UINT64_MAX};
	for (size_t i = 0; i < BREAKDOWN_RUNTIME; i++) {
		breakdown->merge_at[i] = MERGE_AT;
	}
	find_steps(breakdown);
	breakdown->nr_open = breakdown->nr_steps;
	device_work_init(&breakdown->work, process);
}

/* ---- reckoning up ---- */

static int by_falling_end(const void *a, const void *b)
{
	const struct busy_interval *x = a, *y = b;

	return x->end > y->end ? -1 : x->end < y->end;
}

static void add_times(struct breakdown_times *times, uint64_t begin, uint64_t end)
{
	if (times->head > times->nr / 2) {
		times->nr -= times->head;
		memmove(times->items, times->items + times->head,
			times->nr * sizeof(*times->items));
		times->head = 0;
	}
	times->is_unsorted |= times->nr > times->head && times->items[times->nr - 1].end < end;
	times->items = array_grow(times->items, times->nr, &times->capacity, sizeof(*times->items));
	times->items[times->nr++] = (struct busy_interval){begin, end};
}

/* Moves what is not before `begin` to `out`; of what reaches across it the rest stays. */
static void take_times(struct breakdown_times *times, uint64_t begin, struct intervals *out)
{
	size_t at = times->head, nr_kept = 0;

	if (times->is_unsorted) {
		qsort(times->items + times->head, times->nr - times->head, sizeof(*times->items),
			by_falling_end);
		times->is_unsorted = false;
	}
	intervals_clear(out);
	for (; at < times->nr && times->items[at].end > begin; at++) {
		struct busy_interval item = times->items[at];

		intervals_add(out, item.begin > begin ? item.begin : begin, item.end);
		if (item.begin < begin) {
			times->items[times->head + nr_kept++] =
				(struct busy_interval){item.begin, begin};
		}
	}
	if (nr_kept) {
		memmove(times->items + (at - nr_kept), times->items + times->head,
			nr_kept * sizeof(*times->items));
	}
	times->head = at - nr_kept;
	intervals_merge(out);
}

static void add_parts(struct breakdown *breakdown, struct breakdown_step *step)
{
	struct intervals rest = {0}, all = {0}, part = {0}, left = {0}, swap;

	intervals_add(&rest, step->begin_ns, step->end_ns);
	for (unsigned int i = 0; i < BREAKDOWN_OTHER; i++) {
		if (i < BREAKDOWN_RUNTIME) {
			interval_heap_take(&breakdown->parts[i], step->begin_ns, &all);
		} else {
			take_times(&breakdown->times[i], step->begin_ns, &all);
		}
		intervals_intersect(&rest, &all, &part);
		step->ns[i] = intervals_length(&part);
		intervals_subtract(&rest, &part, &left);
		swap = rest;
		rest = left;
		left = swap;
	}
	step->ns[BREAKDOWN_OTHER] = intervals_length(&rest);
	intervals_fini(&rest);
	intervals_fini(&all);
	intervals_fini(&part);
	intervals_fini(&left);
}

/* The last step that is open: all launches of it and of the one before it are known. */
static void close_step(struct breakdown *breakdown)
{
	size_t index = --breakdown->nr_open;
	struct breakdown_step *step = &breakdown->steps[index];
	uint64_t before = breakdown->before_ns;

	if (index) {
		const struct breakdown_step *last = step - 1;

		before = last->end_ns > last->device_end_ns ? last->end_ns : last->device_end_ns;
	}
	if (!breakdown->has_steps) {
		before = 0;
	}
	step->begin_ns = step->begin_ns > before ? step->begin_ns : before;
	step->end_ns = step->end_ns > step->device_end_ns ? step->end_ns : step->device_end_ns;
	if (step->end_ns > breakdown->closed_ns) {
		step->end_ns = breakdown->closed_ns;
	}
	if (step->begin_ns > step->end_ns) {
		step->begin_ns = step->end_ns;
	}
	step->next_ns = index + 1 < breakdown->nr_steps ? step[1].begin_ns : step->end_ns;
	add_parts(breakdown, step);
	step->devices = device_work_take(
		&breakdown->work, step->begin_ns, step->next_ns, &step->nr_devices);
	breakdown->closed_ns = step->begin_ns;
}

/* All that comes from here on ended by `tick`. */
static void come_to(struct breakdown *breakdown, uint64_t tick)
{
	while (breakdown->nr_open > 1) {
		uint32_t before = breakdown->steps[breakdown->nr_open - 2].place;

		if (tick > breakdown->process->steps[before - 1].tick) {
			return;
		}
		close_step(breakdown);
	}
}

/* ---- events ---- */

static void add_part(
	struct breakdown *breakdown, enum breakdown_part part, uint64_t begin, uint64_t end)
{
	struct intervals *set = &breakdown->parts[part];

	interval_heap_push(set, (struct busy_interval){begin, end});
	if (set->nr >= breakdown->merge_at[part]) {
		interval_heap_join(set);
		breakdown->merge_at[part] = 2 * set->nr + MERGE_AT;
	}
	breakdown->is_too_much |=
		set->nr > BREAKDOWN_MOST || breakdown->work.nr_kernels > BREAKDOWN_MOST;
}

static void add(struct breakdown *breakdown, enum breakdown_part part, uint64_t begin, uint64_t end)
{
	struct breakdown_times *times = &breakdown->times[part];

	if (end > breakdown->closed_ns) {
		breakdown->nr_late += begin < end;
		end = breakdown->closed_ns;
	}
	if (begin >= end || breakdown->is_too_much) {
		return;
	}
	if (part < BREAKDOWN_RUNTIME) {
		add_part(breakdown, part, begin, end);
	} else {
		add_times(times, begin, end);
		breakdown->is_too_much |= times->nr - times->head > BREAKDOWN_MOST;
	}
}

/* Steps themselves and modules are around operators, and are none. */
static bool is_around(const struct op *op)
{
	return op_is_module(op->framework, op->scope) ||
	       strncmp(names_raw(op->name, NULL), STEP_RANGE, sizeof(STEP_RANGE) - 1) == 0 ||
	       (op->framework == GPROF_FRAMEWORK_PADDLE && op->scope == OP_PADDLE_STEP);
}

void breakdown_enter(struct breakdown *breakdown, const struct op *op)
{
	bool is_loader = op_class(op->name, op->framework, op->scope) == OP_DATALOADER;

	come_to(breakdown, op->end);
	if (is_around(op)) {
		return;
	}
	for (const struct op *outer = op->parent; outer && !is_loader; outer = outer->parent) {
		if (!is_around(outer)) {
			return; /* that one covers it */
		}
	}
	add(breakdown, is_loader ? BREAKDOWN_DATALOADER : BREAKDOWN_CPU,
		ns_of(breakdown, op->begin), ns_of(breakdown, op->end));
}

void breakdown_call(struct breakdown *breakdown, const struct op_call *call)
{
	come_to(breakdown, call->end);
	add(breakdown, BREAKDOWN_RUNTIME, ns_of(breakdown, call->begin),
		ns_of(breakdown, call->end));
}

static enum breakdown_part part_of(
	const struct breakdown *breakdown, const struct op_record *record)
{
	switch (record->table) {
	case GPROF_TABLE_memcpy:
		return BREAKDOWN_MEMCPY;
	case GPROF_TABLE_memset:
		return BREAKDOWN_MEMSET;
	case GPROF_TABLE_kernel:
		return kernel_class_of(process_shape_name(breakdown->process, record->shape)) ==
				       KERNEL_COMMUNICATION
			       ? BREAKDOWN_COMMUNICATION
			       : BREAKDOWN_KERNEL;
	default:
		return BREAKDOWN_KERNEL;
	}
}

static void add_device_end(
	struct breakdown *breakdown, const struct op_record *record, const struct op_call *call)
{
	uint32_t step =
		call->step <= breakdown->process->nr_steps ? breakdown->step_of[call->step] : 0;

	if (!breakdown->has_steps || (!step && !call->step)) {
		if (record->end_ns > breakdown->before_ns) {
			breakdown->before_ns = record->end_ns;
		}
	} else if (step && record->end_ns > breakdown->steps[step - 1].device_end_ns) {
		breakdown->steps[step - 1].device_end_ns = record->end_ns;
	}
}

void breakdown_record(
	struct breakdown *breakdown, const struct op_record *record, const struct op_call *call)
{
	uint64_t end = record->end_ns;

	if (!record->is_timed || record->begin_ns > end) {
		breakdown->nr_untimed++;
		return;
	}
	if (call) {
		add_device_end(breakdown, record, call);
	}
	if ((record->table == GPROF_TABLE_kernel || record->table == GPROF_TABLE_graph) &&
		record->begin_ns < breakdown->closed_ns && !breakdown->is_too_much) {
		device_work_add(&breakdown->work, record,
			end < breakdown->closed_ns ? end : breakdown->closed_ns);
	}
	add(breakdown, part_of(breakdown, record), record->begin_ns, end);
}

/* The first step begins with the program, unless its first phase tells where the loop does. */
static void begin_first(struct breakdown *breakdown, const struct phases *phases)
{
	struct breakdown_step *first = &breakdown->steps[0];

	if (breakdown->has_steps && breakdown->nr_steps && first->place == 1 &&
		phases_has_steps(phases)) {
		uint64_t end = breakdown->process->steps[1].tick;

		first->begin_ns = ns_of(breakdown, end - phases_step_ticks(phases, 1));
	}
}

void breakdown_end(struct breakdown *breakdown, const struct phases *phases)
{
	begin_first(breakdown, phases);
	while (breakdown->nr_open) {
		close_step(breakdown);
	}
	for (size_t i = 0; i < breakdown->nr_steps; i++) {
		struct breakdown_step *step = &breakdown->steps[i];

		step->is_whole = !step->place || phases_is_whole(phases, step->place);
	}
}

void breakdown_fini(struct breakdown *breakdown)
{
	for (size_t i = 0; i < breakdown->nr_steps; i++) {
		free(breakdown->steps[i].devices);
	}
	for (size_t i = 0; i < BREAKDOWN_RUNTIME; i++) {
		intervals_fini(&breakdown->parts[i]);
	}
	for (size_t i = 0; i < BREAKDOWN_OTHER; i++) {
		free(breakdown->times[i].items);
	}
	device_work_fini(&breakdown->work);
	free(breakdown->steps);
	free(breakdown->step_of);
	*breakdown = (struct breakdown){0};
}
