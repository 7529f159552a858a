/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by CPU samples: in which the CPU was (self), and on whose behalf it was there (total).
 */
#include <inttypes.h>

#include "report/analysis/view.h"
#include "report/budget/timed_samples.h"
#include "report/model/frame_sums.h"
#include "report/model/mixed_stack.h"

struct cpu_view {
	struct view_input input;
	struct frame_sums sums; /* by function; stacks as mixed_stack.h has them */
	uint64_t nr, ns;
	uint64_t nr_python,
		nr_unread;    /* samples with Python frames; with ones that were not read */
	uint64_t nr_own;      /* samples that gprof took, and not the kernel */
	uint64_t nr_user;     /* that stand for time in user mode alone */
	uint64_t nr_of_trace; /* whose stacks another profiler unwound */
	uint64_t nr_chains;   /* whose stacks follow frame pointers */
	uint64_t nr_uncopied; /* threads with such samples beside others without */
	bool is_user_only;    /* those of the process that is read */
	bool has_chains;      /* likewise */
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_cpu_sample, COLS(cpu_sample, ns, native_stack, py_stack), 0},
};

static void begin(void *context, struct process *process)
{
	struct cpu_view *view = context;

	int64_t nr_uncopied = process_number(process, "cpu_samples.threads_without_copies");

	view->is_user_only = !cpu_samples_have_kernel(process);
	view->has_chains = !process->stream->is_trace &&
			   process_number(process, "cpu_samples.stack_bytes") <= 0;
	view->nr_uncopied += nr_uncopied > 0 ? (uint64_t)nr_uncopied : 0;
	frame_sums_begin(&view->sums);
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct cpu_view *view = context;

	view->nr_of_trace += process->stream->is_trace ? b->nr_rows : 0;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t stack = mixed_stack_id(
			b->col[COL_cpu_sample_native_stack][i], b->col[COL_cpu_sample_py_stack][i]);

		frame_sums_count(&view->sums, stack, b->col[COL_cpu_sample_ns][i]);
		view->nr_python += mixed_stack_has_python(stack);
		view->nr_unread += mixed_stack_lacks_python(stack);
		view->nr_own += !b->col[COL_cpu_sample_native_stack][i] &&
				b->col[COL_cpu_sample_py_stack][i];
		view->nr_user += view->is_user_only;
		view->nr_chains += view->has_chains;
		view->nr++;
		view->ns += b->col[COL_cpu_sample_ns][i];
	}
}

/* A sample without a stack (0) is in an unknown function. */
static void add_stack(
	struct frame_sums *sums, struct process *process, const struct frame_samples *samples)
{
	struct mixed_frame frames[MIXED_STACK_MAX_FRAMES];
	uint32_t nr = mixed_stack_frames(process, samples->stack, frames);

	for (uint32_t i = 0; i < nr; i++) {
		frame_sums_add(sums, &(struct frame_key){frames[i].function, frames[i].file, 0},
			samples, i == 0);
	}
}

static void end(void *context, struct process *process)
{
	frame_sums_end(&((struct cpu_view *)context)->sums, process, add_stack);
}

/* ---- the table ---- */

struct shown_row {
	struct frame_sum sum;
	uint64_t nr_all;
};

static const struct table_column columns[] = {
	TABLE_COLUMN("share_pct", "% of samples", TABLE_PERCENT,
		TABLE_SHARE(shown_row, sum.nr_self, nr_all)),
	TABLE_COLUMN("self_ns", "Self CPU", TABLE_TIME,
		.help = "estimated CPU time in the function itself",
		TABLE_MEMBER(shown_row, sum.self_ns)),
	TABLE_COLUMN("samples", "Samples", TABLE_COUNT, .help = "samples in the function itself",
		TABLE_MEMBER(shown_row, sum.nr_self)),
	TABLE_COLUMN("total_share_pct", "Total %", TABLE_PERCENT,
		.help = "samples in it and in what it called, of all samples",
		TABLE_SHARE(shown_row, sum.nr_total, nr_all)),
	TABLE_COLUMN("total_ns", "Total CPU", TABLE_TIME,
		.help = "estimated CPU time in it and in what it called",
		TABLE_MEMBER(shown_row, sum.total_ns)),
	TABLE_COLUMN("total_samples", "Total samples", TABLE_COUNT, .is_wide_only = true,
		.help = "samples in it and in what it called",
		TABLE_MEMBER(shown_row, sum.nr_total)),
	TABLE_COLUMN("name", "Function", TABLE_NAME,
		.help = "without a symbol, its place in the file",
		TABLE_MEMBER(shown_row, sum.key.function)),
	TABLE_COLUMN("file", "File", TABLE_NAME, .is_minor = true,
		TABLE_NONZERO(shown_row, sum.key.file)),
};

static void fill_table(void *state, struct table *table)
{
	struct cpu_view *view = state;

	for (const struct frame_sum *row = view->sums.all; row; row = row->hh.next) {
		table_add(table, &(struct shown_row){*row, view->nr});
	}
	table_sort(table, "self");
	if (!view->nr) {
		table_note(table, "No CPU samples were recorded (GPROF_CPU_HZ). The view "
				  "notices says if the system refuses them.");
		return;
	}
	table_note(table,
		"Times are estimates: %" PRIu64
		" samples, each of which stands for %.1f ms of CPU time%s.%s",
		view->nr, (double)view->ns / (double)view->nr / 1e6,
		view->nr_of_trace	    ? ""
		: !view->nr_user	    ? ", including the kernel's"
		: view->nr_user == view->nr ? " in user mode"
					    : ", of some processes in user mode alone",
		!view->nr_chains ? ""
		: view->nr_chains + view->nr_of_trace == view->nr
			? " Callers are known where code has frame pointers."
			: " Of some processes, callers are known where code has frame pointers.");
	if (view->nr_uncopied) {
		table_note(table,
			"%" PRIu64
			" threads have callers only where code has frame pointers: there was "
			"no room for copies of their stacks (10 MiB in all, less where "
			"kernel.perf_event_mlock_kb is low).",
			view->nr_uncopied);
	}
	if (view->nr_own) {
		table_note(table,
			"Of these, gprof took %" PRIu64
			" itself, of threads that run Python, where the "
			"kernel takes none: they also stand for time in the kernel, and machine "
			"functions are unknown.",
			view->nr_own);
	}
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

	frame_sums_fini(&view->sums);
}

VIEW(cpu, 354) = {
	.name = "cpu",
	.subject = VIEW_ABOUT_HOST,
	.help = "functions in which the CPU spent its time, by samples",
	.about = "Shares are of all CPU samples of the table. Samples are of all threads of the "
		 "process but gprof's own. Where kernel.perf_event_paranoid is above 1 for users, "
		 "they are of user mode, and time in the kernel has none. A function "
		 "counts once in a stack, however often it is there. Of threads that run Python, "
		 "a stack is Python's frames and the machine code that the innermost one has "
		 "called; where the stack of machine code does not lead to the interpreter, only "
		 "the innermost function of that. The function \"...: outer frames\" stands for "
		 "callers that are unknown.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "CPU samples",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct cpu_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
