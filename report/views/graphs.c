/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA graphs: how often each was launched, what a launch ran, and how long that took on the GPU,
 * compared with the times of its nodes. A launch takes from the start of its first node to the
 * end of its last one. Nodes may run at the same time, so the gaps are what no node covers.
 *
 * Where a thread launches one graph right after another, one graph of both would have no gap there:
 *
 *   calls     launch A, launch B               nothing else of CUDA in between
 *   stream    AAAAAAAA....BBBBBBBB             the dots are a launch gap of B
 */
#include <stdlib.h>
#include <string.h>

#include "report/stats/min_max_sum.h"
#include "report/analysis/view.h"
#include "report/ops/graph_nodes.h"
#include "report/util/buf.h"
#include "report/util/hash.h"
#include "report/util/text.h"
#include "report/util/sort.h"

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
	uint64_t nr_following, launch_gaps_ns;
	uint64_t gaps_ns; /* for the table */
};

/* A call of a thread, as far as it launched a graph whose times are known. */
struct launch {
	bool is_graph;
	uint32_t step;
	size_t row;
	uint64_t handle, begin; /* of the stream; ns, of the first node */
};

/* A thread's calls by falling times: the one before the current one was later. */
struct caller {
	struct launch later, current;
};

struct span {
	uint64_t begin, end; /* ns */
};

struct graphs_view {
	struct view_input input;
	struct graph_row *rows;
	size_t nr_rows, capacity;
	struct idmap row_of;  /* size_t, 1 + the index, by graph, of the current process */
	struct idmap callers; /* struct caller by thread, of the current process */
	/* The current launch: */
	uint64_t correlation; /* 0: none */
	uint64_t handle;
	uint32_t thread, step;
	size_t row;
	struct span *nodes;
	size_t nr_nodes, node_capacity;
	bool has_whole;
};

static void begin(void *context, struct process *process)
{
	struct graphs_view *view = context;

	(void)process;
	idmap_fini(&view->row_of);
	idmap_init(&view->row_of, sizeof(size_t));
	idmap_fini(&view->callers);
	idmap_init(&view->callers, sizeof(struct caller));
}

static size_t find_row(struct graphs_view *view, uint32_t graph)
{
	size_t *number = idmap_put(&view->row_of, graph);

	if (!*number) {
		view->rows =
			array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
		view->rows[view->nr_rows++] =
			(struct graph_row){.process = view->input.process, .graph = graph};
		*number = view->nr_rows;
	}
	return *number - 1;
}

static int by_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return COMPARE(x->begin, y->begin);
}

/*
 * Of the launches of one thread into one stream. Between steps that do not follow each other lie
 * calls that are not selected.
 */
static void add_launch_gap(struct graphs_view *view, uint64_t begin_ns, uint64_t end_ns)
{
	struct caller *caller = idmap_put(&view->callers, view->thread);
	const struct launch *later = &caller->later;

	if (later->is_graph && later->handle == view->handle && later->step - view->step <= 1) {
		struct graph_row *row = &view->rows[later->row];

		row->nr_following++;
		row->launch_gaps_ns += later->begin > end_ns ? later->begin - end_ns : 0;
	}
	caller->current = (struct launch){.is_graph = true,
		.step = view->step,
		.row = view->row,
		.handle = view->handle,
		.begin = begin_ns};
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
	add_launch_gap(view, nodes[0].begin, until);
	view->nr_nodes = 0;
}

static void begin_launch(
	struct graphs_view *view, const struct op_record *record, const struct op_call *call)
{
	end_launch(view);
	view->correlation = record->correlation;
	view->thread = call->thread;
	view->handle = call->handle;
	view->step = call->step;
	view->row = find_row(view, record->graph);
	view->rows[view->row].nr_launches++;
	view->rows[view->row].calls_ns +=
		clock_map_duration(&view->input.process->host_clock, call->end - call->begin);
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	struct graphs_view *view = context;
	struct caller *caller;

	(void)op;
	if (view->correlation) {
		end_launch(view);
	}
	caller = idmap_put(&view->callers, call->thread);
	caller->later = caller->current;
	caller->current = (struct launch){0};
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
	row->nr_copies += gprof_table_is(record->table, GPROF_IS_COPYING);
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

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, VIEW_PID(graph_row, process)),
	TABLE_COLUMN("graph", "Graph", TABLE_ID, TABLE_MEMBER(graph_row, graph)),
	TABLE_COLUMN("launches", "Launches", TABLE_COUNT, TABLE_MEMBER(graph_row, nr_launches)),
	TABLE_COLUMN("kernels", "Kernels", TABLE_NUMBER, .help = "mean per launch",
		TABLE_MEAN(graph_row, nr_kernels, nr_launches)),
	TABLE_COLUMN("copies", "Copies", TABLE_NUMBER,
		.help = "mean of copies and memsets per launch",
		TABLE_MEAN(graph_row, nr_copies, nr_launches)),
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME,
		.help = "from the start of the first node of each launch to the end of its last",
		TABLE_MEMBER(graph_row, times.sum)),
	TABLE_COLUMN("avg_ns", "Avg", TABLE_MEAN_TIME, TABLE_MEAN(graph_row, times.sum, times.nr)),
	TABLE_COLUMN(
		"max_ns", "Max", TABLE_TIME, .is_minor = true, TABLE_MEMBER(graph_row, times.max)),
	TABLE_COLUMN(
		"min_ns", "Min", TABLE_TIME, .is_minor = true, TABLE_MEMBER(graph_row, times.min)),
	TABLE_COLUMN("nodes_ns", "Sum of nodes", TABLE_TIME,
		.help = "times of all nodes; more than Total where nodes ran at the same time",
		TABLE_MEMBER(graph_row, nodes_ns)),
	TABLE_COLUMN("gaps_ns", "Gaps", TABLE_TIME, .is_major = true,
		.help = "the part of Total in which no node ran", TABLE_MEMBER(graph_row, gaps_ns)),
	TABLE_COLUMN("gap_pct", "% gaps", TABLE_PERCENT, .is_major = true, .help = "gaps, of Total",
		TABLE_SHARE(graph_row, gaps_ns, times.sum)),
	TABLE_COLUMN("following", "Back to back", TABLE_COUNT, .is_minor = true,
		.help = "launches that followed the launch of a graph: by the same thread, into "
			"the same stream, without a call of CUDA in between",
		TABLE_MEMBER(graph_row, nr_following)),
	TABLE_COLUMN("launch_gaps_ns", "Launch gaps", TABLE_TIME, .is_minor = true,
		.help = "time between the last node of those graphs and the first one of this",
		TABLE_MEMBER(graph_row, launch_gaps_ns)),
	TABLE_COLUMN("call_avg_ns", "Call avg", TABLE_MEAN_TIME, .is_minor = true,
		.help = "mean time of the call on the host that launched it",
		TABLE_MEAN(graph_row, calls_ns, nr_launches)),
	TABLE_COLUMN("untimed", "Untimed", TABLE_COUNT, .is_wide_only = true,
		.help = "nodes without recorded times", TABLE_MEMBER(graph_row, nr_untimed)),
	TABLE_COLUMN("unknown", "Capture unknown", TABLE_COUNT, .is_wide_only = true,
		.help = "activities of nodes that were captured before the recording",
		TABLE_MEMBER(graph_row, nr_unknown)),
};

/* What was recorded as a whole, or has no times, lacks what follows from nodes. */
static void finish(struct graphs_view *view, struct graph_row *row)
{
	row->gaps_ns = row->times.sum - row->busy_ns;
	if (row->nr_whole) {
		view->has_whole = true;
		row->nr_kernels = row->nr_copies = UINT64_MAX;
	}
	if (row->nr_whole || !row->times.nr) {
		row->nodes_ns = row->gaps_ns = UINT64_MAX;
	}
}

static void fill_table(void *state, struct table *table)
{
	struct graphs_view *view = state;
	uint64_t nr_unknown = 0;

	for (size_t i = 0; i < view->nr_rows; i++) {
		finish(view, &view->rows[i]);
		table_add(table, &view->rows[i]);
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
	idmap_fini(&view->callers);
}

VIEW(graphs, 205) = {
	.name = "graphs",
	.subject = VIEW_ABOUT_GPU,
	.help = "CUDA graphs: launches, their nodes, and gaps between the nodes",
	.about = "A row is a graph; the nodes of a launch are its kernels, copies and memsets. The "
		 "views of operators show which of them captured these. Gaps are the most that "
		 "another order of the nodes saves, and launch gaps the most that one graph of "
		 "those launched back to back saves.",
	.is_empty_hidden = true,
	.title = "CUDA graphs",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct graphs_view),
	.ops = {.begin = begin, .call = on_call, .record = on_record, .end = end},
	.fill = fill_table,
	.fini = fini,
};

/* ---- by operator ---- */

/*
 * The operators that each graph was captured from: the kernels and copies that a launch runs of
 * them, and their times. Launches that were recorded as a whole have no nodes: there the rows of
 * the graph's nodes say which operators these are of, and the times stay unknown.
 */

/* CUgraphNodeType */
enum { NODE_KERNEL = 0, NODE_MEMCPY = 1, NODE_MEMSET = 2, NODE_GRAPH = 4, NODE_CONDITIONAL = 13 };

struct part_key {
	const struct process *process;
	uint32_t graph;	   /* CUPTI's ID */
	uint32_t operator; /* of string_pool.h */
};

struct part_row {
	struct part_key key;
	bool is_member; /* by rows of nodes: counts are of one launch, without times */
	uint64_t nr_kernels, nr_copies; /* else of all launches; copies and memsets */
	uint64_t ns;
	uint64_t nr_launches, graph_ns; /* of the graph; set at the end of the process */
	uint64_t nr_of;			/* launches that the counts are of; for the table */
	UT_hash_handle hh;
};

/* A graph of the current process. */
struct launches {
	uint64_t nr, nr_whole; /* of these: recorded without their nodes */
	uint64_t ns;	       /* of all nodes */
	bool has_members;
};

struct graph_operators_view {
	struct view_input input;
	struct part_row *rows;
	struct idmap graphs; /* struct launches by graph */
	const struct process *process;
	uint64_t correlation;	       /* of the current launch, 0: none */
	uint64_t nr_whole, nr_unknown; /* graphs; unknown: whose operators are */
};

static void begin_parts(void *context, struct process *process)
{
	struct graph_operators_view *view = context;

	(void)process;
	view->correlation = 0;
	idmap_fini(&view->graphs);
	idmap_init(&view->graphs, sizeof(struct launches));
}

static struct part_row *find_part(
	struct graph_operators_view *view, uint32_t graph, uint32_t operator)
{
	struct part_key key;
	struct part_row *row;

	memset(&key, 0, sizeof(key)); /* its bytes are hashed */
	key.process = view->input.process;
	key.graph = graph;
	key.operator= operator;
	HASH_FIND(hh, view->rows, &key, sizeof(key), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = key;
		HASH_ADD(hh, view->rows, key, sizeof(key), row);
	}
	return row;
}

/* Without an operator, `lacks` says why. */
static uint32_t operator_name(const struct op *op, const char *lacks)
{
	op = op_operator_around(op);
	return op ? op_row_name(op->name) : string_pool_intern(lacks, strlen(lacks));
}

static void on_part_record(void *context, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	struct graph_operators_view *view = context;
	struct launches *launches;
	struct part_row *row;
	bool is_copy = gprof_table_is(record->table, GPROF_IS_COPYING);

	if (!call || !(record->graph || record->graph_node)) {
		return;
	}
	launches = idmap_put(&view->graphs, record->graph);
	if (!view->correlation || view->correlation != record->correlation) {
		view->correlation = record->correlation;
		launches->nr++;
		launches->nr_whole += record->table == GPROF_TABLE_graph;
	}
	if (record->table != GPROF_TABLE_kernel && !is_copy) {
		return;
	}
	row = find_part(view, record->graph, operator_name(op, op_record_lacks_op(record, true)));
	row->nr_kernels += !is_copy;
	row->nr_copies += is_copy;
	if (record->is_timed && record->end_ns >= record->begin_ns) {
		row->ns += record->end_ns - record->begin_ns;
		launches->ns += record->end_ns - record->begin_ns;
	}
}

static const char *member_lacks(const struct graph_member *member)
{
	if (member->kind == NODE_GRAPH) {
		return "(graph in a node)";
	}
	if (member->kind == NODE_CONDITIONAL) {
		return "(conditional node)";
	}
	return member->is_capture_unknown ? OP_LACKS_CAPTURE : OP_LACKS_OPERATOR;
}

/* Host functions, events and empty nodes are no work of a GPU. */
static void on_member(void *context, const struct graph_member *member)
{
	struct graph_operators_view *view = context;
	struct launches *launches = idmap_get(&view->graphs, member->graph);
	bool is_copy = member->kind == NODE_MEMCPY || member->kind == NODE_MEMSET;
	bool has_nodes = member->kind == NODE_GRAPH || member->kind == NODE_CONDITIONAL;
	struct part_row *row;

	if (!launches || !launches->nr_whole) {
		return;
	}
	launches->has_members = true;
	if (member->kind != NODE_KERNEL && !is_copy && !has_nodes) {
		return;
	}
	row = find_part(view, member->graph,
		has_nodes ? operator_name(NULL, member_lacks(member))
			  : operator_name(member->op, member_lacks(member)));
	row->is_member = true;
	row->nr_kernels += member->kind == NODE_KERNEL;
	row->nr_copies += is_copy;
}

static void end_parts(void *context, struct process *process, const struct phases *phases)
{
	struct graph_operators_view *view = context;

	(void)phases;
	for (struct part_row *row = view->rows; row; row = row->hh.next) {
		const struct launches *launches = row->key.process == process
							  ? idmap_get(&view->graphs, row->key.graph)
							  : NULL;

		if (launches) {
			row->nr_launches = launches->nr;
			row->graph_ns = launches->ns;
		}
	}
	for (size_t i = 0; i < view->graphs.nr; i++) {
		const struct launches *launches = idmap_at(&view->graphs, i);

		view->nr_whole += launches->nr_whole != 0;
		view->nr_unknown += launches->nr_whole && !launches->has_members;
	}
}

/* ---- its table ---- */

static const struct table_column part_columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, VIEW_PID(part_row, key.process)),
	TABLE_COLUMN("graph", "Graph", TABLE_ID, TABLE_MEMBER(part_row, key.graph)),
	TABLE_COLUMN("share_pct", "% of nodes", TABLE_PERCENT,
		.help = "Total, of the times of all nodes of the graph",
		TABLE_SHARE(part_row, ns, graph_ns)),
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME,
		.help = "times of the operator's nodes in all launches",
		TABLE_MEMBER(part_row, ns)),
	TABLE_COLUMN("avg_ns", "Per launch", TABLE_MEAN_TIME, TABLE_MEAN(part_row, ns, nr_of)),
	TABLE_COLUMN("launches", "Launches", TABLE_COUNT, .help = "of the graph",
		TABLE_MEMBER(part_row, nr_launches)),
	TABLE_COLUMN("kernels", "Kernels", TABLE_NUMBER, .help = "mean per launch",
		TABLE_MEAN(part_row, nr_kernels, nr_of)),
	TABLE_COLUMN("copies", "Copies", TABLE_NUMBER,
		.help = "mean of copies and memsets per launch",
		TABLE_MEAN(part_row, nr_copies, nr_of)),
	TABLE_COLUMN("operator", "Operator", TABLE_NAME, .is_major = true,
		.help = "innermost operator inside the capture, else around the launch",
		TABLE_MEMBER(part_row, key.operator)),
};

static void fill_parts(void *state, struct table *table)
{
	struct graph_operators_view *view = state;

	for (struct part_row *row = view->rows; row; row = row->hh.next) {
		row->nr_of = row->is_member ? 1 : row->nr_launches;
		row->ns = row->graph_ns && !row->is_member ? row->ns : UINT64_MAX;
		table_add(table, row);
	}
	table_sort(table, "kernels");
	table_sort(table, "total");
	if (view->nr_whole) {
		table_note(table, "Times are n/a where launches were recorded as a whole "
				  "(GPROF_GRAPH=graph).");
	}
	if (view->nr_unknown) {
		table_note(table,
			"The operators of %llu %s are unknown: the recording does not have the "
			"capture, or the nodes changed after it.",
			(unsigned long long)view->nr_unknown,
			text_many(view->nr_unknown, "graph", "graphs"));
	}
}

static void fini_parts(void *state)
{
	struct graph_operators_view *view = state;

	hash_free(view->rows);
	idmap_fini(&view->graphs);
}

VIEW(graph_operators, 206) = {
	.name = "graph-operators",
	.subject = VIEW_ABOUT_GPU,
	.help = "CUDA graphs by operator: the kernels and copies of a launch, and their times",
	.about = "A row is an operator in a graph. Launches that were recorded as a whole have "
		 "counts, which the capture gives, and no times.",
	.is_empty_hidden = true,
	.title = "CUDA graphs by operator",
	VIEW_COLUMNS(part_columns),
	VIEW_STATE(struct graph_operators_view),
	.ops = {.begin = begin_parts,
		.record = on_part_record,
		.graph_member = on_member,
		.end = end_parts},
	.fill = fill_parts,
	.fini = fini_parts,
};
