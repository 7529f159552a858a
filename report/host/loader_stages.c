/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data loaders as a pipeline: how long workers, or the loop where it loads itself, are in each
 * stage, by samples. A stage computes (CPU samples) or waits (samples of waits); for each one the
 * line with most of its time stands for it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/budget/loader_stage.h"
#include "report/host/alike_samples.h"
#include "report/model/mixed_stack.h"
#include "report/model/process_tree.h"
#include "report/util/string_pool.h"

struct row {
	struct {
		enum loader_stage stage;
		uint32_t pid; /* with --per-thread; else 0 */
	} key;
	uint64_t nr, cpu_ns, wait_ns, worker;
	bool is_worker;
	uint64_t line_ns; /* at the line with most of its time */
	uint32_t line;
	/* For the table. */
	uint64_t ns;
	uint32_t stage_name;
	UT_hash_handle hh;
};

/* The time of a row at a line, a number of string_pool.h. */
struct line {
	struct {
		struct row *row;
		uint64_t place;
	} key;
	uint64_t ns;
	UT_hash_handle hh;
};

struct share {
	uint64_t nr, nr_all;
};

struct loader_stages_view {
	struct view_input input;
	struct alike_samples samples; /* the current process has these */
	struct row *rows;
	struct line *lines;
	int64_t worker; /* the number of the worker that is being read; -1: none */
	uint64_t first_ready_ns, last_ready_ns; /* its thread waited for a CPU so long by then */
	bool has_ready;
	uint64_t nr_workers, ns;
	uint64_t nr_unread;    /* samples of workers without their Python frames */
	struct share left_out; /* such samples of loops that load themselves, of all with Python */
};

static const struct scan_want wants[] = {
	ALIKE_SAMPLES_WANTS,
	{GPROF_TABLE_thread_cpu, COLS(thread_cpu, wait_ns, thread), 0},
};

/* ---- reading ---- */

static void begin(void *context, struct process *process)
{
	struct loader_stages_view *view = context;
	int64_t nr;

	view->worker = process_tree_worker(process, &nr);
	view->nr_workers += view->worker >= 0;
	view->has_ready = false;
	view->last_ready_ns = 0;
}

static void take_ready(
	struct loader_stages_view *view, struct process *process, const struct batch *b, uint32_t i)
{
	uint64_t ns = b->col[COL_thread_cpu_wait_ns][i];

	if (ns != GPROF_THREAD_CPU_UNKNOWN &&
		process_tid(process, (uint32_t)b->col[COL_thread_cpu_thread][i]) == process->pid) {
		if (!view->has_ready || ns < view->first_ready_ns) {
			view->first_ready_ns = ns;
		}
		view->last_ready_ns = ns > view->last_ready_ns ? ns : view->last_ready_ns;
		view->has_ready = true;
	}
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct loader_stages_view *view = context;

	if (b->table != GPROF_TABLE_thread_cpu) {
		alike_samples_add(&view->samples, b);
		return;
	}
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		take_ready(view, process, b, i);
	}
}

static struct row *find_row(
	struct loader_stages_view *view, const struct process *process, enum loader_stage stage)
{
	struct row wanted, *row;

	memset(&wanted, 0, sizeof(wanted));
	wanted.key.stage = stage;
	wanted.key.pid = view->input.is_per_thread ? process->pid : 0;
	hash_put(view->rows, key, &wanted.key, row);
	row->is_worker = view->worker >= 0;
	row->worker = view->worker >= 0 ? (uint64_t)view->worker : 0;
	return row;
}

static struct row *add(struct loader_stages_view *view, struct process *process,
	enum loader_stage stage, const struct alike *alike)
{
	uint64_t stack = mixed_stack_id(0, alike->key.py_stack);
	struct line wanted, *line;
	struct row *row;

	row = find_row(view, process, stage);
	row->nr += alike->nr;
	view->ns += alike->ns;
	view->nr_unread += mixed_stack_lacks_python(stack) ? alike->nr : 0;
	if (!mixed_stack_has_python(stack)) {
		return row;
	}
	memset(&wanted, 0, sizeof(wanted));
	wanted.key.row = row;
	wanted.key.place = loader_stage_line(process, alike->key.py_stack);
	hash_put(view->lines, key, &wanted.key, line);
	line->ns += alike->ns;
	return row;
}

/* The loop runs its own code, too: without frames a sample may be of either. */
static void count_left_out(struct loader_stages_view *view)
{
	for (const struct alike *alike = view->samples.running; alike; alike = alike->hh.next) {
		uint64_t stack = mixed_stack_id(0, alike->key.py_stack);

		view->left_out.nr += mixed_stack_lacks_python(stack) ? alike->nr : 0;
		view->left_out.nr_all += stack ? alike->nr : 0;
	}
}

static void end(void *context, struct process *process)
{
	struct loader_stages_view *view = context;
	bool is_worker = view->worker >= 0;
	uint64_t ns_before = view->ns;
	enum loader_stage stage;

	for (const struct alike *alike = view->samples.running; alike; alike = alike->hh.next) {
		stage = loader_stage_of(process, alike->key.py_stack, is_worker);
		if (stage != LOADER_STAGE_NONE) {
			add(view, process, stage, alike)->cpu_ns += alike->ns;
		}
	}
	for (const struct alike *alike = view->samples.waiting; alike; alike = alike->hh.next) {
		stage = loader_stage_of_wait(process, &alike->key, is_worker);
		if (stage != LOADER_STAGE_NONE) {
			add(view, process, stage, alike)->wait_ns += alike->ns;
		}
	}
	if (!is_worker && view->ns > ns_before) {
		count_left_out(view);
	}
	alike_samples_fini(&view->samples);
	if (is_worker && view->has_ready && view->last_ready_ns > view->first_ready_ns) {
		uint64_t ns = view->last_ready_ns - view->first_ready_ns;

		find_row(view, process, LOADER_STAGE_CPU)->wait_ns += ns;
		view->ns += ns;
	}
}

/* ---- the table ---- */

static const struct table_column columns[] = {
	TABLE_COLUMN("share_pct", "% of time", TABLE_PERCENT, .help = "of the time of all workers",
		TABLE_SHARE_OF_STATE(row, ns, loader_stages_view, ns)),
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME,
		.help = "estimated time in the stage, of all workers", TABLE_MEMBER(row, ns)),
	TABLE_COLUMN(
		"cpu_ns", "CPU", TABLE_TIME, .help = "of it, computing", TABLE_MEMBER(row, cpu_ns)),
	TABLE_COLUMN("wait_ns", "Waiting", TABLE_TIME,
		.help = "of it, waiting in the kernel, or for a CPU", TABLE_MEMBER(row, wait_ns)),
	TABLE_COLUMN("samples", "Samples", TABLE_COUNT, .is_minor = true, TABLE_MEMBER(row, nr)),
	TABLE_COLUMN("pid", "Process", TABLE_ID, .is_minor = true, .help = "with --per-thread",
		TABLE_WIDE_UNLESS(loader_stages_view, input.is_per_thread),
		TABLE_NONZERO(row, key.pid)),
	TABLE_COLUMN("worker", "Worker", TABLE_ID,
		.help = "with --per-thread: number in its loader; n/a: the process of the loop",
		TABLE_WIDE_UNLESS(loader_stages_view, input.is_per_thread),
		TABLE_IF(row, worker, is_worker)),
	TABLE_COLUMN("stage", "Stage", TABLE_NAME, .is_name = true, TABLE_MEMBER(row, stage_name)),
	TABLE_COLUMN("line_pct", "% at the line", TABLE_PERCENT, .is_minor = true,
		.help = "part of the stage's time that is at that line",
		TABLE_SHARE(row, line_ns, ns)),
	TABLE_COLUMN("line", "Most at", TABLE_NAME, .is_major = true,
		.help = "the line of Python with most of its time", TABLE_IF(row, line, line_ns)),
};

static void find_lines(struct loader_stages_view *view)
{
	for (const struct line *line = view->lines; line; line = line->hh.next) {
		struct row *row = line->key.row;

		if (line->ns > row->line_ns) {
			row->line_ns = line->ns;
			row->line = (uint32_t)line->key.place;
		}
	}
}

static void add_notes(struct table *table, const struct loader_stages_view *view)
{
	char who[48] = "the loop, which loads its data itself";

	if (!view->ns) {
		return;
	}
	if (view->nr_workers) {
		snprintf(who, sizeof(who), "%" PRIu64 " worker%s", view->nr_workers,
			view->nr_workers == 1 ? "" : "s");
	}
	table_note(table,
		"Times are estimates from samples of %s. The packages of the code tell the stages.",
		who);
	if (view->nr_unread) {
		table_note(table,
			"The Python frames of %" PRIu64 " sample%s could not be read, which count "
			"as \"other\".",
			view->nr_unread, view->nr_unread == 1 ? "" : "s");
	}
	if (view->left_out.nr) {
		table_note(table,
			"%" PRIu64 " of %" PRIu64 " CPU samples of Python in the loop's process "
			"are left out: their Python frames could not be read, and some may be the "
			"loader's.",
			view->left_out.nr, view->left_out.nr_all);
	}
}

static void finish(struct row *row)
{
	const char *stage = loader_stage_name(row->key.stage);

	row->ns = row->cpu_ns + row->wait_ns;
	row->stage_name = string_pool_intern(stage, strlen(stage));
	row->is_worker &= row->key.pid != 0;
	row->line_ns = row->line_ns ? row->line_ns : UINT64_MAX;
}

static void fill_table(void *state, struct table *table)
{
	struct loader_stages_view *view = state;

	find_lines(view);
	for (struct row *row = view->rows; row; row = row->hh.next) {
		finish(row);
		table_add(table, row);
	}
	table_sort(table, "total");
	add_notes(table, view);
}

static void fini(void *state)
{
	struct loader_stages_view *view = state;

	alike_samples_fini(&view->samples);
	hash_free(view->rows);
	hash_free(view->lines);
}

VIEW(loader_stages, 425) = {
	.name = "loader-stages",
	.subject = VIEW_ABOUT_HOST,
	.help = "what data loaders do: read, decode, transform, collate, hand over; by samples",
	.about = "A sample's stage follows from the package of its innermost Python frames: "
		 "PIL.ImageFile "
		 "decodes, torchvision.transforms transforms. Code of the program that belongs to "
		 "no other stage is \"own code\".",
	.is_empty_hidden = true,
	.title = "Stages of the data loader",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct loader_stages_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
