/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hangs as the recorder saw them (GPROF_HANG_TIMEOUT_S): where the threads were, and the last
 * launch, the last activity that ended and the last NCCL call. Kernels show whether such a
 * collective ended later.
 */
#include <inttypes.h>
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

/* Names are numbers of string_pool.h, 0 none; times and numbers with all bits set are unknown. */
struct shown_row {
	const struct process *process;
	uint64_t duration_ns, number, bytes, correlation;
	uint32_t hang, name, state;
	const char *what;
	struct buf where;
};

static uint32_t name_of(const char *text)
{
	return string_pool_intern(text, strlen(text));
}

static void set_began(const struct stall_row *row, struct shown_row *shown)
{
	shown->what = "hang";
	buf_printf(&shown->where, "after step %" PRIu64, row->step);
	shown->name = row->text;
	shown->state = name_of(row->ended ? "resumed" : "not resumed");
}

static void set_thread(const struct stall_row *row, struct shown_row *shown)
{
	shown->what = row->is_open ? "in call" : row->name ? "returned from" : "no call";
	if (row->tid) {
		buf_printf(&shown->where, "thread %" PRIu32, row->tid);
	} else {
		buf_text(&shown->where, "other threads");
	}
	shown->name = row->name;
	shown->state = row->text;
}

static void set_frame(const struct stall_row *row, struct shown_row *shown)
{
	shown->what = "Python";
	buf_printf(&shown->where, "thread %" PRIu32, row->tid);
	shown->name = row->name ? py_frame_text(row->text, row->line, row->name) : row->text;
}

static void set_launched(const struct stall_row *row, struct shown_row *shown)
{
	shown->what = "launched last";
	buf_printf(&shown->where, "stream 0x%" PRIx64, row->stream);
	shown->name = row->shape ? process_shape_name(row->process, row->shape) : 0;
}

static void set_finished(const struct stall_row *row, struct shown_row *shown)
{
	struct model_place place = process_place(row->process, row->place);

	shown->what = "finished last";
	buf_printf(&shown->where, "GPU %d, context %d, stream %d", (int)place.device,
		(int)place.context, (int)place.stream);
	shown->name = row->shape ? process_shape_name(row->process, row->shape) : row->name;
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

static void set_collective(
	const struct hang_view *view, const struct stall_row *row, struct shown_row *shown)
{
	const struct nccl_op *op = find_op(view, row);
	uint64_t tick_ns = clock_map_time(&row->process->host_clock, row->tick);
	bool has_ended = op && nccl_op_has_time(op);
	size_t nr_bytes;
	const char *comm = string_pool_text(nccl_names_comm(row->process, row->comm), &nr_bytes);

	shown->what = "last collective";
	buf_add(&shown->where, comm, nr_bytes);
	shown->name = name_of(nccl_names_op(row->nccl_kind));
	shown->number = row->sequence;
	shown->bytes = row->bytes;
	shown->state = name_of(!has_ended	       ? "no end recorded"
			       : op->end_ns <= tick_ns ? "finished"
						       : "finished later");
}

/* Returns the time from then to the look; of the hang itself to its end. */
static uint64_t duration_of(const struct stall_row *row)
{
	struct clock_map *clock = &row->process->host_clock;
	uint64_t tick = row->ended ? row->ended : row->tick;
	bool is_work = row->item == GPROF_HANG_FINISHED;
	bool is_of_thread = row->item == GPROF_HANG_THREAD || row->item == GPROF_HANG_FRAME;
	uint64_t from_ns = is_work ? clock_map_time(&row->process->device_clock, row->work_end)
				   : clock_map_time(clock, row->since);
	uint64_t to_ns = clock_map_time(clock, tick);

	if (is_of_thread && (row->item == GPROF_HANG_FRAME || !row->name)) {
		return UINT64_MAX;
	}
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

static void set_item(
	const struct hang_view *view, const struct stall_row *row, struct shown_row *shown)
{
	switch (row->item) {
	case GPROF_HANG_BEGAN:
		set_began(row, shown);
		break;
	case GPROF_HANG_THREAD:
		set_thread(row, shown);
		break;
	case GPROF_HANG_FRAME:
		set_frame(row, shown);
		break;
	case GPROF_HANG_LAUNCHED:
		set_launched(row, shown);
		break;
	case GPROF_HANG_FINISHED:
		set_finished(row, shown);
		break;
	case GPROF_HANG_COLLECTIVE:
		set_collective(view, row, shown);
		break;
	default: /* a newer version's */
		break;
	}
}

/* Frames lie in their thread, all else in the hang. */
static uint8_t level_of(const struct stall_row *row)
{
	return row->item == GPROF_HANG_BEGAN ? 0 : row->item == GPROF_HANG_FRAME ? 2 : 1;
}

static const struct table_column columns[] = {
	VIEW_PROCESS_COLUMNS(shown_row, process),
	TABLE_COLUMN("hang", "Hang", TABLE_ID, .help = "number of the hang in its process",
		TABLE_MEMBER(shown_row, hang)),
	TABLE_COLUMN("what", "Item", TABLE_TEXT, .help = "what the row describes",
		TABLE_MEMBER(shown_row, what)),
	TABLE_COLUMN("where", "Where", TABLE_TEXT, .help = "thread, stream, GPU or communicator",
		TABLE_BUF(shown_row, where)),
	TABLE_COLUMN("name", "Name", TABLE_NAME,
		.help = "call, Python function, kernel or operation",
		TABLE_NONZERO(shown_row, name)),
	TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME,
		.help = "of a hang, until the process resumed; of other rows, until the watchdog "
			"looked",
		TABLE_MEMBER(shown_row, duration_ns)),
	TABLE_COLUMN("number", "Number", TABLE_COUNT,
		.help = "number of the operation in its communicator",
		TABLE_MEMBER(shown_row, number)),
	TABLE_COLUMN("bytes", "Size", TABLE_SIZE, TABLE_MEMBER(shown_row, bytes)),
	TABLE_COLUMN("state", "State", TABLE_TEXT,
		.help = "of a hang, whether it is over; of a thread, what the kernel reports; of a "
			"collective, whether it finished",
		TABLE_MEMBER(shown_row, state)),
	TABLE_COLUMN("correlation", "Correlation", TABLE_ID, .is_wide_only = true,
		TABLE_NONZERO(shown_row, correlation)),
};

static void fill_table(void *state, struct table *table)
{
	struct hang_view *view = state;

	sort_ops(&view->ops);
	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct stall_row *row = &view->rows[i];
		struct shown_row shown = {.process = row->process,
			.duration_ns = duration_of(row),
			.number = UINT64_MAX,
			.bytes = UINT64_MAX,
			.correlation = row->correlation,
			.hang = row->hang,
			.state = UINT32_MAX};

		set_item(view, row, &shown);
		table_add(table, &shown);
		table_set_level(table, level_of(row));
		buf_fini(&shown.where);
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
