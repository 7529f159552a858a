/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of paddle.profiler.Profiler.summary, column by column: Device, Overview, Model,
 * Distribution, Operator, Kernel, Memory Manipulation and UserDefined Summary, and the Perf Summary
 * of its benchmark; for each process that did something. What stands in them is what our own views
 * have, see these for formulas; a cell that is not known is a dash. The report of the profiler
 * before it is style_paddle_old.c.
 *
 * Operators, kernels and ranges count whenever they ran, their shares as there: of kernels of all
 * kernel time, of operators of those that lie in no other one (there an operator in another one
 * counts twice), of ranges and copies of the steps on the CPU and of all work of the steps on GPUs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/paddle_grid.h"
#include "report/style_paddle_old.h"
#include "report/summary.h"
#include "report/text.h"

#define NAME_WIDTH   52u /* of operators */
#define KERNEL_WIDTH 90u

enum view {
	VIEW_OVERVIEW,
	VIEW_UTILIZATION,
	VIEW_MODEL,
	VIEW_OPERATOR,
	VIEW_KERNEL,
	VIEW_MANIPULATION,
	VIEW_USERDEFINED,
	VIEW_BENCHMARK,
	VIEW_FRAMEWORK,
	NR_VIEWS,
};

struct report {
	const struct summary *summary;
	struct table *tables[NR_VIEWS]; /* NULL: not needed */
	const char *unit;
	double unit_ns;
	double steps_ns, steps_gpu_ns; /* the base of shares; 0: unknown */
	struct buf *out;
};

/* ---- cells ---- */

static const struct table_cell *cell(const struct table *table, size_t row, const char *key)
{
	static const struct table_cell unknown;
	const struct table_cell *found = table_find_cell(table, row, key);

	return found ? found : &unknown;
}

static bool has_text(const struct table *table, size_t row, const char *key, const char *text)
{
	const char *have = cell(table, row, key)->text;

	return have && strcmp(have, text) == 0;
}

static void add_time(const struct report *report, struct buf *text, const struct table_cell *time)
{
	if (time->is_known) {
		buf_printf(text, "%.2f", time->number / report->unit_ns);
	} else {
		buf_char(text, '-');
	}
}

static char *time_text(const struct report *report, const struct table_cell *time)
{
	struct buf text = {0};

	add_time(report, &text, time);
	buf_char(&text, '\0');
	return text.bytes;
}

static char *percent_text(const struct table_cell *percent)
{
	return percent->is_known ? paddle_text("%.2f", percent->number) : mem_text("-");
}

static char *count_text(const struct table_cell *count)
{
	return count->is_known ? paddle_text("%" PRIu64, count->integer) : mem_text("-");
}

/* "total / avg / max / min / ratio"; prefix: "" or "gpu_" of the keys; base 0: the ratio's cell. */
static char *five(const struct report *report, const struct table *table, size_t row,
	const char *prefix, double base)
{
	static const char *const keys[] = {"total_ns", "avg_ns", "max_ns", "min_ns"};
	const struct table_cell *ratio;
	struct buf text = {0};
	char key[32];

	for (size_t i = 0; i < 4; i++) {
		snprintf(key, sizeof(key), "%s%s", prefix, keys[i]);
		add_time(report, &text, cell(table, row, key));
		buf_text(&text, " / ");
	}
	snprintf(key, sizeof(key), "%stotal_ns", prefix);
	if (base > 0 && cell(table, row, key)->is_known) {
		buf_printf(&text, "%.2f", 100 * cell(table, row, key)->number / base);
	} else {
		snprintf(key, sizeof(key), "%sratio_pct", prefix);
		ratio = cell(table, row, key);
		if (ratio->is_known) {
			buf_printf(&text, "%.2f", ratio->number);
		} else {
			buf_char(&text, '-');
		}
	}
	buf_char(&text, '\0');
	return text.bytes;
}

/* A name cut to what is left of the column, further in by its level. */
static char *name_text(const struct report *report, const char *bytes, size_t nr_bytes,
	unsigned int level, size_t width)
{
	struct buf text = {0};

	buf_pad(&text, ' ', 2 * (size_t)level);
	text_add_shown(&text, bytes, nr_bytes,
		report->summary->table.is_wide ? 0 : width - 2 * (size_t)level);
	buf_char(&text, '\0');
	return text.bytes;
}

static char *name_of(
	const struct report *report, const struct table *table, size_t row, size_t width)
{
	const struct table_cell *name = cell(table, row, "name");
	size_t nr_bytes = name->nr_text;
	const char *bytes = name->text;

	if (!bytes) {
		bytes = names_shown((uint32_t)name->integer, &nr_bytes);
	}
	return name_text(report, bytes, nr_bytes, table_level(table, row), width);
}

/* ---- tables ---- */

static void print_device(struct report *report)
{
	struct paddle_grid grid = {.title = "Device Summary",
		.titles = {"Device", "Utilization (%)"},
		.widths = {30, 20},
		.nr_columns = 2,
		.note = "CPU(Process): CPU time of the process in the time that passed, 100 % is "
			"one "
			"core. CPU(System): busy time of all cores in all their time.\n"
			"GPU: the union of its kernels in the time of the steps."};
	const struct table *cpu = report->tables[VIEW_UTILIZATION];
	const struct table *overview = report->tables[VIEW_OVERVIEW];
	static const char *const names[] = {"CPU(Process)", "CPU(System)"};

	for (size_t i = 0; i < 2; i++) {
		struct paddle_row *row = paddle_grid_add(&grid);

		row->cells[0] = mem_text(names[i]);
		for (size_t k = 0; k < cpu->nr_rows; k++) {
			if (!row->cells[1] && has_text(cpu, k, "metric", names[i])) {
				row->cells[1] = percent_text(cell(cpu, k, "avg"));
			}
		}
		if (!row->cells[1]) {
			row->cells[1] = mem_text("-");
		}
	}
	for (size_t i = 0; i < overview->nr_rows; i++) {
		const struct table_cell *device = cell(overview, i, "device");
		struct paddle_row *row;

		if (device->is_known) {
			row = paddle_grid_add(&grid);
			row->cells[0] = paddle_text("GPU%" PRIu64, device->integer);
			row->cells[1] = percent_text(cell(overview, i, "ratio_pct"));
		}
	}
	paddle_grid_print(&grid, report->out);
}

static void print_overview(struct report *report)
{
	struct paddle_grid grid = {.title = "Overview Summary",
		.unit = report->unit,
		.titles = {"Event Type", "Calls", "CPU Time", "Ratio (%)"},
		.widths = {25, 25, 25, 25},
		.nr_columns = 4};
	const struct table *table = report->tables[VIEW_OVERVIEW];
	bool is_gpu = false;

	for (size_t i = 0; i < table->nr_rows; i++) {
		struct paddle_row *row;

		if (cell(table, i, "device")->is_known ||
			has_text(table, i, "name", "Computation")) {
			continue;
		}
		if (!is_gpu && has_text(table, i, "side", "GPU")) {
			is_gpu = true;
			row = paddle_grid_add(&grid);
			row->is_head = true;
			row->cells[1] = mem_text("Calls");
			row->cells[2] = mem_text("GPU Time");
			row->cells[3] = mem_text("Ratio (%)");
		}
		row = paddle_grid_add(&grid);
		row->cells[0] = name_of(report, table, i, 25);
		row->cells[1] = count_text(cell(table, i, "calls"));
		row->cells[2] = time_text(report, cell(table, i, "total_ns"));
		row->cells[3] = percent_text(cell(table, i, "ratio_pct"));
	}
	grid.note = table->note;
	paddle_grid_print(&grid, report->out);
}

static void print_distribution(struct report *report)
{
	static const char *const names[] = {
		"ProfileStep", "  Communication", "  Computation", "  Overlap"};
	struct paddle_grid grid = {.title = "Distribution Summary",
		.unit = report->unit,
		.titles = {"Name", "Total Time", "Ratio (%)"},
		.widths = {20, 20, 20},
		.nr_columns = 3,
		.note = "Communication: the union of its kernels. Computation: that of all others. "
			"Overlap: what both have in common.\nOf what lies in the steps."};
	const struct table *table = report->tables[VIEW_OVERVIEW];
	double ns[4] = {report->steps_ns}, kernels = 0;
	bool has_any = false;

	for (size_t i = 0; i < table->nr_rows; i++) {
		double total = cell(table, i, "total_ns")->number;

		ns[1] = has_text(table, i, "name", "Communication") ? total : ns[1];
		ns[2] = has_text(table, i, "name", "Computation") ? total : ns[2];
		kernels = has_text(table, i, "name", "Kernel") ? total : kernels;
		has_any |= has_text(table, i, "name", "Computation");
	}
	if (!has_any || report->steps_ns <= 0) {
		return;
	}
	ns[3] = ns[1] + ns[2] - kernels; /* of unions */
	for (size_t i = 0; i < 4; i++) {
		struct paddle_row *row = paddle_grid_add(&grid);

		row->cells[0] = mem_text(names[i]);
		row->cells[1] = paddle_text("%.2f", ns[i] / report->unit_ns);
		row->cells[2] = paddle_text("%.2f", 100 * ns[i] / report->steps_ns);
	}
	paddle_grid_print(&grid, report->out);
}

static struct paddle_grid five_grid(const struct report *report, const char *title, size_t width)
{
	return (struct paddle_grid){.title = title,
		.unit = report->unit,
		.titles = {"Name", "Calls", "CPU Total / Avg / Max / Min / Ratio(%)",
			"GPU Total / Avg / Max / Min / Ratio(%)"},
		.widths = {width, 6, 40, 40},
		.nr_columns = 4};
}

static void add_five(const struct report *report, struct paddle_grid *grid,
	const struct table *table, size_t i, size_t width, double cpu_base, double gpu_base)
{
	struct paddle_row *row = paddle_grid_add(grid);

	row->cells[0] = name_of(report, table, i, width);
	row->cells[1] = count_text(cell(table, i, "calls"));
	row->cells[2] = five(report, table, i, "", cpu_base);
	row->cells[3] = five(report, table, i, "gpu_", gpu_base);
}

static void print_model(struct report *report)
{
	struct paddle_grid grid = five_grid(report, "Model Summary", 15);
	const struct table *table = report->tables[VIEW_MODEL];
	char **name;

	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct table_cell *calls = cell(table, i, "calls");

		if (i && calls->is_known && !calls->integer) {
			continue; /* a phase that did not come */
		}
		add_five(report, &grid, table, i, 15, 0, 0);
		name = &grid.rows[grid.nr_rows - 1].cells[0];
		if (i) { /* all phases lie in it */
			char *inner = paddle_text("  %s", *name);

			free(*name);
			*name = inner;
		}
	}
	grid.note = table->note;
	if (table->nr_rows) {
		paddle_grid_print(&grid, report->out);
	}
}

/* Rows of a thread, or of all of them, under their title. */
static void add_threads(const struct report *report, struct paddle_grid *grid,
	const struct table *table, double cpu_base, double gpu_base)
{
	const struct summary *summary = report->summary;
	bool is_flat = summary->has_detail && summary->detail == VIEW_DETAIL_DEFAULT;
	uint64_t last = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct table_cell *tid = cell(table, i, "tid");

		if (is_flat && table_level(table, i)) {
			continue;
		}
		if (!i || (tid->is_known && tid->integer != last)) {
			struct paddle_row *row = paddle_grid_add(grid);

			row->is_title = true;
			row->cells[0] = tid->is_known
						? paddle_text("Thread: %" PRIu64, tid->integer)
						: mem_text("Thread: All threads merged");
			last = tid->integer;
		}
		add_five(report, grid, table, i, grid->widths[0], cpu_base, gpu_base);
	}
}

static void print_operator(struct report *report)
{
	struct paddle_grid grid = five_grid(report, "Operator Summary", NAME_WIDTH);

	if (report->tables[VIEW_OPERATOR]->nr_rows) {
		add_threads(report, &grid, report->tables[VIEW_OPERATOR], 0, 0);
		paddle_grid_print(&grid, report->out);
	}
}

/* A kernel's name without the arguments of its call; those of templates stay. */
static size_t without_arguments(const char *name, size_t nr_bytes)
{
	static const char anonymous[] = "(anonymous namespace)";
	int depth = 0;

	for (size_t i = 0; i < nr_bytes; i++) {
		depth += name[i] == '<' || name[i] == '{' ? 1 : 0;
		depth -= (name[i] == '>' && i && name[i - 1] != '-') || name[i] == '}' ? 1 : 0;
		if (name[i] == '(' && depth <= 0 && i &&
			strncmp(name + i, anonymous, sizeof(anonymous) - 1) == 0) {
			i += sizeof(anonymous) - 2;
		} else if (name[i] == '(' && depth <= 0 && i) {
			return i;
		}
	}
	return nr_bytes;
}

static void print_kernel(struct report *report)
{
	struct paddle_grid grid = {.title = "Kernel Summary",
		.unit = report->unit,
		.titles = {"Name", "Calls", "GPU Total / Avg / Max / Min / Ratio(%)"},
		.widths = {KERNEL_WIDTH, 6, 40},
		.nr_columns = 3};
	const struct table *table = report->tables[VIEW_KERNEL];
	double all = 0;

	/* Where no device records are the view has times of launches, which are none of these. */
	if (!table->nr_rows || !table_find_cell(table, 0, "untimed")) {
		return;
	}
	for (size_t i = 0; i < table->nr_rows; i++) {
		all += cell(table, i, "total_ns")->number;
	}
	for (size_t i = 0; i < table->nr_rows; i++) {
		struct paddle_row *row = paddle_grid_add(&grid);
		size_t nr_bytes;
		const char *name =
			names_shown((uint32_t)cell(table, i, "name")->integer, &nr_bytes);

		row->cells[0] =
			name_text(report, name, without_arguments(name, nr_bytes), 0, KERNEL_WIDTH);
		row->cells[1] = count_text(cell(table, i, "calls"));
		row->cells[2] = five(report, table, i, "", all);
	}
	paddle_grid_print(&grid, report->out);
}

static void print_manipulation(struct report *report)
{
	struct paddle_grid grid = five_grid(report, "Memory Manipulation Summary", 4);
	const struct table *table = report->tables[VIEW_MANIPULATION];

	for (size_t i = 0; i < table->nr_rows; i++) {
		add_five(report, &grid, table, i, KERNEL_WIDTH, report->steps_ns,
			report->steps_gpu_ns);
	}
	if (table->nr_rows) {
		paddle_grid_print(&grid, report->out);
	}
}

static void print_userdefined(struct report *report)
{
	struct paddle_grid grid = five_grid(report, "UserDefined Summary", 35);

	if (report->tables[VIEW_USERDEFINED]->nr_rows) {
		add_threads(report, &grid, report->tables[VIEW_USERDEFINED], report->steps_ns,
			report->steps_gpu_ns);
		paddle_grid_print(&grid, report->out);
	}
}

/* In the middle of 15 columns, as Python's str.center puts it. */
static void add_centered(struct buf *out, const char *text)
{
	size_t width = strlen(text), left = width < 15 ? 15 - width : 0;

	buf_text(out, "| ");
	buf_pad(out, ' ', (left + 1) / 2);
	buf_text(out, text);
	buf_pad(out, ' ', left / 2 + 1);
}

static void add_stats(struct buf *out, const struct table *table, const char *name, double factor)
{
	static const char *const kinds[] = {"avg", "max", "min"};
	bool is_time = factor < 1;

	add_centered(out, name);
	for (size_t i = 0; i < 3; i++) {
		char key[48], text[48] = "-";
		const struct table_cell *value;

		snprintf(key, sizeof(key), "%s_%s%s", name, kinds[i], is_time ? "_ns" : "");
		value = cell(table, 0, key);
		if (value->is_known) {
			snprintf(text, sizeof(text), "%.5f", value->number * factor);
		}
		add_centered(out, text);
	}
	buf_text(out, "|\n");
}

static void print_benchmark(struct report *report)
{
	const struct table *table = report->tables[VIEW_BENCHMARK];
	struct buf *out = report->out;

	if (!table->nr_rows) {
		return;
	}
	buf_pad(out, '=', 44);
	buf_text(out, "Perf Summary");
	buf_pad(out, '=', 44);
	buf_char(out, '\n');
	if (cell(table, 0, "reader_ratio_pct")->is_known) {
		buf_printf(
			out, "Reader Ratio: %.3f%%\n", cell(table, 0, "reader_ratio_pct")->number);
	}
	buf_printf(out, "Time Unit: s, IPS Unit: %s\n",
		cell(table, 0, "batch_size")->is_known ? "samples/s" : "steps/s");
	add_centered(out, "");
	add_centered(out, "avg");
	add_centered(out, "max");
	add_centered(out, "min");
	buf_text(out, "|\n");
	if (cell(table, 0, "reader_cost_avg_ns")->is_known) {
		add_stats(out, table, "reader_cost", 1e-9);
	}
	add_stats(out, table, "batch_cost", 1e-9);
	add_stats(out, table, "ips", 1);
	buf_text(out, "\n\n");
}

/* The report of the profiler before. Its own sort is by thread and total. */
static void print_framework(struct report *report)
{
	const struct paddle_old_options options = {report->unit, report->unit_ns,
		report->summary->sort, report->summary->is_per_thread, report->summary->top};

	style_paddle_old_print(report->tables[VIEW_FRAMEWORK], &options, report->out);
}

/* ---- the report ---- */

/* What is printed where no view is named, but for the last. In Paddle's order. */
static const struct section {
	const char *view; /* of --view */
	void (*print)(struct report *report);
	unsigned int needs; /* bits of enum view */
} sections[] = {
	{"device", print_device, 1u << VIEW_OVERVIEW | 1u << VIEW_UTILIZATION},
	{"overview", print_overview, 1u << VIEW_OVERVIEW},
	{"model", print_model, 1u << VIEW_MODEL},
	{"distributed", print_distribution, 1u << VIEW_OVERVIEW | 1u << VIEW_MODEL},
	{"operator", print_operator, 1u << VIEW_OPERATOR},
	{"kernel", print_kernel, 1u << VIEW_KERNEL},
	{"memcpy", print_manipulation, 1u << VIEW_MANIPULATION | 1u << VIEW_MODEL},
	{"userdefined", print_userdefined, 1u << VIEW_USERDEFINED | 1u << VIEW_MODEL},
	{"benchmark", print_benchmark, 1u << VIEW_BENCHMARK},
	{"framework", print_framework, 1u << VIEW_FRAMEWORK},
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

static const struct view_class *const classes[NR_VIEWS] = {[VIEW_OVERVIEW] = &view_overview,
	[VIEW_UTILIZATION] = &view_utilization,
	[VIEW_MODEL] = &view_model,
	[VIEW_OPERATOR] = &view_operator_detail,
	[VIEW_KERNEL] = &view_kernel,
	[VIEW_MANIPULATION] = &view_manipulation,
	[VIEW_USERDEFINED] = &view_userdefined,
	[VIEW_BENCHMARK] = &view_benchmark,
	[VIEW_FRAMEWORK] = &view_framework};

static void make_tables(struct report *report, struct process *process, unsigned int needs)
{
	const struct summary *summary = report->summary;
	struct view_input input = {.processes = &process,
		.nr_processes = 1,
		.is_per_thread = summary->is_per_thread,
		.detail = summary->detail};
	const struct view_class *used[NR_VIEWS];
	void *views[NR_VIEWS];
	size_t nr = 0;

	for (unsigned int i = 0; i < NR_VIEWS; i++) {
		if (needs & 1u << i) {
			used[nr++] = classes[i];
		}
	}
	summary_run(&input, used, nr, views);
	nr = 0;
	for (unsigned int i = 0; i < NR_VIEWS; i++) {
		if (needs & 1u << i) {
			report->tables[i] = classes[i]->table(views[nr]);
			classes[i]->destroy(views[nr++]);
		}
	}
}

/* ProfileStep is the first row of the view model; without steps it is not told. */
static void find_base(struct report *report)
{
	const struct table *model = report->tables[VIEW_MODEL];

	report->steps_ns = report->steps_gpu_ns = 0;
	if (model && model->nr_rows && has_text(model, 0, "name", "ProfileStep")) {
		report->steps_ns = cell(model, 0, "total_ns")->number;
		report->steps_gpu_ns = cell(model, 0, "gpu_total_ns")->number;
	}
}

/* Orders and cuts what has many rows. False if there is no such column in any. */
static bool arrange(struct report *report)
{
	static const enum view views[] = {
		VIEW_OPERATOR, VIEW_KERNEL, VIEW_MANIPULATION, VIEW_USERDEFINED};
	const char *sort = report->summary->sort;
	bool is_sorted = !sort, is_there = false;

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		struct table *table = report->tables[views[i]];

		if (!table) {
			continue;
		}
		is_there = true;
		is_sorted = (sort && summary_sort(table, sort)) || is_sorted;
		if (views[i] == VIEW_KERNEL && sort && strncmp(sort, "GPU", 3) == 0) {
			char key[16]; /* all its times are the GPU's */

			snprintf(key, sizeof(key), "CPU%s", sort + 3);
			is_sorted = summary_sort(table, key) || is_sorted;
		}
		if (report->summary->is_per_thread) {
			table_sort_rising(table, views[i] == VIEW_FRAMEWORK ? "thread" : "tid");
		}
		if (views[i] != VIEW_FRAMEWORK) { /* it is not all events */
			table_cut(table, report->summary->top);
		}
	}
	return is_sorted || !is_there;
}

static bool print_process(struct report *report, struct process *process, unsigned int needs)
{
	bool is_sorted;

	make_tables(report, process, needs);
	find_base(report);
	is_sorted = arrange(report);
	for (size_t i = 0; i < NR_SECTIONS; i++) {
		if (is_wanted(report->summary, &sections[i])) {
			sections[i].print(report);
		}
	}
	for (unsigned int i = 0; i < NR_VIEWS; i++) {
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
	buf_text(out, "\n\n");
}

static const char *print(
	const struct summary *summary, const struct cmd_input *input, struct buf *out)
{
	static const double factors[] = {1e9, 1e6, 1e3, 1};
	static const char *const units[] = {"s", "ms", "us", "ns"};
	struct report report = {.summary = summary, .unit = "ms", .unit_ns = 1e6, .out = out};
	bool is_sorted = true;
	unsigned int needs = 0;
	const char *why;

	for (size_t i = 0; summary->table.unit && i < 4; i++) {
		if (strcmp(summary->table.unit, units[i]) == 0) {
			report.unit = units[i];
			report.unit_ns = factors[i];
		}
	}
	for (size_t i = 0; i < NR_SECTIONS; i++) {
		needs |= is_wanted(summary, &sections[i]) ? sections[i].needs : 0;
	}
	if (!needs) {
		buf_text(out, "Paddle has none of these tables, but device, overview, model, "
			      "distributed, operator, kernel, memcpy, userdefined, benchmark, "
			      "framework.\n");
		return NULL;
	}
	for (size_t i = 0; i < input->nr_processes; i++) {
		struct process *process = input->processes[i];

		/* Helpers that ran nothing have nothing to show. */
		if (input->nr_processes == 1 || op_has_any(process) ||
			view_has_device_records(process, &why)) {
			print_head(process, out);
			is_sorted = print_process(&report, process, needs) && is_sorted;
		}
	}
	return is_sorted ? NULL : "no table has such a column to sort by";
}

const struct summary_style style_paddle = {
	.name = "paddle",
	.help = "the summary of paddle.profiler; --view framework: the report of the one before",
	.formats = 1u << TABLE_TEXT_FORMAT,
	.print = print,
};
