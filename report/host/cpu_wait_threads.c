/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that a step may wait for: how long they ran on CPUs, and waited for one. */
#include "report/analysis/view.h"
#include "report/host/os_threads.h"
#include "report/util/hash.h"

struct key {
	struct process *process;
	uint64_t thread;
};

struct times {
	uint64_t tick, cpu_ns, wait_ns;
};

struct row {
	struct key key;
	struct times first, last;
	UT_hash_handle hh;
};

struct cpu_waits_view {
	struct view_input input;
	struct row *rows;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_thread_cpu,
		COL_BIT(COL_thread_cpu_time) | COL_BIT(COL_thread_cpu_cpu_ns) |
			COL_BIT(COL_thread_cpu_wait_ns) | COL_BIT(COL_thread_cpu_thread),
		0},
};

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct cpu_waits_view *view = context;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct key key = {process, b->col[COL_thread_cpu_thread][i]};
		struct times times = {b->col[COL_thread_cpu_time][i],
			b->col[COL_thread_cpu_cpu_ns][i], b->col[COL_thread_cpu_wait_ns][i]};
		struct row *row;

		hash_put(view->rows, key, &key, row);
		row->first = row->first.tick ? row->first : times;
		/* In a damaged stream counters may fall. */
		if (times.tick >= row->last.tick && times.cpu_ns >= row->last.cpu_ns &&
			times.wait_ns >= row->last.wait_ns) {
			row->last = times;
		}
	}
}

/* ---- the table ---- */

struct shown_row {
	const struct process *process;
	uint32_t name;
	uint64_t cpu_ns, wait_ns, all_ns;
};

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, .help = "process ID", VIEW_PID(shown_row, process)),
	TABLE_COLUMN("rank", "Rank", TABLE_COUNT, .help = "rank in the job",
		VIEW_RANK(shown_row, process)),
	TABLE_COLUMN("name", "Thread", TABLE_NAME, TABLE_MEMBER(shown_row, name)),
	TABLE_COLUMN("wait_ns", "Waits for CPU", TABLE_TIME,
		.help = "time in which it was ready to run and had no CPU",
		TABLE_MEMBER(shown_row, wait_ns)),
	TABLE_COLUMN("wait_share_pct", "% waiting", TABLE_PERCENT,
		.help = "of the same time as % on CPU", TABLE_SHARE(shown_row, wait_ns, all_ns)),
	TABLE_COLUMN("cpu_ns", "CPU", TABLE_TIME, .help = "time on a CPU",
		TABLE_MEMBER(shown_row, cpu_ns)),
	TABLE_COLUMN("cpu_share_pct", "% on CPU", TABLE_PERCENT,
		.help = "of the time between the thread's first and last sample",
		TABLE_SHARE(shown_row, cpu_ns, all_ns)),
};

static void fill_table(void *state, struct table *table)
{
	struct cpu_waits_view *view = state;

	for (const struct row *row = view->rows; row; row = row->hh.next) {
		struct process *process = row->key.process;

		table_add(table, &(struct shown_row){process,
					 os_thread_name(process, (uint32_t)row->key.thread),
					 row->last.cpu_ns - row->first.cpu_ns,
					 row->last.wait_ns - row->first.wait_ns,
					 clock_map_duration(&process->host_clock,
						 row->last.tick - row->first.tick)});
	}
	table_sort(table, "wait_ns");
	if (!view->rows) {
		table_note(table, "No times of threads were recorded (GPROF_SAMPLE_MS=0, or a "
				  "kernel without schedstat).");
	}
}

static void fini(void *state)
{
	hash_free(((struct cpu_waits_view *)state)->rows);
}

VIEW(cpu_waits, 357) = {
	.name = "cpu-waits",
	.subject = VIEW_ABOUT_HOST,
	.help = "how long the threads of the loop and of launches wait for a CPU",
	.about = "Each process has a row for its first thread and for those that launch work. They "
		 "wait for a CPU while other threads or processes use all that they may run on.",
	.is_empty_hidden = true,
	.title = "Waits for a CPU",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct cpu_waits_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, on_batch, NULL},
	.fill = fill_table,
	.fini = fini,
};
