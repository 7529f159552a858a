/* SPDX-License-Identifier: Apache-2.0 */
/* The tables with five times in a cell, those of the CPU and those of the GPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/ops/op.h"
#include "report/styles/paddle.h"

#define NAME_WIDTH   52u /* of operators */
#define KERNEL_WIDTH 90u

/* "total / avg / max / min / ratio"; prefix: "" or "gpu_" of the keys; base 0: the ratio's cell. */
static char *five(const struct paddle_report *report, const struct table *table, size_t row,
	const char *prefix, double base)
{
	static const char *const keys[] = {"total_ns", "avg_ns", "max_ns", "min_ns"};
	const struct table_cell *ratio;
	struct buf text = {0};
	char key[32];

	for (size_t i = 0; i < 4; i++) {
		snprintf(key, sizeof(key), "%s%s", prefix, keys[i]);
		paddle_add_time(report, &text, paddle_cell(table, row, key));
		buf_text(&text, " / ");
	}
	snprintf(key, sizeof(key), "%stotal_ns", prefix);
	if (base > 0 && paddle_cell(table, row, key)->is_known) {
		buf_printf(&text, "%.2f", 100 * paddle_cell(table, row, key)->number / base);
	} else {
		snprintf(key, sizeof(key), "%sratio_pct", prefix);
		ratio = paddle_cell(table, row, key);
		if (ratio->is_known) {
			buf_printf(&text, "%.2f", ratio->number);
		} else {
			buf_char(&text, '-');
		}
	}
	buf_char(&text, '\0');
	return text.bytes;
}

static struct paddle_grid five_grid(
	const struct paddle_report *report, const char *title, size_t width)
{
	return (struct paddle_grid){.title = title,
		.unit = report->unit,
		.titles = {"Name", "Calls", "CPU Total / Avg / Max / Min / Ratio(%)",
			"GPU Total / Avg / Max / Min / Ratio(%)"},
		.widths = {width, 6, 40, 40},
		.nr_columns = 4};
}

static void add_five(const struct paddle_report *report, struct paddle_grid *grid,
	const struct table *table, size_t i, size_t width)
{
	*paddle_grid_add(grid) = (struct paddle_row){
		.cells = {paddle_name(report, table, i, width),
			paddle_count(paddle_cell(table, i, "calls")), five(report, table, i, "", 0),
			five(report, table, i, "gpu_", 0)}};
}

void paddle_print_model(struct paddle_report *report)
{
	struct paddle_grid grid = five_grid(report, "Model Summary", 15);
	const struct table *table = report->tables[PADDLE_MODEL];
	char **name, *note;

	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct table_cell *calls = paddle_cell(table, i, "calls");

		if (i && calls->is_known && !calls->integer) {
			continue; /* a phase that did not come */
		}
		add_five(report, &grid, table, i, 15);
		name = grid.rows[grid.nr_rows - 1].cells;
		if (i) { /* all phases lie in it */
			char *inner = paddle_text("  %s", *name);

			free(*name);
			*name = inner;
		}
	}
	note = paddle_note(&view_model, table);
	grid.note = note;
	if (table->nr_rows) {
		paddle_grid_print(&grid, report->out);
	}
	free(note);
}

/*
 * Ranges around copies are in the Memory Manipulation Summary. Those that Paddle's own libraries
 * mark, around each call from Python, are in none, as there: the user's are those of Python.
 */
static bool is_elsewhere(const struct table *table, size_t row)
{
	return paddle_has(table, row, "source", "phi::RecordEvent") ||
	       (paddle_has(table, row, "source", "RecordEvent") &&
		       event_is_manipulation(string_pool_text(
			       (uint32_t)paddle_cell(table, row, "name")->integer, NULL)));
}

/* Rows of a thread, or of all of them, under their title. */
static void add_threads(const struct paddle_report *report, struct paddle_grid *grid,
	const struct table *table, size_t width)
{
	const struct summary *summary = report->summary;
	bool is_flat = summary->has_detail && summary->detail == VIEW_DETAIL_DEFAULT;
	bool is_first = true;
	uint64_t last = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct table_cell *tid = paddle_cell(table, i, "tid");

		if ((is_flat && table_level(table, i)) || is_elsewhere(table, i)) {
			continue;
		}
		if (is_first || (tid->is_known && tid->integer != last)) {
			*paddle_grid_add(grid) = (struct paddle_row){.is_title = true,
				.cells = {tid->is_known
						  ? paddle_text("Thread: %" PRIu64, tid->integer)
						  : mem_text("Thread: All threads merged")}};
			last = tid->integer;
			is_first = false;
		}
		add_five(report, grid, table, i, width);
	}
}

void paddle_print_operator(struct paddle_report *report)
{
	struct paddle_grid grid = five_grid(report, "Operator Summary", NAME_WIDTH);

	if (report->tables[PADDLE_OPERATOR]->nr_rows) {
		add_threads(report, &grid, report->tables[PADDLE_OPERATOR], NAME_WIDTH);
		paddle_grid_print(&grid, report->out);
	}
}

static bool begins_with(const char *text, size_t nr_bytes, const char *prefix)
{
	return strlen(prefix) <= nr_bytes && memcmp(text, prefix, strlen(prefix)) == 0;
}

/*
 * A kernel's name without the arguments of its call, which begin at the first parenthesis outside
 * of templates' arguments and of lambdas; those of templates stay. In parentheses < and > may be
 * comparisons.
 */
static size_t without_arguments(const char *name, size_t nr_bytes)
{
	unsigned int angles = 0, parentheses = 0, braces = 0;

	for (size_t i = 0; i < nr_bytes; i++) {
		const char *at = name + i;
		bool is_outside = !angles && !braces;

		if (is_outside && begins_with(at, nr_bytes - i, "(anonymous namespace)")) {
			i += strlen("(anonymous namespace)") - 1;
		} else if (is_outside && begins_with(at, nr_bytes - i, "operator()")) {
			i += strlen("operator()") - 1;
		} else if (is_outside && *at == '(' && i) {
			return i;
		}
		angles += *at == '<' && !parentheses;
		angles -= *at == '>' && !parentheses && angles;
		parentheses += *at == '(' && !is_outside;
		parentheses -= *at == ')' && parentheses;
		braces += *at == '{';
		braces -= *at == '}' && braces;
	}
	return nr_bytes;
}

void paddle_print_kernel(struct paddle_report *report)
{
	struct paddle_grid grid = {.title = "Kernel Summary",
		.unit = report->unit,
		.titles = {"Name", "Calls", "GPU Total / Avg / Max / Min / Ratio(%)"},
		.widths = {KERNEL_WIDTH, 6, 40},
		.nr_columns = 3};
	const struct table *table = report->tables[PADDLE_KERNEL];

	/* Without device records the view has times of launches, which are none of these. */
	if (!table->nr_rows || !table_find_cell(table, 0, "untimed")) {
		return;
	}
	for (size_t i = 0; i < table->nr_rows; i++) {
		size_t nr_bytes;
		const char *name = string_pool_shown(
			(uint32_t)paddle_cell(table, i, "name")->integer, &nr_bytes);

		*paddle_grid_add(&grid) = (struct paddle_row){
			.cells = {paddle_name_text(report, name, without_arguments(name, nr_bytes),
					  0, KERNEL_WIDTH),
				paddle_count(paddle_cell(table, i, "calls")),
				five(report, table, i, "", report->kernels_ns)}};
	}
	paddle_grid_print(&grid, report->out);
}

void paddle_print_manipulation(struct paddle_report *report)
{
	struct paddle_grid grid = five_grid(report, "Memory Manipulation Summary", 4);
	const struct table *table = report->tables[PADDLE_MANIPULATION];

	for (size_t i = 0; i < table->nr_rows; i++) {
		add_five(report, &grid, table, i, KERNEL_WIDTH);
	}
	if (table->nr_rows) {
		paddle_grid_print(&grid, report->out);
	}
}

void paddle_print_userdefined(struct paddle_report *report)
{
	struct paddle_grid grid = five_grid(report, "UserDefined Summary", 4);

	add_threads(report, &grid, report->tables[PADDLE_USERDEFINED], KERNEL_WIDTH);
	if (grid.nr_rows) {
		paddle_grid_print(&grid, report->out);
	}
}
