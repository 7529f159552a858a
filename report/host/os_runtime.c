/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the C library by function. Those of other profilers' traces are rows of table api, with
 * an API of their own, since nothing but their times is known.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/analysis/view.h"
#include "report/host/os_threads.h"
#include "report/model/os_kind.h"

#define NR_CALLS 65536u
#define NONE	 UINT32_MAX
#define NO_ROW	 (UINT32_MAX - 1) /* a call of CUDA */

/* The sums of a row of the table, beside its statistics. */
struct os_sum {
	uint64_t bytes, nr_short;
};

struct os_runtime_view {
	struct view_input input;
	struct keyed_stats calls; /* the kind is enum gprof_os_kind */
	struct os_sum *sums;	  /* of each row */
	size_t capacity;
	struct os_threads callers;
	uint32_t *row_of;  /* by the id of a call, of the current process */
	uint64_t nr_short; /* calls that were only counted, and those that were not */
	uint64_t nr_long;
	bool is_selected; /* a part of the recording, which has no counts */
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_os_call,
		COLS(api, dur, call, result) | COLS(os_call, bytes, native_stack, py_stack), 0},
	{GPROF_TABLE_os_count, COLS(os_count, call, nr, bytes), 0},
	{SCAN_WITH(GPROF_IS_CALL), COLS(api, dur, call, result), 0},
	{GPROF_TABLE_api, COLS(api, native_stack), 0},
};

static void init(void *state)
{
	struct os_runtime_view *view = state;

	view->row_of = mem_zeroed(NR_CALLS, sizeof(*view->row_of));
}

static void begin(void *context, struct process *process)
{
	struct os_runtime_view *view = context;

	(void)process;
	for (size_t i = 0; i < NR_CALLS; i++) {
		view->row_of[i] = NONE;
	}
}

static uint32_t find_row(struct os_runtime_view *view, const struct process *process, uint64_t call)
{
	uint8_t api;
	uint32_t name, row = call < NR_CALLS ? view->row_of[call] : NONE;
	size_t nr = view->calls.nr_rows;

	if (row != NONE) {
		return row;
	}
	name = process_call_name(process, call, &api);
	row = api == GPROF_API_THREAD ? keyed_stats_find(&view->calls, name, name, os_kind_of(name))
				      : NO_ROW;
	if (view->calls.nr_rows > nr) {
		view->sums = array_grow(view->sums, nr, &view->capacity, sizeof(*view->sums));
		view->sums[nr] = (struct os_sum){0};
	}
	if (call < NR_CALLS) {
		view->row_of[call] = row;
	}
	return row;
}

/* They have no times of their own, so a step has none of them. */
static void on_counts(
	struct os_runtime_view *view, const struct process *process, const struct batch *b)
{
	view->is_selected |= process->select != NULL;
	for (uint32_t i = 0; i < b->nr_rows && !process->select; i++) {
		uint32_t row = find_row(view, process, b->col[COL_os_count_call][i]);

		if (row != NO_ROW) {
			view->calls.rows[row].untimed += b->col[COL_os_count_nr][i];
			view->sums[row].nr_short += b->col[COL_os_count_nr][i];
			view->sums[row].bytes += b->col[COL_os_count_bytes][i];
			view->nr_short += b->col[COL_os_count_nr][i];
		}
	}
}

static void add_caller(struct os_runtime_view *view, uint32_t row, struct process *process,
	const struct batch *b, uint32_t i, uint64_t ns)
{
	if (b->table == GPROF_TABLE_os_call) {
		os_callers_add(&view->callers, row, process, b->col[COL_os_call_native_stack][i],
			b->col[COL_os_call_py_stack][i], ns);
	} else if (b->table == GPROF_TABLE_api) {
		os_callers_add(
			&view->callers, row, process, b->col[COL_api_native_stack][i], 0, ns);
	}
}

static void on_calls(struct os_runtime_view *view, struct process *process, const struct batch *b)
{
	const uint64_t *bytes = b->table == GPROF_TABLE_os_call ? b->col[COL_os_call_bytes] : NULL;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t row = find_row(view, process, b->col[COL_api_call][i]);
		uint64_t ns = clock_map_duration(&process->host_clock, b->col[COL_api_dur][i]);

		if (row == NO_ROW) {
			continue;
		}
		histogram_add(&view->calls.times, row, ns);
		add_caller(view, row, process, b, i, ns);
		view->calls.rows[row].failed += bytes && b->col[COL_api_result][i];
		view->sums[row].bytes += bytes ? bytes[i] : 0;
		view->nr_long += bytes != NULL;
	}
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	if (batch->table == GPROF_TABLE_os_count) {
		on_counts(context, process, batch);
	} else {
		on_calls(context, process, batch);
	}
}

/* ---- the table ---- */

struct call_row {
	struct keyed_stats_row row;
	struct os_row_threads callers;
	uint64_t nr_short, bytes;
	const char *kind;
};

static const struct table_column columns[] = {
	KEYED_STATS_COLUMNS("% of OS time"),
	TABLE_COLUMN("short", "Short", TABLE_COUNT,
		.help = "calls below GPROF_OS_MIN_NS, which have no times",
		TABLE_MEMBER(call_row, nr_short)),
	TABLE_COLUMN("failed", "Failed", TABLE_COUNT, .is_minor = true,
		.help = "timed calls that returned an error, also EINTR and ETIMEDOUT",
		TABLE_MEMBER(keyed_stats_row, failed)),
	TABLE_COLUMN("bytes", "Bytes", TABLE_SIZE, .help = "read, written, sent or received",
		TABLE_MEMBER(call_row, bytes)),
	TABLE_COLUMN("caller", "Mostly by", TABLE_NAME, .is_minor = true,
		.help = "the line of Python, or the function, with the most time in these calls; "
			"functions need CPU samples",
		TABLE_IF(call_row, callers.most, callers.nr)),
	TABLE_COLUMN("kind", "Kind", TABLE_TEXT, TABLE_MEMBER(call_row, kind)),
	TABLE_COLUMN("name", "Function", TABLE_NAME, TABLE_MEMBER(keyed_stats_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct os_runtime_view *view = state;
	double total_ns;

	keyed_stats_finish(&view->calls);
	os_callers_finish(&view->callers, view->calls.nr_rows);
	total_ns = keyed_stats_total_ns(&view->calls);
	for (size_t i = 0; i < view->calls.nr_rows; i++) {
		struct call_row row = {view->calls.rows[i], view->callers.rows[i],
			view->sums[i].nr_short, view->sums[i].bytes,
			os_kind_name(view->calls.rows[i].kind)};

		if (!view->nr_long && !view->nr_short) {
			row.row.failed = row.nr_short = row.bytes = UINT64_MAX;
		}
		keyed_stats_add(&view->calls, i, total_ns, &row, table);
	}
	table_sort(table, "total");
	keyed_stats_note(&view->calls, table);
	if (!table->nr_rows) {
		table_note(table, "None was recorded; gprof-record --os records them.");
	} else if (view->is_selected) {
		table_note(table, "Calls below GPROF_OS_MIN_NS belong to no step: only the whole "
				  "recording has them.");
	} else if (view->nr_short) {
		table_note(table,
			"%" PRIu64 " of %" PRIu64 " calls were shorter than GPROF_OS_MIN_NS: they "
			"are counted, and have no times.",
			view->nr_short, view->nr_short + view->nr_long);
	}
}

static void fini(void *state)
{
	struct os_runtime_view *view = state;

	free(view->row_of);
	free(view->sums);
	os_threads_fini(&view->callers);
}

VIEW(os_runtime, 316) = {
	.name = "os-runtime",
	.subject = VIEW_ABOUT_HOST,
	.help = "calls of the C library by function: files, sockets, sleeps, locks, processes",
	.about = "Shares are of the time of all these calls, in all threads, most of which wait. "
		 "Calls that CUDA or NCCL make within a recorded call are part of that call.",
	.is_empty_hidden = true,
	.title = "OS runtime calls",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct os_runtime_view, calls),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, NULL},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
