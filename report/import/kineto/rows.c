/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the rows of a trace in memory and writes them as our tables at its end. Beyond
 * KINETO_ROWS they go to a temporary file as sorted runs. Two passes follow: from the last row to
 * the first, which sets depths and Python stacks (find_row: by descending end, an outer event comes
 * before what it contains, so a stack per thread is enough), then from the first to the last, which
 * writes (write_row).
 *
 *   rows in order of trace --sort--> runs, each from its last row to its first
 *       --merge, find_row--> merged file, last to first --read backwards--> write_row
 */
#include "report/import/kineto/rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/import/call.h"
#include "report/import/kineto/rows_overrun.h"
#include "report/import/kineto/rows_table.h"
#include "report/util/buf.h"
#include "report/util/idmap.h"
#include "report/util/idset.h"
#include "report/ops/op.h"
#include "report/util/files.h"

/* ---- activities before their call ---- */

static void kineto_early_init(struct kineto_early *early)
{
	*early = (struct kineto_early){.ids = mem_zeroed(KINETO_EARLY_IDS, sizeof(*early->ids))};
}

static void kineto_early_fini(struct kineto_early *early)
{
	free(early->ids);
}

/* Ids count up, so each of the last ones has a slot of its own. */
static struct kineto_early_id *find(struct kineto_early *early, uint32_t id)
{
	struct kineto_early_id *found = &early->ids[id % KINETO_EARLY_IDS];

	if (found->id != id) {
		*found = (struct kineto_early_id){
			.id = id, .call = UINT64_MAX, .activity = UINT64_MAX};
	}
	return found;
}

static void count(struct kineto_early *early, struct kineto_early_id *found)
{
	if (!found->is_counted && found->call != UINT64_MAX && found->activity < found->call &&
		found->call - found->activity > KINETO_EARLY_NS) {
		found->is_counted = true;
		early->nr++;
	}
}

/* Calls and activities come in any order. The id 0 is ignored. */
static void kineto_early_call(struct kineto_early *early, uint32_t id, uint64_t begin)
{
	struct kineto_early_id *found = id ? find(early, id) : NULL;

	if (found) {
		found->call = begin < found->call ? begin : found->call;
		count(early, found);
	}
}

static void kineto_early_activity(struct kineto_early *early, uint32_t id, uint64_t begin)
{
	struct kineto_early_id *found = id ? find(early, id) : NULL;

	if (found) {
		found->activity = begin < found->activity ? begin : found->activity;
		count(early, found);
	}
}

/* When the call began, UINT64_MAX if unknown or forgotten. */
static uint64_t kineto_early_find(const struct kineto_early *early, uint32_t id)
{
	const struct kineto_early_id *found = &early->ids[id % KINETO_EARLY_IDS];

	return id && found->id == id ? found->call : UINT64_MAX;
}

/* ---- sorted runs in files ---- */

/*
 * Sorted runs in temporary files ($TMPDIR or /tmp): merged from the last row to the first, then
 * read back from the first to the last.
 */

/* Rows read or written at a time, for each run. */
#define BUFFER_ROWS 1024u
#define ROW_BYTES   sizeof(struct kineto_row)

struct run {
	uint64_t next, end; /* rows of the file */
	struct kineto_row *buffer;
	size_t nr_buffered, at;
};

struct kineto_runs {
	int fd;	       /* one run after the other, each from its last row to its first */
	int merged_fd; /* all rows, from the last to the first */
	uint64_t nr_rows;
	struct run *runs;
	size_t nr_runs, capacity;
};

static bool write_rows(int fd, uint64_t first, const struct kineto_row *rows, size_t nr_rows)
{
	return temp_file_write(fd, first * ROW_BYTES, rows, nr_rows * ROW_BYTES);
}

static bool read_rows(int fd, uint64_t first, struct kineto_row *rows, size_t nr_rows)
{
	return temp_file_read(fd, first * ROW_BYTES, rows, nr_rows * ROW_BYTES);
}

static void runs_destroy(struct kineto_runs *runs)
{
	if (!runs) {
		return;
	}
	for (size_t i = 0; i < runs->nr_runs; i++) {
		free(runs->runs[i].buffer);
	}
	if (runs->fd >= 0) {
		close(runs->fd);
	}
	if (runs->merged_fd >= 0) {
		close(runs->merged_fd);
	}
	free(runs->runs);
	free(runs);
}

/* Returns NULL if there is no room for files. */
static struct kineto_runs *runs_create(void)
{
	struct kineto_runs *runs = mem_zeroed(1, sizeof(*runs));

	runs->fd = temp_file_open();
	runs->merged_fd = runs->fd < 0 ? -1 : temp_file_open();
	if (runs->merged_fd < 0) {
		runs_destroy(runs);
		return NULL;
	}
	return runs;
}

/*
 * Adds a run; nth_row(context, n) is its n-th row counted from the last, from 0. False if the file
 * has no room for it; then it is not added.
 */
static bool runs_add(struct kineto_runs *runs, size_t nr_rows,
	const struct kineto_row *(*nth_row)(const void *context, size_t n), const void *context)
{
	struct kineto_row *buffer = mem_zeroed(BUFFER_ROWS, ROW_BYTES);
	bool is_good = true;

	for (size_t i = 0; i < nr_rows && is_good; i++) {
		buffer[i % BUFFER_ROWS] = *nth_row(context, i);
		if (i % BUFFER_ROWS == BUFFER_ROWS - 1 || i + 1 == nr_rows) {
			is_good =
				write_rows(runs->fd, runs->nr_rows + i / BUFFER_ROWS * BUFFER_ROWS,
					buffer, i % BUFFER_ROWS + 1);
		}
	}
	free(buffer);
	if (is_good) {
		runs->runs =
			array_grow(runs->runs, runs->nr_runs, &runs->capacity, sizeof(*runs->runs));
		runs->runs[runs->nr_runs++] =
			(struct run){.next = runs->nr_rows, .end = runs->nr_rows + nr_rows};
		runs->nr_rows += nr_rows;
	}
	return is_good;
}

/* Returns the next row of a run, NULL at its end. */
static const struct kineto_row *head(struct kineto_runs *runs, struct run *run, bool *is_good)
{
	if (run->at == run->nr_buffered) {
		uint64_t left = run->end - run->next;

		run->nr_buffered = left < BUFFER_ROWS ? (size_t)left : BUFFER_ROWS;
		run->at = 0;
		if (!run->buffer) {
			run->buffer = mem_zeroed(BUFFER_ROWS, ROW_BYTES);
		}
		if (run->nr_buffered &&
			!read_rows(runs->fd, run->next, run->buffer, run->nr_buffered)) {
			*is_good = false;
			run->nr_buffered = 0;
		}
		run->next += run->nr_buffered;
	}
	return run->at < run->nr_buffered ? &run->buffer[run->at] : NULL;
}

/* Returns the run whose next row is the last of all; NULL at the end. */
static struct run *find_last(struct kineto_runs *runs, bool *is_good)
{
	const struct kineto_row *last = NULL;
	struct run *found = NULL;

	for (size_t i = 0; i < runs->nr_runs; i++) {
		const struct kineto_row *row = head(runs, &runs->runs[i], is_good);

		if (row && (!last || kineto_row_is_before(last, row))) {
			last = row;
			found = &runs->runs[i];
		}
	}
	return found;
}

/* Calls `change` for all rows from the last to the first, and writes them in that order. */
static bool merge(struct kineto_runs *runs, void (*change)(void *context, struct kineto_row *row),
	void *context)
{
	struct kineto_row *buffer = mem_zeroed(BUFFER_ROWS, ROW_BYTES);
	bool is_good = true;
	uint64_t nr = 0;
	struct run *run;

	while (is_good && (run = find_last(runs, &is_good))) {
		struct kineto_row *row = &buffer[nr % BUFFER_ROWS];

		*row = run->buffer[run->at++];
		change(context, row);
		nr++;
		if (nr % BUFFER_ROWS == 0) {
			is_good =
				write_rows(runs->merged_fd, nr - BUFFER_ROWS, buffer, BUFFER_ROWS);
		}
	}
	is_good = is_good && write_rows(runs->merged_fd, nr / BUFFER_ROWS * BUFFER_ROWS, buffer,
				     nr % BUFFER_ROWS);
	free(buffer);
	return is_good && nr == runs->nr_rows;
}

/*
 * Calls `change` for all rows from the last to the first, then `use` for the changed rows from the
 * first to the last. False if a file failed.
 */
static bool runs_merge(struct kineto_runs *runs,
	void (*change)(void *context, struct kineto_row *row),
	void (*use)(void *context, const struct kineto_row *row), void *context)
{
	struct kineto_row *buffer;
	uint64_t left = runs->nr_rows;
	bool is_good = merge(runs, change, context);

	buffer = mem_zeroed(BUFFER_ROWS, ROW_BYTES);
	while (left && is_good) {
		size_t nr = left < BUFFER_ROWS ? (size_t)left : BUFFER_ROWS;

		left -= nr;
		is_good = read_rows(runs->merged_fd, left, buffer, nr);
		while (nr-- > 0 && is_good) {
			use(context, &buffer[nr]);
		}
	}
	free(buffer);
	return is_good;
}

/* ---- sorting ---- */

/* Rows of a group; op_load.h explains its cost for the reader. */
#define GROUP_ROWS 65536u

struct key {
	uint64_t end;
	uint32_t row;
};

struct frame {
	uint64_t begin;
	uint32_t stack; /* of Python, including this one */
};

struct outer {
	uint64_t begin;
	uint32_t py_stack, name;
	bool is_module;
};

/*
 * The rows of a thread that enclose the current one in the pass from the last row to the first,
 * outermost first.
 */
struct stack {
	struct outer *ops;
	size_t nr_ops, op_capacity;
	struct frame *frames;
	size_t nr_frames, frame_capacity;
	uint16_t nr_modules;
};

/* The state of both passes; `called` and `async` are complete before the first row is written. */
struct order {
	struct idmap stacks;	      /* struct stack by thread */
	struct idset *called, *async; /* correlation IDs of calls, and of asynchronous ones */
	struct kineto_python *python;
	struct import_out *out;
	struct kineto_early early;
	struct kineto_overrun overrun;
	uint64_t nr_written;
	struct kineto_rows *rows;
};

/* ---- sorting by end ---- */

/* One pass over eight bits of the ends; keeps the order of equal ones. */
static void sort_by_byte(
	const struct key *from, struct key *to, size_t nr, unsigned int shift, const size_t *counts)
{
	size_t at[256], sum = 0;

	for (unsigned int i = 0; i < 256; i++) {
		at[i] = sum;
		sum += counts[i];
	}
	for (size_t i = 0; i < nr; i++) {
		to[at[from[i].end >> shift & 0xff]++] = from[i];
	}
}

/* Returns the array that holds the result; the other one is free. */
static struct key *sort_by_end(struct key *keys, struct key *spare, size_t nr)
{
	for (unsigned int shift = 0; shift < 64; shift += 8) {
		size_t counts[256] = {0};
		struct key *swap = keys;

		for (size_t i = 0; i < nr; i++) {
			counts[keys[i].end >> shift & 0xff]++;
		}
		if (nr && counts[keys[0].end >> shift & 0xff] == nr) {
			continue; /* all equal */
		}
		sort_by_byte(keys, spare, nr, shift, counts);
		keys = spare;
		spare = swap;
	}
	return keys;
}

static const struct kineto_row *rows_to_sort; /* for qsort */

static int by_nesting(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return kineto_row_is_before(&rows_to_sort[x->row], &rows_to_sort[y->row]) ? -1 : 1;
}

static void sort_equal(const struct kineto_rows *rows, struct key *keys, size_t nr)
{
	rows_to_sort = rows->rows;
	for (size_t i = 0; i < nr;) {
		size_t end = i + 1;

		while (end < nr && keys[end].end == keys[i].end) {
			end++;
		}
		if (end - i > 1) {
			qsort(keys + i, end - i, sizeof(*keys), by_nesting);
		}
		i = end;
	}
}

/* Sorts the rows in memory. Returns their keys, which the caller frees. */
static struct key *sort(const struct kineto_rows *rows)
{
	struct key *keys = mem_zeroed(rows->nr_rows + 1, sizeof(*keys));
	struct key *spare = mem_zeroed(rows->nr_rows + 1, sizeof(*spare));
	struct key *sorted;

	for (size_t i = 0; i < rows->nr_rows; i++) {
		keys[i] = (struct key){.end = rows->rows[i].end, .row = (uint32_t)i};
	}
	sorted = sort_by_end(keys, spare, rows->nr_rows);
	sort_equal(rows, sorted, rows->nr_rows);
	free(sorted == keys ? spare : keys);
	return sorted;
}

/* ---- rows beyond memory ---- */

struct sorted_rows {
	const struct kineto_rows *rows;
	const struct key *keys;
};

static const struct kineto_row *row_from_last(const void *context, size_t n)
{
	const struct sorted_rows *sorted = context;

	return &sorted->rows->rows[sorted->keys[sorted->rows->nr_rows - 1 - n].row];
}

/*
 * Moves the rows in memory to a run. If the files have no room, rows stay in memory from then on,
 * and kineto_rows_write() tries once more.
 */
static void spill(struct kineto_rows *rows)
{
	struct key *keys;
	struct sorted_rows sorted;

	if (!rows->runs) {
		rows->runs = runs_create();
	}
	if (!rows->runs) {
		rows->has_no_files = true;
		return;
	}
	keys = sort(rows);
	sorted = (struct sorted_rows){rows, keys};
	if (runs_add(rows->runs, rows->nr_rows, row_from_last, &sorted)) {
		rows->nr_rows = 0;
	} else {
		rows->has_no_files = true;
		if (rows->nr_all == rows->nr_rows) { /* the files hold nothing yet */
			runs_destroy(rows->runs);
			rows->runs = NULL;
		}
	}
	free(keys);
}

void kineto_rows_fini(struct kineto_rows *rows)
{
	runs_destroy(rows->runs);
	free(rows->rows);
	*rows = (struct kineto_rows){0};
}

struct kineto_row *kineto_rows_add(struct kineto_rows *rows)
{
	if (rows->nr_rows >= (rows->most ? rows->most : KINETO_ROWS) && !rows->has_no_files) {
		spill(rows);
	}
	rows->rows = array_grow(rows->rows, rows->nr_rows, &rows->capacity, sizeof(*rows->rows));
	rows->rows[rows->nr_rows] = (struct kineto_row){.order = kineto_rows_order(rows)};
	rows->nr_all++;
	return &rows->rows[rows->nr_rows++];
}

/* ---- nesting ---- */

static bool is_module(const struct kineto_row *row)
{
	return op_is_module(row->source, row->kind);
}

static uint16_t capped(size_t depth)
{
	return depth < UINT16_MAX ? (uint16_t)depth : UINT16_MAX;
}

static void leave_ops(struct stack *stack, const struct kineto_row *row)
{
	while (stack->nr_ops && stack->ops[stack->nr_ops - 1].begin > row->begin) {
		stack->nr_modules -= stack->ops[--stack->nr_ops].is_module;
	}
}

/* The table of a row that is left out. */
#define NO_TABLE UINT8_MAX

/* Is it in the trace twice, once around itself? */
static bool is_twice(struct stack *stack, const struct kineto_row *row)
{
	leave_ops(stack, row);
	return row->op.is_once && stack->nr_ops &&
	       stack->ops[stack->nr_ops - 1].name == row->op.name;
}

/* A recording has steps, and no operators around them. */
static bool is_step_of_recording(const struct kineto_rows *rows, const struct kineto_row *row)
{
	return rows->are_recorded && row->op.is_mark;
}

/* Operators and modules count their depths separately; see op rows in FORMAT.md. */
static void find_depth(struct stack *stack, struct kineto_row *row)
{
	leave_ops(stack, row);
	row->op.depth =
		is_module(row) ? stack->nr_modules : capped(stack->nr_ops - stack->nr_modules);
	stack->ops =
		array_grow(stack->ops, stack->nr_ops, &stack->op_capacity, sizeof(*stack->ops));
	stack->ops[stack->nr_ops++] = (struct outer){.begin = row->begin,
		.py_stack = row->op.py_stack,
		.name = row->op.name,
		.is_module = is_module(row)};
	stack->nr_modules += is_module(row);
}

/* Returns the stack that a row of the thread was called from, 0 for none. */
static uint32_t find_py_stack(struct stack *stack, const struct kineto_row *row)
{
	while (stack->nr_frames && stack->frames[stack->nr_frames - 1].begin > row->begin) {
		stack->nr_frames--;
	}
	return stack->nr_frames ? stack->frames[stack->nr_frames - 1].stack : 0;
}

/*
 * A launch has a stack of its own, or that of the Python calls around it, or that of its operator.
 */
static uint32_t find_launch_stack(struct stack *stack, const struct kineto_row *row)
{
	uint32_t found = find_py_stack(stack, row);

	leave_ops(stack, row);
	for (size_t i = stack->nr_ops; !found && i-- > 0;) {
		found = stack->ops[i].py_stack;
	}
	return row->call.py_stack ? row->call.py_stack : found;
}

static void enter(const struct order *order, struct stack *stack, struct kineto_row *row)
{
	uint32_t caller = find_py_stack(stack, row);

	if (row->py_call.is_builtin) {
		return;
	}
	stack->frames = array_grow(
		stack->frames, stack->nr_frames, &stack->frame_capacity, sizeof(*stack->frames));
	stack->frames[stack->nr_frames++] = (struct frame){.begin = row->begin,
		.stack = kineto_python_stack(
			order->python, order->out, caller, row->py_call.code, 0)};
}

/*
 * Ops, Python calls and launches see the stack of their thread; of all calls the correlation ID is
 * kept, for the flags of copies.
 */
static void find_row(void *context, struct kineto_row *row)
{
	struct order *order = context;
	struct idmap *stacks = &order->stacks;
	struct stack *stack;

	if (row->table >= GPROF_TABLE_api && row->table <= GPROF_TABLE_api_sync &&
		row->call.correlation) {
		idset_add(order->called, row->call.correlation);
	}
	switch (row->table) {
	case GPROF_TABLE_op:
		stack = idmap_put(stacks, row->thread);
		if (is_step_of_recording(order->rows, row) || is_twice(stack, row)) {
			row->table = NO_TABLE;
			break;
		}
		row->op.py_stack = row->op.py_stack ? row->op.py_stack : find_py_stack(stack, row);
		find_depth(stack, row);
		break;
	case GPROF_TABLE_py_call:
		enter(order, idmap_put(stacks, row->thread), row);
		break;
	case GPROF_TABLE_api_launch:
		row->call.py_stack = find_launch_stack(idmap_put(stacks, row->thread), row);
		break;
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_set:
		if (row->call.is_async) {
			idset_add(order->async, row->call.correlation);
		}
		break;
	default:
		break;
	}
}

static void order_fini(struct order *order)
{
	for (size_t i = 0; i < order->stacks.nr; i++) {
		struct stack *stack = idmap_at(&order->stacks, i);

		free(stack->ops);
		free(stack->frames);
	}
	idmap_fini(&order->stacks);
	idset_destroy(order->called);
	idset_destroy(order->async);
	kineto_early_fini(&order->early);
	kineto_overrun_fini(&order->overrun);
}

/* ---- writing ---- */

static void find_early(struct kineto_early *early, const struct kineto_row *row)
{
	switch (row->table) {
	case GPROF_TABLE_api_launch:
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_set:
		kineto_early_call(early, row->call.correlation, row->begin);
		break;
	case GPROF_TABLE_kernel:
	case GPROF_TABLE_memcpy:
	case GPROF_TABLE_memset:
	case GPROF_TABLE_graph:
		kineto_early_activity(early, row->activity.correlation, row->begin);
		break;
	default:
		break;
	}
}

/* Makes the row one of XLA: its profiler's events are no operators of PyTorch, whose dialect the
 * timeline has. */
static void make_xla(struct kineto_row *row)
{
	if (row->table == GPROF_TABLE_op && row->source == GPROF_FRAMEWORK_TORCH) {
		row->source = GPROF_FRAMEWORK_XLA;
		row->kind = row->kind == OP_TORCH_USER || row->kind == OP_TORCH_ANNOTATION
				    ? GPROF_XLA_STEP
				    : 0;
	}
}

/* In a recording the ranges of optimizers and loaders are operators; it has none of steps. */
static void make_recorded(struct kineto_row *row)
{
	if (row->table == GPROF_TABLE_op && row->source == GPROF_FRAMEWORK_TORCH &&
		row->kind == OP_TORCH_ANNOTATION && !row->op.is_step) {
		row->kind = OP_TORCH_USER;
	}
}

/* A collective begins at the launch of its kernel, which precedes it. */
static void write_collective(struct order *order, const struct kineto_row *row)
{
	struct kineto_row called = *row;
	uint64_t begin = kineto_early_find(&order->early, row->nccl.correlation);

	if (begin != UINT64_MAX) {
		called.begin = called.end = begin;
	}
	kineto_row_write(order->out, &called, 0);
}

static void write_row(void *context, const struct kineto_row *row)
{
	struct order *order = context;
	bool is_copy = gprof_table_is(row->table, GPROF_IS_COPYING);
	struct kineto_row bounded = *row;

	if (row->table == GPROF_TABLE_nccl) {
		write_collective(order, row);
		return;
	}
	if (row->table == NO_TABLE) {
		order->rows->nr_twice++;
		return;
	}
	if (order->rows->are_of_xla) {
		make_xla(&bounded);
	} else if (order->rows->are_recorded) {
		make_recorded(&bounded);
	}
	if (row->begin != KINETO_UNTIMED) {
		find_early(&order->early, row);
	}
	if (row->table == GPROF_TABLE_kernel && row->begin != KINETO_UNTIMED &&
		!order->rows->are_ends_right) {
		bounded.end = kineto_overrun_end(&order->overrun, row);
	}
	kineto_row_write(order->out, &bounded,
		is_copy ? import_copy_flags(order->called, order->async, row->activity.correlation)
			: 0);
	if (++order->nr_written % GROUP_ROWS == 0 && row->end != KINETO_UNTIMED) {
		import_out_close_group(order->out, row->end);
	}
}

/* Backwards, an outer event comes before what it contains. */
static void write_memory(struct kineto_rows *rows, struct order *order)
{
	struct key *keys = sort(rows);

	for (size_t i = rows->nr_rows; i-- > 0;) {
		find_row(order, &rows->rows[keys[i].row]);
	}
	for (size_t i = 0; i < rows->nr_rows; i++) {
		write_row(order, &rows->rows[keys[i].row]);
	}
	free(keys);
}

bool kineto_rows_write(
	struct kineto_rows *rows, struct kineto_python *python, struct import_out *out)
{
	struct order order = {.python = python, .out = out, .rows = rows};
	bool is_good = true;

	idmap_init(&order.stacks, sizeof(struct stack));
	order.called = idset_create();
	order.async = idset_create();
	kineto_early_init(&order.early);
	kineto_overrun_init(&order.overrun);
	if (rows->runs) {
		spill(rows);
		is_good = !rows->nr_rows && runs_merge(rows->runs, find_row, write_row, &order);
	} else {
		write_memory(rows, &order);
	}
	import_out_close_group(out, 0);
	rows->nr_early = order.early.nr;
	rows->nr_overrun = order.overrun.nr;
	order_fini(&order);
	return is_good;
}
