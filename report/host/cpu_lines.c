/* SPDX-License-Identifier: Apache-2.0 */
/* The view of python_lines.h. */
#include <inttypes.h>

#include "report/model/python_lines.h"
#include "report/analysis/view.h"

struct cpu_lines_view {
	struct view_input input;
	struct python_lines lines;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_cpu_sample, COLS(cpu_sample, ns, py_stack), 0},
};

static void begin(void *context, struct process *process)
{
	struct cpu_lines_view *view = context;

	python_lines_scan.begin(&view->lines, process);
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct cpu_lines_view *view = context;

	python_lines_scan.on_batch(&view->lines, process, batch);
}

static void end(void *context, struct process *process)
{
	struct cpu_lines_view *view = context;

	python_lines_scan.end(&view->lines, process);
}

/* ---- the table ---- */

/* The key is a row's first member. */
static void set_name(const void *key, struct table_cell *cell)
{
	table_set_integer(cell, python_line_text(key));
}

static const struct table_column columns[] = {
	TABLE_COLUMN("share_pct", "% of samples", TABLE_PERCENT,
		TABLE_SHARE_OF_STATE(frame_sum, nr_self, cpu_lines_view, lines.nr)),
	TABLE_COLUMN("self_ns", "Self CPU", TABLE_TIME,
		.help = "estimated CPU time at the line itself, in machine code that it called too",
		TABLE_MEMBER(frame_sum, self_ns)),
	TABLE_COLUMN("samples", "Samples", TABLE_COUNT, .help = "samples at the line itself",
		TABLE_MEMBER(frame_sum, nr_self)),
	TABLE_COLUMN("total_share_pct", "Total %", TABLE_PERCENT,
		.help = "samples at it and in Python functions that it called, of all samples",
		TABLE_SHARE_OF_STATE(frame_sum, nr_total, cpu_lines_view, lines.nr)),
	TABLE_COLUMN("total_ns", "Total CPU", TABLE_TIME,
		.help = "estimated CPU time at it and in Python functions that it called",
		TABLE_MEMBER(frame_sum, total_ns)),
	TABLE_COLUMN("total_samples", "Total samples", TABLE_COUNT, .is_wide_only = true,
		.help = "samples at it and in Python functions that it called",
		TABLE_MEMBER(frame_sum, nr_total)),
	TABLE_COLUMN("name", "Line", TABLE_NAME,
		.help = "file, line and function; without folders but those of packages",
		TABLE_SET(frame_sum, key, set_name)),
	TABLE_COLUMN("file", "File", TABLE_NAME, .is_wide_only = true,
		TABLE_MEMBER(frame_sum, key.file)),
	TABLE_COLUMN("line", "Number", TABLE_ID, .is_wide_only = true, .help = "of the line",
		TABLE_MEMBER(frame_sum, key.line)),
	TABLE_COLUMN("function", "Function", TABLE_NAME, .is_wide_only = true,
		TABLE_MEMBER(frame_sum, key.function)),
};

static void add_notes(struct table *table, const struct python_lines *lines)
{
	if (!lines->nr && !lines->nr_unread) {
		table_note(table,
			"No CPU samples of Python code were recorded (GPROF_CPU_HZ). The view "
			"notices says if the system refuses them, or Python is unknown.");
	}
	if (lines->nr_unread) {
		table_note(table,
			"%" PRIu64 " of %" PRIu64 " samples of threads that run Python are left "
			"out: their Python frames could "
			"not be read within an eighth of a period.",
			lines->nr_unread, lines->nr_unread + lines->nr);
	}
	if (lines->nr && lines->nr_other) {
		table_note(table,
			"%" PRIu64 " more sample%s of threads that ran no Python code: see view "
			"cpu.",
			lines->nr_other, lines->nr_other == 1 ? "" : "s");
	}
}

static void fill_table(void *state, struct table *table)
{
	const struct python_lines *lines = &((struct cpu_lines_view *)state)->lines;

	for (const struct frame_sum *row = lines->sums.all; row; row = row->hh.next) {
		table_add(table, row);
	}
	table_sort(table, "self");
	add_notes(table, lines);
}

static void fini(void *state)
{
	struct cpu_lines_view *view = state;

	python_lines_fini(&view->lines);
}

VIEW(cpu_lines, 353) = {
	.name = "cpu-lines",
	.subject = VIEW_ABOUT_HOST,
	.help = "lines of Python code in which the CPU spent its time, by samples",
	.about = "Shares are of the CPU samples with Python frames, see view cpu. The frames are "
		 "read from the interpreter's memory up to an eighth of a period after the sample, "
		 "mostly within 100 us, while the thread may go on; calls of some microseconds may "
		 "stand in the stack of their neighbours. A line counts once in a stack, however "
		 "often it is there.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "CPU samples per Python line",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct cpu_lines_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
