/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "report/comm/host_collectives.h"
#include "report/util/buf.h"

/* ---- which part an event belongs to ---- */

/* OTHER: none of its own, since another operator covers it, or it is around all of them. */
static enum breakdown_part part_of_op(const struct op *op)
{
	if (op->is & OP_IS_AROUND) {
		return BREAKDOWN_OTHER;
	}
	if (host_collective_library_of(op->name)) {
		return BREAKDOWN_COMMUNICATION;
	}
	if (op_class(op->name, op->framework, op->scope) == OP_DATALOADER) {
		return BREAKDOWN_DATALOADER;
	}
	return op->is & OP_IS_COVERED ? BREAKDOWN_OTHER : BREAKDOWN_CPU;
}

static enum breakdown_part part_of_record(const struct op_record *record)
{
	switch (record->table) {
	case GPROF_TABLE_memcpy:
		return BREAKDOWN_MEMCPY;
	case GPROF_TABLE_memset:
		return BREAKDOWN_MEMSET;
	case GPROF_TABLE_kernel:
		return record->is_communication ? BREAKDOWN_COMMUNICATION : BREAKDOWN_KERNEL;
	default:
		return BREAKDOWN_KERNEL;
	}
}

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

/* How far events must come until the last step that is open can be closed. */
static void set_closing(struct breakdown *breakdown)
{
	if (breakdown->nr_open > 1) {
		uint32_t before = breakdown->steps[breakdown->nr_open - 2].place;

		breakdown->closing_tick = breakdown->process->steps[before - 1].tick;
	}
}

void breakdown_begin(struct breakdown *breakdown, struct process *process, bool has_devices)
{
	*breakdown = (struct breakdown){.process = process,
		.closed_ns = UINT64_MAX,
		.most = BREAKDOWN_MOST,
		.has_devices = has_devices};
	find_steps(breakdown);
	breakdown->nr_open = breakdown->nr_steps;
	breakdown->is_done = !breakdown->nr_steps;
	set_closing(breakdown);
	device_work_init(&breakdown->work, process);
}

/* ---- closing a step: what its time went to ---- */

/* The latest interval of each part that begins before the time that the sweep has reached. */
struct overlap {
	struct breakdown *breakdown;
	struct interval at[BREAKDOWN_OTHER];
	bool has[BREAKDOWN_OTHER];
};

static inline void go_before(struct overlap *sweep, unsigned int part, uint64_t now)
{
	while (sweep->has[part] && sweep->at[part].begin >= now) {
		sweep->has[part] =
			interval_queue_pop(&sweep->breakdown->parts[part], &sweep->at[part]);
	}
}

/*
 * The part that the time just before `now` counts for; it does so back to *until. Parts behind that
 * one wait: what it covers of them is skipped at once.
 */
static unsigned int find_part(struct overlap *sweep, uint64_t now, uint64_t *until)
{
	for (unsigned int i = 0; i < BREAKDOWN_OTHER; i++) {
		const struct interval *at = &sweep->at[i];

		go_before(sweep, i, now);
		if (!sweep->has[i]) {
			continue;
		}
		if (at->end >= now) {
			*until = at->begin > *until ? at->begin : *until;
			return i;
		}
		*until = at->end > *until ? at->end : *until;
	}
	return BREAKDOWN_OTHER;
}

/* From the end to the begin. What lies behind it is forgotten. */
static void add_parts(struct breakdown *breakdown, uint64_t *ns, uint64_t begin, uint64_t end)
{
	struct overlap sweep = {.breakdown = breakdown};
	uint64_t now = end;

	for (unsigned int i = 0; i < BREAKDOWN_OTHER; i++) {
		sweep.at[i].begin = UINT64_MAX;
		sweep.has[i] = true;
	}
	while (now > begin) {
		uint64_t until = begin;
		unsigned int part;

		part = find_part(&sweep, now, &until);
		ns[part] += now - until;
		now = until;
	}
	for (unsigned int i = 0; i < BREAKDOWN_OTHER; i++) {
		uint64_t rest;

		go_before(&sweep, i, begin);
		rest = sweep.at[i].end < begin ? sweep.at[i].end : begin;
		if (sweep.has[i]) {
			interval_queue_push(&breakdown->parts[i], sweep.at[i].begin, rest);
		}
	}
}

static void add_use(struct breakdown_step *step, const struct device_utilization *use)
{
	for (size_t i = 0; i < step->nr_devices; i++) {
		if (step->devices[i].device == use->device) {
			device_utilization_add(&step->devices[i], use);
			return;
		}
	}
	step->devices = mem_resize(step->devices, step->nr_devices + 1, sizeof(*step->devices));
	step->devices[step->nr_devices++] = *use;
}

static void add_devices(
	struct breakdown *breakdown, struct breakdown_step *step, uint64_t begin, uint64_t end)
{
	size_t nr_uses;
	struct device_utilization *uses = device_work_take(&breakdown->work, begin, end, &nr_uses);

	for (size_t i = 0; i < nr_uses; i++) {
		add_use(step, &uses[i]);
	}
	free(uses);
}

/* What is left of the last step that is open, back to `begin`. */
static void close_from(struct breakdown *breakdown, struct breakdown_step *step, uint64_t begin)
{
	uint64_t end = step->end_ns < breakdown->closed_ns ? step->end_ns : breakdown->closed_ns;
	uint64_t next = step->next_ns < breakdown->closed_ns ? step->next_ns : breakdown->closed_ns;

	add_parts(breakdown, step->ns, begin, end);
	if (breakdown->has_devices) {
		add_devices(breakdown, step, begin, next);
	} else {
		device_work_drop(&breakdown->work, begin);
	}
	breakdown->closed_ns = begin;
}

/* Its end is known, and so is the begin of the next one. */
static void begin_step(struct breakdown *breakdown, struct breakdown_step *step)
{
	bool is_last = step + 1 == breakdown->steps + breakdown->nr_steps;

	if (step->is_begun) {
		return;
	}
	step->is_begun = true;
	step->end_ns = step->end_ns > step->device_end_ns ? step->end_ns : step->device_end_ns;
	if (step->end_ns > breakdown->closed_ns) {
		step->end_ns = breakdown->closed_ns;
	}
	step->next_ns = is_last ? step->end_ns : step[1].begin_ns;
}

/* Where the last step that is open begins, as far as is known of the one before it. */
static uint64_t begin_of_last(const struct breakdown *breakdown)
{
	const struct breakdown_step *step = &breakdown->steps[breakdown->nr_open - 1];
	uint64_t before = breakdown->has_steps ? breakdown->before_ns : 0;

	if (breakdown->nr_open > 1) {
		before = step[-1].end_ns > step[-1].device_end_ns ? step[-1].end_ns
								  : step[-1].device_end_ns;
	}
	return step->begin_ns > before ? step->begin_ns : before;
}

/* The last step that is open: all launches of it and of the one before it are known. */
static void close_step(struct breakdown *breakdown)
{
	struct breakdown_step *step = &breakdown->steps[breakdown->nr_open - 1];
	uint64_t begin = begin_of_last(breakdown), end;

	end = step->is_begun ? breakdown->closed_ns : UINT64_MAX;
	begin_step(breakdown, step);
	end = end < step->end_ns ? end : step->end_ns;
	step->begin_ns = begin < end ? begin : end;
	close_from(breakdown, step, step->begin_ns);
	breakdown->nr_open--;
	set_closing(breakdown);
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

#define NR_SAMPLES 255u

/* About half of the kernels end later. */
static uint64_t middle_of(const struct device_work *work)
{
	uint64_t ends[NR_SAMPLES];
	size_t nr = work->nr_kernels < NR_SAMPLES ? work->nr_kernels : NR_SAMPLES;

	for (size_t i = 0; i < nr; i++) {
		ends[i] = work->kernels[i * (work->nr_kernels / nr)].end;
	}
	qsort(ends, nr, sizeof(ends[0]), by_time);
	return nr ? ends[nr / 2] : 0;
}

static bool is_full(const struct breakdown *breakdown, size_t most)
{
	bool is_much = breakdown->work.nr_kernels > most;

	for (unsigned int i = 0; i < BREAKDOWN_OTHER; i++) {
		is_much |= breakdown->parts[i].strays.nr > most;
	}
	return is_much;
}

/* Too many kernels: the later half is closed, as if no more of its events were to come. */
static void make_room(struct breakdown *breakdown)
{
	uint64_t middle = middle_of(&breakdown->work), begin = begin_of_last(breakdown);
	struct breakdown_step *step;

	while (breakdown->nr_open > 1 && middle <= begin) {
		close_step(breakdown);
		begin = begin_of_last(breakdown);
	}
	step = &breakdown->steps[breakdown->nr_open - 1];
	begin_step(breakdown, step);
	middle = middle > begin ? middle : begin;
	middle = middle < breakdown->closed_ns ? middle : breakdown->closed_ns;
	close_from(breakdown, step, middle);
	breakdown->is_done = breakdown->nr_open == 1 && middle <= begin;
	/* Else there would be no end of making room. */
	breakdown->is_too_much = !breakdown->is_done && is_full(breakdown, breakdown->most / 4 * 3);
}

/* All that comes from here on ended by `tick`. */
static inline void come_to(struct breakdown *breakdown, uint64_t tick)
{
	while (breakdown->nr_open > 1 && tick <= breakdown->closing_tick) {
		close_step(breakdown);
	}
}

/* ---- events ---- */

static bool is_wanted(const struct breakdown *breakdown)
{
	return !breakdown->is_too_much && !breakdown->is_done;
}

/* What is behind the time that is closed is cut off there. */
static uint64_t cut(struct breakdown *breakdown, uint64_t begin, uint64_t end)
{
	bool is_cut = breakdown->nr_open && breakdown->steps[breakdown->nr_open - 1].is_begun;

	breakdown->nr_late += begin < end && !is_cut;
	breakdown->nr_cut += begin < end && is_cut;
	return breakdown->closed_ns;
}

static inline void add(
	struct breakdown *breakdown, enum breakdown_part part, uint64_t begin, uint64_t end)
{
	if (end > breakdown->closed_ns) {
		end = cut(breakdown, begin, end);
	}
	if (begin < end && is_wanted(breakdown)) {
		struct interval_queue *queue = &breakdown->parts[part];

		interval_queue_push(queue, begin, end);
		if (queue->strays.nr > breakdown->most ||
			breakdown->work.nr_kernels > breakdown->most) {
			make_room(breakdown);
		}
	}
}

bool breakdown_wants_covered(uint32_t name, uint8_t framework, uint8_t scope)
{
	return host_collective_library_of(name) ||
	       op_class(name, framework, scope) == OP_DATALOADER;
}

void breakdown_enter(struct breakdown *breakdown, const struct op *op)
{
	enum breakdown_part part = part_of_op(op);

	come_to(breakdown, op->end);
	if (part != BREAKDOWN_OTHER) {
		add(breakdown, part, ns_of(breakdown, op->begin), ns_of(breakdown, op->end));
	}
}

void breakdown_call(struct breakdown *breakdown, const struct op_call *call)
{
	come_to(breakdown, call->end);
	add(breakdown, BREAKDOWN_RUNTIME, ns_of(breakdown, call->begin),
		ns_of(breakdown, call->end));
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

/* Without devices only the times are needed, to make room. */
static inline void add_kernel(
	struct breakdown *breakdown, const struct op_record *record, uint64_t end)
{
	if (breakdown->has_devices) {
		device_work_add(&breakdown->work, record, end);
	} else {
		device_work_add_times(&breakdown->work, record->begin_ns, end);
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
		record->begin_ns < breakdown->closed_ns && is_wanted(breakdown)) {
		add_kernel(
			breakdown, record, end < breakdown->closed_ns ? end : breakdown->closed_ns);
	}
	add(breakdown, part_of_record(record), record->begin_ns, end);
}

/* The first step begins with the program, unless its first phase shows where the loop does. */
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
	for (size_t i = 0; i < BREAKDOWN_OTHER; i++) {
		interval_queue_fini(&breakdown->parts[i]);
	}
	device_work_fini(&breakdown->work);
	free(breakdown->steps);
	free(breakdown->step_of);
	*breakdown = (struct breakdown){0};
}
