/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions by CPU samples: in which the CPU was (self), and on whose behalf it was there (total).
 * Samples are first counted by stack, so that each stack is walked once.
 */
#include <inttypes.h>

#include "report/analysis/view.h"
#include "report/model/mixed_stack.h"
#include "report/util/hash.h"

struct key {
	uint32_t function, file;
};

struct row {
	struct key key;
	uint64_t nr_self, nr_total, self_ns, total_ns;
	uint64_t last_stack; /* that counted it: a recursive function counts once */
	UT_hash_handle hh;
};

struct samples {
	uint64_t stack; /* as mixed_stack.h has it */
	uint64_t nr, ns;
};

struct cpu_view {
	struct view_input input;
	struct row *rows;
	struct idmap stacks; /* struct samples by their stack, of the process at hand */
	uint64_t nr_stacks, nr, ns;
	uint64_t nr_python,
		nr_unread; /* samples with Python frames; with ones that were not read */
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_cpu_sample,
		COL_BIT(COL_cpu_sample_ns) | COL_BIT(COL_cpu_sample_native_stack) |
			COL_BIT(COL_cpu_sample_py_stack),
		0},
};

static void begin(void *context, struct process *process)
{
	struct cpu_view *view = context;

	(void)process;
	idmap_init(&view->stacks, sizeof(struct samples));
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct cpu_view *view = context;

	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t stack = mixed_stack_id(
			b->col[COL_cpu_sample_native_stack][i], b->col[COL_cpu_sample_py_stack][i]);
		struct samples *samples = idmap_put(&view->stacks, stack);

		samples->stack = stack;
		samples->nr++;
		samples->ns += b->col[COL_cpu_sample_ns][i];
		view->nr_python += mixed_stack_has_python(stack);
		view->nr_unread += mixed_stack_lacks_python(stack);
		view->nr++;
		view->ns += b->col[COL_cpu_sample_ns][i];
	}
}

static void add_frame(struct cpu_view *view, const struct mixed_frame *frame,
	const struct samples *samples, bool is_self)
{
	struct key key = {frame->function, frame->file};
	struct row *row;

	hash_put(view->rows, key, &key, row);
	if (is_self) {
		row->nr_self += samples->nr;
		row->self_ns += samples->ns;
	}
	if (row->last_stack != view->nr_stacks) {
		row->last_stack = view->nr_stacks;
		row->nr_total += samples->nr;
		row->total_ns += samples->ns;
	}
}

/* A sample without a stack (0) is in an unknown function. */
static void add_stack(struct cpu_view *view, struct process *process, const struct samples *samples)
{
	struct mixed_frame frames[MIXED_STACK_MAX_FRAMES];
	uint32_t nr = mixed_stack_frames(process, samples->stack, frames);

	view->nr_stacks++;
	for (uint32_t i = 0; i < nr; i++) {
		add_frame(view, &frames[i], samples, i == 0);
	}
}

static void end(void *context, struct process *process)
{
	struct cpu_view *view = context;

	for (size_t i = 0; i < view->stacks.nr; i++) {
		add_stack(view, process, idmap_at(&view->stacks, i));
	}
	idmap_fini(&view->stacks);
}

/* ---- the table ---- */

enum column { SHARE, SELF, SELF_NR, TOTAL_SHARE, TOTAL, TOTAL_NR, NAME, FILE_NAME };

static const struct table_column columns[] = {
	[SHARE] = TABLE_COLUMN("share_pct", "% of samples", TABLE_PERCENT),
	[SELF] = TABLE_COLUMN("self_ns", "Self CPU", TABLE_TIME,
		.help = "estimated CPU time in the function itself", TABLE_MEMBER(row, self_ns)),
	[SELF_NR] = TABLE_COLUMN("samples", "Samples", TABLE_COUNT,
		.help = "samples in the function itself", TABLE_MEMBER(row, nr_self)),
	[TOTAL_SHARE] = TABLE_COLUMN("total_share_pct", "Total %", TABLE_PERCENT,
		.help = "samples in it and in what it called, of all samples"),
	[TOTAL] = TABLE_COLUMN("total_ns", "Total CPU", TABLE_TIME,
		.help = "estimated CPU time in it and in what it called",
		TABLE_MEMBER(row, total_ns)),
	[TOTAL_NR] =
		TABLE_COLUMN("total_samples", "Total samples", TABLE_COUNT, .is_wide_only = true,
			.help = "samples in it and in what it called", TABLE_MEMBER(row, nr_total)),
	[NAME] = TABLE_COLUMN("name", "Function", TABLE_NAME,
		.help = "without a symbol, its place in the file", TABLE_MEMBER(row, key.function)),
	[FILE_NAME] = TABLE_COLUMN("file", "File", TABLE_NAME, .is_minor = true),
};

static void fill_table(void *state, struct table *table)
{
	struct cpu_view *view = state;

	for (const struct row *row = view->rows; row; row = row->hh.next) {
		struct table_cell *cells = table_add(table, row);

		table_set_share(&cells[SHARE], (double)row->nr_self, (double)view->nr);
		table_set_share(&cells[TOTAL_SHARE], (double)row->nr_total, (double)view->nr);
		if (row->key.file) {
			table_set_integer(&cells[FILE_NAME], row->key.file);
		}
	}
	table_sort(table, "self");
	if (!view->nr) {
		table_note(table, "No CPU samples were recorded; use gprof-record --cpu "
				  "(GPROF_CPU_HZ=99).");
		return;
	}
	table_note(table,
		"Times are estimates: %" PRIu64
		" samples, each of which stands for %.1f ms of CPU time in user mode. Callers are "
		"known where code has frame pointers.",
		view->nr, (double)view->ns / (double)view->nr / 1e6);
	if (view->nr_unread) {
		table_note(table,
			"%" PRIu64 " of %" PRIu64 " samples of threads that run Python have no "
			"Python frames: these could not be "
			"read within an eighth of a period.",
			view->nr_unread, view->nr_unread + view->nr_python);
	}
}

static void fini(void *state)
{
	struct cpu_view *view = state;

	hash_free(view->rows);
}

VIEW(cpu, 354) = {
	.name = "cpu",
	.subject = VIEW_ABOUT_HOST,
	.help = "functions in which the CPU spent its time, by samples",
	.about = "Shares are of all CPU samples of the table. Samples are of user mode, on all "
		 "threads of the process but gprof's own; time in the kernel has none. A function "
		 "counts once in a stack, however often it is there. Of threads that run Python, "
		 "a stack is Python's frames and the machine code that the innermost one has "
		 "called; without frame pointers in the interpreter, only the innermost function "
		 "of that.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "CPU samples",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct cpu_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
