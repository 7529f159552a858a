/* SPDX-License-Identifier: Apache-2.0 */
/* Threads by CPU samples: which of them used the CPUs, and in which function most. */
#include "report/analysis/view.h"
#include "report/host/thread_states.h"
#include "report/model/mixed_stack.h"
#include "report/util/hash.h"

/* The kernel gives the number of a thread that has ended to another one, with another name. */
struct key {
	struct process *process;
	uint32_t tid, name;
};

struct samples {
	uint64_t stack; /* as mixed_stack.h has it */
	uint64_t nr;
};

struct row {
	struct key key;
	uint64_t nr, ns;
	struct idmap stacks; /* struct samples by their stack */
	UT_hash_handle hh;
};

struct cpu_threads_view {
	struct view_input input;
	struct row *rows;
	struct thread_states *states;
	uint64_t nr;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_cpu_sample, COLS(cpu_sample, ns, task, native_stack, name, py_stack), 0},
	{GPROF_TABLE_thread_state, THREAD_STATES_MASK, 0},
};

static void add_samples(
	struct cpu_threads_view *view, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t name = b->col[COL_cpu_sample_name][i];
		struct key key = {process, (uint32_t)b->col[COL_cpu_sample_task][i],
			name ? process_string(process, name) : 0};
		uint64_t stack = mixed_stack_id(
			b->col[COL_cpu_sample_native_stack][i], b->col[COL_cpu_sample_py_stack][i]);
		struct samples *samples;
		struct row *row;

		hash_put(view->rows, key, &key, row);
		if (!row->nr++) {
			idmap_init(&row->stacks, sizeof(struct samples));
		}
		row->ns += b->col[COL_cpu_sample_ns][i];
		samples = idmap_put(&row->stacks, stack);
		samples->stack = stack;
		samples->nr++;
		view->nr++;
	}
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct cpu_threads_view *view = context;

	if (b->table == GPROF_TABLE_thread_state) {
		thread_states_add(&view->states, process, b);
	} else {
		add_samples(view, process, b);
	}
}

/* The function with the most samples of its own. Sets how many these are. */
static uint32_t find_hottest(const struct row *row, uint64_t *nr_samples)
{
	struct idmap functions; /* uint64_t by number of the name */
	uint32_t hottest = 0;

	*nr_samples = 0;
	idmap_init(&functions, sizeof(uint64_t));
	for (size_t i = 0; i < row->stacks.nr; i++) {
		struct mixed_frame frames[MIXED_STACK_MAX_FRAMES];
		const struct samples *samples = idmap_at(&row->stacks, i);
		uint32_t function;
		uint64_t *sum;

		mixed_stack_frames(row->key.process, samples->stack, frames);
		function = frames[0].function;
		sum = idmap_put(&functions, function);
		*sum += samples->nr;
		if (*sum > *nr_samples) {
			*nr_samples = *sum;
			hottest = function;
		}
	}
	idmap_fini(&functions);
	return hottest;
}

/* ---- the table ---- */

struct shown_row {
	struct row row;
	uint64_t nr_all, nr_hottest;
	uint64_t measured_ns; /* UINT64_MAX: unknown */
	uint32_t hottest;
};

static const struct table_column columns[] = {
	TABLE_COLUMN(
		"pid", "PID", TABLE_ID, .help = "process ID", VIEW_PID(shown_row, row.key.process)),
	TABLE_COLUMN("rank", "Rank", TABLE_COUNT, .help = "rank in the job",
		VIEW_RANK(shown_row, row.key.process)),
	TABLE_COLUMN("tid", "TID", TABLE_ID, TABLE_MEMBER(shown_row, row.key.tid)),
	TABLE_COLUMN(
		"share_pct", "% of samples", TABLE_PERCENT, TABLE_SHARE(shown_row, row.nr, nr_all)),
	TABLE_COLUMN("cpu_ns", "CPU", TABLE_TIME, .help = "estimated CPU time, see cpu",
		TABLE_MEMBER(shown_row, row.ns)),
	TABLE_COLUMN("measured_ns", "Measured", TABLE_TIME, .is_minor = true,
		.help = "time on CPUs by its context switches (GPROF_SCHED), of which CPU is an "
			"estimate",
		TABLE_MEMBER(shown_row, measured_ns)),
	TABLE_COLUMN("samples", "Samples", TABLE_COUNT, TABLE_MEMBER(shown_row, row.nr)),
	TABLE_COLUMN("name", "Thread", TABLE_NAME, TABLE_NONZERO(shown_row, row.key.name)),
	TABLE_COLUMN("function_share_pct", "% in function", TABLE_PERCENT,
		.help = "of the thread's samples", TABLE_SHARE(shown_row, nr_hottest, row.nr)),
	TABLE_COLUMN("function", "Hottest function", TABLE_NAME, .is_minor = true,
		.help = "with the most samples of the thread in itself",
		TABLE_NONZERO(shown_row, hottest)),
};

static void fill_table(void *state, struct table *table)
{
	struct cpu_threads_view *view = state;

	for (const struct row *row = view->rows; row; row = row->hh.next) {
		struct shown_row shown = {
			.row = *row, .nr_all = view->nr, .measured_ns = UINT64_MAX};
		const struct thread_states *states = thread_states_find(
			view->states, row->key.process, row->key.tid, row->key.name);

		shown.hottest = find_hottest(row, &shown.nr_hottest);
		if (!shown.hottest) {
			shown.nr_hottest = UINT64_MAX;
		}
		shown.measured_ns = states ? states->ns[GPROF_THREAD_RUNNING] : UINT64_MAX;
		table_add(table, &shown);
	}
	table_set_wide(table, "measured_ns", !view->states);
	table_sort(table, "cpu");
	if (!view->nr) {
		table_note(table, "No CPU samples were recorded (GPROF_CPU_HZ). The view "
				  "notices says if the system refuses them.");
	}
}

static void fini(void *state)
{
	struct cpu_threads_view *view = state;

	for (struct row *row = view->rows; row; row = row->hh.next) {
		idmap_fini(&row->stacks);
	}
	hash_free(view->rows);
	hash_free(view->states);
}

VIEW(cpu_threads, 355) = {
	.name = "cpu-threads",
	.subject = VIEW_ABOUT_HOST,
	.help = "threads by the CPU time that they used, by samples",
	.about = "Shares are of all CPU samples of the table; see view cpu. A thread that changes "
		 "its name has a row for each.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "CPU samples per thread",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct cpu_threads_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, on_batch, NULL},
	.fill = fill_table,
	.fini = fini,
};
