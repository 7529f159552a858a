/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reports of `nsys stats` as it prints them: in the terminal with banner, rule and separators
 * in numbers; CSV with the same headers; JSON as an array of objects with the headers as keys, or,
 * of several reports, an object with such an array for each. All processes together, as there.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/styles/nsys_reports.h"
#include "report/util/text.h"

/* ---- titles and numbers ---- */

static bool is_time(const struct table_column *column)
{
	return column->type == TABLE_TIME || column->type == TABLE_MEAN_TIME;
}

/* The title, in whose brackets the unit stands. */
static void nsys_cell_title(
	struct buf *out, const struct table_column *column, const struct table_unit *unit)
{
	const char *bracket = is_time(column) ? strstr(column->title, "(ns)") : NULL;

	if (!bracket) {
		buf_text(out, column->title);
		return;
	}
	buf_add(out, column->title, (size_t)(bracket - column->title));
	buf_printf(out, "(%s)%s", unit->name, bracket + strlen("(ns)"));
}

/*
 * Whole numbers have no decimals, sizes are in MB of 10^6 bytes with three, all others have one. A
 * time in a larger unit has all decimals down to ns.
 */
static void print_digits(char *digits, size_t nr_bytes, const struct table_column *column,
	const struct table_cell *cell, const struct table_unit *unit)
{
	if (is_time(column) && unit->factor > 1) {
		snprintf(digits, nr_bytes, "%.*f", (int)lround(log10(unit->factor)),
			cell->number / unit->factor);
		return;
	}
	switch (column->type) {
	case TABLE_ID:
	case TABLE_COUNT:
	case TABLE_TIME:
		snprintf(digits, nr_bytes, "%" PRIu64, cell->integer);
		break;
	case TABLE_SIZE:
	case TABLE_MEAN_SIZE:
	case TABLE_RATE:
		snprintf(digits, nr_bytes, "%.3f", cell->number / 1e6);
		break;
	default:
		snprintf(digits, nr_bytes, "%.1f", cell->number);
		break;
	}
}

/* A comma before each group of three in front of the point. */
static void add_separated(struct buf *out, const char *digits)
{
	size_t whole = strcspn(digits, ".");

	for (size_t i = 0; digits[i]; i++) {
		if (i && i < whole && (whole - i) % 3 == 0) {
			buf_char(out, ',');
		}
		buf_char(out, digits[i]);
	}
}

/* Times in larger units have as many digits as whole ns take. is_separated: commas. */
static void nsys_cell_number(struct buf *out, const struct table_column *column,
	const struct table_cell *cell, const struct table_unit *unit, bool is_separated)
{
	char digits[64];

	print_digits(digits, sizeof(digits), column, cell, unit);
	if (is_separated && column->type != TABLE_ID) {
		add_separated(out, digits);
	} else {
		buf_text(out, digits);
	}
}

#define MAX_COLUMNS 32u
#define RULE_WIDTH  80u

/* ---- text ---- */

/* Returns its width. */
static size_t add_text_cell(struct buf *out, const struct table_column *column,
	const struct table_cell *cell, const struct table_unit *unit)
{
	size_t before = out->nr_bytes, nr_bytes;
	const char *bytes;

	if (!cell->is_known) {
		return 0;
	}
	if (table_is_text(column)) {
		bytes = table_cell_text(column, cell, &nr_bytes);
		return text_add_shown(out, bytes, nr_bytes, 0);
	}
	nsys_cell_number(out, column, cell, unit, true);
	return out->nr_bytes - before;
}

static void print_cell(struct buf *out, const char *bytes, size_t nr_bytes, size_t space,
	bool is_left, bool is_last)
{
	buf_pad(out, ' ', is_left ? 0 : space);
	buf_add(out, bytes, nr_bytes);
	buf_pad(out, ' ', is_left && !is_last ? space : 0);
}

static void find_widths(const struct table *table, const struct table_unit *unit, size_t *widths)
{
	struct buf text = {0};

	for (unsigned int c = 0; c < table->nr_columns; c++) {
		text.nr_bytes = 0;
		nsys_cell_title(&text, &table->columns[c], unit);
		widths[c] = text.nr_bytes;
	}
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		for (unsigned int c = 0; c < table->nr_columns; c++) {
			size_t width;

			text.nr_bytes = 0;
			width = add_text_cell(&text, &table->columns[c], &cells[c], unit);
			widths[c] = width > widths[c] ? width : widths[c];
		}
	}
	buf_fini(&text);
}

static void print_header(const struct table *table, const struct table_unit *unit,
	const size_t *widths, struct buf *out)
{
	struct buf title = {0};

	for (unsigned int c = 0; c < table->nr_columns; c++) {
		title.nr_bytes = 0;
		nsys_cell_title(&title, &table->columns[c], unit);
		buf_text(out, c ? "  " : " ");
		print_cell(out, title.bytes, title.nr_bytes, widths[c] - title.nr_bytes,
			table_is_text(&table->columns[c]), c + 1 == table->nr_columns);
	}
	buf_fini(&title);
	buf_char(out, '\n');
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		buf_text(out, c ? "  " : " ");
		buf_pad(out, '-', widths[c] < RULE_WIDTH ? widths[c] : RULE_WIDTH);
	}
	buf_char(out, '\n');
}

static void print_text(const struct nsys_report *report, const struct table *table,
	const struct table_unit *unit, struct buf *out)
{
	size_t widths[MAX_COLUMNS];
	struct buf text = {0};

	buf_printf(out, " ** %s (%s):\n\n", report->title, report->name);
	find_widths(table, unit, widths);
	print_header(table, unit, widths, out);
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		for (unsigned int c = 0; c < table->nr_columns; c++) {
			size_t width;

			text.nr_bytes = 0;
			width = add_text_cell(&text, &table->columns[c], &cells[c], unit);
			buf_text(out, c ? "  " : " ");
			print_cell(out, text.bytes, text.nr_bytes, widths[c] - width,
				table_is_text(&table->columns[c]), c + 1 == table->nr_columns);
		}
		buf_char(out, '\n');
		buf_flush_if_large(out);
	}
	if (table->nr_cut) {
		buf_printf(out, " %zu more rows\n", table->nr_cut);
	}
	if (report->advice) {
		buf_printf(out, "\n %s\n", report->advice);
	}
	for (const char *note = table->note; note; note = table_next_note(note)) {
		buf_char(out, ' ');
		text_add_shown(out, note, table_note_length(note), 0);
		buf_char(out, '\n');
	}
	buf_char(out, '\n');
	buf_fini(&text);
}

/* ---- CSV and JSON ---- */

static void print_csv(const struct table *table, const struct table_unit *unit, struct buf *out)
{
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		buf_text(out, c ? "," : "");
		nsys_cell_title(out, &table->columns[c], unit);
	}
	buf_char(out, '\n');
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		for (unsigned int c = 0; c < table->nr_columns; c++) {
			size_t nr_bytes;

			buf_text(out, c ? "," : "");
			if (!cells[c].is_known) {
				continue;
			}
			if (table_is_text(&table->columns[c])) {
				const char *bytes =
					table_cell_text(&table->columns[c], &cells[c], &nr_bytes);

				text_add_csv(out, bytes, nr_bytes);
			} else {
				nsys_cell_number(out, &table->columns[c], &cells[c], unit, false);
			}
		}
		buf_char(out, '\n');
		buf_flush_if_large(out);
	}
	buf_char(out, '\n');
}

static void print_json(const struct table *table, const struct table_unit *unit, struct buf *out)
{
	buf_char(out, '[');
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		buf_text(out, row ? ",\n  {" : "\n  {");
		for (unsigned int c = 0; c < table->nr_columns; c++) {
			size_t nr_bytes;
			const char *bytes;

			buf_text(out, c ? ", \"" : "\"");
			nsys_cell_title(out, &table->columns[c], unit);
			buf_text(out, "\": ");
			if (!cells[c].is_known) {
				buf_text(out, "null");
			} else if (table_is_text(&table->columns[c])) {
				bytes = table_cell_text(&table->columns[c], &cells[c], &nr_bytes);
				text_add_json(out, bytes, nr_bytes);
			} else {
				nsys_cell_number(out, &table->columns[c], &cells[c], unit, false);
			}
		}
		buf_char(out, '}');
		buf_flush_if_large(out);
	}
	buf_text(out, table->nr_rows ? "\n]" : "]");
}

/* ---- reports ---- */

static void print_losses(const struct cmd_input *input, struct buf *out)
{
	for (size_t i = 0; i < input->nr_processes; i++) {
		const struct process *process = input->processes[i];

		if (!process_is_complete(process)) {
			buf_printf(out,
				"WARNING: process %u is incomplete, %" PRIu64
				" events are missing%s.\n\n",
				process->pid, process_missing(process),
				process->is_ended ? "" : ", the stream is unfinished");
		}
	}
}

static void print_skipped(
	const struct nsys_report *report, const struct cmd_input *input, struct buf *out)
{
	buf_text(out, "SKIPPED: ");
	for (size_t i = 0; i < input->nr_processes; i++) {
		const char *path = input->processes[i]->stream->path;

		buf_text(out, i ? " " : "");
		text_add_shown(out, path, strlen(path), 0);
	}
	buf_printf(out, " does not contain %s data.\n\n", report->what);
}

static void print_report(const struct summary *summary, const struct cmd_input *input,
	const struct nsys_report *report, const struct table *table, struct buf *out)
{
	const struct table_unit *unit = table_time_unit(summary->asked.table.unit);

	if (summary->asked.table.format == TABLE_JSON) {
		print_json(table, unit, out);
	} else if (!table->nr_rows && !report->what) {
		buf_printf(out, " ** %s (%s):\n\n No findings.\n\n", report->title, report->name);
	} else if (!table->nr_rows) {
		print_skipped(report, input, out);
	} else if (summary->asked.table.format == TABLE_CSV) {
		print_csv(table, unit, out);
	} else {
		print_text(report, table, unit, out);
	}
}

/* The views that reports are made of; those with a row for every event are one report's alone. */
struct used_views {
	const struct view_class *classes[SUMMARY_VIEWS];
	void *views[SUMMARY_VIEWS];
	size_t nr;
	uint8_t *places; /* of each report's views, NSYS_VIEWS for each */
};

static const struct view_class *const *views_of(const struct nsys_ask *ask)
{
	return ask->has_ranges ? ask->report->range_views : ask->report->views;
}

static size_t find_class(struct used_views *used, const struct view_class *class)
{
	for (size_t i = 0; i < used->nr && !class->is_asked_only; i++) {
		if (used->classes[i] == class) {
			return i;
		}
	}
	used->classes[used->nr] = class;
	return used->nr++;
}

/* Reports that fit beside each other; the rest is read for in a further pass. */
static size_t find_views(struct used_views *used, const struct nsys_ask *asks, size_t nr_asks)
{
	used->nr = 0;
	for (size_t i = 0; i < nr_asks; i++) {
		const struct view_class *const *classes = views_of(&asks[i]);

		if (used->nr + NSYS_VIEWS > SUMMARY_VIEWS) {
			return i;
		}
		for (size_t k = 0; k < NSYS_VIEWS && classes[k]; k++) {
			used->places[i * NSYS_VIEWS + k] = (uint8_t)find_class(used, classes[k]);
		}
	}
	return nr_asks;
}

static struct table *make_table(const struct summary *summary, const struct cmd_input *input,
	const struct nsys_ask *ask, void *const *views)
{
	bool is_query = ask->report->is_query;
	struct table *table =
		is_query ? summary->query(ask, summary->sort, input->processes, input->nr_processes)
			 : ask->report->table(ask, views);

	if (summary->sort && !is_query) {
		table_sort(table, summary->sort);
	}
	table_cut(table, summary->asked.top);
	return table;
}

/*
 * Reports share the views of a group (find_views). All tables of a group are made before one is
 * printed, since queries may find damage, of which the user reads first.
 */
static void print_asks(const struct summary *summary, const struct cmd_input *input,
	const struct nsys_ask *asks, size_t nr_asks, struct buf *out)
{
	struct view_input view_input = {.processes = input->processes,
		.nr_processes = input->nr_processes,
		.nr_rows = summary->sort ? 0 : summary->asked.top};
	bool is_json = summary->asked.table.format == TABLE_JSON;
	bool is_one = nr_asks == 1;
	struct table **tables = mem_zeroed(nr_asks, sizeof(struct table *));
	struct used_views used = {.places = mem_zeroed(nr_asks, NSYS_VIEWS)};

	buf_text(out, is_json && !is_one ? "{\n" : "");
	for (size_t done = 0, nr; done < nr_asks; done += nr) {
		nr = find_views(&used, asks + done, nr_asks - done);
		view_run(&view_input, used.classes, used.nr, used.views);
		for (size_t i = 0; i < nr; i++) {
			void *views[NSYS_VIEWS];

			for (size_t k = 0; k < NSYS_VIEWS; k++) {
				views[k] = used.views[used.places[i * NSYS_VIEWS + k]];
			}
			tables[done + i] = make_table(summary, input, &asks[done + i], views);
		}
		if (!done && !is_json) { /* queries find damage, too */
			print_losses(input, out);
		}
		for (size_t i = 0; i < nr; i++) {
			if (is_json && !is_one) {
				buf_printf(out, "%s\"%s\": ", done + i ? ",\n" : "",
					asks[done + i].report->name);
			}
			print_report(summary, input, asks[done + i].report, tables[done + i], out);
			table_destroy(tables[done + i]);
		}
		for (size_t i = 0; i < used.nr; i++) {
			view_destroy(used.classes[i], used.views[i]);
		}
	}
	buf_text(out, !is_json ? "" : is_one ? "\n" : "\n}\n");
	free(used.places);
	free(tables);
}

static const char *print(
	const struct summary *summary, const struct cmd_input *input, struct buf *out)
{
	struct summary usual = {0};

	if (summary->nr_reports) {
		print_asks(summary, input, summary->reports, summary->nr_reports, out);
		return NULL;
	}
	for (const struct nsys_report *report = nsys_reports; report->name; report++) {
		if (report->is_default) {
			nsys_take(&usual, report->name);
		}
	}
	print_asks(summary, input, usual.reports, usual.nr_reports, out);
	free(usual.reports);
	return NULL;
}

const struct summary_style style_nsys = {
	.name = "nsys",
	.help = "the reports of `nsys stats`; --report chooses them",
	.formats = 1u << TABLE_TEXT_FORMAT | 1u << TABLE_CSV | 1u << TABLE_JSON,
	.print = print,
};
