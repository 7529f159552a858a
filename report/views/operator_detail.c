/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators with what lies directly in them and what they launched on devices, in the layout of
 * Paddle's Operator Summary: shown in place of the view operator for --detail=op and all; the
 * latter has those that lie in no other one by their place in the step, too (event_tree.h).
 *
 * Paddle's stages and ranges stand only beneath the operator that they lie directly in, as there.
 * An operator in another one also has a row of its own: PyTorch's operators call each other.
 *
 * GPU activities count in the operator that launched them and, under the row that it lies in, in
 * all around it: rows within another add up to its GPU time. Shares of operators are of the time of
 * those that lie in no other one, all others of the row that they lie in.
 */
#include <stdlib.h>
#include <string.h>

#include "report/analysis/event_rows.h"
#include "report/ops/op.h"

/* Operators around an activity, in which it counts. */
#define MAX_AROUND 64u

struct detail_view {
	struct view_input input;
	struct event_rows rows;
	bool is_gpu; /* the current process has device records */
	bool has_gpu, lacks_gpu_times;
	uint64_t outer_ns, outer_gpu_ns; /* of operators that lie in no other one */
};

static void init(void *state)
{
	struct detail_view *view = state;

	event_rows_init(&view->rows, &view->input);
}

static void begin(void *context, struct process *process)
{
	struct detail_view *view = context;

	event_rows_begin(&view->rows, process);
	view->is_gpu = process_has_device_records(process, NULL);
	if (op_has_any(process)) {
		view->has_gpu |= view->is_gpu;
		view->lacks_gpu_times |= !view->is_gpu;
	}
}

/*
 * top: the row of `outer`, that number is or lies in; it has places if it lies in no other one and
 * was called, not run by a graph.
 */
static void add(struct detail_view *view, const struct op *outer, uint32_t top, uint32_t number,
	uint64_t cpu_ns, uint64_t gpu_ns)
{
	event_rows_add(&view->rows,
		event_outer_operator(outer) || op_is_replay(outer) ? NULL : outer, top, number,
		cpu_ns, gpu_ns);
}

static bool is_part(const struct op *op)
{
	return op_is_part(op->framework, op->scope);
}

/* The operator beneath which it has a row, NULL if there is none. */
static const struct op *row_operator(const struct op *op)
{
	const struct op *outer = event_outer_operator(op);

	if (outer && (event_is_stage(outer) || (is_part(op) && op->parent != outer))) {
		return NULL;
	}
	return outer;
}

/* Adds the work that a graph's launch ran for an operator, in the rows of its call. */
static void on_replay(void *context, const struct op *op)
{
	struct detail_view *view = context;
	const struct op *outer = row_operator(op);
	uint32_t top;

	if (!view->is_gpu || (!is_part(op) && !event_is_operator(op))) {
		return;
	}
	if (outer) {
		top = event_rows_find(&view->rows, 0, EVENT_KIND_OP, outer->name, outer->thread);
		event_tree_add_replay(&view->rows.tree,
			event_rows_find(&view->rows, top, EVENT_KIND_OP, op->name, outer->thread),
			op->gpu_total_ns);
	}
	if (is_part(op)) {
		return;
	}
	if (!event_outer_operator(op)) {
		view->outer_gpu_ns += op->gpu_total_ns;
	}
	top = event_rows_find(&view->rows, 0, EVENT_KIND_OP, op->name, op->thread);
	event_tree_add_replay(&view->rows.tree, top, op->gpu_total_ns);
}

static void on_op(void *context, const struct op *op)
{
	struct detail_view *view = context;
	uint64_t ns = clock_map_duration(&view->rows.process->host_clock, op->end - op->begin);
	uint64_t gpu_ns = view->is_gpu ? op->gpu_total_ns : UINT64_MAX;
	const struct op *outer;
	uint32_t row;

	if (!is_part(op) && !event_is_operator(op)) {
		return;
	}
	outer = row_operator(op);
	if (outer) {
		uint32_t top =
			event_rows_find(&view->rows, 0, EVENT_KIND_OP, outer->name, outer->thread);

		row = event_rows_find(&view->rows, top, EVENT_KIND_OP, op->name, outer->thread);
		add(view, outer, top, row, ns, gpu_ns);
	}
	if (is_part(op)) {
		return;
	}
	if (!event_outer_operator(op)) {
		view->outer_ns += ns;
		view->outer_gpu_ns += view->is_gpu ? op->gpu_total_ns : 0;
	}
	row = event_rows_find(&view->rows, 0, EVENT_KIND_OP, op->name, op->thread);
	add(view, op, row, row, ns, gpu_ns);
}

/* An activity in the row of an operator, or of `within`, if that has a row beneath it. */
static void add_activity(struct detail_view *view, const struct op *op, const struct op *within,
	uint32_t name, uint64_t ns)
{
	uint32_t top = event_rows_find(&view->rows, 0, EVENT_KIND_OP, op->name, op->thread);
	uint32_t row = top;

	if (within && row_operator(within) == op) {
		row = event_rows_find(&view->rows, top, EVENT_KIND_OP, within->name, op->thread);
	}
	row = event_rows_find(&view->rows, row, EVENT_KIND_ACTIVITY, name, op->thread);
	add(view, op, top, row, UINT64_MAX, ns);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct detail_view *view = context;
	uint64_t ns = record->end_ns - record->begin_ns;
	const struct op *within = NULL;
	unsigned int nr = 0;
	uint32_t name;

	if (!call || !op || !record->is_timed) {
		return;
	}
	name = op_record_name(view->rows.process, record);
	for (; op && nr < MAX_AROUND; op = op->parent) {
		if (event_is_operator(op) && !event_is_stage(op)) {
			add_activity(view, op, within, name, ns);
			nr++;
		}
		if (event_is_operator(op) || is_part(op)) {
			within = op;
		}
	}
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct detail_view *view = context;

	(void)process;
	(void)phases;
	event_rows_end(&view->rows);
}

/* ---- the table ---- */

struct detail_row {
	struct event_row event;
	uint32_t pid, tid;
	uint64_t whole_ns, whole_gpu_ns; /* of the enclosing row, or of all */
	const char *kind, *name;
	uint8_t level;
};

static void add_row(const struct detail_view *view, struct table *table,
	const struct event_row *row, const struct event_row *outer, uint8_t level)
{
	static const char *const kinds[] = {[EVENT_KIND_OP] = "operator",
		[EVENT_KIND_PLACED] = "place",
		[EVENT_KIND_COPY] = "copy",
		[EVENT_KIND_ACTIVITY] = "work"};
	const struct process *process =
		row->key.process ? view->rows.input.processes[row->key.process - 1] : NULL;
	struct buf name = {0};

	event_row_name(row, &name);
	buf_char(&name, '\0');
	table_add(
		table, &(struct detail_row){.event = *row,
			       .pid = process ? process->pid : UINT32_MAX,
			       .tid = process ? process_tid(process, row->key.thread) : UINT32_MAX,
			       .whole_ns = !row->cpu.nr ? 0
					   : outer	? outer->cpu.sum
							: view->outer_ns,
			       .whole_gpu_ns = !row->gpu.nr ? 0
					       : outer	    ? outer->gpu.sum
							    : view->outer_gpu_ns,
			       .kind = kinds[row->key.kind],
			       .name = name.bytes,
			       .level = level});
	table_set_level(table, level);
	buf_fini(&name);
}

/* At most three deep, with places four. */
static void add_rows(const struct detail_view *view, struct table *table, uint32_t first,
	const struct event_row *outer, uint8_t level)
{
	for (uint32_t at = first; at; at = event_tree_row(&view->rows.tree, at)->next) {
		const struct event_row *row = event_tree_row(&view->rows.tree, at);

		if (row->both.nr) {
			add_row(view, table, row, outer, level);
			add_rows(view, table, row->first, row, (uint8_t)(level + 1));
		}
	}
}

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, TABLE_MEMBER(detail_row, pid)),
	TABLE_COLUMN("tid", "TID", TABLE_ID, TABLE_MEMBER(detail_row, tid)),
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(detail_row, event.both.nr)),
	TABLE_COLUMN("total_ns", "CPU total", TABLE_TIME,
		TABLE_IF(detail_row, event.cpu.sum, event.cpu.nr)),
	TABLE_COLUMN("avg_ns", "CPU avg", TABLE_MEAN_TIME,
		TABLE_MEAN(detail_row, event.cpu.sum, event.cpu.nr)),
	TABLE_COLUMN("max_ns", "CPU max", TABLE_TIME, .is_minor = true,
		TABLE_IF(detail_row, event.cpu.max, event.cpu.nr)),
	TABLE_COLUMN("min_ns", "CPU min", TABLE_TIME, .is_minor = true,
		TABLE_IF(detail_row, event.cpu.min, event.cpu.nr)),
	TABLE_COLUMN(
		"ratio_pct", "%", TABLE_PERCENT, TABLE_SHARE(detail_row, event.cpu.sum, whole_ns)),
	TABLE_COLUMN("gpu_total_ns", "GPU total", TABLE_TIME,
		TABLE_IF(detail_row, event.gpu.sum, event.gpu.nr)),
	TABLE_COLUMN("gpu_avg_ns", "GPU avg", TABLE_MEAN_TIME, .is_minor = true,
		TABLE_MEAN(detail_row, event.gpu.sum, event.gpu.nr)),
	TABLE_COLUMN("gpu_max_ns", "GPU max", TABLE_TIME, .is_minor = true,
		TABLE_IF(detail_row, event.gpu.max, event.gpu.nr)),
	TABLE_COLUMN("gpu_min_ns", "GPU min", TABLE_TIME, .is_minor = true,
		TABLE_IF(detail_row, event.gpu.min, event.gpu.nr)),
	TABLE_COLUMN("gpu_ratio_pct", "% of GPU", TABLE_PERCENT,
		TABLE_SHARE(detail_row, event.gpu.sum, whole_gpu_ns)),
	TABLE_COLUMN("level", "Level", TABLE_ID, .is_wide_only = true,
		TABLE_MEMBER(detail_row, level)), /* the row lies in the last lower one */
	TABLE_COLUMN(
		"kind", "Kind", TABLE_TEXT, .is_wide_only = true, TABLE_MEMBER(detail_row, kind)),
	TABLE_COLUMN("name", "Operator", TABLE_TEXT, TABLE_MEMBER(detail_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct detail_view *view = state;

	for (unsigned int i = 0; i < table->nr_columns; i++) {
		if (strncmp(table->columns[i].key, "gpu_", 4) == 0) {
			table->columns[i].is_wide_only = !view->has_gpu;
		}
	}
	table_set_wide(table, "pid", !view->rows.input.is_per_thread);
	table_set_wide(table, "tid", !view->rows.input.is_per_thread);
	add_rows(view, table, view->rows.tree.first, NULL, 0);
	if (view->lacks_gpu_times && view->has_gpu) {
		table_note(table, "Some processes have no GPU activities.");
	}
	if (view->rows.places.is_cut) {
		table_note(table, "Operators beyond position 9999 of a step share one row.");
	}
	table_sort(table, "gpu_total"); /* of work that is all there is */
	table_sort(table, "total");
}

static void fini(void *state)
{
	struct detail_view *view = state;

	event_rows_fini(&view->rows);
}

const struct view_class view_operator_detail = {
	.name = "operator",
	.help = "operators, what lies in them, and what they launched",
	.about = "Shares are of the outermost operators; in nested rows, of the enclosing row. GPU "
		 "time is that of the GPU activities launched, whenever they ran.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Operators",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct detail_view),
	.ops = {.begin = begin, .op = on_op, .replay = on_replay, .record = on_record, .end = end},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
