/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the time of each step into its parts, from the last event of a process to the first.
 * Views hand the events of op_walk.c on to it; the views of the budget, the headline and the
 * verdict read the steps afterwards.
 *
 * Events only fill queues: busy intervals by part, states by thread, work that may end a gap. A
 * step is divided (budget_sweep.c) once the walk has reached a time from which on nothing can lie
 * in it:
 *
 *   time   |--- step 3 ---|--- step 4 ---|--- step 5 ---|
 *                          <----------------------------- the walk
 *           open           open           closed: its parts are summed,
 *                          (work of step 3        its intervals forgotten
 *                          may reach into it)
 *
 * Step 4 is closed when the walk passes the mark where step 3 begins: only then is it known how far
 * the work of step 3 reaches.
 */
#include "report/budget/budget.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/budget/budget_sweep.h"
#include "report/budget/call_state.h"
#include "report/comm/host_collectives.h"
#include "report/comm/sanity.h"
#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/model/device_records.h"
#include "report/model/os_kind.h"
#include "report/model/select.h"
#include "report/ops/loop.h"
#include "report/util/buf.h"
#include "report/util/sort.h"

/* ---- what is known of calls ---- */

struct call_info {
	uint32_t name;
	uint8_t kind; /* enum call_kind; 0: not looked at yet */
	bool is_os, is_gil;
	struct launch_name launch;
};

/* ---- which part an event belongs to ---- */

static enum budget_part part_of_record(const struct op_record *record)
{
	switch (record->table) {
	case GPROF_TABLE_memcpy:
		switch (copy_kind_of(record->copy)) {
		case API_COPY_HTOD:
			return BUDGET_UPLOAD;
		case API_COPY_DTOH:
			return BUDGET_DOWNLOAD;
		default:
			return BUDGET_COPY;
		}
	case GPROF_TABLE_memset:
		return BUDGET_SET;
	case GPROF_TABLE_kernel:
		return record->is_communication ? BUDGET_COMMUNICATION : BUDGET_COMPUTING;
	default:
		return BUDGET_COMPUTING;
	}
}

/* ---- steps ---- */

static uint64_t ns_of(struct budget *budget, uint64_t tick)
{
	return clock_map_time(&budget->process->host_clock, tick);
}

/* Finds the steps whose end is marked; from the last mark on nothing is known to end. */
static void find_steps(struct budget *budget)
{
	const struct process *process = budget->process;
	size_t nr = process->nr_steps;

	budget->has_steps = nr > 1;
	budget->steps = mem_zeroed(nr + 1, sizeof(*budget->steps));
	budget->step_of = mem_zeroed(nr + 1, sizeof(*budget->step_of));
	if (!budget->has_steps) {
		budget->steps[budget->nr_steps++] =
			(struct budget_step){.begin_ns = process->first_ns,
				.end_ns = process->last_ns,
				.is_whole = true};
		return;
	}
	for (size_t i = 0; i + 1 < nr; i++) {
		if (model_step_is_gap(&process->steps[i])) {
			continue;
		}
		budget->steps[budget->nr_steps++] =
			(struct budget_step){.number = process->steps[i].step,
				.place = (uint32_t)i + 1,
				.begin_ns = ns_of(budget, process->steps[i].tick),
				.end_ns = ns_of(budget, process->steps[i + 1].tick)};
		budget->step_of[i + 1] = (uint32_t)budget->nr_steps;
	}
}

/* Returns 1 + the index of the step with that place; 0: there is none. */
static inline uint32_t step_at(const struct budget *budget, uint32_t place)
{
	return place <= budget->process->nr_steps ? budget->step_of[place] : 0;
}

/* Sets how far events must come until the last step that is open can be closed. */
static void set_closing(struct budget *budget)
{
	if (budget->nr_open > 1) {
		uint32_t before = budget->steps[budget->nr_open - 2].place;

		budget->closing_tick = budget->process->steps[before - 1].tick;
	}
}

/* Without a GPU the loop's thread needs a slot, however many threads have one before it comes. */
static void find_loop(struct budget *budget)
{
	struct host_states *host = &budget->host;

	host->loop_thread = process_has_device_records(budget->process, NULL)
				    ? 0
				    : loop_thread(budget->process);
	if (host->loop_thread) {
		host_states_slot(host, host->loop_thread);
	}
}

/* Sets how many compilations that samples show are still to come. */
static void set_compiled(struct budget *budget, size_t nr)
{
	budget->nr_compiled = nr;
	budget->compiled_tick = nr ? budget->compiled.items[nr - 1].end : 0;
}

void budget_begin(struct budget *budget, struct process *process, bool has_devices)
{
	*budget = (struct budget){.process = process,
		.closed_ns = UINT64_MAX,
		.most = BUDGET_MAX,
		.last_slot = HOST_OTHERS,
		.has_devices = has_devices};
	find_loop(budget);
	find_steps(budget);
	budget->nr_open = budget->nr_steps;
	budget->is_done = !budget->nr_steps;
	set_closing(budget);
	budget->is_trimmed = strcmp(process_source(process), "nsys") == 0;
	device_work_init(&budget->work, process);
	idmap_init(&budget->calls, sizeof(struct call_info));
	compile_samples_find(&budget->compiled, process);
	set_compiled(budget, budget->compiled.nr);
	long_calls_find(&budget->long_calls, process, budget->has_steps ? budget->step_of : NULL,
		(uint32_t)budget->nr_steps);
	idmap_init(&budget->slow.ns, sizeof(uint64_t));
	idmap_init(&budget->waits.ns, sizeof(uint64_t));
}

/* ---- closing a step: what its time went to ---- */

static void add_use(struct budget_step *step, const struct device_utilization *use)
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
	struct budget *budget, struct budget_step *step, uint64_t begin, uint64_t end)
{
	size_t nr_uses;
	struct device_utilization *uses = device_work_take(&budget->work, begin, end, &nr_uses);

	for (size_t i = 0; i < nr_uses; i++) {
		add_use(step, &uses[i]);
	}
	free(uses);
}

/* Closes what is left of the last step that is open, back to `begin`. */
static void close_from(struct budget *budget, struct budget_step *step, uint64_t begin)
{
	uint64_t end = step->end_ns < budget->closed_ns ? step->end_ns : budget->closed_ns;

	budget_sweep(budget, step, begin, end);
	gap_owners_pass(&budget->owners, begin);
	if (budget->has_devices) {
		add_devices(budget, step, begin,
			step->devices_end_ns < budget->closed_ns ? step->devices_end_ns
								 : budget->closed_ns);
	}
	budget->closed_ns = begin;
}

/* Fixes the end of a step: it is known now, and so is the begin of the next one. */
static void begin_step(struct budget *budget, struct budget_step *step)
{
	if (step->is_begun) {
		return;
	}
	step->is_begun = true;
	step->end_ns = step->end_ns > step->device_end_ns ? step->end_ns : step->device_end_ns;
	if (!budget->has_steps && budget->is_trimmed && budget->seen_end &&
		step->end_ns > budget->seen_end) {
		step->end_ns = budget->seen_end;
	}
	if (step->end_ns > budget->closed_ns) {
		step->end_ns = budget->closed_ns;
	}
	step->devices_end_ns = budget->has_pauses && step + 1 < budget->steps + budget->nr_steps
				       ? step[1].begin_ns
				       : step->end_ns;
}

/* Finds where the last step that is open begins, as far as is known of the one before it. */
static uint64_t begin_of_last(const struct budget *budget)
{
	const struct budget_step *step = &budget->steps[budget->nr_open - 1];
	uint64_t before = budget->has_steps ? budget->before_ns : 0;

	if (budget->nr_open > 1) {
		before = step[-1].end_ns > step[-1].device_end_ns ? step[-1].end_ns
								  : step[-1].device_end_ns;
	}
	return step->begin_ns > before ? step->begin_ns : before;
}

/* Closes the last step that is open: all launches of it and of the one before it are known. */
static void close_step(struct budget *budget)
{
	struct budget_step *step = &budget->steps[budget->nr_open - 1];
	uint64_t begin = begin_of_last(budget), end;

	end = step->is_begun ? budget->closed_ns : UINT64_MAX;
	begin_step(budget, step);
	end = end < step->end_ns ? end : step->end_ns;
	step->begin_ns = begin < end ? begin : end;
	close_from(budget, step, step->begin_ns);
	budget->nr_open--;
	set_closing(budget);
}

#define NR_SAMPLES 255u

/* Estimates from samples a time that about half of the activities end after. */
static uint64_t middle_of(const struct budget *budget)
{
	uint64_t ends[NR_SAMPLES];
	size_t nr = budget->nr_works < NR_SAMPLES ? budget->nr_works : NR_SAMPLES;

	for (size_t i = 0; i < nr; i++) {
		ends[i] = budget_sweep_work(budget, i * (budget->nr_works / nr))->end;
	}
	qsort(ends, nr, sizeof(ends[0]), by_u64);
	return nr ? ends[nr / 2] : 0;
}

static bool is_full(const struct budget *budget, size_t most)
{
	bool is_much = budget->nr_works > most || host_states_are_many(&budget->host, most);

	for (unsigned int i = 0; i < NR_BUDGET_BUSY; i++) {
		is_much |= budget->busy[i].strays.nr > most;
	}
	return is_much;
}

/* Closes the later half of too many activities, as if no more of its events were to come. */
static void make_room(struct budget *budget)
{
	uint64_t middle = middle_of(budget), begin = begin_of_last(budget);
	struct budget_step *step;

	while (budget->nr_open > 1 && middle <= begin) {
		close_step(budget);
		begin = begin_of_last(budget);
	}
	step = &budget->steps[budget->nr_open - 1];
	begin_step(budget, step);
	middle = middle > begin ? middle : begin;
	middle = middle < budget->closed_ns ? middle : budget->closed_ns;
	close_from(budget, step, middle);
	budget->is_done = budget->nr_open == 1 && middle <= begin;
	/* If that did not help, the budget gives up: it would make room at every event. */
	budget->is_too_much = !budget->is_done && is_full(budget, budget->most / 4 * 3);
}

/* ---- events ---- */

static bool is_wanted(const struct budget *budget)
{
	return !budget->is_too_much && !budget->is_done;
}

/*
 * Returns the time from which on everything is closed, where an event that reaches into it is cut;
 * counts the event.
 */
static uint64_t cut(struct budget *budget, uint64_t begin, uint64_t end)
{
	bool is_cut = budget->nr_open && budget->steps[budget->nr_open - 1].is_begun;

	budget->nr_late += begin < end && !is_cut;
	budget->nr_cut += begin < end && is_cut;
	return budget->closed_ns;
}

/* Is anything of it left? */
static inline bool clip(struct budget *budget, uint64_t begin, uint64_t *end)
{
	if (*end > budget->closed_ns) {
		*end = cut(budget, begin, *end);
	}
	return begin < *end && is_wanted(budget);
}

static inline void after_adding(struct budget *budget, size_t nr_strays)
{
	if (nr_strays > budget->most || budget->nr_works > budget->most) {
		make_room(budget);
	}
}

static inline void add_busy(
	struct budget *budget, enum budget_part part, uint64_t begin, uint64_t end)
{
	if (clip(budget, begin, &end)) {
		interval_queue_push(&budget->busy[part], begin, end);
		after_adding(budget, budget->busy[part].strays.nr);
	}
}

static void add_rank_part(void *context, enum rank_waits_part part, uint64_t begin, uint64_t end)
{
	static const enum budget_part parts[] = {[RANK_WAITS_TRANSFER] = BUDGET_TRANSFER,
		[RANK_WAITS_UNKNOWN] = BUDGET_COMMUNICATION,
		[RANK_WAITS_WAIT] = BUDGET_RANK_WAIT};

	add_busy(context, parts[part], begin, end);
}

static inline void add_state(struct budget *budget, unsigned int slot, enum host_state state,
	uint64_t begin, uint64_t end)
{
	if (clip(budget, begin, &end)) {
		after_adding(budget, host_states_push(&budget->host, slot, state, begin, end));
	}
}

static uint32_t site_of(
	struct budget *budget, uint32_t name, const struct op_call *call, const struct op *op)
{
	return budget->site_of ? budget->site_of(budget->gap_context, name, call, op)
			       : BUDGET_SITE_UNKNOWN;
}

static inline void add_owner(
	struct budget *budget, enum host_state state, uint64_t begin, uint64_t end, uint32_t site)
{
	if (budget->site_of && is_wanted(budget)) {
		gap_owners_push(
			&budget->owners, &(struct gap_owner){begin, end, site, (uint8_t)state});
	}
}

/* ---- compilations that samples show ---- */

/* Adds those that end at a time or later, as a range that ends then would come. */
static void add_sampled(struct budget *budget, uint64_t tick)
{
	while (budget->nr_compiled && tick <= budget->compiled_tick) {
		const struct sampled_compilation *item =
			&budget->compiled.items[budget->nr_compiled - 1];
		const struct op op = {.name = sampled_compilation_text(item)};
		unsigned int slot =
			item->thread ? host_states_slot(&budget->host, item->thread) : HOST_OTHERS;

		set_compiled(budget, budget->nr_compiled - 1);
		add_owner(budget, HOST_COMPILATION, item->begin_ns, item->end_ns,
			site_of(budget, 0, NULL, &op));
		add_state(budget, slot, HOST_COMPILATION, item->begin_ns, item->end_ns);
	}
}

/* Closes the steps that are complete: all that comes from here on ended by `tick`. */
static inline void come_to(struct budget *budget, uint64_t tick)
{
	if (tick <= budget->compiled_tick) {
		add_sampled(budget, tick);
	}
	while (budget->nr_open > 1 && tick <= budget->closing_tick) {
		close_step(budget);
	}
}

/* ---- calls ---- */

static inline void add_owned(struct budget *budget, enum budget_owned owned, uint64_t begin,
	uint64_t end, const struct budget_site *site)
{
	if (is_wanted(budget)) {
		busy_owners_push(&budget->owned[owned], &(struct busy_owner){begin, end, *site});
	}
}

/*
 * Keeps the site of a copy or of communication, for the time in which nothing else runs. Call
 * add_work before: it sets the site of the call.
 */
static void add_owned_work(struct budget *budget, enum budget_part part,
	const struct op_record *record, const struct op_call *call, const struct op *op)
{
	struct budget_site site = {record->end_ns, BUDGET_SITE_UNKNOWN};

	if (!budget->site_of || (part != BUDGET_UPLOAD && part != BUDGET_DOWNLOAD &&
					part != BUDGET_COMMUNICATION)) {
		return;
	}
	if (call) {
		site = (struct budget_site){budget->call.end, budget->call.site};
	}
	if (call && part == BUDGET_COMMUNICATION) {
		site.site = site_of(
			budget, process_shape_name(budget->process, record->shape), call, op);
	}
	add_owned(budget,
		part == BUDGET_UPLOAD	  ? BUDGET_OWNED_UPLOADS
		: part == BUDGET_DOWNLOAD ? BUDGET_OWNED_DOWNLOADS
					  : BUDGET_OWNED_COMMUNICATION,
		record->begin_ns, record->end_ns, &site);
}

static const struct call_info *info_of(struct budget *budget, uint32_t call)
{
	struct call_info *info = idmap_put(&budget->calls, call);
	uint8_t api;

	if (!info->kind) {
		info->name = process_call_name(budget->process, call, &api);
		info->is_os = api == GPROF_API_THREAD;
		info->is_gil = info->is_os && os_kind_of(info->name) == GPROF_OS_GIL;
		info->kind = (uint8_t)call_kind_of(info->name);
		info->launch = launch_name_of(info->name);
	}
	return info;
}

static enum host_state state_of(const struct op_call *call, const struct call_info *info)
{
	if (info->is_os) {
		return info->is_gil ? HOST_GIL : HOST_OS;
	}
	switch (info->kind) {
	case CALL_WAIT:
		return HOST_WAIT;
	case CALL_LOAD:
	case CALL_ALLOC:
		return HOST_ALLOCATION;
	default:
		switch (call->table) {
		case GPROF_TABLE_api_launch:
		case GPROF_TABLE_api_copy:
		case GPROF_TABLE_api_set:
			return HOST_LAUNCH;
		default:
			return HOST_CALL;
		}
	}
}

static void add_to_top(struct call_top *top, uint32_t name, uint64_t ns)
{
	uint64_t *sum = idmap_put(&top->ns, name);

	*sum += ns;
	if (*sum > top->most_ns) {
		top->most_ns = *sum;
		top->name = name;
	}
}

static struct call_top *top_of(struct budget *budget, enum host_state state)
{
	bool is_in_step = !budget->has_steps || step_at(budget, budget->call.step);

	if ((state == HOST_STARTUP && is_in_step) ||
		(state == HOST_ALLOCATION && !budget->has_steps)) {
		return &budget->slow;
	}
	return state == HOST_WAIT ? &budget->waits : NULL;
}

/*
 * Calls of the operating system in which other threads wait do not keep the GPU idle
 * (host_states.c), and most of them are longer. Nor do those within a call of CUDA or an operator,
 * which has that time.
 */
static bool owns_gaps(const struct budget *budget, enum host_state state, unsigned int slot)
{
	return state != HOST_OS ||
	       ((budget->host.slots[slot].is_launching ||
			(budget->host.loop_thread &&
				!host_states_waits_for_work(&budget->host, slot))) &&
		       !host_states_hides(&budget->host, slot, budget->call.begin));
}

/*
 * Adds the call before this event. It had to wait until now, because the records behind it show
 * what it did: whether it launched work, and whether it waited for a copy.
 */
static void add_last_call(struct budget *budget)
{
	enum host_state state = (enum host_state)budget->call.state;
	struct call_top *top;
	unsigned int slot;

	if (!budget->call.is_there) {
		return;
	}
	budget->call.is_there = false;
	slot = host_states_slot(&budget->host, budget->call.thread);
	if (state == HOST_LAUNCH && budget->call.table == GPROF_TABLE_api_launch &&
		budget->call.end - budget->call.begin >= BUDGET_LOADING_NS) {
		state = HOST_ALLOCATION;
	}
	top = state <= HOST_WAIT ? top_of(budget, state) : NULL;
	if (top &&
		(!budget->process->select || select_has_tick(budget->process, budget->call.tick))) {
		add_to_top(top, budget->call.name, budget->call.end - budget->call.begin);
	}
	if (gap_owners_has(state) && owns_gaps(budget, state, slot)) {
		add_owner(budget, state, budget->call.begin, budget->call.end, budget->call.site);
	}
	add_state(budget, slot, state, budget->call.begin, budget->call.end);
}

/* Changes the state of a call that copied: it waited for its copy if that ended before the call. */
static void see_copy(struct budget *budget, enum budget_part part, uint64_t end_ns)
{
	if (budget->call.state == HOST_LAUNCH && end_ns <= budget->call.end) {
		budget->call.state = part == BUDGET_DOWNLOAD ? HOST_WAIT
				     : part == BUDGET_UPLOAD ? HOST_STAGING
							     : HOST_LAUNCH;
	}
}

/* ---- events of the walk ---- */

/*
 * Without steps only the time from the first of these to the last counts, where the trace has other
 * events.
 */
static inline void see(struct budget *budget, uint64_t begin, uint64_t end)
{
	budget->seen_begin =
		!budget->seen_begin || begin < budget->seen_begin ? begin : budget->seen_begin;
	budget->seen_end = end > budget->seen_end ? end : budget->seen_end;
}

bool budget_wants_covered(uint32_t name, uint8_t framework, uint8_t scope)
{
	return host_collective_library_of(name) || op_is_compilation(name, framework, scope) ||
	       op_class(name, framework, scope) == OP_DATALOADER;
}

/*
 * A collective on the host is a busy part, as a kernel of one is; all else is a state of its
 * thread.
 */
void budget_enter(struct budget *budget, const struct op *op)
{
	uint64_t begin = ns_of(budget, op->begin), end = ns_of(budget, op->end);
	unsigned int slot = host_states_slot(&budget->host, op->thread);

	add_last_call(budget);
	see(budget, begin, end);
	come_to(budget, op->end);
	if (host_collective_library_of(op->name)) {
		rank_waits_divide_call(budget->rank_waits, begin, end, add_rank_part, budget);
		if (budget->site_of) {
			add_owned(budget, BUDGET_OWNED_COMMUNICATION, begin, end,
				&(struct budget_site){end, site_of(budget, 0, NULL, op)});
		}
	} else if (op_is_whole_compilation(op)) {
		add_owner(budget, HOST_COMPILATION, begin, end, site_of(budget, 0, NULL, op));
		add_state(budget, slot, HOST_COMPILATION, begin, end);
	} else if (op_class(op->name, op->framework, op->scope) == OP_DATALOADER) {
		add_owner(budget, HOST_LOADER, begin, end, site_of(budget, 0, NULL, op));
		budget->loaders |= op_loader_of(op->name);
		add_state(budget, slot, HOST_LOADER, begin, end);
	} else if (!(op->is & (OP_IS_AROUND | OP_IS_COVERED))) {
		add_state(budget, slot, HOST_OPERATOR, begin, end);
	} else if ((op->is & OP_IS_USER) && !(op->is & OP_IS_COVERED) &&
		   !op_is_step(op->name, op->framework, op->scope)) {
		add_state(budget, slot, HOST_RANGE, begin, end);
	}
}

/*
 * Adds a capture to the step in which it begins: until it ends, launches of its thread run nothing.
 * Of captures at the same time the one that ends first in the pass counts.
 */
static void see_capture(struct budget *budget, const struct op_call *call,
	const struct launch_name *name, uint64_t begin, uint64_t end)
{
	if (name->ends_capture && !budget->capture_end) {
		budget->capture_end = end;
	} else if (name->begins_capture && budget->capture_end) {
		uint32_t step = budget->has_steps ? step_at(budget, call->step) : 1;

		if (step && step <= budget->nr_steps) {
			budget->steps[step - 1].capture_ns += budget->capture_end - begin;
		}
		budget->capture_end = 0;
	}
}

/* Keeps the call until what it launched has been seen: add_last_call. */
void budget_call(struct budget *budget, const struct op_call *call, const struct op *op)
{
	const struct call_info *info;
	enum host_state state;
	uint64_t begin = ns_of(budget, call->begin), end = ns_of(budget, call->end);

	add_last_call(budget);
	come_to(budget, call->end);
	info = info_of(budget, call->call);
	state = state_of(call, info);
	if (!info->is_os) {
		see(budget, begin, end);
	}
	if (end - begin >= LONG_CALLS_NS &&
		long_calls_has_startup(&budget->long_calls, call->begin, info->name)) {
		state = HOST_STARTUP;
	}
	launch_counter_call(&budget->counter, budget->process, call, &info->launch);
	see_capture(budget, call, &info->launch, begin, end);
	budget->call.name = info->name;
	budget->call.has_site = gap_owners_has(state);
	budget->call.site = budget->call.has_site ? site_of(budget, 0, call, op) : 0;
	budget->call.is_there = true;
	budget->call.step = call->step;
	budget->call.tick = call->begin;
	budget->call.begin = begin;
	budget->call.end = end;
	budget->call.thread = call->thread;
	budget->call.state = (uint8_t)state;
	budget->call.table = call->table;
}

/*
 * A step ends with the last work that was launched in it. What was launched before the first step
 * moves its begin.
 */
static void add_device_end(
	struct budget *budget, const struct op_record *record, const struct op_call *call)
{
	uint32_t step = step_at(budget, call->step);

	if (!budget->has_steps || (!step && !call->step)) {
		if (record->end_ns > budget->before_ns) {
			budget->before_ns = record->end_ns;
		}
	} else if (step && record->end_ns > budget->steps[step - 1].device_end_ns) {
		budget->steps[step - 1].device_end_ns = record->end_ns;
	}
}

void budget_collection(struct budget *budget, const struct op_collection *collection)
{
	const struct op *op = &collection->op;
	uint64_t begin = ns_of(budget, op->begin), end = ns_of(budget, op->end);

	add_last_call(budget);
	come_to(budget, op->end);
	add_owner(budget, HOST_GC, begin, end, site_of(budget, 0, NULL, op));
	add_state(budget, host_states_slot(&budget->host, op->thread), HOST_GC, begin, end);
}

void budget_range(struct budget *budget, const struct op_range *range)
{
	see(budget, ns_of(budget, range->begin), ns_of(budget, range->end));
}

/* Keeps an activity, since it may end a gap. */
static void add_work(struct budget *budget, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	struct budget_work work = {
		.begin = record->begin_ns, .end = record->end_ns, .slot = HOST_OTHERS};

	if (call) {
		if (!budget->call.has_site) {
			budget->call.has_site = true;
			budget->call.site = site_of(budget, 0, call, op);
		}
		work.site = budget->call.site;
		work.launch_end = ns_of(budget, call->end);
		work.slot = (uint8_t)host_states_launching(&budget->host, call->thread);
		if (!budget->has_last) {
			budget->has_last = true;
			budget->last_slot = work.slot;
		}
	}
	if (is_wanted(budget)) {
		budget_sweep_add_work(budget, &work);
	}
}

void budget_record(struct budget *budget, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	enum budget_part part = part_of_record(record);
	uint64_t end = record->end_ns;

	launch_counter_record(&budget->counter, record, call);
	if (!record->is_timed || record->begin_ns > end) {
		budget->nr_untimed++;
		return;
	}
	see(budget, record->begin_ns, end);
	if (call) {
		add_device_end(budget, record, call);
		see_copy(budget, part, end);
	}
	add_work(budget, record, call, op);
	add_owned_work(budget, part, record, call, op);
	if (budget->has_devices && gprof_table_is(record->table, GPROF_IS_COMPUTING) &&
		record->begin_ns < budget->closed_ns && is_wanted(budget)) {
		device_work_add(
			&budget->work, record, end < budget->closed_ns ? end : budget->closed_ns);
	}
	if (part == BUDGET_COMMUNICATION) {
		rank_waits_divide_kernel(budget->rank_waits, record->correlation, record->begin_ns,
			end, add_rank_part, budget);
	} else {
		add_busy(budget, part, record->begin_ns, end);
	}
}

/*
 * Moves the begin of the first step: it begins with the program, unless its first phase shows where
 * the loop does.
 */
static void begin_first(struct budget *budget, const struct phases *phases)
{
	struct budget_step *first = &budget->steps[0];

	if (budget->has_steps && budget->nr_steps && first->place == 1 &&
		phases_has_steps(phases)) {
		uint64_t end = budget->process->steps[1].tick;

		first->begin_ns = ns_of(budget, end - phases_step_ticks(phases, 1));
	}
}

/* ---- lost launches ---- */

/* Counts idle time as unknown. */
static void forget_idle(uint64_t idle[NR_BUDGET_IDLE])
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < NR_BUDGET_IDLE; i++) {
		ns += idle[i];
		idle[i] = 0;
	}
	idle[BUDGET_UNKNOWN - BUDGET_HOST] = ns;
}

/*
 * What the host did meanwhile is known all the same: `late_ns` has it, as that of other time in
 * which the GPU may have work.
 */
static void forget_step(struct budget_step *step)
{
	for (unsigned int i = 0; i <= NR_HOST_STATES; i++) {
		step->late_ns[i] += step->ns[BUDGET_HOST + i];
	}
	memset(step->drained_ns, 0, sizeof(step->drained_ns));
	forget_idle(&step->ns[BUDGET_HOST]);
}

/* Only now it is known how many launches lack their activity. */
static void settle_lost(struct budget *budget)
{
	launch_counter_end(&budget->counter, budget->process);
	budget->launches = budget->counter.sum;
	for (size_t i = 0; budget_has_lost(&budget->launches) && i < budget->nr_steps; i++) {
		forget_step(&budget->steps[i]);
	}
}

void budget_settle_gap(const struct budget *budget, struct budget_gap *gap)
{
	if (budget_has_lost(&budget->launches)) {
		forget_idle(gap->ns);
		gap->is_drained = false;
	}
}

/* ---- the end ---- */

void budget_end(struct budget *budget, const struct phases *phases)
{
	add_last_call(budget);
	add_sampled(budget, 0);
	begin_first(budget, phases);
	if (!budget->has_steps && budget->is_trimmed &&
		budget->seen_begin > budget->steps[0].begin_ns) {
		budget->steps[0].begin_ns = budget->seen_begin;
	}
	while (budget->nr_open) {
		close_step(budget);
	}
	settle_lost(budget);
	for (size_t i = 0; i < budget->nr_steps; i++) {
		struct budget_step *step = &budget->steps[i];

		step->is_whole = !step->place || phases_is_whole(phases, step->place);
	}
}

void budget_fini(struct budget *budget)
{
	for (size_t i = 0; i < budget->nr_steps; i++) {
		free(budget->steps[i].devices);
	}
	for (size_t i = 0; i < NR_BUDGET_BUSY; i++) {
		interval_queue_fini(&budget->busy[i]);
	}
	host_states_fini(&budget->host);
	compile_samples_fini(&budget->compiled);
	gap_owners_fini(&budget->owners);
	for (unsigned int i = 0; i < NR_BUDGET_OWNED; i++) {
		busy_owners_fini(&budget->owned[i]);
	}
	idmap_fini(&budget->calls);
	long_calls_fini(&budget->long_calls);
	idmap_fini(&budget->slow.ns);
	idmap_fini(&budget->waits.ns);
	for (unsigned int i = 0; i < BUDGET_RUNS; i++) {
		free(budget->runs[i].items);
	}
	free(budget->stray_works.items);
	device_work_fini(&budget->work);
	free(budget->steps);
	free(budget->step_of);
	*budget = (struct budget){0};
}

void budget_warn(const struct process *process, bool is_too_much, uint64_t nr_cut)
{
	const char *label = process->stream->label;

	if (is_too_much) {
		sanity_add("%s: the time budget omits this process: more than %u events of one "
			   "step overlap; end steps more often (GPROF_STEP)",
			label, BUDGET_MAX);
	} else if (nr_cut) {
		sanity_add("%s: the time budget lacks part of %" PRIu64
			   " events: they ran later than what was launched %u kernels after them; "
			   "end steps more often (GPROF_STEP)",
			label, nr_cut, BUDGET_MAX / 2);
	}
}
