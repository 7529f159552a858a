/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the table of view framework (framework.c) in the layout of Paddle's older profiler, when
 * paddle.c has it to print (--view framework). One table has all three parts: the column `section`
 * says which, and the columns of texts are fixed but for the names of events.
 */
#include "report/styles/paddle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/analysis/view.h"
#include "report/util/text.h"

#define SUM_WIDTH  25u
#define DATA_WIDTH 12u

struct old_report {
	const struct table *table;
	double unit_ns;
	size_t name_width;
	enum view_times times;
	struct buf *out;
};

static const struct table_cell *cell(const struct old_report *report, size_t row, const char *key)
{
	return table_find_cell(report->table, row, key);
}

/* Adds a text on the left of so many columns, and at least one blank. */
static void add(struct old_report *report, size_t width, const char *text)
{
	size_t length = strlen(text);

	buf_text(report->out, text);
	buf_pad(report->out, ' ', length < width ? width - length : 1);
}

static void add_time(
	struct old_report *report, size_t width, const struct table_cell *time, const char *before)
{
	char text[64];

	if (time->is_known) {
		snprintf(text, sizeof(text), "%s%g", before, time->number / report->unit_ns);
	} else {
		snprintf(text, sizeof(text), "%s-", before);
	}
	add(report, width, text);
}

static void add_ratio(struct old_report *report, const struct table_cell *ratio)
{
	if (ratio->is_known) {
		buf_printf(report->out, "Ratio: %g%%\n", ratio->number);
	} else {
		buf_text(report->out, "Ratio: -\n");
	}
}

static void add_title(struct old_report *report, const char *title)
{
	buf_text(report->out, "\n-------------------------     ");
	buf_text(report->out, title);
	buf_text(report->out, "     -------------------------\n\n");
}

/* Adds "  Computation time       Total: 38.1497     Ratio: 36.5271%" */
static void add_overhead(struct old_report *report, size_t row)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s", table_level(report->table, row) ? "  " : "",
		cell(report, row, "name")->text);
	if (!table_level(report->table, row)) {
		add_time(report, 0, cell(report, row, "total_ns"), "Total time: ");
		buf_char(report->out, '\n');
		return;
	}
	add(report, SUM_WIDTH, name);
	add_time(report, DATA_WIDTH + 7, cell(report, row, "total_ns"), "Total: ");
	add_ratio(report, cell(report, row, "ratio_pct"));
}

/* Adds "GpuMemcpy                Calls: 1200        Total: 32.5351     Ratio: 31.1512%" */
static void add_copies(struct old_report *report, size_t row)
{
	uint64_t calls = cell(report, row, "calls")->integer;
	char text[64];

	if (table_level(report->table, row) && !calls) {
		return;
	}
	snprintf(text, sizeof(text), "%s%s", table_level(report->table, row) ? "  " : "",
		cell(report, row, "name")->text);
	add(report, SUM_WIDTH, text);
	snprintf(text, sizeof(text), "Calls: %" PRIu64, calls);
	add(report, DATA_WIDTH + 7, text);
	add_time(report, DATA_WIDTH + 7, cell(report, row, "total_ns"), "Total: ");
	add_ratio(report, cell(report, row, "ratio_pct"));
}

static void add_share(struct old_report *report, size_t row, const char *time, const char *ratio)
{
	const struct table_cell *ns = cell(report, row, time), *share = cell(report, row, ratio);
	char text[64] = "-";

	if (ns->is_known) {
		snprintf(text, sizeof(text), "%f (%f)", ns->number / report->unit_ns,
			share->is_known ? share->number / 100 : 0);
	}
	add(report, 2 * DATA_WIDTH, text);
}

static char *name_of(const struct old_report *report, size_t row, size_t *width)
{
	const struct table_cell *name = cell(report, row, "name");
	size_t indent = 2 * (size_t)table_level(report->table, row);
	struct buf text = {0};

	buf_pad(&text, ' ', indent);
	*width = indent + text_add_shown(&text, name->text, name->nr_text, 0);
	buf_char(&text, '\0');
	return text.bytes;
}

static void add_event(struct old_report *report, size_t row)
{
	size_t width;
	char *name = name_of(report, row, &width);
	char text[32];

	buf_text(report->out, name);
	buf_pad(report->out, ' ', report->name_width - width);
	free(name);
	snprintf(text, sizeof(text), "%" PRIu64, cell(report, row, "calls")->integer);
	add(report, DATA_WIDTH, text);
	add_time(report, DATA_WIDTH, cell(report, row, "total_ns"), "");
	if (report->times == VIEW_TIMES_ALL) {
		add_share(report, row, "cpu_ns", "cpu_pct");
		add_share(report, row, "gpu_ns", "gpu_pct");
	}
	add_time(report, DATA_WIDTH, cell(report, row, "min_ns"), "");
	add_time(report, DATA_WIDTH, cell(report, row, "max_ns"), "");
	add_time(report, DATA_WIDTH, cell(report, row, "avg_ns"), "");
	if (cell(report, row, "ratio_pct")->is_known) {
		buf_printf(report->out, "%g", cell(report, row, "ratio_pct")->number / 100);
	}
	buf_char(report->out, '\n');
}

static bool is_in(const struct old_report *report, size_t row, const char *section)
{
	return strcmp(cell(report, row, "section")->text, section) == 0;
}

/* Adds the rows of a section in the order of `names`, which --sort does not change. */
static void add_section(struct old_report *report, const char *section, const char *const *names,
	void (*add_row)(struct old_report *report, size_t row))
{
	for (; *names; names++) {
		for (size_t i = 0; i < report->table->nr_rows; i++) {
			if (is_in(report, i, section) &&
				strcmp(cell(report, i, "name")->text, *names) == 0) {
				add_row(report, i);
			}
		}
	}
}

/* --top counts the rows of the first level; those below them come with them. */
static void add_events(struct old_report *report, size_t top)
{
	static const char *const titles[] = {"Min.", "Max.", "Ave."};
	size_t nr = 0;

	for (size_t i = 0; i < report->table->nr_rows; i++) {
		size_t width;

		free(name_of(report, i, &width));
		report->name_width =
			width + 8 > report->name_width ? width + 8 : report->name_width;
	}
	add(report, report->name_width, "Event");
	add(report, DATA_WIDTH, "Calls");
	add(report, DATA_WIDTH, "Total");
	if (report->times == VIEW_TIMES_ALL) {
		add(report, 2 * DATA_WIDTH, "CPU Time (Ratio)");
		add(report, 2 * DATA_WIDTH, "GPU Time (Ratio)");
	}
	for (size_t i = 0; i < 3; i++) {
		add(report, DATA_WIDTH, titles[i]);
	}
	buf_text(report->out, "Ratio.\n");
	for (size_t i = 0; i < report->table->nr_rows; i++) {
		if (!is_in(report, i, "event")) {
			continue;
		}
		nr += table_level(report->table, i) == 0;
		if (!top || nr <= top) {
			add_event(report, i);
		}
	}
}

static const char *order_of(const char *sort)
{
	static const char *const orders[][2] = {{"calls", "number of calls"},
		{"min", "minimum time"}, {"max", "maximum time"}, {"ave", "average time"},
		{"avg", "average time"}};

	for (size_t i = 0; sort && i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (strcmp(sort, orders[i][0]) == 0) {
			return orders[i][1];
		}
	}
	return sort && strcmp(sort, "total") != 0 ? sort : "total time";
}

void style_paddle_old_print(
	const struct table *table, const struct paddle_old_options *options, struct buf *out)
{
	static const char *const places[] = {"All", "CPU", "CUDA"}; /* enum view_times */
	static const char *const overheads[] = {
		"Total time", "Computation time", "Framework overhead", NULL};
	static const char *const copies[] = {"GpuMemcpy", "GpuMemcpyAsync", "GpuMemcpySync", NULL};
	struct old_report report = {
		.table = table, .unit_ns = options->unit_ns, .times = options->times, .out = out};
	struct buf note = {0};

	buf_text(out, "\n------------------------->     Profiling Report     "
		      "<-------------------------\n\n");
	buf_printf(out, "%sPlace: %s\nTime unit: %s\nSorted by ",
		options->is_per_thread ? "" : "All threads merged.\n", places[options->times],
		options->unit);
	text_add_shown(out, order_of(options->sort), strlen(order_of(options->sort)), 0);
	buf_text(out, " in descending order in the same thread\n");
	add_title(&report, "Overhead Summary");
	add_section(&report, "overhead", overheads, add_overhead);
	add_title(&report, "GpuMemCpy Summary");
	add_section(&report, "memcpy", copies, add_copies);
	add_title(&report, "Event Summary");
	add_events(&report, options->top);
	buf_printf(&note, "%s ", view_framework.about);
	table_add_notes(&note, table);
	buf_text(out, "\nNote: ");
	text_add_shown(out, note.bytes, note.nr_bytes, 0);
	buf_fini(&note);
	buf_text(out, "\n\n");
}
