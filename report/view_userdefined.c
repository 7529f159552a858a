/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges that users named: record_function, Paddle's RecordEvent, and NVTX. */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "report/ranges.h"
#include "report/spread.h"
#include "report/view.h"

enum source {
	SOURCE_TORCH = GPROF_FRAMEWORK_TORCH,
	SOURCE_PADDLE = GPROF_FRAMEWORK_PADDLE,
	SOURCE_NVTX,
};

struct row {
	uint64_t key;	     /* source << 32 | name */
	struct spread times; /* ns */
	struct spread gpu;
	UT_hash_handle hh;
};

struct user_view {
	struct row *rows;
	struct ranges *ranges;
	struct process *process;
	bool is_gpu; /* the process at hand has device records */
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_nvtx, RANGES_MASK, 0},
};

static void *create(const struct view_input *input)
{
	struct user_view *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	return view;
}

static struct row *find_row(struct user_view *view, enum source source, uint32_t name)
{
	uint64_t key = (uint64_t)source << 32 | name;
	struct row *row;

	HASH_FIND(hh, view->rows, &key, sizeof(key), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = key;
		HASH_ADD(hh, view->rows, key, sizeof(key), row);
	}
	return row;
}

/* ---- NVTX ---- */

static void begin_nvtx(void *context, struct process *process)
{
	struct user_view *view = context;

	view->process = process;
	view->ranges = ranges_create();
}

static void take_range(void *context, const struct range *range)
{
	struct user_view *view = context;

	if (range->op != GPROF_NVTX_MARK && range->end >= range->begin) {
		spread_add(&find_row(view, SOURCE_NVTX, range->name)->times,
			clock_map_duration(&view->process->host_clock, range->end - range->begin));
	}
}

static void take_nvtx(void *context, struct process *process, const struct batch *batch)
{
	struct user_view *view = context;

	ranges_take(view->ranges, process, batch, take_range, view);
}

static void end_nvtx(void *context, struct process *process)
{
	struct user_view *view = context;

	(void)process;
	ranges_destroy(view->ranges);
	view->ranges = NULL;
}

/* ---- the frameworks' ---- */

static void begin_ops(void *context, struct process *process)
{
	struct user_view *view = context;
	const char *why;

	view->process = process;
	view->is_gpu = view_has_device_records(process, &why);
}

static void take_op(void *context, const struct op *op)
{
	struct user_view *view = context;
	struct row *row;

	if (!op_is_user(op->name, op->framework, op->scope)) {
		return;
	}
	row = find_row(view, op->framework == GPROF_FRAMEWORK_PADDLE ? SOURCE_PADDLE : SOURCE_TORCH,
		op->name);
	spread_add(
		&row->times, clock_map_duration(&view->process->host_clock, op->end - op->begin));
	if (view->is_gpu) {
		spread_add(&row->gpu, op->gpu_total_ns);
	}
}

/* ---- the table ---- */

static struct table *make_table(void *context)
{
	static const struct table_column columns[] = {
		{"calls", "Calls", TABLE_COUNT, false},
		{"total_ns", "CPU total", TABLE_TIME, false},
		{"avg_ns", "Avg", TABLE_MEAN_TIME, false},
		{"max_ns", "Max", TABLE_TIME, false},
		{"min_ns", "Min", TABLE_TIME, false},
		{"gpu_total_ns", "GPU total", TABLE_TIME, false},
		{"gpu_avg_ns", "GPU avg", TABLE_MEAN_TIME, false},
		{"gpu_max_ns", "GPU max", TABLE_TIME, true},
		{"gpu_min_ns", "GPU min", TABLE_TIME, true},
		{"source", "By", TABLE_TEXT, false},
		{"name", "Range", TABLE_NAME, false},
	};
	static const char *const sources[] = {[SOURCE_TORCH] = "record_function",
		[SOURCE_PADDLE] = "RecordEvent",
		[SOURCE_NVTX] = "NVTX"};
	struct user_view *view = context;
	struct table *table = table_create("userdefined", "Ranges of the user", columns, 11);
	struct row *row;

	for (row = view->rows; row; row = row->hh.next) {
		struct table_cell *cells = table_add_row(table);
		const char *source = sources[row->key >> 32];

		table_set_integer(&cells[0], row->times.nr);
		spread_fill(&row->times, &cells[1]);
		if (row->gpu.nr) {
			spread_fill(&row->gpu, &cells[5]);
		}
		table_set_text(&cells[9], source, strlen(source));
		table_set_integer(&cells[10], (uint32_t)row->key);
	}
	table_note(
		table, "GPU: of what operators and calls in it launched; not known of NVTX ranges");
	table_sort(table, "total");
	return table;
}

static void destroy(void *context)
{
	struct user_view *view = context;
	struct row *row, *next;

	HASH_ITER(hh, view->rows, row, next)
	{
		HASH_DEL(view->rows, row);
		free(row);
	}
	ranges_destroy(view->ranges);
	free(view);
}

const struct view_class view_userdefined = {
	.name = "userdefined",
	.help = "ranges of the user: record_function and NVTX",
	.is_default = false,
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin_nvtx, take_nvtx, end_nvtx},
	.ops = {.begin = begin_ops, .op = take_op},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
