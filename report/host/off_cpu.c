/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads were blocked in: the innermost recorded call of the same thread that a blocked
 * interval lies in as a whole. Nothing else is guessed: the rest is outside of recorded calls.
 */
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/host/thread_states.h"
#include "report/model/os_files.h"

#define OUTSIDE "(no recorded call)"

/* A call, or with `name` of the thread the time that it was blocked. Times are ticks. */
struct span {
	uint64_t begin, end;
	uint32_t tid, name;
};

struct spans {
	struct span *all;
	size_t nr, capacity;
};

struct row {
	struct {
		struct process *process;
		uint32_t tid, call; /* call: its name, or OUTSIDE */
	} key;
	uint64_t ns, nr, longest_ns;
	uint32_t thread; /* its name */
	UT_hash_handle hh;
};

struct off_cpu_view {
	struct view_input input;
	struct spans calls, blocks; /* of the process that is read */
	struct row *rows;
	uint64_t all_ns;
	bool has_os_calls;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_thread_state, THREAD_STATES_MASK, 0},
	{GPROF_TABLE_os_call, COLS(api, begin, dur, thread, call), 0},
	{SCAN_WITH(GPROF_IS_CALL), COLS(api, begin, dur, thread, call), 0},
};

/* ---- reading ---- */

static void add_span(struct spans *spans, const struct span *span)
{
	spans->all = array_grow(spans->all, spans->nr, &spans->capacity, sizeof(*spans->all));
	spans->all[spans->nr++] = *span;
}

static void add_blocks(struct off_cpu_view *view, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_thread_state_begin][i];
		uint64_t name = b->col[COL_thread_state_name][i];

		if (b->col[COL_thread_state_state][i] == GPROF_THREAD_BLOCKED) {
			add_span(&view->blocks,
				&(const struct span){begin, begin + b->col[COL_thread_state_dur][i],
					(uint32_t)b->col[COL_thread_state_task][i],
					name ? process_string(process, name) : 0});
		}
	}
}

static void add_calls(struct off_cpu_view *view, struct process *process, const struct batch *b)
{
	view->has_os_calls |= b->table == GPROF_TABLE_os_call;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_api_begin][i];

		add_span(&view->calls,
			&(const struct span){begin, begin + b->col[COL_api_dur][i],
				process_tid(process, (uint32_t)b->col[COL_api_thread][i]),
				process_call_name(process, b->col[COL_api_call][i], NULL)});
	}
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	if (b->table == GPROF_TABLE_thread_state) {
		add_blocks(context, process, b);
	} else {
		add_calls(context, process, b);
	}
}

/* ---- joining ---- */

/* By thread, then by begin, the outer one first. */
static int by_thread(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->tid != y->tid) {
		return x->tid < y->tid ? -1 : 1;
	}
	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	return (x->end < y->end) - (x->end > y->end);
}

static void add_row(struct off_cpu_view *view, struct process *process, const struct span *block,
	const struct span *call)
{
	uint64_t ns = clock_map_duration(&process->host_clock, block->end - block->begin);
	struct row key, *row;

	memset(&key, 0, sizeof(key));
	key.key.process = process;
	key.key.tid = block->tid;
	key.key.call = call ? call->name : string_pool_intern(OUTSIDE, sizeof(OUTSIDE) - 1);
	hash_put(view->rows, key, &key.key, row);
	row->ns += ns;
	row->nr++;
	row->longest_ns = ns > row->longest_ns ? ns : row->longest_ns;
	row->thread = os_thread_text(block->name, block->tid);
	view->all_ns += ns;
}

/* Calls of a thread nest: those that are open, the innermost last. */
struct open_calls {
	const struct span **all;
	size_t nr, capacity, next; /* next: the first call that has not begun */
};

static const struct span *innermost(
	struct open_calls *open, const struct spans *calls, const struct span *block)
{
	while (open->next < calls->nr && by_thread(&calls->all[open->next], block) <= 0) {
		const struct span *call = &calls->all[open->next++];

		while (open->nr && (open->all[open->nr - 1]->tid != call->tid ||
					   open->all[open->nr - 1]->end <= call->begin)) {
			open->nr--;
		}
		open->all = array_grow(open->all, open->nr, &open->capacity, sizeof(*open->all));
		open->all[open->nr++] = call;
	}
	for (size_t i = open->nr; i-- > 0 && open->all[i]->tid == block->tid;) {
		if (open->all[i]->end >= block->end) {
			return open->all[i];
		}
	}
	return NULL;
}

static void end(void *context, struct process *process)
{
	struct off_cpu_view *view = context;
	struct open_calls open = {.nr = 0};

	if (view->blocks.nr) {
		qsort(view->blocks.all, view->blocks.nr, sizeof(struct span), by_thread);
	}
	if (view->blocks.nr && view->calls.nr) {
		qsort(view->calls.all, view->calls.nr, sizeof(struct span), by_thread);
	}
	for (size_t i = 0; i < view->blocks.nr; i++) {
		const struct span *block = &view->blocks.all[i];

		add_row(view, process, block, innermost(&open, &view->calls, block));
	}
	free(open.all);
	view->blocks.nr = view->calls.nr = 0;
}

/* ---- the table ---- */

struct shown_row {
	struct row row;
	uint64_t all_ns;
};

static const struct table_column columns[] = {
	VIEW_PROCESS_COLUMNS(shown_row, row.key.process),
	TABLE_COLUMN("thread", "Thread", TABLE_NAME, TABLE_MEMBER(shown_row, row.thread)),
	TABLE_COLUMN("share_pct", "% blocked", TABLE_PERCENT, .help = "of the time in this table",
		TABLE_SHARE(shown_row, row.ns, all_ns)),
	TABLE_COLUMN("total_ns", "Blocked", TABLE_TIME, TABLE_MEMBER(shown_row, row.ns)),
	TABLE_COLUMN("blocks", "Blocks", TABLE_COUNT, .help = "voluntary switches",
		TABLE_MEMBER(shown_row, row.nr)),
	TABLE_COLUMN("mean_ns", "Mean", TABLE_TIME, TABLE_MEAN(shown_row, row.ns, row.nr)),
	TABLE_COLUMN("longest_ns", "Longest", TABLE_TIME, TABLE_MEMBER(shown_row, row.longest_ns)),
	TABLE_COLUMN("name", "Call", TABLE_NAME,
		.help = "the innermost recorded call of the thread around it",
		TABLE_MEMBER(shown_row, row.key.call)),
};

static void fill_table(void *state, struct table *table)
{
	struct off_cpu_view *view = state;

	for (const struct row *row = view->rows; row; row = row->hh.next) {
		const struct shown_row shown = {*row, view->all_ns};

		table_add(table, &shown);
	}
	table_sort(table, "total");
	if (!view->rows) {
		table_note(table, "No context switches were recorded; gprof-record --sched on "
				  "records them.");
	} else if (!view->has_os_calls) {
		table_note(table, "Calls of the C library are known with gprof-record --os.");
	}
}

static void fini(void *state)
{
	struct off_cpu_view *view = state;

	hash_free(view->rows);
	free(view->calls.all);
	free(view->blocks.all);
}

VIEW(off_cpu, 359) = {
	.name = "off-cpu",
	.subject = VIEW_ABOUT_HOST,
	.help = "in which calls threads were blocked, by their context switches",
	.about = "Blocked time is measured: from a switch to wait until the thread runs again. It "
		 "belongs to the innermost recorded call of the same thread around it.",
	.is_empty_hidden = true,
	.title = "Blocked in",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct off_cpu_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
