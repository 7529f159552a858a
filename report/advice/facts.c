/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers the facts of one process. judgement.c calls it in the order of the two passes: the scan,
 * which has allocations, then the walk over operators, from the last event to the first; verdict.c
 * adds the gaps of the time budget; advice_total ends it. Then the judges read (advice.c).
 *
 * Nothing is kept for each event. Each is added up by cause, call site and time as it comes, and
 * what a name means to the rules is found once for each name. In the walk a call comes just before
 * what it launched, so that one launch at a time is open (end_launch).
 */
#include "report/advice/facts.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/budget/call_state.h"
#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/model/kernel_class.h"
#include "report/model/occupancy.h"
#include "report/model/select.h"
#include "report/stats/samples.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"
#include "report/util/rounding.h"

/* ---- what names of calls, operators and kernels mean to the rules ---- */

enum {
	ADVICE_OP_KNOWN = 1,
	ADVICE_OP_TENSOR = 2, /* could use tensor cores */
	ADVICE_OP_DATA_PARALLEL = 4,
	ADVICE_OP_DDP = 8,
	ADVICE_OP_NCCL = 16,
	ADVICE_OP_GLOO = 32,
	ADVICE_OP_STEP = 64, /* the range of a step: says nothing of where */
};

/* Does the call return before a copy or set is done? By its name. */
static bool advice_call_is_async(uint32_t name)
{
	const char *text = string_pool_text(name, NULL);

	/* A graph's launch does not wait for the copies in it. */
	return strstr(text, "Async") || strstr(text, "Launch");
}

bool advice_is_nccl_range(const char *name)
{
	return strncmp(name, "nccl:", 5) == 0;
}

/* Returns bits of the enum above. */
static uint32_t advice_op_of(uint32_t name)
{
	const char *text = string_pool_text(name, NULL);
	uint32_t bits = ADVICE_OP_KNOWN;

	bits |= tensor_is_eligible(name) ? ADVICE_OP_TENSOR : 0;
	bits |= strcmp(text, "DataParallel.forward") == 0 ? ADVICE_OP_DATA_PARALLEL : 0;
	bits |= strncmp(text, "DistributedDataParallel.forward", 31) == 0 ? ADVICE_OP_DDP : 0;
	bits |= advice_is_nccl_range(text) ? ADVICE_OP_NCCL : 0;
	bits |= strncmp(text, "gloo:", 5) == 0 ? ADVICE_OP_GLOO : 0;
	bits |= strncmp(text, "ProfilerStep#", 13) == 0 ? ADVICE_OP_STEP : 0;
	bits |= strncmp(text, "ProfileStep#", 12) == 0 ? ADVICE_OP_STEP : 0;
	return bits;
}

/* Does a kernel multiply matrices or convolve? Tensor cores do nothing else. */
static bool advice_is_multiply(uint32_t kernel)
{
	static const char *const words[] = {"gemm", "conv", "wgrad", "dgrad", "fprop", "winograd",
		"attention", "fmha", "matmul", NULL};

	return text_has_any(string_pool_demangled(kernel, NULL), words);
}

/* ---- as events come ---- */

/* A shape of the stream on the device that it ran on first. */
struct shape_info {
	uint32_t name; /* 0: not looked at yet */
	uint8_t tensor, limits;
	bool is_communication, is_multiply, has_occupancy, is_low;
};

struct call_info {
	uint32_t name;
	uint8_t kind; /* enum call_kind */
	bool is_async, is_graph;
};

void advice_facts_init(struct advice_facts *facts, struct process *process)
{
	*facts = (struct advice_facts){.process = process,
		.why_no_gpu = "",
		.is_imported = *process_fact(process, "trace.format", "") != '\0'};
	facts->has_gpu = process_has_device_records(process, &facts->why_no_gpu);
	idmap_init(&facts->shapes, sizeof(struct shape_info));
	idmap_init(&facts->kernels, sizeof(struct advice_launch));
	idmap_init(&facts->calls, sizeof(struct call_info));
	idmap_init(&facts->ops, sizeof(uint32_t));
	idmap_init(&facts->places, sizeof(bool));
	gap_places_init(&facts->gap_places);
	os_files_begin(&facts->os_files, process);
}

void advice_facts_fini(struct advice_facts *facts)
{
	idmap_fini(&facts->shapes);
	idmap_fini(&facts->kernels);
	idmap_fini(&facts->calls);
	idmap_fini(&facts->ops);
	idmap_fini(&facts->places);
	os_files_fini(&facts->os_files);
	free(facts->is_recorded);
	counted_steps_fini(&facts->counted);
	gap_places_fini(&facts->gap_places);
	gaps_fini(&facts->gaps);
	advice_sites_fini(&facts->sites);
	advice_sites_fini(&facts->limits);
}

void advice_facts_take_allocs(struct advice_facts *facts, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t device = b->col[COL_alloc_device][i];
		uint64_t bytes = b->col[COL_alloc_reserved_bytes][i];

		if (b->col[COL_alloc_device_type][i] == 0 || device >= ADVICE_MAX_DEVICES ||
			!select_has_tick(facts->process, b->col[COL_alloc_time][i])) {
			continue;
		}
		bytes = bytes ? bytes : b->col[COL_alloc_allocated_bytes][i];
		if (bytes > facts->memory[device].reserved_bytes) {
			facts->memory[device].reserved_bytes = bytes;
		}
	}
}

/* ---- when and where ---- */

void advice_facts_begin(struct advice_facts *facts)
{
	struct phases phases;

	/* Which steps were recorded follows from the schedule alone. */
	phases_init(&phases, facts->process);
	facts->is_recorded = mem_zeroed(phases.nr_steps, sizeof(*facts->is_recorded));
	for (size_t i = 1; i + 1 < phases.nr_steps; i++) {
		facts->is_recorded[i] = phases.steps[i].is_recorded;
	}
	phases_fini(&phases);
	counted_steps_init(&facts->counted, facts->process, false);
	facts->has_ops = op_has_any(facts->process);
}

/* step: as phases count them, 0: outside of all. */
static enum advice_when when_of_step(const struct advice_facts *facts, uint32_t step)
{
	if (!facts->process->nr_steps) {
		return ADVICE_LATER;
	}
	if (step > facts->process->nr_steps || !facts->is_recorded[step]) {
		return ADVICE_OUTSIDE;
	}
	return step == 1 ? ADVICE_FIRST : ADVICE_LATER;
}

static enum advice_when when_of(const struct advice_facts *facts, const struct op_call *call)
{
	return when_of_step(facts, call ? call->step : 0);
}

static uint32_t bits_of(struct advice_facts *facts, uint32_t name)
{
	uint32_t *bits = idmap_put(&facts->ops, name);

	*bits = *bits ? *bits : advice_op_of(name);
	return *bits;
}

/*
 * Returns the name of the innermost operator around an event, without the range of a step, which
 * says nothing of where.
 */
static uint32_t op_name_of(struct advice_facts *facts, const struct op *op)
{
	while (op && bits_of(facts, op->name) & ADVICE_OP_STEP) {
		op = op->parent;
	}
	return op ? op->name : 0;
}

static uint32_t stack_of(
	const struct advice_facts *facts, const struct op_call *call, const struct op *op)
{
	if (call && call->py_stack) {
		return call->py_stack;
	}
	if (!facts->process->py_stacks.nr) {
		return 0;
	}
	while (op && !op->py_stack) {
		op = op->parent;
	}
	return op ? op->py_stack : 0;
}

/* Operator and Python stack around an event, or else the function of C or C++. */
static struct gap_place_key place_of(
	struct advice_facts *facts, uint32_t what, const struct op_call *call, const struct op *op)
{
	struct gap_place_key place = {what, op_name_of(facts, op), stack_of(facts, call, op)};

	if (!place.op && !place.py_stack) {
		place.op = gap_places_caller(facts->process, call);
	}
	return place;
}

static void note(struct advice_facts *facts, enum advice_cause cause, uint64_t ns, uint32_t what,
	const struct op_call *call, const struct op *op)
{
	const struct gap_place_key place = place_of(facts, what, call, op);

	advice_sites_add(&facts->sites, cause, when_of(facts, call), ns, &place);
}

static uint64_t call_ns(const struct advice_facts *facts, const struct op_call *call)
{
	return clock_map_duration(&facts->process->host_clock, call->end - call->begin);
}

static const struct call_info *make_info(struct advice_facts *facts, const struct op_call *call)
{
	struct call_info *info = idmap_put(&facts->calls, call->call);

	info->name = process_call_name(facts->process, call->call, NULL);
	info->kind = (uint8_t)call_kind_of(info->name);
	info->is_async = advice_call_is_async(info->name);
	info->is_graph = strstr(string_pool_text(info->name, NULL), "GraphLaunch") != NULL;
	return info;
}

static inline const struct call_info *info_of(
	struct advice_facts *facts, const struct op_call *call)
{
	const struct call_info *info = idmap_get(&facts->calls, call->call);

	return info ? info : make_info(facts, call);
}

/* ---- operators and calls ---- */

bool advice_facts_wants_op(uint32_t name, uint8_t framework, uint8_t scope)
{
	const uint32_t uses =
		ADVICE_OP_DATA_PARALLEL | ADVICE_OP_DDP | ADVICE_OP_NCCL | ADVICE_OP_GLOO;

	return (advice_op_of(name) & uses) || op_class(name, framework, scope) == OP_DATALOADER;
}

void advice_facts_take_op(struct advice_facts *facts, const struct op *op)
{
	uint32_t bits = bits_of(facts, op->name);

	facts->uses_data_parallel |= (bits & ADVICE_OP_DATA_PARALLEL) != 0;
	facts->uses_ddp |= (bits & ADVICE_OP_DDP) != 0;
	facts->uses_nccl |= (bits & ADVICE_OP_NCCL) != 0;
	facts->uses_gloo |= (bits & ADVICE_OP_GLOO) != 0;
	if (op_class(op->name, op->framework, op->scope) == OP_DATALOADER) {
		const struct phases steps = {
			.process = facts->process, .nr_steps = facts->process->nr_steps + 1};
		const struct op_call at = {
			.py_stack = op->py_stack, .step = phases_step(&steps, op->begin)};
		uint64_t ns = clock_map_duration(&facts->process->host_clock, op->end - op->begin);

		note(facts, ADVICE_LOADER, ns, op->name, &at, op->parent);
	}
}

/*
 * PyTorch's profiler waits for the device when it stops: in its traces the last such call, outside
 * of all operators and with nothing launched after it, is not the program's.
 */
static bool is_of_profiler(struct advice_facts *facts, const struct op_call *call,
	const struct call_info *info, const struct op *op)
{
	bool is_last = !facts->has_launched && facts->is_imported &&
		       strstr(string_pool_text(info->name, NULL), "DeviceSynchronize") &&
		       !op_name_of(facts, op);

	facts->has_launched |= is_last || call->table == GPROF_TABLE_api_launch ||
			       call->table == GPROF_TABLE_api_copy ||
			       call->table == GPROF_TABLE_api_set;
	return is_last;
}

/* Does the launch take longer than all that it launched? A graph's launch counts once. */
static inline void end_launch(struct advice_facts *facts)
{
	const struct advice_launched *launch = &facts->launched;

	if (launch->is_waited_for && launch->call_ns > launch->activities_ns) {
		advice_sites_add(&facts->sites, ADVICE_SMALL_KERNEL, launch->when,
			launch->call_ns - launch->activities_ns,
			&(struct gap_place_key){launch->what, launch->op, launch->py_stack});
	}
	facts->launched = (struct advice_launched){0};
}

void advice_facts_take_call(
	struct advice_facts *facts, const struct op_call *call, const struct op *op)
{
	const struct call_info *info = info_of(facts, call);
	static const enum advice_cause causes[] = {[CALL_WAIT] = ADVICE_WAIT,
		[CALL_LOAD] = ADVICE_LOADING,
		[CALL_ALLOC] = ADVICE_ALLOCATION};

	end_launch(facts);
	if (is_of_profiler(facts, call, info, op)) {
		return;
	}
	if (info->kind != CALL_OTHER) {
		note(facts, causes[info->kind], call_ns(facts, call), info->name, call, op);
	}
}

/* ---- kernels ---- */

static const struct shape_info *shape_of(struct advice_facts *facts, const struct op_record *record)
{
	struct shape_info *info = idmap_put(&facts->shapes, record->shape);
	const struct model_shape *shape;
	struct occupancy_device device;
	struct occupancy occupancy;

	if (info->name) {
		return info;
	}
	shape = idmap_get(&facts->process->shapes, record->shape);
	info->name = process_shape_name(facts->process, record->shape);
	info->tensor = (uint8_t)tensor_use_of(info->name);
	info->is_communication = kernel_class_of(info->name) == KERNEL_COMMUNICATION;
	info->is_multiply = advice_is_multiply(info->name);
	device = occupancy_device(
		facts->process, process_place(facts->process, record->place).device);
	if (shape && occupancy_compute(&device, shape, &occupancy) && occupancy.has_estimate) {
		info->has_occupancy = true;
		info->is_low = occupancy.percent < ADVICE_LOW_OCCUPANCY &&
			       !occupancy_is_persistent(&occupancy);
		info->limits = occupancy.limits;
	}
	return info;
}

/*
 * Can an operator around the kernel use tensor cores? Without operators the name of the kernel must
 * do.
 */
static bool is_eligible(struct advice_facts *facts, const struct op *op)
{
	for (const struct op *at = op; at; at = at->parent) {
		if (bits_of(facts, at->name) & ADVICE_OP_TENSOR) {
			return true;
		}
	}
	return !op;
}

/*
 * Did the device wait for the launch? If not, the host is ahead, and its launches cost the device
 * nothing, however long they take.
 */
static bool is_waited_for(const struct advice_facts *facts, const struct op_record *record,
	const struct op_call *call)
{
	return record->begin_ns <
	       clock_map_time(&facts->process->host_clock, call->end) + ADVICE_BEHIND_NS;
}

/*
 * The site of a launch is the kernel; that of a graph launch, which has many kernels, is the call.
 * The walk goes back in time, so that what stays in `kernels` is the first launch of each.
 */
static void take_launch(struct advice_facts *facts, const struct shape_info *info,
	const struct op_record *record, const struct op_call *call, const struct op *op)
{
	const struct call_info *called = info_of(facts, call);
	struct advice_launched *launch = &facts->launched;
	bool is_graph = record->graph || called->is_graph;

	launch->call_ns = call_ns(facts, call);
	launch->activities_ns += record->end_ns - record->begin_ns;
	launch->what = is_graph ? called->name : info->name;
	launch->op = op_name_of(facts, op);
	launch->py_stack = stack_of(facts, call, op);
	launch->when = (uint8_t)when_of(facts, call);
	launch->is_waited_for |= is_waited_for(facts, record, call);
	if (!is_graph) {
		*(struct advice_launch *)idmap_put(&facts->kernels, info->name) =
			(struct advice_launch){.ns = launch->call_ns,
				.name = info->name,
				.op = launch->op,
				.py_stack = launch->py_stack,
				.when = launch->when};
	}
}

/* A kernel with a generated name may multiply, whatever its name says. */
static bool may_multiply(const struct shape_info *info)
{
	return info->is_multiply || info->tensor != TENSOR_NO;
}

/*
 * Kernels of communication are only counted as such. Kernels of tensor cores do well with few
 * warps, and persistent ones have them by design, so their occupancy is no fault.
 */
static void take_kernel(struct advice_facts *facts, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	const struct shape_info *info = shape_of(facts, record);
	uint64_t ns = record->end_ns - record->begin_ns;

	if (record->place != facts->last_place || !facts->nr_kernels) {
		*(bool *)idmap_put(&facts->places, record->place) = true;
		facts->last_place = record->place;
	}
	facts->nr_kernels++;
	facts->kernel_ns += ns;
	facts->tensor_ns[info->tensor] += ns;
	facts->unjudged_ns += info->has_occupancy ? 0 : ns;
	if (info->is_communication) {
		note(facts, ADVICE_COMMUNICATION, ns, info->name, call, op);
		return;
	}
	if (may_multiply(info) && is_eligible(facts, op)) {
		facts->eligible_ns += ns;
		facts->unknown_ns += info->tensor == TENSOR_UNKNOWN ? ns : 0;
		if (info->tensor == TENSOR_NO) {
			note(facts, ADVICE_MULTIPLY, ns, info->name, call, op);
		}
	}
	if (info->is_low && info->tensor != TENSOR_YES) {
		uint32_t limit = occupancy_limit_name(info->limits);

		note(facts, ADVICE_OCCUPANCY, ns, info->name, call, op);
		advice_sites_add(&facts->limits, ADVICE_OCCUPANCY, ADVICE_LATER, ns,
			&(struct gap_place_key){limit, 0, 0});
	}
	if (call && call->table == GPROF_TABLE_api_launch) {
		take_launch(facts, info, record, call, op);
	}
}

/* ---- copies and sets ---- */

static bool is_async(
	struct advice_facts *facts, const struct op_record *record, const struct op_call *call)
{
	return record->copy & COPY_IS_ASYNC || record->graph || !call ||
	       info_of(facts, call)->is_async;
}

/* A copy, with the time of its call beside its own. */
static void note_copy(struct advice_facts *facts, enum advice_cause cause,
	const struct op_record *record, const struct op_call *call, const struct op *op)
{
	uint64_t ns = record->end_ns - record->begin_ns;

	note(facts, cause, ns, copy_name(record->copy), call, op);
	facts->other_ns[cause][when_of(facts, call)] += call ? call_ns(facts, call) : 0;
}

/* A call that copies, with the time of its copy beside its own: it may wait for other work. */
static void note_call(struct advice_facts *facts, enum advice_cause cause,
	const struct op_record *record, const struct op_call *call, const struct op *op)
{
	uint32_t what = call ? info_of(facts, call)->name : copy_name(record->copy);

	note(facts, cause, call ? call_ns(facts, call) : 0, what, call, op);
	facts->other_ns[cause][when_of(facts, call)] += record->end_ns - record->begin_ns;
}

/*
 * A copy may have several faults, so the causes overlap: from pageable memory, asynchronous in name
 * only, small.
 */
static void take_copy(struct advice_facts *facts, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	uint32_t kind = copy_kind_of(record->copy);
	/* A copy from the GPU blocks the host whatever kind of memory it writes to. */
	bool is_pageable =
		kind == API_COPY_HTOD && copy_source_of(record->copy) == API_MEMORY_PAGEABLE;
	bool is_host = kind == API_COPY_HTOD || kind == API_COPY_DTOH;

	if (is_pageable) {
		note_copy(facts, ADVICE_PAGEABLE, record, call, op);
	}
	if (is_async(facts, record, call)) {
		if (is_pageable) {
			note_call(facts, ADVICE_PAGEABLE_ASYNC, record, call, op);
		}
	} else if (kind != API_COPY_HTOD || record->bytes > ADVICE_SMALL_COPY_BYTES) {
		note_call(facts, ADVICE_COPY_SYNC, record, call, op);
	}
	if (is_host && record->bytes <= ADVICE_SMALL_COPY_BYTES) {
		note_copy(facts, ADVICE_SMALL_COPY, record, call, op);
	} else if (is_host && record->bytes >= ADVICE_LARGE_COPY_BYTES) {
		note_copy(facts, ADVICE_HOST_COPY, record, call, op);
		facts->copied_bytes += record->bytes;
	}
}

void advice_facts_take_record(struct advice_facts *facts, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	if (!record->is_timed) {
		return;
	}
	if (record->table == GPROF_TABLE_kernel) {
		take_kernel(facts, record, call, op);
	} else if (record->table == GPROF_TABLE_memcpy) {
		take_copy(facts, record, call, op);
	} else if (record->table == GPROF_TABLE_memset && !is_async(facts, record, call)) {
		note_call(facts, ADVICE_SET_SYNC, record, call, op);
	}
}

/* ---- gaps ---- */

uint32_t advice_facts_site(
	struct advice_facts *facts, uint32_t name, const struct op_call *call, const struct op *op)
{
	const struct op_call own = call ? *call : (struct op_call){.py_stack = op->py_stack};
	const struct op *around = call ? op : op->parent;
	struct gap_place_key key = place_of(facts, name, &own, around);

	if (!name) {
		key.what = call ? os_files_call(&facts->os_files, info_of(facts, call)->name,
					  op_call_file(call))
				: op->name;
	}
	if (facts->is_brief) {
		key.py_stack = 0;
	}

	return gap_places_find(&facts->gap_places, &key);
}

/* Keeps the last gap: no earlier piece of it can follow. */
static void keep_gap(struct advice_facts *facts)
{
	if (facts->gap.end > facts->gap.begin) {
		gaps_keep(&facts->gaps, &facts->gap);
	}
}

static struct gap_group group_of(const struct advice_facts *facts, uint32_t step)
{
	return (struct gap_group){(uint8_t)when_of_step(facts, step), facts->counted.counts[step]};
}

void advice_facts_take_owned(struct advice_facts *facts, enum gap_cost cost,
	const struct budget_step *step, const struct budget_site *site, uint64_t ns)
{
	if (!step->place || select_has_step(facts->process, step->place - 1)) {
		gap_places_take_owned(
			&facts->gap_places, cost, site, ns, group_of(facts, step->place));
	}
}

/*
 * Joins pieces of a gap that the budget cut between steps. They come from the last to the first:
 * one that ends where the last one began is a part of the same gap.
 */
void advice_facts_take_gap(struct advice_facts *facts, const struct budget_gap *gap)
{
	uint32_t step = gap->step->place;

	if (step && !select_has_step(facts->process, step - 1)) {
		return;
	}
	gap_places_take(&facts->gap_places, gap, group_of(facts, step));
	if (facts->is_brief) {
		return;
	}
	if (gap->end == facts->gap.begin) {
		facts->gap.begin = gap->begin;
		return;
	}
	keep_gap(facts);
	facts->gap = (struct gap){
		.begin = gap->begin, .end = gap->end, .step = step, .place = gap->launch.site};
}

/* ---- once all of a process was seen ---- */

/* nsys calls a device idle after 500 ms, which hardly a step is long enough for: a part of one. */
#define GAP_LIMIT_NS	  500000000u
#define GAP_LIMIT_PERCENT 10u

/* By nsys' rule a device has too little work if it is busy for less of a bucket. */
#define LOW_PERCENT 50.0

static void take_steps(struct advice_facts *facts, const struct phases *phases)
{
	const struct clock_map *clock = &facts->process->host_clock;
	struct samples steps = {0};
	bool has_first = false;

	for (uint32_t i = 1; phases_has_steps(phases) && i < phases->nr_steps; i++) {
		if (phases_is_whole(phases, i)) {
			uint64_t ns = phases_step_ns(phases, i);

			samples_add(&steps, ns);
			facts->first_ns = i == 1 ? ns : facts->first_ns;
			has_first |= i == 1;
			facts->loader_ns +=
				clock_map_duration(clock, phases->steps[i].ticks[PHASE_DATALOADER]);
		}
	}
	facts->nr_steps = steps.nr;
	facts->base_ns = samples_sum(&steps);
	facts->median_step_ns = whole_part(samples_median(&steps));
	facts->base_mask = (has_first ? 1u << ADVICE_FIRST : 0) | 1u << ADVICE_LATER;
	facts->later_mask = 1u << ADVICE_LATER;
	facts->has_loader = phases->has_loader;
	samples_fini(&steps);
}

/* Without a whole step, all that was recorded counts. */
static void take_recording(struct advice_facts *facts, const struct phases *phases)
{
	const struct process *process = facts->process;

	facts->base_ns =
		process->first_ns < process->last_ns ? process->last_ns - process->first_ns : 0;
	facts->base_mask = facts->later_mask = (1u << NR_ADVICE_WHENS) - 1;
	for (size_t i = 0; i < phases->nr_segments; i++) {
		if (phases->segments[i].phase == PHASE_DATALOADER) {
			facts->loader_ns += clock_map_duration(&process->host_clock,
				phases->segments[i].end - phases->segments[i].begin);
		}
	}
}

static void add_times(struct overlap_times *sum, const struct overlap_times *times)
{
	for (unsigned int i = 0; i < OVERLAP_SETS; i++) {
		sum->ns[i] += times->ns[i];
	}
}

/*
 * Adds up over the devices. `times` are of whole steps, like base_ns; kernel_union_ns is of all
 * that was recorded, like kernel_ns, with which it is compared.
 */
static void take_devices(
	struct advice_facts *facts, const struct phases *phases, const struct overlap *overlap)
{
	for (size_t i = 0; i < overlap->nr_devices; i++) {
		const struct overlap_device *device = &overlap->devices[i];

		if (device->process != facts->process || device->is_host) {
			continue;
		}
		facts->nr_devices++;
		if (device->first < facts->work_begin_ns || facts->nr_devices == 1) {
			facts->work_begin_ns = device->first;
		}
		facts->kernel_union_ns +=
			overlap_any(&device->all, OVERLAP_COMPUTATION | OVERLAP_COMMUNICATION);
		for (uint32_t k = 1; facts->nr_steps && k < device->nr_steps; k++) {
			if (k < phases->nr_steps && phases_is_whole(phases, k)) {
				add_times(&facts->times, &device->steps[k]);
			}
		}
		if (!facts->nr_steps) {
			add_times(&facts->times, &device->all);
		}
	}
	if (__builtin_mul_overflow(facts->base_ns, facts->nr_devices, &facts->device_ns)) {
		facts->device_ns = UINT64_MAX;
	}
}

/* nsys counts only gaps between two activities. */
static void take_gaps(struct advice_facts *facts)
{
	keep_gap(facts);
	facts->gap_limit_ns =
		facts->nr_steps ? facts->median_step_ns / 100 * GAP_LIMIT_PERCENT : GAP_LIMIT_NS;
	for (size_t i = 0; i < facts->gaps.nr; i++) {
		const struct gap *gap = &facts->gaps.items[i];
		enum advice_when when = when_of_step(facts, gap->step);
		struct advice_sum sum = {1, gap->end - gap->begin};

		if (gap->place == BUDGET_SITE_NOTHING || gap->end <= facts->work_begin_ns) {
			continue;
		}
		if (sum.ns > facts->longest_gap_ns && facts->base_mask & 1u << when) {
			facts->longest_gap_ns = sum.ns;
		}
		if (sum.ns > facts->gap_limit_ns) {
			advice_sites_add_sum(&facts->sites, ADVICE_LONG_GAP, when, &sum,
				gap_places_key(&facts->gap_places, gap->place));
		}
	}
}

/* The rules show all gaps by the launch that ended them. */
static void take_places(struct advice_facts *facts)
{
	for (size_t i = 0; !facts->is_brief && i < facts->gap_places.nr_sums; i++) {
		const struct gap_place_sum *sum = &facts->gap_places.sums[i];
		enum advice_when when = (enum advice_when)sum->group.when;

		if (sum->cost == GAP_COST_ALL) {
			advice_sites_add_sum(&facts->sites, ADVICE_GAP, when,
				&(struct advice_sum){sum->nr, sum->ns},
				gap_places_key(&facts->gap_places, sum->place));
		} else if (sum->cost == GAP_COST_LOADER && facts->base_mask & 1u << when) {
			facts->starved_ns += sum->ns;
		}
	}
}

static void take_launches(struct advice_facts *facts)
{
	for (size_t i = 0; i < facts->kernels.nr; i++) {
		const struct advice_launch *launch = idmap_at(&facts->kernels, i);

		if (launch->ns > ADVICE_SLOW_LAUNCH_NS) {
			advice_sites_add(&facts->sites, ADVICE_LOADING, launch->when, launch->ns,
				&(struct gap_place_key){
					launch->name, launch->op, launch->py_stack});
		}
	}
}

static void take_memory(struct advice_facts *facts, const struct utilization *usage)
{
	for (uint32_t i = 0; i < ADVICE_MAX_DEVICES; i++) {
		const struct utilization_series *series =
			utilization_find(usage, facts->process, GPROF_METRIC_GPU_MEMORY_BYTES, i);

		process_attribute(facts->process, i, "memory_bytes", &facts->memory[i].total_bytes);
		if (series && i != USAGE_NO_DEVICE) {
			facts->memory[i].sampled_bytes = whole_part(series->max * 1e6);
		}
	}
}

/* Returns how much of a bucket lies in the recording: samples may lie around it. */
static uint64_t recorded_ns(
	const struct process *process, const struct utilization_series *series, size_t bucket)
{
	uint64_t begin = series->begin + bucket * series->width;
	uint64_t end = begin + (uint64_t)series->weights[bucket];

	begin = begin > process->first_ns ? begin : process->first_ns;
	end = end < process->last_ns ? end : process->last_ns;
	return end > begin ? end - begin : 0;
}

/* Nothing is known of buckets where steps are selected: most would lie outside of them. */
static void take_buckets(struct advice_facts *facts, const struct utilization *usage)
{
	for (size_t i = 0; !facts->process->select && i < usage->nr_series; i++) {
		const struct utilization_series *series = &usage->series[i];

		if (series->process != facts->process || series->metric != USAGE_GPU_UNION) {
			continue;
		}
		for (size_t k = 0; k < series->nr_buckets; k++) {
			uint64_t ns = recorded_ns(facts->process, series, k);
			double percent, busy_ns;

			if (!ns || !utilization_bucket(series, k, &percent)) {
				continue;
			}
			busy_ns = percent / 100 * series->weights[k];
			facts->nr_buckets++;
			facts->nr_low_buckets += busy_ns * 100 < (double)ns * LOW_PERCENT;
		}
	}
}

#define MAX_CAPABILITY 1000u /* more is damage */

/*
 * Takes the least one of the devices: what helps there helps on all. One device whose capability is
 * unknown makes it unknown.
 */
static void take_capability(struct advice_facts *facts, const struct overlap *overlap)
{
	for (size_t i = 0; i < overlap->nr_devices; i++) {
		uint64_t major = 0, minor = 0, capability;

		if (overlap->devices[i].process != facts->process) {
			continue;
		}
		if (!process_attribute(facts->process, overlap->devices[i].device,
			    "capability_major", &major) ||
			!process_attribute(facts->process, overlap->devices[i].device,
				"capability_minor", &minor) ||
			major > MAX_CAPABILITY || minor > 9) {
			facts->capability = 0;
			return;
		}
		capability = 10 * major + minor;
		if (!facts->capability || capability < facts->capability) {
			facts->capability = (uint32_t)capability;
		}
	}
}

void advice_total(struct advice_facts *facts, const struct phases *phases,
	const struct overlap *overlap, const struct utilization *usage)
{
	end_launch(facts);
	take_steps(facts, phases);
	if (!facts->nr_steps) {
		take_recording(facts, phases);
	}
	take_devices(facts, phases, overlap);
	take_gaps(facts);
	take_places(facts);
	take_launches(facts);
	take_memory(facts, usage);
	take_buckets(facts, usage);
	take_capability(facts, overlap);
	gap_places_end(&facts->gap_places);
}
