/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two walks of a process feed the sort. The first brings what may begin long before its block; the
 * second brings the rest, and says with each block how early a slice can still begin.
 *
 *   read_ahead(): long rows, NVTX, steps, flows --+
 *                                                 +--> sort --> write_slice() --> row, lane, sink
 *   slice_walk_blocks(): short rows --------------+ on_block(): no earlier than
 *
 * The sort keeps of a slice what names, rows, arguments (slice_args.h) and flows need.
 */
#include "report/timeline/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "report/comm/job_clock.h"
#include "report/model/process_tree.h"
#include "report/timeline/slice_order.h"
#include "report/timeline/track_counters.h"
#include "report/util/external_sort.h"
#include "report/util/progress.h"
#include "report/util/text.h"

/* The axis begins that long before time 0, since Perfetto drops events at its begin. */
#define BEFORE_NS (3600ull * 1000000000)

/* Flows of collectives have this bit and a hash of what identifies the collective. */
#define COLLECTIVE_FLOW (1ull << 62)

/* Stands for no slice: the next slice of the row that begins at that time has the flow `value`. */
#define KIND_FLOW 255u

/* A slice on its way through the sort. */
struct sorted_slice {
	struct external_sort_head
		head; /* by begin; order: UINT64_MAX - duration, so that the longest is first */
	uint64_t tie; /* see tie_of */
	uint64_t kept[SLICE_KEPT_BYTES / sizeof(uint64_t)]; /* of struct slice */
};

/* An end of a flow: at the next slice of the row. */
struct flow_end {
	uint32_t row;
	uint64_t flow; /* 0: it was taken */
};

struct tracks {
	struct timeline timeline;
	const struct track_sink *sink;
	struct nccl_ops collectives; /* of all processes */
	struct arg_maker args;
	struct track_rows rows;
	/* of the current process */
	struct track_counters counters;
	struct external_sort *slices;
	struct slice_order order;
	struct flow_end *flows; /* at flows_ns */
	size_t nr_flows, flow_capacity;
	uint64_t flows_ns;
};

/* ---- flows ---- */

static void add_flow(struct track_slice *event, uint64_t flow)
{
	if (flow && event->nr_flows < TRACK_SLICE_FLOWS) {
		event->flows[event->nr_flows++] = flow;
	}
}

/* If an operator and its first child begin in the same ns, the longer one is first. */
static void add_op_flows(
	struct tracks *tracks, struct track_slice *event, const struct slice *slice)
{
	for (size_t i = 0; i < tracks->nr_flows; i++) {
		struct flow_end *end = &tracks->flows[i];

		if (end->row == slice->row && end->flow) {
			add_flow(event, end->flow);
			if (event->nr_flows < TRACK_SLICE_FLOWS) {
				end->flow = 0;
			}
		}
	}
}

/* Sends and receives are numbered by peer; a group of several kinds is no collective. */
static bool is_collective(const struct nccl_op *op)
{
	return op->key && op->sequence && op->kind != GPROF_NCCL_SEND &&
	       op->kind != GPROF_NCCL_RECV && op->kind < NCCL_OPS_SEND_RECV;
}

/* Does the file have the same collective of another rank? Those are neighbours in the list. */
static bool has_other(const struct nccl_ops *ops, size_t i)
{
	const struct nccl_op *op = &ops->ops[i];

	for (int step = -1; step < 2; step += 2) {
		size_t k = i + (size_t)step;

		if (k < ops->nr_ops && ops->ops[k].key == op->key &&
			ops->ops[k].sequence == op->sequence && ops->ops[k].kind == op->kind &&
			ops->ops[k].process != op->process && nccl_op_has_time(&ops->ops[k])) {
			return true;
		}
	}
	return false;
}

static void add_flows(struct tracks *tracks, struct track_slice *event, const struct slice *slice)
{
	const struct nccl_ops *ops = &tracks->collectives;
	const struct nccl_op *op;

	switch (slice->kind) {
	case SLICE_OP:
		add_op_flows(tracks, event, slice);
		break;
	case SLICE_COLLECTIVE:
		op = &ops->ops[slice->value];
		if (is_collective(op) && has_other(ops, slice->value)) {
			add_flow(event,
				COLLECTIVE_FLOW | (((op->key ^ op->kind) * 0x9e3779b97f4a7c15u ^
							   op->sequence) &
							  (COLLECTIVE_FLOW - 1)));
		}
		break;
	case SLICE_CALL:
	case SLICE_KERNEL:
	case SLICE_COPY:
	case SLICE_SET:
	case SLICE_GRAPH:
		if (timeline_has_flow(&tracks->timeline, slice->correlation)) {
			add_flow(event, timeline_flow(&tracks->timeline, slice->correlation));
		}
		break;
	default:
		break;
	}
}

/* ---- sorted slices to the sink ---- */

static void keep_flow(struct tracks *tracks, const struct slice *flow)
{
	tracks->flows = array_grow(
		tracks->flows, tracks->nr_flows, &tracks->flow_capacity, sizeof(*tracks->flows));
	tracks->flows[tracks->nr_flows++] = (struct flow_end){flow->row, flow->value};
}

/* The sort did not keep all members; arguments need the times and the place. */
static void restore(
	const struct tracks *tracks, const struct track_slice *event, struct slice *slice)
{
	memset((char *)slice + SLICE_KEPT_BYTES, 0, sizeof(*slice) - SLICE_KEPT_BYTES);
	slice->begin_ns = slice->clock_begin = event->ns;
	slice->end_ns = slice->clock_end = event->ns + event->dur_ns;
	if (slice->kind >= SLICE_KERNEL && slice->kind <= SLICE_GRAPH) {
		slice->place = process_place(tracks->timeline.process, slice->place_id);
	}
}

/* Not an operator that flows wait for: it has to take them, or the next one would. */
static bool is_taken_bare(
	const struct tracks *tracks, const struct track_slice *event, const struct slice *slice)
{
	const struct track_sink *sink = tracks->sink;
	bool may_have_flow = slice->kind == SLICE_OP && tracks->nr_flows;

	return sink->take_bare && !may_have_flow && sink->take_bare(sink->context, event);
}

static void write_slice(void *context, const void *record)
{
	struct tracks *tracks = context;
	const struct sorted_slice *sorted = record;
	struct track_slice event;
	struct slice slice;

	memcpy(&slice, sorted->kept, sizeof(sorted->kept));
	if (tracks->flows_ns != sorted->head.key) {
		tracks->flows_ns = sorted->head.key;
		tracks->nr_flows = 0;
	}
	if (slice.kind == KIND_FLOW) {
		keep_flow(tracks, &slice);
		return;
	}
	/* Field by field: to clear all arguments takes longer than all else here. */
	event.ns = sorted->head.key;
	event.dur_ns = UINT64_MAX - sorted->head.order;
	event.name = slice.name;
	event.category = slice.category;
	event.nr_flows = 0;
	event.args.nr = 0;
	track_rows_place(&tracks->rows, slice.row, &event);
	if (!is_taken_bare(tracks, &event, &slice)) {
		restore(tracks, &event, &slice);
		arg_maker_make(&tracks->args, &slice, &event.args);
		add_flows(tracks, &event, &slice);
		tracks->sink->slice(tracks->sink->context, &event, false);
	}
}

/* ---- slices of the walk into the sort ---- */

static size_t comm_row(struct tracks *tracks, const struct slice *slice)
{
	const struct nccl_op *op = &tracks->collectives.ops[slice->value];
	struct buf text = {0};
	size_t nr_bytes, row;
	const char *name = string_pool_text(op->name, &nr_bytes);

	buf_text(&text, op->library ? "process groups of " : "NCCL communicator ");
	text_add_shown(&text, name, nr_bytes, 0);
	buf_char(&text, '\0');
	row = track_rows_other(&tracks->rows, TRACK_ROW_COMM, slice->comm, text.bytes);
	buf_fini(&text);
	return row;
}

static size_t row_of(struct tracks *tracks, const struct slice *slice)
{
	struct track_rows *rows = &tracks->rows;

	switch (slice->kind) {
	case SLICE_PYTHON:
		return track_rows_python(rows, slice->thread);
	case SLICE_RANGE:
	case SLICE_FREE_RANGE:
	case SLICE_MARK:
		return track_rows_nvtx(rows, slice->thread, slice->domain);
	case SLICE_KERNEL:
	case SLICE_COPY:
	case SLICE_SET:
	case SLICE_GRAPH:
		return track_rows_stream(rows, &slice->place, false);
	case SLICE_WAIT:
		return track_rows_stream(rows, &slice->place, true);
	case SLICE_OVERHEAD:
		return track_rows_other(rows, TRACK_ROW_OVERHEAD, 0, "CUPTI overhead");
	case SLICE_STATE:
		return track_rows_states(rows, (uint32_t)slice->thread);
	case SLICE_STEP:
		return track_rows_other(rows, TRACK_ROW_STEPS, 0, "steps");
	case SLICE_WINDOW:
		return track_rows_other(rows, TRACK_ROW_WINDOWS, 0, "record windows");
	case SLICE_LOSS:
	case SLICE_NOTICE:
		return track_rows_other(rows, TRACK_ROW_MARKS, 0, "dropped events and notices");
	case SLICE_COLLECTIVE:
		return comm_row(tracks, slice);
	default:
		return track_rows_thread(rows, slice->thread);
	}
}

/* Instants need no order. */
static void write_instant(struct tracks *tracks, const struct slice *slice)
{
	struct track_slice event = {.ns = slice->begin_ns,
		.name = slice->name,
		.category = slice->category,
		.track = track_rows_track(&tracks->rows, slice->row)};

	if (slice->kind != SLICE_MARK) { /* the payload of a mark is in Chrome JSON alone */
		arg_maker_make(&tracks->args, slice, &event.args);
	}
	tracks->sink->slice(tracks->sink->context, &event, true);
}

/*
 * Among slices with the same time the outer one comes first. Operators contain calls, and calls of
 * NCCL contain those of CUDA. Of one kind, a stream has the inner slice first, which ends first.
 */
static uint64_t tie_of(const struct slice *slice, uint64_t nr)
{
	uint64_t depth = slice->kind == SLICE_CALL ? 3 : slice->kind == SLICE_NCCL_CALL ? 2 : 1;

	return slice->kind <= SLICE_FREE_RANGE ? (depth << 60) - nr : nr;
}

static struct sorted_slice *sort_slice(struct tracks *tracks, const struct slice *slice)
{
	struct sorted_slice *sorted = external_sort_add(tracks->slices);

	memcpy(sorted->kept, slice, sizeof(sorted->kept));
	sorted->head.key = slice->begin_ns;
	sorted->head.order =
		UINT64_MAX -
		(slice->end_ns > slice->begin_ns ? slice->end_ns - slice->begin_ns : 0);
	sorted->tie = tie_of(slice, external_sort_nr_added(tracks->slices));
	return sorted;
}

static void on_slice(void *context, struct slice *slice)
{
	struct tracks *tracks = context;

	slice->row = (uint32_t)row_of(tracks, slice);
	if (slice->kind == SLICE_MARK || slice->kind == SLICE_LOSS || slice->kind == SLICE_NOTICE) {
		write_instant(tracks, slice);
	} else {
		sort_slice(tracks, slice);
	}
}

static void on_flow(void *context, uint64_t nr, const struct slice_flow_end *from,
	const struct slice_flow_end *to)
{
	const struct slice_flow_end *ends[] = {from, to};
	struct tracks *tracks = context;

	for (int i = 0; i < 2; i++) {
		const struct slice flow = {.kind = KIND_FLOW,
			.begin_ns = ends[i]->ns,
			.row = ends[i]->row,
			.value = AUTOGRAD_FLOW | (tracks->timeline.first_id + nr)};

		sort_slice(tracks, &flow)->head.order = 0; /* before the slice */
	}
}

/* Finds the row of an operator that a flow may end at: that of its thread. */
static void on_flow_op(void *context, struct slice *slice)
{
	slice->row = (uint32_t)row_of(context, slice);
}

static void on_block(void *context, size_t block)
{
	struct tracks *tracks = context;

	external_sort_no_earlier(tracks->slices, tracks->order.begins_ns[block]);
}

static void on_alloc(void *context, const struct slice_alloc *alloc)
{
	struct tracks *tracks = context;

	track_counters_alloc(&tracks->counters, alloc);
}

static void on_sample(void *context, const struct slice_sample *sample)
{
	struct tracks *tracks = context;

	track_counters_sample(&tracks->counters, sample);
}

/* Reads what may begin long before its block, or is in no block. */
static void read_ahead(struct tracks *tracks, uint32_t k)
{
	const struct slice_sink sink = {.slice = on_slice, .context = tracks};
	const struct slice_sink flow_sink = {
		.slice = on_flow_op, .flow = on_flow, .context = tracks};
	struct timeline *timeline = &tracks->timeline;
	struct slice_walk walk = {.timeline = timeline,
		.sink = &sink,
		.length = SLICES_LONG,
		.lengths = tracks->order.lengths,
		.blocks = tracks->order.has_long};

	slice_walk_blocks(&walk, SLICES_HOST | SLICES_GPU);
	walk.length = SLICES_ALL;
	walk.blocks = NULL;
	slice_walk_blocks(&walk, SLICES_NVTX | (timeline_shows(timeline, TIMELINE_MARKS)
							       ? (unsigned int)SLICES_LOSSES
							       : 0));
	if (timeline_shows(timeline, TIMELINE_STEPS)) {
		slice_walk_steps(&walk);
		slice_walk_windows(&walk);
	}
	if (timeline_shows(timeline, TIMELINE_MARKS)) {
		slice_walk_notices(&walk);
	}
	slice_walk_collectives(&walk, &tracks->collectives, k);
	walk.sink = &flow_sink;
	slice_walk_flows(&walk);
}

static void read_process(struct tracks *tracks, uint32_t k)
{
	const struct slice_sink sink = {.slice = on_slice,
		.alloc = on_alloc,
		.sample = on_sample,
		.block = on_block,
		.context = tracks};
	struct slice_walk walk = {
		.timeline = &tracks->timeline, .sink = &sink, .length = SLICES_SHORT};

	slice_order_find(&tracks->order, &tracks->timeline);
	walk.lengths = tracks->order.lengths;
	read_ahead(tracks, k);
	slice_walk_blocks(&walk, SLICES_HOST | SLICES_GPU | SLICES_SAMPLES);
	external_sort_finish(tracks->slices);
	track_counters_walk(&tracks->counters);
	track_rows_close(&tracks->rows);
	slice_order_fini(&tracks->order);
}

/* ---- processes ---- */

static void add_process_track(
	struct tracks *tracks, struct process *const *processes, size_t nr_processes, size_t k)
{
	const struct process *process = processes[k];
	struct process_tree_member member = process_tree_find_one(processes, nr_processes, k);
	const char *host = process_fact(process, "host.name", "");
	struct buf called = {0}, name = {0}, label = {0}, begin = {0};

	process_tree_add_name(&called, process);
	text_add_shown(&name, called.bytes, called.nr_bytes, 0);
	if (process->rank >= 0) {
		buf_printf(&label, "rank %d", (int)process->rank);
	}
	if (*host) {
		buf_printf(&label, "%s%s", label.nr_bytes ? ", " : "", host);
	}
	if (process_tree_add_begin(&begin, processes, k, &member)) {
		buf_text(&label, label.nr_bytes ? ", " : "");
		buf_add(&label, begin.bytes, begin.nr_bytes);
	}
	job_clock_print_one(process, label.nr_bytes ? ", " : "", &label);
	buf_char(&name, '\0');
	buf_char(&label, '\0');
	tracks->rows.process_track = tracks->rows.next_track++;
	tracks->sink->track(tracks->sink->context, &(struct track){.id = tracks->rows.process_track,
							   .name = name.bytes,
							   .label = label.bytes,
							   .rank = (int32_t)k,
							   .kind = TRACK_PROCESS,
							   .pid = tracks->timeline.pid});
	buf_fini(&called);
	buf_fini(&name);
	buf_fini(&label);
	buf_fini(&begin);
}

static void walk_process(
	struct tracks *tracks, struct process *const *processes, size_t nr_processes, size_t k)
{
	timeline_enter(&tracks->timeline, processes, nr_processes, k);
	if (tracks->sink->has_launch_flows) {
		timeline_read_launches(&tracks->timeline);
	}
	tracks->slices = external_sort_create(sizeof(struct sorted_slice), 0, 0);
	external_sort_break_ties(tracks->slices);
	external_sort_hand_out(tracks->slices, write_slice, tracks);
	track_counters_init(&tracks->counters, &tracks->rows);
	tracks->nr_flows = 0;
	arg_maker_enter(&tracks->args);
	add_process_track(tracks, processes, nr_processes, k);
	read_process(tracks, (uint32_t)k);
	arg_maker_leave(&tracks->args);
	track_counters_fini(&tracks->counters);
	external_sort_destroy(tracks->slices);
	track_rows_clear(&tracks->rows);
	timeline_leave(&tracks->timeline);
}

void tracks_collectives_read(
	struct nccl_ops *ops, struct process *const *processes, size_t nr_processes)
{
	const struct timeline timeline = {0};

	slice_collectives_read(ops, &timeline, processes, nr_processes);
}

void tracks_walk_process(struct process *const *processes, size_t nr_processes, size_t k,
	const struct nccl_ops *collectives, const struct timeline_filter *filter,
	const struct track_sink *sink)
{
	struct tracks tracks = {.timeline = {.filter = filter},
		.sink = sink,
		.collectives = *collectives,
		.args = {.timeline = &tracks.timeline,
			.collectives = &tracks.collectives,
			.share = sink->share,
			.context = sink->context},
		.rows = {.sink = sink, .timeline = &tracks.timeline, .next_track = 1}};
	struct timeline *timeline = &tracks.timeline;

	timeline_find_base(timeline, processes, nr_processes, BEFORE_NS);
	sink->begin(
		sink->context, timeline->base_ns, timeline->all_first_ns, timeline->all_last_ns);
	walk_process(&tracks, processes, nr_processes, k);
	free(tracks.flows);
}

void tracks_walk(struct process *const *processes, size_t nr_processes,
	const struct timeline_filter *filter, const struct track_sink *sink)
{
	struct tracks tracks = {.timeline = {.filter = filter},
		.sink = sink,
		.args = {.timeline = &tracks.timeline,
			.collectives = &tracks.collectives,
			.share = sink->share,
			.context = sink->context},
		.rows = {.sink = sink, .timeline = &tracks.timeline, .next_track = 1}};
	struct timeline *timeline = &tracks.timeline;

	timeline_find_base(timeline, processes, nr_processes, BEFORE_NS);
	sink->begin(
		sink->context, timeline->base_ns, timeline->all_first_ns, timeline->all_last_ns);
	progress_start("writing the timeline", timeline->nr_all);
	slice_collectives_read(&tracks.collectives, timeline, processes, nr_processes);
	for (size_t i = 0; i < nr_processes; i++) {
		walk_process(&tracks, processes, nr_processes, i);
	}
	progress_stop();
	free(tracks.flows);
	nccl_ops_fini(&tracks.collectives);
}
