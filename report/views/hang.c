/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hangs as the recorder saw them (GPROF_HANG_TIMEOUT_S): where the threads were, and the last
 * launch, the last activity that ended and the last NCCL call. Kernels show whether such a
 * collective ended later.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/comm/nccl_names.h"
#include "report/comm/nccl_ops.h"
#include "report/model/py_stack.h"
#include "report/analysis/view.h"
#include "report/util/sort.h"

/* A row of the stream; BEGAN has the tick of the ENDED that belongs to it, 0 if there is none. */
struct stall_row {
	struct process *process;
	uint32_t process_idx; /* as nccl_ops.h counts */
	uint64_t tick, since, work_end, step, stream, bytes, ended;
	uint64_t correlation;
	uint32_t hang, name, text, tid, shape, place, comm, sequence, line;
	uint8_t item, nccl_kind;
	bool is_open;
};

struct hang_view {
	struct view_input input;
	struct stall_row *rows;
	size_t nr_rows, capacity;
	struct nccl_ops ops;
	uint32_t process_idx;
};

enum column {
	PID,
	RANK,
	HANG,
	WHAT,
	WHERE,
	NAME,
	DURATION,
	NUMBER,
	BYTES,
	STATE,
	CORRELATION,
};

static void fini(void *state)
{
	struct hang_view *view = state;

	nccl_ops_fini(&view->ops);
	free(view->rows);
}

/* ---- reading ---- */

/* Calls of NCCL are wanted only of those that have a hang. */
static bool needs(void *context, struct process *process, unsigned int table)
{
	const struct stream_table *hangs = stream_table(process->stream, GPROF_TABLE_hang);

	(void)context;
	(void)table;
	return hangs && hangs->nr_rows;
}

static void mark_end(
	struct hang_view *view, const struct process *process, uint32_t hang, uint64_t tick)
{
	for (size_t i = view->nr_rows; i-- > 0 && view->rows[i].process == process;) {
		if (view->rows[i].item == GPROF_HANG_BEGAN && view->rows[i].hang == hang) {
			view->rows[i].ended = tick;
			return;
		}
	}
}

static void take_row(
	struct hang_view *view, struct process *process, const struct batch *b, uint32_t i)
{
	uint32_t hang = (uint32_t)b->col[COL_hang_hang][i];
	uint8_t item = (uint8_t)b->col[COL_hang_item][i];

	if (item == GPROF_HANG_ENDED) {
		mark_end(view, process, hang, b->col[COL_hang_tick][i]);
		return;
	}
	view->rows = array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
	view->rows[view->nr_rows++] = (struct stall_row){
		.process = process,
		.process_idx = view->process_idx,
		.tick = b->col[COL_hang_tick][i],
		.since = b->col[COL_hang_since][i],
		.work_end = b->col[COL_hang_work_end][i],
		.step = b->col[COL_hang_step][i],
		.stream = b->col[COL_hang_handle][i],
		.bytes = b->col[COL_hang_bytes][i],
		.hang = hang,
		.name = process_string(process, b->col[COL_hang_name][i]),
		.text = process_string(process, b->col[COL_hang_text][i]),
		.tid = (uint32_t)b->col[COL_hang_task][i],
		.correlation = b->col[COL_hang_correlation][i],
		.shape = (uint32_t)b->col[COL_hang_shape][i],
		.place = (uint32_t)b->col[COL_hang_place][i],
		.comm = (uint32_t)b->col[COL_hang_comm][i],
		.sequence = (uint32_t)b->col[COL_hang_sequence][i],
		.item = item,
		.nccl_kind = (uint8_t)b->col[COL_hang_nccl_kind][i],
		.is_open = b->col[COL_hang_is_open][i] != 0,
		.line = (uint32_t)b->col[COL_hang_line][i],
	};
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct hang_view *view = context;

	if (batch->table == GPROF_TABLE_nccl) {
		nccl_ops_add_batch(&view->ops, batch);
		return;
	}
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		take_row(view, process, batch, i);
	}
}

static void end(void *context, struct process *process)
{
	struct hang_view *view = context;

	nccl_ops_end(&view->ops, process);
	view->process_idx++;
}

/* ---- the table ---- */

static void set_name(struct table_cell *cell, uint32_t name)
{
	if (name) {
		table_set_integer(cell, name);
	}
}

static void set_text(struct table_cell *cell, uint32_t name)
{
	size_t nr_bytes;
	const char *text = string_pool_text(name, &nr_bytes);

	table_set_text(cell, text, nr_bytes);
}

static void fill_began(const struct stall_row *row, struct table_cell *cells)
{
	char where[40];

	snprintf(where, sizeof(where), "after step %" PRIu64, row->step);
	table_set_string(&cells[WHAT], "hang");
	table_set_string(&cells[WHERE], where);
	set_name(&cells[NAME], row->text);
	table_set_string(&cells[STATE], row->ended ? "resumed" : "not resumed");
}

static void fill_thread(const struct stall_row *row, struct table_cell *cells)
{
	char where[24];

	if (row->tid) {
		snprintf(where, sizeof(where), "thread %" PRIu32, row->tid);
	} else {
		snprintf(where, sizeof(where), "other threads");
	}
	table_set_string(&cells[WHAT], row->is_open ? "in call"
				       : row->name  ? "returned from"
						    : "no call");
	table_set_string(&cells[WHERE], where);
	set_name(&cells[NAME], row->name);
	set_text(&cells[STATE], row->text);
}

static void fill_frame(const struct stall_row *row, struct table_cell *cells)
{
	char where[24];

	snprintf(where, sizeof(where), "thread %" PRIu32, row->tid);
	table_set_string(&cells[WHAT], "Python");
	table_set_string(&cells[WHERE], where);
	set_name(&cells[NAME],
		row->name ? py_frame_text(row->text, row->line, row->name) : row->text);
}

static void fill_launched(const struct stall_row *row, struct table_cell *cells)
{
	char where[32];

	snprintf(where, sizeof(where), "stream 0x%" PRIx64, row->stream);
	table_set_string(&cells[WHAT], "launched last");
	table_set_string(&cells[WHERE], where);
	set_name(&cells[NAME], row->shape ? process_shape_name(row->process, row->shape) : 0);
}

static void fill_finished(const struct stall_row *row, struct table_cell *cells)
{
	struct model_place place = process_place(row->process, row->place);
	char where[64];

	snprintf(where, sizeof(where), "GPU %d, context %d, stream %d", (int)place.device,
		(int)place.context, (int)place.stream);
	table_set_string(&cells[WHAT], "finished last");
	table_set_string(&cells[WHERE], where);
	set_name(&cells[NAME],
		row->shape ? process_shape_name(row->process, row->shape) : row->name);
}

static int by_number(const void *a, const void *b)
{
	const struct nccl_op *x = a, *y = b;

	return ORDER(COMPARE(x->process, y->process), COMPARE(x->key, y->key),
		COMPARE(x->sequence, y->sequence));
}

/* Those that have a number, for find_op; the others are dropped. */
static void sort_ops(struct nccl_ops *ops)
{
	size_t nr = 0;

	for (size_t i = 0; i < ops->nr_ops; i++) {
		if (nccl_op_is_numbered(&ops->ops[i])) {
			ops->ops[nr++] = ops->ops[i];
		}
	}
	ops->nr_ops = nr;
	if (nr) {
		qsort(ops->ops, nr, sizeof(*ops->ops), by_number);
	}
}

/* The operation that the collective is of, NULL if its call is not in the stream. */
static const struct nccl_op *find_op(const struct hang_view *view, const struct stall_row *row)
{
	const struct model_nccl_comm *comm = idmap_get(&row->process->nccl_comms, row->comm);
	const struct nccl_op wanted = {.process = row->process_idx,
		.key = comm ? comm->key : 0,
		.sequence = row->sequence};
	const struct nccl_op *op;
	size_t at;

	BISECT(at, 0, view->ops.nr_ops, by_number(&view->ops.ops[at], &wanted) <= 0);
	/* The last that does not begin behind it: a group has the numbers of all its calls. */
	op = at ? &view->ops.ops[at - 1] : NULL;
	return op && op->process == wanted.process && op->key == wanted.key &&
			       wanted.sequence - op->sequence < op->nr_calls
		       ? op
		       : NULL;
}

static void fill_collective(
	const struct hang_view *view, const struct stall_row *row, struct table_cell *cells)
{
	const struct nccl_op *op = find_op(view, row);
	uint64_t tick_ns = clock_map_time(&row->process->host_clock, row->tick);
	const char *operation = nccl_names_op(row->nccl_kind);
	bool has_ended = op && nccl_op_has_time(op);

	table_set_string(&cells[WHAT], "last collective");
	set_text(&cells[WHERE], nccl_names_comm(row->process, row->comm));
	table_set_integer(&cells[NAME], string_pool_intern(operation, strlen(operation)));
	table_set_integer(&cells[NUMBER], row->sequence);
	table_set_integer(&cells[BYTES], row->bytes);
	table_set_string(&cells[STATE], !has_ended		? "no end recorded"
					: op->end_ns <= tick_ns ? "finished"
								: "finished later");
}

/* From then to the look; of the hang itself to its end. */
static void set_duration(const struct stall_row *row, struct table_cell *cell)
{
	struct clock_map *clock = &row->process->host_clock;
	uint64_t tick = row->ended ? row->ended : row->tick;
	bool is_work = row->item == GPROF_HANG_FINISHED;
	bool is_of_thread = row->item == GPROF_HANG_THREAD || row->item == GPROF_HANG_FRAME;
	uint64_t from_ns = is_work ? clock_map_time(&row->process->device_clock, row->work_end)
				   : clock_map_time(clock, row->since);
	uint64_t to_ns = clock_map_time(clock, tick);

	if (!is_of_thread || (row->item == GPROF_HANG_THREAD && row->name)) {
		table_set_integer(cell, to_ns > from_ns ? to_ns - from_ns : 0);
	}
}

static void fill(
	const struct hang_view *view, const struct stall_row *row, struct table_cell *cells)
{
	view_fill_process(row->process, &cells[PID]);
	table_set_integer(&cells[HANG], row->hang);
	if (row->correlation) {
		table_set_integer(&cells[CORRELATION], row->correlation);
	}
	set_duration(row, &cells[DURATION]);
	switch (row->item) {
	case GPROF_HANG_BEGAN:
		fill_began(row, cells);
		break;
	case GPROF_HANG_THREAD:
		fill_thread(row, cells);
		break;
	case GPROF_HANG_FRAME:
		fill_frame(row, cells);
		break;
	case GPROF_HANG_LAUNCHED:
		fill_launched(row, cells);
		break;
	case GPROF_HANG_FINISHED:
		fill_finished(row, cells);
		break;
	case GPROF_HANG_COLLECTIVE:
		fill_collective(view, row, cells);
		break;
	default: /* of a newer version */
		break;
	}
}

/* Frames lie in their thread, all else in the hang. */
static uint8_t level_of(const struct stall_row *row)
{
	return row->item == GPROF_HANG_BEGAN ? 0 : row->item == GPROF_HANG_FRAME ? 2 : 1;
}

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID),
	TABLE_COLUMN("rank", "Rank", TABLE_ID),
	TABLE_COLUMN("hang", "Hang", TABLE_ID, .help = "number of the hang in its process"),
	TABLE_COLUMN("what", "Item", TABLE_TEXT, .help = "what the row describes"),
	TABLE_COLUMN("where", "Where", TABLE_TEXT, .help = "thread, stream, GPU or communicator"),
	TABLE_COLUMN(
		"name", "Name", TABLE_NAME, .help = "call, Python function, kernel or operation"),
	TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME,
		.help = "of a hang, until the process resumed; of other rows, until the watchdog "
			"looked"),
	TABLE_COLUMN("number", "Number", TABLE_COUNT,
		.help = "number of the operation in its communicator"),
	TABLE_COLUMN("bytes", "Size", TABLE_SIZE),
	TABLE_COLUMN("state", "State", TABLE_TEXT,
		.help = "of a hang, whether it is over; of a thread, what the kernel reports; of a "
			"collective, whether it finished"),
	TABLE_COLUMN("correlation", "Correlation", TABLE_ID, .is_wide_only = true),
};

static void fill_table(void *state, struct table *table)
{
	struct hang_view *view = state;

	sort_ops(&view->ops);
	for (size_t i = 0; i < view->nr_rows; i++) {
		fill(view, &view->rows[i], table_add_row(table));
		table_set_level(table, level_of(&view->rows[i]));
	}
}

static const struct scan_want wants[] = {
	{GPROF_TABLE_hang, COL_ALL(NR_COL_hang), 0},
	{GPROF_TABLE_nccl, NCCL_OPS_MASK, 0},
};

VIEW(hang, 160) = {
	.name = "hang",
	.subject = VIEW_ABOUT_DISTRIBUTED,
	.help = "where hung processes were blocked (needs GPROF_HANG_TIMEOUT_S)",
	.about = "Each hang lists where every thread was when the watchdog looked; Python "
		 "functions are innermost first. It also has the last launch and the last finished "
		 "activity of each stream, and the last collective of each communicator. Starts "
		 "and ends of hangs are exact to GPROF_FLUSH_MS.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Hangs",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct hang_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), needs, NULL, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
