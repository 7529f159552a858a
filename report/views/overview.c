/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long each kind of event was going on, in the layout of Paddle's Overview Summary: on the
 * host steps, phases, operators, users' ranges and calls of CUDA, on devices kernels, copies, sets
 * and communication. Times of a kind that overlap count once, over all threads, streams and
 * devices of a process; only what lies in whole steps counts, so a share is at most 100 % of them.
 * Where steps are chosen, work of devices is what they launched, whenever it ran.
 * Without steps the whole recording is the base.
 *
 * Bounds of memory: see step_time.h; of the host's ranges 16 bytes for each stretch that stands
 * alone until the end of its process.
 */
#include <stdlib.h>

#include "report/model/kernel_class.h"
#include "report/analysis/overview.h"
#include "report/ops/step_time.h"

/* What the scan finds of a process, until the walk tells its steps. */
struct part {
	struct step_span ticks, ns;
	struct step_time calls;			  /* ticks */
	struct step_time work[NR_OVERVIEW_WORKS]; /* ns */
	struct step_time *kernels;		  /* ns, by device */
	uint32_t *devices;
	size_t nr_devices, device_capacity, kernel_capacity;
};

struct overview_view {
	struct overview_result result;
	struct part *parts; /* by process */
	size_t part;	    /* the one at hand, of the scan and then of the walk */
	struct view_input input;
	uint64_t *later_calls, *later_work;	 /* by block: the earliest begin in later blocks */
	struct step_time events[NR_EVENT_TYPES]; /* ticks, of the walk */
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_kernel,
		COL_BIT(COL_kernel_begin) | COL_BIT(COL_kernel_dur) | COL_BIT(COL_kernel_place) |
			COL_BIT(COL_kernel_shape),
		0},
	{GPROF_TABLE_memcpy, COL_BIT(COL_memcpy_begin) | COL_BIT(COL_memcpy_dur), 0},
	{GPROF_TABLE_memset, COL_BIT(COL_memset_begin) | COL_BIT(COL_memset_dur), 0},
	{GPROF_TABLE_graph,
		COL_BIT(COL_graph_begin) | COL_BIT(COL_graph_dur) | COL_BIT(COL_graph_place), 0},
	{GPROF_TABLE_untimed, COL_BIT(COL_untimed_table), 0},
	SCAN_CALLS(COL_BIT(COL_api_begin) | COL_BIT(COL_api_dur)),
};

static void *create(const struct view_input *input)
{
	struct overview_view *view = mem_zeroed(1, sizeof(*view));

	view->input = *input;
	view->parts = mem_zeroed(input->nr_processes, sizeof(*view->parts));
	return view;
}

static struct part *part_of(struct overview_view *view, const struct process *process)
{
	/* Each pass goes over the processes in their order, once. */
	while (view->input.processes[view->part] != process) {
		view->part = (view->part + 1) % view->input.nr_processes;
	}
	return &view->parts[view->part];
}

/* ---- the scan: calls and work ---- */

static bool is_work(unsigned int table)
{
	return table == GPROF_TABLE_kernel || table == GPROF_TABLE_memcpy ||
	       table == GPROF_TABLE_memset || table == GPROF_TABLE_graph;
}

static bool is_call(unsigned int table)
{
	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		if (wants[i].table == table) {
			return !is_work(table) && table != GPROF_TABLE_untimed;
		}
	}
	return false;
}

/* By block: before which nothing of these tables begins in later blocks. */
static uint64_t *find_later(
	const struct stream *stream, uint64_t *later, bool (*is_wanted)(unsigned int table))
{
	uint64_t min = UINT64_MAX;

	later = mem_resize(later, stream->nr_blocks, sizeof(*later));
	for (size_t i = stream->nr_blocks; i-- > 0;) {
		later[i] = min;
		if (is_wanted(stream_block_table(stream, i)) && stream->blocks[i].time_min < min) {
			min = stream->blocks[i].time_min;
		}
	}
	return later;
}

static void begin(void *context, struct process *process)
{
	struct overview_view *view = context;
	struct part *part = part_of(view, process);

	step_span_init(&part->ticks, process, false);
	if (process->select) {
		view->result.is_selected = true;
		step_span_init_all(&part->ns); /* it is what the chosen steps launched */
	} else {
		step_span_init(&part->ns, process, true);
	}
	view->later_calls = find_later(process->stream, view->later_calls, is_call);
	view->later_work = find_later(process->stream, view->later_work, is_work);
	view_without_take(&view->result.without, process);
}

static struct step_time *kernels_of(struct part *part, struct process *process, uint64_t place)
{
	uint32_t device = process_place(process, place).device;
	size_t i = part->nr_devices;

	while (i-- > 0) {
		if (part->devices[i] == device) {
			return &part->kernels[i];
		}
	}
	part->devices = array_grow(
		part->devices, part->nr_devices, &part->device_capacity, sizeof(*part->devices));
	part->kernels = array_grow(
		part->kernels, part->nr_devices, &part->kernel_capacity, sizeof(*part->kernels));
	part->devices[part->nr_devices] = device;
	part->kernels[part->nr_devices] = (struct step_time){0};
	return &part->kernels[part->nr_devices++];
}

/* Of kernels and graphs. */
static bool computes(struct process *process, const struct batch *b, uint32_t i)
{
	return b->table != GPROF_TABLE_kernel ||
	       kernel_class_of(process_shape_name(process, b->col[COL_kernel_shape][i])) ==
		       KERNEL_COMPUTATION;
}

static void take_work(struct overview_view *view, struct process *process, const struct batch *b)
{
	struct part *part = part_of(view, process);
	enum overview_work type = b->table == GPROF_TABLE_memcpy   ? OVERVIEW_COPY
				  : b->table == GPROF_TABLE_memset ? OVERVIEW_SET
								   : OVERVIEW_KERNEL;
	uint64_t until = view->later_work[b->block];

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t start = b->col[COL_kernel_begin][i];
		uint64_t end = start + b->col[COL_kernel_dur][i];
		uint64_t from = clock_map_time(&process->device_clock, start);
		uint64_t to = clock_map_time(&process->device_clock, end < start ? start : end);

		step_time_add(&part->work[type], &part->ns, from, to);
		if (type == OVERVIEW_KERNEL) {
			step_time_add(kernels_of(part, process, b->col[COL_kernel_place][i]),
				&part->ns, from, to);
		}
		if (type == OVERVIEW_KERNEL) {
			step_time_add(&part->work[computes(process, b, i) ? OVERVIEW_COMPUTATION
									  : OVERVIEW_COMMUNICATION],
				&part->ns, from, to);
		}
	}
	until = until == UINT64_MAX ? until : clock_map_time(&process->device_clock, until);
	for (unsigned int k = 0; k < NR_OVERVIEW_WORKS; k++) {
		step_time_advance(&part->work[k], until);
	}
	for (size_t i = 0; i < part->nr_devices; i++) {
		step_time_advance(&part->kernels[i], until);
	}
}

static void take(void *context, struct process *process, const struct batch *batch)
{
	struct overview_view *view = context;
	struct part *part = part_of(view, process);

	if (batch->table == GPROF_TABLE_untimed) {
		view->result.nr_untimed += batch->nr_rows;
		return;
	}
	if (is_work(batch->table)) {
		take_work(view, process, batch);
		return;
	}
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t start = batch->col[COL_api_begin][i];
		uint64_t end = start + batch->col[COL_api_dur][i];

		step_time_add(&part->calls, &part->ticks, start, end < start ? start : end);
	}
	step_time_advance(&part->calls, view->later_calls[batch->block]);
}

/* ---- the walk: operators and phases ---- */

static void begin_walk(void *context, struct process *process)
{
	part_of(context, process);
}

static void take_event(struct overview_view *view, enum event_type type, uint64_t from, uint64_t to)
{
	step_time_add_backward(&view->events[type], &view->parts[view->part].ticks, from, to);
}

static void take_op(void *context, const struct op *op)
{
	enum event_type type = event_type_of(op);

	if (type != EVENT_NONE) {
		take_event(context, type, op->begin, op->end);
	}
}

static void take_range(void *context, const struct op_range *range)
{
	take_event(context, EVENT_USER_DEFINED, range->begin, range->end);
}

static void add_sum(struct overview_sum *sum, struct step_time *time, uint64_t loop,
	const struct clock_map *clock)
{
	step_time_finish(time, loop);
	sum->nr += time->nr;
	sum->ns += clock ? clock_map_duration(clock, time->time) : time->time;
	step_time_fini(time);
}

/* Counted as in the view model; what two of a kind share of the time counts once. */
static void add_phases(struct overview *all, const struct phases *phases,
	const struct step_span *span, uint64_t loop)
{
	for (unsigned int k = 0; k < PHASE_OTHERS; k++) {
		struct step_time time = {0};
		uint64_t nr = 0;

		for (size_t i = 0; i < phases->nr_segments; i++) {
			const struct phase_segment *segment = &phases->segments[i];

			if (segment->phase == k && phases_is_whole(phases, segment->step)) {
				step_time_add(&time, span, segment->begin, segment->end);
				nr += !segment->is_rest; /* of one that counts already */
			}
		}
		step_time_finish(&time, loop);
		all->host[k].nr += nr;
		all->host[k].ns += clock_map_duration(&phases->process->host_clock, time.time);
		step_time_fini(&time);
	}
}

static struct overview *overview_of(struct overview_view *view, const struct phases *phases)
{
	return phases_has_loop(phases) ? &view->result.loops : &view->result.others;
}

static void add_devices(
	struct overview_view *view, const struct overview *all, uint64_t steps_ns, uint64_t loop)
{
	struct part *part = &view->parts[view->part];

	for (size_t i = 0; i < part->nr_devices; i++) {
		struct overview_device *row;

		view->result.devices = array_grow(view->result.devices, view->result.nr_devices,
			&view->result.capacity, sizeof(*view->result.devices));
		row = &view->result.devices[view->result.nr_devices++];
		*row = (struct overview_device){.of = all,
			.process = view->input.processes[view->part],
			.device = part->devices[i],
			.steps_ns = steps_ns};
		add_sum(&row->kernels, &part->kernels[i], loop, NULL);
	}
}

/* Of whole steps; of the whole recording where there are none. */
static uint64_t steps_of(const struct process *process, const struct phases *phases, uint64_t *nr)
{
	uint64_t ticks;

	*nr = step_span_count(phases, &ticks);
	if (phases_has_steps(phases)) {
		return clock_map_duration(&process->host_clock, ticks);
	}
	return process->last_ns > process->first_ns ? process->last_ns - process->first_ns : 0;
}

static void end_walk(void *context, struct process *process, const struct phases *phases)
{
	struct overview_view *view = context;
	struct part *part = part_of(view, process);
	struct overview *all = overview_of(view, phases);
	const struct clock_map *clock = &process->host_clock;
	uint64_t loop = UINT64_MAX, loop_ns = UINT64_MAX, nr;
	uint64_t steps_ns = steps_of(process, phases, &nr);
	const char *why;

	all->nr_processes++;
	all->has_steps |= phases_has_steps(phases);
	all->has_work |= view_has_device_records(process, &why);
	all->steps.nr += nr;
	all->steps.ns += steps_ns;
	if (phases_has_steps(phases) && phases_is_whole(phases, 1)) {
		loop = part->ticks.first_end - phases_step_ticks(phases, 1);
		loop_ns = clock_map_time(&process->host_clock, loop);
	}
	add_phases(all, phases, &part->ticks, loop);
	add_sum(&all->host[OVERVIEW_CALLS], &part->calls, loop, clock);
	for (unsigned int k = 0; k < NR_EVENT_TYPES; k++) {
		add_sum(&all->host[OVERVIEW_EVENTS + k], &view->events[k], loop, clock);
	}
	for (unsigned int k = 0; k < NR_OVERVIEW_WORKS; k++) {
		add_sum(&all->work[k], &part->work[k], loop_ns, NULL);
	}
	add_devices(view, all, steps_ns, loop_ns);
	step_span_fini(&part->ticks);
	step_span_fini(&part->ns);
}

static struct table *make_table(void *context)
{
	return overview_table(&((struct overview_view *)context)->result);
}

static void destroy(void *context)
{
	struct overview_view *view = context;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		free(view->parts[i].devices);
		free(view->parts[i].kernels);
	}
	free(view->parts);
	free(view->result.devices);
	free(view->later_calls);
	free(view->later_work);
	free(view);
}

const struct view_class view_overview = {
	.name = "overview",
	.help = "how long each kind of event was going on, of the time of the steps",
	.is_default = false,
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, take, NULL},
	.ops = {.begin = begin_walk, .op = take_op, .range = take_range, .end = end_walk},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
