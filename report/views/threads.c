/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: what each called, and when it began and ended. */
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/model/time_axis.h"

struct thread_row {
	struct process *process;
	uint32_t id;
	uint64_t nr_calls, nr_launches, nr_syncs;
	uint64_t api_ticks, sync_ticks;
	/* For the table. */
	uint64_t tid, api_ns, sync_ns, start_ns, end_ns;
	uint32_t name;
};

struct threads_view {
	struct view_input input;
	struct thread_row *rows;
	size_t nr_rows, capacity;
	struct idmap row_of; /* uint32_t by thread id, of the current process */
};

static const struct scan_want wants[] = {
	{SCAN_WITH(GPROF_IS_CALL), COLS(api, dur, thread), 0},
	{GPROF_TABLE_api_count, COLS(api_count, thread, nr), 0},
};

static struct thread_row *find_row(struct threads_view *view, struct process *process, uint32_t id)
{
	uint32_t *place = idmap_get(&view->row_of, id);

	if (!place) {
		view->rows =
			array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
		place = idmap_put(&view->row_of, id);
		*place = (uint32_t)view->nr_rows;
		view->rows[view->nr_rows++] = (struct thread_row){.process = process, .id = id};
	}
	return &view->rows[*place];
}

static void begin(void *context, struct process *process)
{
	struct threads_view *view = context;

	idmap_fini(&view->row_of);
	idmap_init(&view->row_of, sizeof(uint32_t));
	for (size_t i = 0; i < process->threads.nr; i++) {
		const struct model_thread *thread = idmap_at(&process->threads, i);

		find_row(view, process, thread->id);
	}
}

/* Calls without times, which belong to no step. */
static void add_counts(struct threads_view *view, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows && !process->select; i++) {
		uint32_t thread = (uint32_t)b->col[COL_api_count_thread][i];

		find_row(view, process, thread)->nr_calls += b->col[COL_api_count_nr][i];
	}
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct threads_view *view = context;

	if (b->table == GPROF_TABLE_api_count) {
		add_counts(view, process, b);
		return;
	}
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct thread_row *row =
			find_row(view, process, (uint32_t)b->col[COL_api_thread][i]);
		uint64_t ticks = b->col[COL_api_dur][i];

		row->nr_calls++;
		row->api_ticks += ticks;
		row->nr_launches += b->table == GPROF_TABLE_api_launch;
		if (b->table == GPROF_TABLE_api_sync) {
			row->nr_syncs++;
			row->sync_ticks += ticks;
		}
	}
}

static uint64_t time_of(struct process *process, uint64_t tick)
{
	uint64_t ns = clock_map_time(&process->host_clock, tick);

	return tick && process->first_ns <= process->last_ns ? time_axis_time(process, ns)
							     : UINT64_MAX;
}

static void finish_row(struct thread_row *row)
{
	const struct clock_map *clock = &row->process->host_clock;
	const struct model_thread *thread = idmap_get(&row->process->threads, row->id);

	row->api_ns = clock_map_duration(clock, row->api_ticks);
	row->sync_ns = clock_map_duration(clock, row->sync_ticks);
	row->tid = row->start_ns = row->end_ns = UINT64_MAX;
	if (thread) {
		row->tid = thread->tid;
		row->name = thread->name;
		row->start_ns = time_of(row->process,
			thread->is_created ? thread->created_tick : thread->seen_tick);
		row->end_ns = time_of(row->process, thread->is_ended ? thread->ended_tick : 0);
	}
}

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, VIEW_PID(thread_row, process)),
	TABLE_COLUMN("tid", "TID", TABLE_ID, TABLE_MEMBER(thread_row, tid)),
	TABLE_COLUMN("calls", "API calls", TABLE_COUNT, TABLE_MEMBER(thread_row, nr_calls)),
	TABLE_COLUMN("total_ns", "API time", TABLE_TIME, .help = "of calls that are timed; see api",
		TABLE_MEMBER(thread_row, api_ns)),
	TABLE_COLUMN("launches", "Launches", TABLE_COUNT, TABLE_MEMBER(thread_row, nr_launches)),
	TABLE_COLUMN("syncs", "Syncs", TABLE_COUNT, .help = "calls that wait for the GPU",
		TABLE_MEMBER(thread_row, nr_syncs)),
	TABLE_COLUMN("sync_ns", "Sync time", TABLE_TIME,
		.help = "time in calls that wait for the GPU", TABLE_MEMBER(thread_row, sync_ns)),
	TABLE_COLUMN("start_ns", "Start", TABLE_TIME, .help = "since the start of the recording",
		TABLE_MEMBER(thread_row, start_ns)),
	TABLE_COLUMN("end_ns", "End", TABLE_TIME, .help = "since the start of the recording",
		TABLE_MEMBER(thread_row, end_ns)),
	TABLE_COLUMN("name", "Thread", TABLE_NAME, TABLE_MEMBER(thread_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct threads_view *view = state;

	for (size_t i = 0; i < view->nr_rows; i++) {
		finish_row(&view->rows[i]);
		table_add(table, &view->rows[i]);
	}
	table_sort(table, "total");
}

static void fini(void *state)
{
	struct threads_view *view = state;

	idmap_fini(&view->row_of);
	free(view->rows);
}

VIEW(threads, 470) = {
	.name = "threads",
	.subject = VIEW_ABOUT_HOST,
	.help = "threads: their API calls, launches and waits",
	.title = "Threads",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct threads_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, NULL},
	.fill = fill_table,
	.fini = fini,
};
