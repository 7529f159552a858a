/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA graphs: how often each was launched, what a launch ran, and how long that took on the GPU,
 * compared with the times of its nodes. A launch takes from the start of its first node to the
 * end of its last one. Nodes may run at the same time, so the gaps are what no node covers.
 */
#include <stdlib.h>

#include "report/stats/min_max_sum.h"
#include "report/analysis/view.h"
#include "report/util/buf.h"
#include "report/util/text.h"

struct graph_row {
	struct process *process;
	uint32_t graph; /* CUPTI's ID */
	uint64_t nr_launches;
	struct min_max_sum times;	/* ns, of the launches whose nodes have times */
	uint64_t nr_untimed;		/* nodes without times */
	uint64_t nr_whole;		/* launches that were recorded without their nodes */
	uint64_t nr_kernels, nr_copies; /* in all launches; copies and memsets */
	uint64_t nodes_ns, busy_ns;	/* sum of the nodes, and the time that at least one ran */
	uint64_t calls_ns;		/* of the calls that launched it */
	uint64_t nr_unknown;		/* nodes that were captured before the recording */
};

struct span {
	uint64_t begin, end; /* ns */
};

struct graphs_view {
	struct view_input input;
	struct graph_row *rows;
	size_t nr_rows, capacity;
	struct idmap row_of; /* size_t, 1 + the index, by graph, of the current process */
	struct process *process;
	/* The current launch: */
	uint64_t correlation; /* 0: none */
	size_t row;
	struct span *nodes;
	size_t nr_nodes, node_capacity;
	bool has_whole;
};

static void begin(void *context, struct process *process)
{
	struct graphs_view *view = context;

	view->process = process;
	idmap_fini(&view->row_of);
	idmap_init(&view->row_of, sizeof(size_t));
}

static size_t find_row(struct graphs_view *view, uint32_t graph)
{
	size_t *number = idmap_put(&view->row_of, graph);

	if (!*number) {
		view->rows =
			array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
		view->rows[view->nr_rows++] =
			(struct graph_row){.process = view->process, .graph = graph};
		*number = view->nr_rows;
	}
	return *number - 1;
}

static int by_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* All nodes of the launch are there. */
static void end_launch(struct graphs_view *view)
{
	struct graph_row *row = &view->rows[view->row];
	struct span *nodes = view->nodes;
	uint64_t until;

	view->correlation = 0;
	if (!view->nr_nodes) {
		return;
	}
	qsort(nodes, view->nr_nodes, sizeof(*nodes), by_begin);
	until = nodes[0].begin;
	for (size_t i = 0; i < view->nr_nodes; i++) {
		uint64_t from = nodes[i].begin > until ? nodes[i].begin : until;

		row->nodes_ns += nodes[i].end - nodes[i].begin;
		row->busy_ns += nodes[i].end > from ? nodes[i].end - from : 0;
		until = nodes[i].end > until ? nodes[i].end : until;
	}
	min_max_sum_add(&row->times, until - nodes[0].begin);
	view->nr_nodes = 0;
}

static void begin_launch(
	struct graphs_view *view, const struct op_record *record, const struct op_call *call)
{
	end_launch(view);
	view->correlation = record->correlation;
	view->row = find_row(view, record->graph);
	view->rows[view->row].nr_launches++;
	view->rows[view->row].calls_ns +=
		clock_map_duration(&view->process->host_clock, call->end - call->begin);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct graphs_view *view = context;
	struct graph_row *row;

	(void)op;
	if (!call || !(record->graph || record->graph_node)) {
		return;
	}
	if (!view->correlation || view->correlation != record->correlation) {
		begin_launch(view, record, call);
	}
	row = &view->rows[view->row];
	row->nr_kernels += record->table == GPROF_TABLE_kernel;
	row->nr_copies +=
		record->table == GPROF_TABLE_memcpy || record->table == GPROF_TABLE_memset;
	row->nr_whole += record->table == GPROF_TABLE_graph;
	row->nr_unknown += record->is_capture_unknown;
	if (!record->is_timed || record->end_ns < record->begin_ns) {
		row->nr_untimed++;
		return;
	}
	view->nodes =
		array_grow(view->nodes, view->nr_nodes, &view->node_capacity, sizeof(*view->nodes));
	view->nodes[view->nr_nodes++] = (struct span){record->begin_ns, record->end_ns};
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct graphs_view *view = context;

	(void)process;
	(void)phases;
	if (view->correlation) {
		end_launch(view);
	}
}

/* ---- the table ---- */

enum column {
	PID,
	GRAPH,
	LAUNCHES,
	KERNELS,
	COPIES,
	TOTAL,
	AVG,
	MAX,
	MIN,
	NODES_SUM,
	GAPS,
	GAP_SHARE,
	CALL_AVG,
	UNTIMED,
	UNKNOWN,
};

static const struct table_column columns[] = {
	[PID] = TABLE_COLUMN("pid", "PID", TABLE_ID),
	[GRAPH] = TABLE_COLUMN("graph", "Graph", TABLE_ID, TABLE_MEMBER(graph_row, graph)),
	[LAUNCHES] = TABLE_COLUMN(
		"launches", "Launches", TABLE_COUNT, TABLE_MEMBER(graph_row, nr_launches)),
	[KERNELS] = TABLE_COLUMN("kernels", "Kernels", TABLE_NUMBER, .help = "mean per launch"),
	[COPIES] = TABLE_COLUMN(
		"copies", "Copies", TABLE_NUMBER, .help = "mean of copies and memsets per launch"),
	[TOTAL] = TABLE_COLUMN("total_ns", "Total", TABLE_TIME,
		.help = "from the start of the first node of each launch to the end of its last",
		TABLE_MEMBER(graph_row, times.sum)),
	[AVG] = TABLE_COLUMN("avg_ns", "Avg", TABLE_MEAN_TIME),
	[MAX] = TABLE_COLUMN(
		"max_ns", "Max", TABLE_TIME, .is_minor = true, TABLE_MEMBER(graph_row, times.max)),
	[MIN] = TABLE_COLUMN(
		"min_ns", "Min", TABLE_TIME, .is_minor = true, TABLE_MEMBER(graph_row, times.min)),
	[NODES_SUM] = TABLE_COLUMN("nodes_ns", "Sum of nodes", TABLE_TIME,
		.help = "times of all nodes; more than Total where nodes ran at the same time"),
	[GAPS] = TABLE_COLUMN("gaps_ns", "Gaps", TABLE_TIME, .is_major = true,
		.help = "the part of Total in which no node ran"),
	[GAP_SHARE] = TABLE_COLUMN(
		"gap_pct", "% gaps", TABLE_PERCENT, .is_major = true, .help = "gaps, of Total"),
	[CALL_AVG] = TABLE_COLUMN("call_avg_ns", "Call avg", TABLE_MEAN_TIME, .is_minor = true,
		.help = "mean time of the call on the host that launched it"),
	[UNTIMED] = TABLE_COLUMN("untimed", "Untimed", TABLE_COUNT, .is_wide_only = true,
		.help = "nodes without recorded times", TABLE_MEMBER(graph_row, nr_untimed)),
	[UNKNOWN] = TABLE_COLUMN("unknown", "Capture unknown", TABLE_COUNT, .is_wide_only = true,
		.help = "activities of nodes that were captured before the recording",
		TABLE_MEMBER(graph_row, nr_unknown)),
};

static void fill(struct graphs_view *view, const struct graph_row *row, struct table_cell *cells)
{
	double nr = (double)row->nr_launches;
	uint64_t gaps_ns = row->times.sum - row->busy_ns;

	table_set_integer(&cells[PID], row->process->pid);
	table_set_number(&cells[CALL_AVG], (double)row->calls_ns / nr);
	if (row->times.nr) {
		table_set_number(&cells[AVG], min_max_sum_mean(&row->times));
	}
	if (row->nr_whole) {
		view->has_whole = true;
		return;
	}
	table_set_number(&cells[KERNELS], (double)row->nr_kernels / nr);
	table_set_number(&cells[COPIES], (double)row->nr_copies / nr);
	if (!row->times.nr) {
		return;
	}
	table_set_integer(&cells[NODES_SUM], row->nodes_ns);
	table_set_integer(&cells[GAPS], gaps_ns);
	table_set_share(&cells[GAP_SHARE], (double)gaps_ns, (double)row->times.sum);
}

static void fill_table(void *state, struct table *table)
{
	struct graphs_view *view = state;
	uint64_t nr_unknown = 0;

	for (size_t i = 0; i < view->nr_rows; i++) {
		fill(view, &view->rows[i], table_add(table, &view->rows[i]));
		nr_unknown += view->rows[i].nr_unknown;
	}
	table_sort(table, "total");
	if (view->has_whole) {
		table_note(table, "Nodes are n/a where launches were recorded as a whole "
				  "(GPROF_GRAPH=graph).");
	}
	if (nr_unknown) {
		table_note(table,
			"The operators of %llu GPU %s are unknown: the recording does not have "
			"the capture of their nodes.",
			(unsigned long long)nr_unknown,
			text_many(nr_unknown, "activity", "activities"));
	}
	view_note_devices(table, &view->input, "");
}

static void fini(void *state)
{
	struct graphs_view *view = state;

	free(view->rows);
	free(view->nodes);
	idmap_fini(&view->row_of);
}

VIEW(graphs, 205) = {
	.name = "graphs",
	.subject = VIEW_ABOUT_GPU,
	.help = "CUDA graphs: launches, their nodes, and gaps between the nodes",
	.about = "A row is a graph; the nodes of a launch are its kernels, copies and memsets. The "
		 "views of operators show which of them captured these.",
	.is_empty_hidden = true,
	.title = "CUDA graphs",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct graphs_view),
	.ops = {.begin = begin, .record = on_record, .end = end},
	.fill = fill_table,
	.fini = fini,
};
