/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of paddle.profiler.Profiler.summary, column by column: Device, Overview, Model,
 * Distribution, Operator, Kernel, Memory Manipulation, UserDefined and Memory Summary, and the Perf
 * Summary of its benchmark; for each process that did something. Their numbers are those of our own
 * views, see these for formulas; a cell that is not known is a dash. The report of the profiler
 * before it is paddle_old.c.
 *
 * Operators, kernels and ranges count whenever they ran, their shares as there: of kernels of all
 * kernel time, of operators of those that lie in no other one (there an operator in another one
 * counts twice), of ranges and copies in the steps of the time and the GPU time of the steps.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/styles/paddle.h"
#include "report/util/text.h"

/* The report of the profiler before. */
static void print_framework(struct paddle_report *report)
{
	const struct paddle_old_options options = {.unit = report->unit,
		.unit_ns = report->unit_ns,
		.sort = report->summary->sort,
		.times = report->times,
		.is_per_thread = report->summary->is_per_thread,
		.top = report->summary->asked.top};

	style_paddle_old_print(report->tables[PADDLE_FRAMEWORK], &options, report->out);
}

/* ---- the report ---- */

/* The sections in Paddle's order. All but the last are printed where no view is named. */
static const struct section {
	const char *view; /* of --view */
	void (*print)(struct paddle_report *report);
	unsigned int needs; /* bits of enum paddle_view */
} sections[] = {
	{"benchmark", paddle_print_benchmark, 1u << PADDLE_BENCHMARK},
	{"device", paddle_print_device, 1u << PADDLE_OVERVIEW | 1u << PADDLE_UTILIZATION},
	{"overview", paddle_print_overview, 1u << PADDLE_OVERVIEW},
	{"model", paddle_print_model, 1u << PADDLE_MODEL},
	{"distributed", paddle_print_distribution, 1u << PADDLE_OVERVIEW},
	{"operator", paddle_print_operator, 1u << PADDLE_OPERATOR},
	{"kernel", paddle_print_kernel, 1u << PADDLE_KERNEL},
	{"memcpy", paddle_print_manipulation, 1u << PADDLE_MANIPULATION},
	{"user-ranges", paddle_print_userdefined, 1u << PADDLE_USERDEFINED},
	{"memory", paddle_print_memory, 1u << PADDLE_MEMORY},
	{"framework", print_framework, 1u << PADDLE_FRAMEWORK},
};

#define NR_SECTIONS (sizeof(sections) / sizeof(sections[0]))

static bool is_wanted(const struct summary *summary, const struct section *section)
{
	if (summary->is_default) {
		return section->print != print_framework;
	}
	for (size_t i = 0; i < summary->nr_views; i++) {
		if (strcmp(summary->views[i]->name, section->view) == 0) {
			return true;
		}
	}
	return false;
}

static const struct view_class *const classes[NR_PADDLE_VIEWS] = {
	[PADDLE_OVERVIEW] = &view_overview,
	[PADDLE_UTILIZATION] = &view_utilization,
	[PADDLE_MODEL] = &view_model,
	[PADDLE_OPERATOR] = &view_operator_detail,
	[PADDLE_KERNEL] = &view_kernel,
	[PADDLE_MANIPULATION] = &view_memops,
	[PADDLE_USERDEFINED] = &view_user_ranges,
	[PADDLE_MEMORY] = &view_paddle_memory,
	[PADDLE_BENCHMARK] = &view_benchmark,
	[PADDLE_FRAMEWORK] = &view_framework};

/* Runs the views of all sections together, so that the process is read once. */
static void make_tables(struct paddle_report *report, struct process *process, unsigned int needs)
{
	const struct summary *summary = report->summary;
	struct view_input input = {.processes = &process,
		.nr_processes = 1,
		.has_all_steps = true,
		.is_per_thread = summary->is_per_thread,
		.detail = summary->detail,
		.times = report->times};
	const struct view_class *used[NR_PADDLE_VIEWS];
	void *views[NR_PADDLE_VIEWS];
	size_t nr = 0;

	for (unsigned int i = 0; i < NR_PADDLE_VIEWS; i++) {
		if (needs & 1u << i) {
			used[nr++] = classes[i];
		}
	}
	view_run(&input, used, nr, views);
	nr = 0;
	for (unsigned int i = 0; i < NR_PADDLE_VIEWS; i++) {
		if (needs & 1u << i) {
			report->tables[i] = view_table(classes[i], views[nr]);
			view_destroy(classes[i], views[nr++]);
		}
	}
}

/* Orders and cuts what has many rows. False if there is no such column in any. */
static bool arrange(struct paddle_report *report)
{
	static const enum paddle_view views[] = {PADDLE_OPERATOR, PADDLE_KERNEL,
		PADDLE_MANIPULATION, PADDLE_USERDEFINED, PADDLE_FRAMEWORK};
	const char *sort = report->summary->sort;
	bool is_sorted = !sort, is_there = false;

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		struct table *table = report->tables[views[i]];

		if (!table) {
			continue;
		}
		is_there = true;
		is_sorted = (sort && summary_sort(table, sort)) || is_sorted;
		if (views[i] == PADDLE_KERNEL && sort && strncmp(sort, "GPU", 3) == 0) {
			char key[16]; /* all its times are the GPU's */

			snprintf(key, sizeof(key), "CPU%s", sort + 3);
			is_sorted = summary_sort(table, key) || is_sorted;
		}
		if (report->summary->is_per_thread) {
			table_sort_rising(table, views[i] == PADDLE_FRAMEWORK ? "thread" : "tid");
		}
		if (views[i] != PADDLE_FRAMEWORK) { /* it is not all events */
			table_cut(table, report->summary->asked.top);
		}
	}
	return is_sorted || !is_there;
}

static double sum_kernels(const struct table *table)
{
	double ns = 0;

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		ns += paddle_cell(table, i, "total_ns")->number;
	}
	return ns;
}

static bool print_process(struct paddle_report *report, struct process *process, unsigned int needs)
{
	bool is_sorted;

	report->times = report->summary->times;
	if (report->times == VIEW_TIMES_ALL && !process_has_device_records(process, NULL)) {
		report->times = VIEW_TIMES_CPU;
	}
	make_tables(report, process, needs);
	report->kernels_ns = sum_kernels(report->tables[PADDLE_KERNEL]);
	is_sorted = arrange(report);
	for (size_t i = 0; i < NR_SECTIONS; i++) {
		if (is_wanted(report->summary, &sections[i])) {
			sections[i].print(report);
		}
	}
	for (unsigned int i = 0; i < NR_PADDLE_VIEWS; i++) {
		table_destroy(report->tables[i]);
		report->tables[i] = NULL;
	}
	return is_sorted;
}

static void print_head(const struct process *process, struct buf *out)
{
	buf_printf(out, "Process %u on ", process->pid);
	text_add_shown(out, process_host(process), strlen(process_host(process)), 64);
	if (process->rank >= 0) {
		buf_printf(out, ", rank %" PRId64, process->rank);
	}
	if (!process_is_complete(process)) {
		buf_printf(out, ", INCOMPLETE: %" PRIu64 " events missing%s",
			process_missing(process), process->is_ended ? "" : ", unfinished");
	}
	buf_text(out, process->select ? ", the chosen steps alone\n\n" : "\n\n");
}

static const char *print(
	const struct summary *summary, const struct cmd_input *input, struct buf *out)
{
	static const double factors[] = {1e9, 1e6, 1e3, 1};
	static const char *const units[] = {"s", "ms", "us", "ns"};
	struct paddle_report report = {
		.summary = summary, .unit = "ms", .unit_ns = 1e6, .out = out};
	bool is_sorted = true;
	unsigned int needs = 0;
	const char *why;

	for (size_t i = 0; summary->asked.table.unit && i < 4; i++) {
		if (strcmp(summary->asked.table.unit, units[i]) == 0) {
			report.unit = units[i];
			report.unit_ns = factors[i];
		}
	}
	for (size_t i = 0; i < NR_SECTIONS; i++) {
		needs |= is_wanted(summary, &sections[i]) ? sections[i].needs : 0;
	}
	if (!needs) {
		return "Paddle has none of these tables, but device, overview, model, distributed, "
		       "operator, kernel, memcpy, user-ranges, memory, benchmark, framework";
	}
	for (size_t i = 0; i < input->nr_processes; i++) {
		struct process *process = input->processes[i];

		/* Helpers that ran nothing have nothing to show. */
		if (input->nr_processes == 1 || op_has_any(process) ||
			process_has_device_records(process, &why)) {
			print_head(process, out);
			is_sorted = print_process(&report, process, needs) && is_sorted;
		}
	}
	return is_sorted ? NULL : "no table has such a column for --sort";
}

const struct summary_style style_paddle = {
	.name = "paddle",
	.help = "the summary of paddle.profiler; --view framework: the report of the one before",
	.formats = 1u << TABLE_TEXT_FORMAT,
	.print = print,
};
