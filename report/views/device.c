/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: how long each was busy with kernels, copies and sets, and how long it was not; of the
 * kernels, how long with communication, with all else, and with both at once. All are unions:
 * communication + computation - overlap is the union of kernels. kernel_class.h says
 * which communicate.
 */
#include <stdlib.h>
#include <string.h>

#include "report/util/busy.h"
#include "report/util/idset.h"
#include "report/model/kernel_class.h"
#include "report/analysis/view.h"
#include "report/budget/placement.h"

#define NONE UINT32_MAX

/* The kinds of work of a device. Unions of the first one, two and three are known. */
enum part {
	COMPUTATION_PART, /* all kernels where the process has no communication */
	COMMUNICATION_PART,
	OTHER_PART, /* copies and sets */
	NR_PARTS,
};

/* A device as one process used it. */
struct device_row {
	struct process *process;
	uint32_t device;
	uint64_t nr_kernels, nr_copies, nr_sets, nr_untimed;
	struct busy parts[NR_PARTS];
	struct busy_sum sums[NR_PARTS]; /* of each part and those before it */
};

struct device_view {
	struct view_input input;
	struct device_row *rows;
	size_t nr_rows, capacity;
	size_t first_row;	/* of the current process */
	struct idmap row_of;	/* size_t, 1 + the row, by device, of the current process */
	uint32_t *row_of_place; /* by the place's id, of the current process */
	size_t nr_places;
	uint8_t *is_communication;     /* by the id of a shape; of the current process */
	size_t nr_shapes;	       /* 0: it has no such kernel */
	uint64_t *later_min;	       /* by block: the earliest begin in later blocks of work */
	struct idset *called, *worked; /* correlation IDs of calls and of work */
	uint64_t nr_without_call;
};

static const struct scan_want wants[] = {
	{SCAN_WITH(GPROF_IS_ACTIVITY), COLS(kernel, begin, dur, place, correlation), 0},
	{GPROF_TABLE_kernel, COLS(kernel, shape), 0},
	{GPROF_TABLE_untimed, COLS(untimed, place), 0},
	{SCAN_WITH(GPROF_IS_CALL), COLS(api, correlation), 0},
};

static bool needs(void *context, struct process *process, unsigned int table)
{
	(void)context;
	(void)table;
	return process_has_device_records(process, NULL);
}

/* Which kernels communicate; ids out of line are looked up as they come. */
static void classify_shapes(struct device_view *view, const struct process *process)
{
	bool has_any = false;

	view->nr_shapes = process->shapes.nr_near;
	view->is_communication = mem_resize(view->is_communication, view->nr_shapes + 1, 1);
	memset(view->is_communication, 0, view->nr_shapes + 1);
	for (size_t id = 0; id < view->nr_shapes; id++) {
		const struct model_shape *shape = idmap_get(&process->shapes, (uint32_t)id);

		view->is_communication[id] =
			shape && kernel_class_of(shape->name) == KERNEL_COMMUNICATION;
		has_any |= view->is_communication[id];
	}
	view->nr_shapes = has_any || process->shapes.nr > view->nr_shapes ? view->nr_shapes : 0;
}

static void begin(void *context, struct process *process)
{
	struct device_view *view = context;

	view->first_row = view->nr_rows;
	classify_shapes(view, process);
	idmap_init(&view->row_of, sizeof(size_t));
	view->nr_places = process->places.nr_near;
	view->row_of_place =
		mem_resize(view->row_of_place, view->nr_places, sizeof(*view->row_of_place));
	memset(view->row_of_place, 0xff, view->nr_places * sizeof(*view->row_of_place));
	free(view->later_min);
	view->later_min = stream_later_begins(process->stream, table_set_with(GPROF_IS_ACTIVITY));
	view->called = idset_create();
	view->worked = idset_create();
}

static uint32_t find_row(struct device_view *view, struct process *process, uint64_t place)
{
	uint32_t device = process_place(process, place).device;
	size_t *number = idmap_put(&view->row_of, device);
	struct device_row *row;

	if (!*number) {
		view->rows =
			array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
		row = &view->rows[view->nr_rows++];
		*row = (struct device_row){.process = process, .device = device};
		for (unsigned int k = 0; k < NR_PARTS; k++) {
			busy_init(&row->parts[k]);
		}
		*number = view->nr_rows;
	}
	if (place < view->nr_places) {
		view->row_of_place[place] = (uint32_t)(*number - 1);
	}
	return (uint32_t)(*number - 1);
}

static struct device_row *row_of(struct device_view *view, struct process *process, uint64_t place)
{
	uint32_t row = place < view->nr_places ? view->row_of_place[place] : NONE;

	if (row == NONE) {
		row = find_row(view, process, place); /* may move the rows */
	}
	return &view->rows[row];
}

static bool is_communication(
	const struct device_view *view, const struct process *process, uint64_t shape)
{
	if (shape < view->nr_shapes) {
		return view->is_communication[shape];
	}
	return kernel_class_of(process_shape_name(process, shape)) == KERNEL_COMMUNICATION;
}

/* No work of the current process will come that began before that. */
static void advance(struct device_view *view, uint64_t time)
{
	for (size_t i = view->first_row; i < view->nr_rows; i++) {
		busy_advance_all(view->rows[i].parts, NR_PARTS, time, view->rows[i].sums);
	}
}

static enum part part_of(const struct device_view *view, const struct process *process,
	const struct batch *b, uint32_t i)
{
	switch (b->table) {
	case GPROF_TABLE_kernel:
		return view->nr_shapes &&
				       is_communication(view, process, b->col[COL_kernel_shape][i])
			       ? COMMUNICATION_PART
			       : COMPUTATION_PART;
	case GPROF_TABLE_graph:
		return COMPUTATION_PART;
	default:
		return OTHER_PART;
	}
}

static void take_work(struct device_view *view, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct device_row *row = row_of(view, process, b->col[COL_kernel_place][i]);
		uint64_t start = b->col[COL_kernel_begin][i];

		busy_add(&row->parts[part_of(view, process, b, i)], start,
			start + b->col[COL_kernel_dur][i]);
		row->nr_kernels += gprof_table_is(b->table, GPROF_IS_COMPUTING);
		row->nr_copies += b->table == GPROF_TABLE_memcpy;
		row->nr_sets += b->table == GPROF_TABLE_memset;
	}
	idset_add_all(view->worked, b->col[COL_kernel_correlation], b->nr_rows);
	advance(view, view->later_min[b->block]);
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct device_view *view = context;

	if (gprof_table_is(batch->table, GPROF_IS_ACTIVITY)) {
		take_work(view, process, batch);
		return;
	}
	if (batch->table != GPROF_TABLE_untimed) {
		idset_add_all(view->called, batch->col[COL_api_correlation], batch->nr_rows);
		return;
	}
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		row_of(view, process, batch->col[COL_untimed_place][i])->nr_untimed++;
	}
}

static void end(void *context, struct process *process)
{
	struct device_view *view = context;

	(void)process;
	advance(view, UINT64_MAX);
	idset_add(view->called, 0); /* 0 is no correlation */
	view->nr_without_call += idset_count_missing(view->worked, view->called);
	idset_destroy(view->called);
	idset_destroy(view->worked);
	view->called = NULL;
	view->worked = NULL;
	idmap_fini(&view->row_of);
}

struct shown_row {
	struct device_row row;
	uint64_t nr_events, span_ns, idle_ns, overlap_ns;
	uint64_t node;
	struct numa_share threads, pinned, memory; /* nothing, where the host has one node */
	uint32_t name;
};

/* Only of the one node of all GPUs of the process is known what is near. */
static void set_placement(struct shown_row *shown)
{
	const struct placement placement = placement_of(shown->row.process);
	int32_t node = numa_device_node(shown->row.process, shown->row.device);

	shown->node = node == NUMA_NODE_UNKNOWN ? UINT64_MAX : (uint64_t)node;
	if (placement.nr_nodes > 1 && node != NUMA_NODE_UNKNOWN && node == placement.gpu_node) {
		shown->threads = placement.threads;
		shown->pinned = placement.pinned;
		shown->memory = placement.memory;
	}
}

static void add_device(const struct device_row *row, bool has_lost, struct table *table)
{
	struct shown_row shown = {.row = *row, .nr_events = row->nr_untimed};
	uint64_t first = UINT64_MAX, last = 0;

	for (unsigned int k = 0; k < NR_PARTS; k++) {
		const struct busy *part = &row->parts[k];

		shown.nr_events += part->nr_intervals;
		first = part->first < first ? part->first : first;
		last = part->last > last ? part->last : last;
	}
	shown.span_ns = last > first ? last - first : 0;
	shown.idle_ns = has_lost ? UINT64_MAX : shown.span_ns - row->sums[OTHER_PART].busy_ns;
	shown.overlap_ns = row->parts[COMPUTATION_PART].sum.busy_ns +
			   row->parts[COMMUNICATION_PART].sum.busy_ns -
			   row->sums[COMMUNICATION_PART].busy_ns;
	/* NONE: the stream does not say which it was. */
	shown.name =
		row->device != NONE ? process_device_name(row->process, row->device) : UINT32_MAX;
	set_placement(&shown);
	table_add(table, &shown);
}

static const struct table_column columns[] = {
	TABLE_COLUMN("device", "GPU", TABLE_COUNT, TABLE_MEMBER(shown_row, row.device)),
	TABLE_COLUMN("pid", "PID", TABLE_ID, VIEW_PID(shown_row, row.process)),
	TABLE_COLUMN("rank", "Rank", TABLE_COUNT, VIEW_RANK(shown_row, row.process)),
	TABLE_COLUMN("events", "Events", TABLE_COUNT, .is_minor = true, .help = "GPU activities",
		TABLE_MEMBER(shown_row, nr_events)),
	TABLE_COLUMN("kernels", "Kernels", TABLE_COUNT, TABLE_MEMBER(shown_row, row.nr_kernels)),
	TABLE_COLUMN("copies", "Copies", TABLE_COUNT, .is_minor = true,
		TABLE_MEMBER(shown_row, row.nr_copies)),
	TABLE_COLUMN("memsets", "Memsets", TABLE_COUNT, .is_minor = true,
		TABLE_MEMBER(shown_row, row.nr_sets)),
	TABLE_COLUMN("untimed", "Untimed", TABLE_COUNT, .is_wide_only = true,
		.help = "GPU activities without a recorded time",
		TABLE_MEMBER(shown_row, row.nr_untimed)),
	TABLE_COLUMN("span_ns", "Span", TABLE_TIME,
		.help = "from the start of the first GPU activity to the end of the last",
		TABLE_MEMBER(shown_row, span_ns)),
	TABLE_COLUMN("busy_ns", "Busy", TABLE_TIME, .help = "union of kernels, copies and memsets",
		TABLE_MEMBER(shown_row, row.sums[OTHER_PART].busy_ns)),
	TABLE_COLUMN("idle_ns", "Idle", TABLE_TIME, .help = "span minus busy time",
		TABLE_MEMBER(shown_row, idle_ns)),
	TABLE_COLUMN("busy_pct", "Busy % of span", TABLE_PERCENT,
		TABLE_SHARE(shown_row, row.sums[OTHER_PART].busy_ns, span_ns)),
	TABLE_COLUMN("computation_ns", "Computation", TABLE_TIME, .is_wide_only = true,
		.help = "union of the computing kernels",
		TABLE_MEMBER(shown_row, row.parts[COMPUTATION_PART].sum.busy_ns)),
	TABLE_COLUMN("communication_kernels_ns", "Communication kernels", TABLE_TIME,
		.is_wide_only = true,
		.help = "union; the view distributed also counts calls of gloo, MPI and UCC",
		TABLE_MEMBER(shown_row, row.parts[COMMUNICATION_PART].sum.busy_ns)),
	TABLE_COLUMN("kernels_overlap_ns", "Kernels overlap", TABLE_TIME, .is_wide_only = true,
		.help = "computing and communication kernels at once",
		TABLE_MEMBER(shown_row, overlap_ns)),
	TABLE_COLUMN("node", "NUMA node", TABLE_ID, .is_wide_only = true,
		.help = "of the host, to which the GPU is attached", TABLE_MEMBER(shown_row, node)),
	TABLE_COLUMN("threads_near_pct", "% of CPU time at node", TABLE_PERCENT,
		.is_wide_only = true,
		.help = "CPU time on the GPU's NUMA node of the process's first thread and of "
			"those "
			"that launch; n/a where the host has one node",
		TABLE_SHARE(shown_row, threads.near, threads.all)),
	TABLE_COLUMN("pinned_near_pct", "% of pinned pages at node", TABLE_PERCENT,
		.is_wide_only = true, .help = "of the pages of pinned memory that were looked at",
		TABLE_SHARE(shown_row, pinned.near, pinned.all)),
	TABLE_COLUMN("memory_near_pct", "% of pages at node", TABLE_PERCENT, .is_wide_only = true,
		.help = "of the pages of the process's memory that were looked at",
		TABLE_SHARE(shown_row, memory.near, memory.all)),
	TABLE_COLUMN("name", "Name", TABLE_NAME, TABLE_MEMBER(shown_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct device_view *view = state;

	for (size_t i = 0; i < view->nr_rows; i++) {
		struct device_row *row = &view->rows[i];

		add_device(row, view_has_lost(&view->input, row->process), table);
	}
	if (view->nr_without_call) {
		table_note(table, "Launching API calls that are not recorded: %llu.",
			(unsigned long long)view->nr_without_call);
	}
	view_note_lost(table, &view->input);
}

static void fini(void *state)
{
	struct device_view *view = state;

	for (size_t i = 0; i < view->nr_rows; i++) {
		for (unsigned int k = 0; k < NR_PARTS; k++) {
			busy_fini(&view->rows[i].parts[k]);
		}
	}
	idset_destroy(view->called);
	idset_destroy(view->worked);
	free(view->rows);
	free(view->row_of_place);
	free(view->is_communication);
	free(view->later_min);
}

VIEW(device, 80) = {
	.name = "device",
	.subject = VIEW_ABOUT_GPU,
	.help = "busy and idle time of each GPU",
	.about = "Busy time is the union of kernels, copies and memsets; idle time is the rest of "
		 "the span.",
	.is_empty_hidden = true,
	.counts_launches = true,
	.title = "GPUs",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct device_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), needs, begin, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
