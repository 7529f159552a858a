/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges that users named: record_function, Paddle's RecordEvent, and NVTX. */
#include <stdlib.h>
#include <string.h>

#include "report/util/hash.h"
#include "report/model/ranges.h"
#include "report/ops/step_share.h"
#include "report/stats/min_max_sum.h"
#include "report/analysis/view.h"

enum source {
	SOURCE_TORCH = GPROF_FRAMEWORK_TORCH,
	SOURCE_PADDLE = GPROF_FRAMEWORK_PADDLE,
	SOURCE_PADDLE_CXX,
	SOURCE_NVTX,
	SOURCE_XLA,
};

struct key {
	uint32_t source, name;
	uint32_t op; /* name of the operator that it lies in; 0 none, or not asked for */
	uint32_t process, thread; /* 0 where they are merged */
};

struct row {
	struct key key;
	uint32_t number;
	bool has_share;		  /* of the steps */
	struct min_max_sum times; /* ns */
	struct min_max_sum gpu;
	UT_hash_handle hh;
};

struct user_view {
	struct row *rows;
	struct ranges *ranges;
	struct view_input input;
	struct step_share share;
	uint32_t nr_rows;
	bool is_gpu; /* the current process has device records */
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_nvtx, RANGES_MASK, 0},
};

/* op: what the range lies in, other ranges left out. */
static struct row *find_row(struct user_view *view, enum source source, uint32_t name,
	uint32_t thread, const struct op *op)
{
	struct key key = {.source = source, .name = name};
	struct row *row;

	while (op && op_is_user(op->name, op->framework, op->scope)) {
		op = op->parent;
	}
	key.op = op && view->input.is_detailed ? op->name : 0;
	for (uint32_t i = 0; view->input.is_per_thread && !key.process; i++) {
		key.process = view->input.processes[i] == view->input.process ? i + 1 : 0;
		key.thread = thread;
	}
	HASH_FIND(hh, view->rows, &key, sizeof(key), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = key;
		row->number = ++view->nr_rows;
		HASH_ADD(hh, view->rows, key, sizeof(key), row);
	}
	return row;
}

static uint64_t add_time(struct user_view *view, struct row *row, uint64_t begin, uint64_t end)
{
	uint64_t ns = clock_map_duration(&view->input.process->host_clock, end - begin);

	min_max_sum_add(&row->times, ns);
	return ns;
}

/* One that lies in a thread's others, so that what it launched is known. */
static void add_nested(
	struct user_view *view, struct row *row, uint64_t begin, uint64_t end, uint64_t gpu_ns)
{
	uint64_t ns = add_time(view, row, begin, end);

	if (gpu_ns != UINT64_MAX) {
		min_max_sum_add(&row->gpu, gpu_ns);
	}
	step_share_add(&view->share, row->number, begin, ns, gpu_ns);
	row->has_share = true;
}

/* ---- NVTX: those that start on one thread and may end on another ---- */

static void begin_nvtx(void *context, struct process *process)
{
	struct user_view *view = context;

	(void)process;
	view->ranges = ranges_create();
}

static void on_range(void *context, const struct range *range)
{
	struct user_view *view = context;

	if (range->op == GPROF_NVTX_START && range->end >= range->begin) {
		add_time(view,
			find_row(view, SOURCE_NVTX, range_full_name(range), range->thread, NULL),
			range->begin, range->end);
	}
}

static void on_nvtx(void *context, struct process *process, const struct batch *batch)
{
	struct user_view *view = context;

	ranges_add_batch(view->ranges, process, batch, on_range, view);
}

static void end_nvtx(void *context, struct process *process)
{
	struct user_view *view = context;

	(void)process;
	ranges_destroy(view->ranges);
	view->ranges = NULL;
}

/* ---- those of a thread ---- */

static void begin_walk(void *context, struct process *process)
{
	struct user_view *view = context;

	view->is_gpu = process_has_device_records(process, NULL);
	step_share_begin(&view->share, process, view->input.has_all_steps);
}

static void end_walk(void *context, struct process *process, const struct phases *phases)
{
	struct user_view *view = context;

	(void)process;
	step_share_end(&view->share, phases);
}

/* Paddle's libraries mark ranges as its users do in Python. */
static enum source source_of(const struct op *op)
{
	if (op->framework == GPROF_FRAMEWORK_XLA) {
		return SOURCE_XLA;
	}
	if (op->framework != GPROF_FRAMEWORK_PADDLE) {
		return SOURCE_TORCH;
	}
	return op->scope == OP_PADDLE_PYTHON_USER ? SOURCE_PADDLE : SOURCE_PADDLE_CXX;
}

static void on_op(void *context, const struct op *op)
{
	struct user_view *view = context;
	struct row *row =
		find_row(view, source_of(op), op_row_name(op->name), op->thread, op->parent);

	bool has_gpu = view->is_gpu && !(op->is & OP_IS_CAPTURED);

	add_nested(view, row, op->begin, op->end, has_gpu ? op->gpu_total_ns : UINT64_MAX);
}

/* Adds the work that a graph's launch ran for a range inside the capture. */
static void on_replay(void *context, const struct op *op)
{
	struct user_view *view = context;
	struct row *row =
		find_row(view, source_of(op), op_row_name(op->name), op->thread, op->parent);

	if (view->is_gpu) {
		min_max_sum_add(&row->gpu, op->gpu_total_ns);
		step_share_add(&view->share, row->number, op->begin, 0, op->gpu_total_ns);
		row->has_share = true;
	}
}

static void on_pushed(void *context, const struct op_range *range)
{
	struct user_view *view = context;
	struct row *row = find_row(view, SOURCE_NVTX, range->name, range->thread, range->op);

	if (range->end >= range->begin) {
		add_nested(view, row, range->begin, range->end,
			view->is_gpu ? range->gpu_ns : UINT64_MAX);
	}
}

/* ---- the table ---- */

struct shown_row {
	struct row row;
	struct step_times share;
	uint32_t pid, tid;
	const char *source;
};

static const struct table_column columns[] = {
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(shown_row, row.times.nr)),
	TABLE_COLUMN("total_ns", "CPU total", TABLE_TIME, TABLE_MEMBER(shown_row, row.times.sum)),
	TABLE_COLUMN("avg_ns", "CPU avg", TABLE_MEAN_TIME,
		TABLE_MEAN(shown_row, row.times.sum, row.times.nr)),
	TABLE_COLUMN("max_ns", "CPU max", TABLE_TIME, .is_minor = true,
		TABLE_IF(shown_row, row.times.max, row.times.nr)),
	TABLE_COLUMN("min_ns", "CPU min", TABLE_TIME, .is_minor = true,
		TABLE_IF(shown_row, row.times.min, row.times.nr)),
	TABLE_COLUMN("ratio_pct", "% of steps", TABLE_PERCENT, .is_wide_only = true,
		.help = "CPU time of ranges that begin in steps that count, as a share of these",
		TABLE_SHARE(shown_row, share.cpu_ns, share.steps_ns)),
	TABLE_COLUMN("gpu_total_ns", "GPU total", TABLE_TIME,
		.help = "sum of the GPU activities launched inside the range",
		TABLE_IF(shown_row, row.gpu.sum, row.gpu.nr)),
	TABLE_COLUMN("gpu_avg_ns", "GPU avg", TABLE_MEAN_TIME,
		TABLE_MEAN(shown_row, row.gpu.sum, row.gpu.nr)),
	TABLE_COLUMN("gpu_max_ns", "GPU max", TABLE_TIME, .is_wide_only = true,
		TABLE_IF(shown_row, row.gpu.max, row.gpu.nr)),
	TABLE_COLUMN("gpu_min_ns", "GPU min", TABLE_TIME, .is_wide_only = true,
		TABLE_IF(shown_row, row.gpu.min, row.gpu.nr)),
	TABLE_COLUMN("gpu_ratio_pct", "% of GPU in steps", TABLE_PERCENT, .is_wide_only = true,
		.help = "GPU time launched by these, as a share of all that these steps launched",
		TABLE_SHARE(shown_row, share.gpu_ns, share.steps_gpu_ns)),
	TABLE_COLUMN("pid", "PID", TABLE_ID, TABLE_MEMBER(shown_row, pid)),
	TABLE_COLUMN("tid", "TID", TABLE_ID, TABLE_MEMBER(shown_row, tid)),
	TABLE_COLUMN("source", "Source", TABLE_TEXT, .help = "interface that marks the range",
		TABLE_MEMBER(shown_row, source)),
	TABLE_COLUMN("operator", "Operator", TABLE_NAME, .is_wide_only = true,
		.help = "innermost operator around the range",
		TABLE_NONZERO(shown_row, row.key.op)),
	TABLE_COLUMN("name", "Range", TABLE_NAME, TABLE_MEMBER(shown_row, row.key.name)),
};

static void add_row(const struct user_view *view, const struct row *row, struct table *table)
{
	static const char *const sources[] = {[SOURCE_TORCH] = "record_function",
		[SOURCE_PADDLE] = "RecordEvent",
		[SOURCE_PADDLE_CXX] = "phi::RecordEvent",
		[SOURCE_NVTX] = "NVTX",
		[SOURCE_XLA] = "StepTraceAnnotation"};
	struct shown_row shown = {.row = *row,
		.pid = UINT32_MAX,
		.tid = UINT32_MAX,
		.source = sources[row->key.source]};

	if (row->has_share) {
		shown.share = step_share_times(&view->share, row->number);
		shown.share.steps_gpu_ns = row->gpu.nr ? shown.share.steps_gpu_ns : 0;
	}
	if (row->key.process) {
		const struct process *process = view->input.processes[row->key.process - 1];

		shown.pid = process->pid;
		shown.tid = process_tid(process, row->key.thread);
	}
	table_add(table, &shown);
}

static void fill_table(void *state, struct table *table)
{
	struct user_view *view = state;

	table_set_wide(table, "pid", !view->input.is_per_thread);
	table_set_wide(table, "tid", !view->input.is_per_thread);
	table_set_wide(table, "operator", !view->input.is_detailed);
	for (const struct row *row = view->rows; row; row = row->hh.next) {
		add_row(view, row, table);
	}
	table_sort(table, "total");
}

static void fini(void *state)
{
	struct user_view *view = state;

	hash_free(view->rows);
	ranges_destroy(view->ranges);
	step_share_fini(&view->share);
}

static void init(void *state)
{
	struct user_view *view = state;

	step_share_init(&view->share);
}

VIEW(user_ranges, 340) = {
	.name = "user-ranges",
	.subject = VIEW_ABOUT_HOST,
	.help = "user ranges: record_function, RecordEvent and NVTX",
	.about = "GPU time is that of the GPU activities that operators and calls inside the range "
		 "launched. It is unknown for NVTX ranges that may end on another thread.",
	.title = "User ranges",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct user_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin_nvtx, on_nvtx, end_nvtx},
	.ops = {.begin = begin_walk,
		.op = on_op,
		.replay = on_replay,
		.op_is = OP_IS_USER,
		.range = on_pushed,
		.end = end_walk},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
