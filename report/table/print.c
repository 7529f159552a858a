/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/text.h"

static const struct table_unit time_units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
static const struct table_unit size_units[] = {{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}};
static const struct table_unit rate_units[] = {
	{"GB/s", 1e9}, {"MB/s", 1e6}, {"KB/s", 1e3}, {"B/s", 1}};

static bool is_time(const struct table_column *column)
{
	return column->type == TABLE_TIME || column->type == TABLE_MEAN_TIME;
}

static const struct table_unit *find_unit(
	const struct table_unit *units, const struct table *table, unsigned int c)
{
	double most = 0;
	int k = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		most = fmax(most, fabs(table_row(table, i)[c].number));
	}
	while (k < 3 && most < 10 * units[k].factor) {
		k++;
	}
	return &units[k];
}

const struct table_unit *table_time_unit(const char *name)
{
	int k = 0;

	while (k < 3 && (!name || strcmp(time_units[k].name, name) != 0)) {
		k++;
	}
	return &time_units[k];
}

const struct table_unit *table_unit(
	const struct table *table, unsigned int c, const struct table_style *style)
{
	const struct table_column *column = &table->columns[c];
	bool is_exact = style->format == TABLE_CSV;

	if (is_time(column)) {
		return style->unit || is_exact ? table_time_unit(style->unit)
					       : find_unit(time_units, table, c);
	}
	if (column->type == TABLE_SIZE || column->type == TABLE_MEAN_SIZE) {
		return is_exact ? &size_units[3] : find_unit(size_units, table, c);
	}
	if (column->type == TABLE_RATE) {
		return is_exact ? &rate_units[3] : find_unit(rate_units, table, c);
	}
	return NULL;
}

static void add_count(struct buf *out, uint64_t value, bool separate)
{
	char digits[24];
	int length;

	if (!separate) {
		buf_uint(out, value);
		return;
	}
	length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0) {
			buf_char(out, ',');
		}
		buf_char(out, digits[i]);
	}
}

void table_add_number(struct buf *out, const struct table_column *column,
	const struct table_cell *cell, const struct table_unit *unit, bool separate)
{
	if (!cell->is_known) {
		return;
	}
	if (column->type == TABLE_DIGITS) {
		buf_add(out, cell->text, cell->nr_text);
	} else if (column->type == TABLE_COUNT || column->type == TABLE_ID) {
		add_count(out, cell->integer, separate && column->type == TABLE_COUNT);
	} else if (column->type == TABLE_PERCENT || column->type == TABLE_NUMBER) {
		buf_printf(out, "%.2f", cell->number);
	} else if (unit->factor > 1) {
		buf_printf(out, "%.3f", cell->number / unit->factor);
	} else if (column->type == TABLE_MEAN_TIME || column->type == TABLE_MEAN_SIZE) {
		buf_printf(out, "%.1f", cell->number);
	} else {
		add_count(out, cell->integer, separate);
	}
}

void table_add_title(
	struct buf *out, const struct table_column *column, const struct table_unit *unit)
{
	buf_text(out, column->title);
	if (unit) {
		buf_printf(out, " (%s)", unit->name);
	}
}

/* ---- CSV and JSON ---- */

static void print_csv(const struct table *table, const struct table_style *style, struct buf *out)
{
	buf_printf(out, "# %s\n", table->title);
	for (const char *note = table->note; note; note = table_next_note(note)) {
		buf_text(out, "# ");
		text_add_csv_remark(out, note, table_note_length(note));
		buf_char(out, '\n');
	}
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		buf_text(out, c ? ",\"" : "\"");
		table_add_title(out, &table->columns[c], table_unit(table, c, style));
		buf_char(out, '"');
	}
	buf_char(out, '\n');
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		for (unsigned int c = 0; c < table->nr_columns; c++) {
			const struct table_column *column = &table->columns[c];
			const struct table_cell *cell = &cells[c];
			size_t nr_bytes;

			buf_text(out, c ? "," : "");
			if (table_is_text(column)) {
				const char *bytes = table_cell_text(column, cell, &nr_bytes);

				text_add_csv(out, bytes, nr_bytes);
			} else {
				table_add_number(
					out, column, cell, table_unit(table, c, style), false);
			}
		}
		buf_char(out, '\n');
		buf_flush_if_large(out);
	}
	buf_char(out, '\n');
}

static void add_json_value(
	struct buf *out, const struct table_column *column, const struct table_cell *cell)
{
	size_t nr_bytes;
	const char *bytes;

	if (table_is_text(column)) {
		bytes = table_cell_text(column, cell, &nr_bytes);
		text_add_json(out, bytes, nr_bytes);
	} else if (!cell->is_known) {
		buf_text(out, "null");
	} else if (column->type == TABLE_DIGITS) {
		buf_add(out, cell->text, cell->nr_text);
	} else if (column->type == TABLE_PERCENT || column->type == TABLE_NUMBER) {
		buf_printf(out, "%.3f", cell->number);
	} else {
		/* A difference may be negative, which the integer of a cell cannot hold. */
		buf_text(out, cell->number <= -0.5 ? "-" : "");
		buf_uint(out, cell->number <= -0.5 ? (uint64_t)(0.5 - fmax(cell->number, -1.8e19))
						   : cell->integer);
	}
}

static void print_json(const struct table *table, struct buf *out)
{
	buf_printf(out, "  \"%s\": {\n    \"title\": ", table->key);
	text_add_json(out, table->title, strlen(table->title));
	if (table->note) {
		struct buf text = {0};

		table_add_notes(&text, table);
		buf_text(out, ",\n    \"note\": ");
		text_add_json(out, text.bytes, text.nr_bytes);
		buf_fini(&text);
	}
	if (table->nr_cut) {
		buf_printf(out, ",\n    \"rows_left_out\": %zu", table->nr_cut);
	}
	buf_text(out, ",\n    \"rows\": [");
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		buf_text(out, row ? ",\n      {" : "\n      {");
		for (unsigned int c = 0; c < table->nr_columns; c++) {
			buf_printf(out, "%s\"%s\": ", c ? ", " : "", table->columns[c].key);
			add_json_value(out, &table->columns[c], &cells[c]);
		}
		buf_char(out, '}');
		buf_flush_if_large(out);
	}
	buf_text(out, table->nr_rows ? "\n    ]\n  }" : "]\n  }");
}

void table_add_auto_time(struct buf *out, double ns)
{
	const struct table_unit *unit = &time_units[3];
	double value;

	for (int k = 0; k < 3; k++) {
		if (ns >= time_units[k].factor) {
			unit = &time_units[k];
			break;
		}
	}
	value = ns / unit->factor;
	if (unit->factor <= 1) {
		buf_printf(out, "%.0fns", value);
	} else {
		int decimals = value < 10 ? 4 : value < 100 ? 3 : value < 1000 ? 2 : 0;

		buf_printf(out, "%.*f%s", decimals, value, unit->name);
	}
}

/* ---- text and Markdown ---- */

/* Names are cut to this width if the terminal's width is unknown ... */
#define NAME_WIDTH 80u
/* ... and to no less on a narrow terminal. */
#define LEAST_WIDTH 20u
#define BAR_WIDTH   8u

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define CYAN  "\033[36m"
#define PLAIN "\033[0m"

/* One line at a time, so that a table of every event needs no memory for its text. */
struct layout {
	const struct table *table;
	const struct table_style *style;
	struct buf text; /* the cells of the current line, as printed */
	size_t *ends;	 /* of each cell in text */
	size_t *widths;	 /* of each cell, in columns */
	size_t *column_widths;
	size_t *limits; /* of the texts in each column, 0: none */
	const struct table_unit **units;
};

static bool is_markdown(const struct table_style *style)
{
	return style->format == TABLE_MARKDOWN;
}

static bool is_shown(const struct table_column *column, const struct table_style *style)
{
	return style->is_wide || !column->is_wide_only;
}

static size_t indent_of(const struct layout *layout, unsigned int c, size_t row)
{
	bool is_name = strcmp(layout->table->columns[c].key, "name") == 0;

	return is_name && !is_markdown(layout->style) ? 2 * (size_t)table_level(layout->table, row)
						      : 0;
}

/* Draws bars after the first column if it holds shares. */
static bool has_bars(const struct table *table, const struct table_style *style)
{
	return style->has_bars && !is_markdown(style) && table->columns[0].type == TABLE_PERCENT &&
	       is_shown(&table->columns[0], style) && table->nr_rows > 1;
}

/* A number as text and Markdown have it: the blank of a quantity would read as zero. */
static void add_number(
	const struct layout *layout, struct buf *out, unsigned int c, const struct table_cell *cell)
{
	const struct table_column *column = &layout->table->columns[c];

	if (!cell->is_known && column->type != TABLE_ID && column->type != TABLE_DIGITS) {
		buf_text(out, "n/a");
	} else {
		table_add_number(out, column, cell, layout->units[c], true);
	}
}

/* ---- widths ---- */

/* The width of a line, and its widest column of texts. */
static size_t line_width(const struct layout *layout, const size_t *widths, unsigned int *widest)
{
	size_t sum = has_bars(layout->table, layout->style) ? BAR_WIDTH + 2 : 0;

	*widest = UINT32_MAX;
	for (unsigned int c = 0; c < layout->table->nr_columns; c++) {
		if (!is_shown(&layout->table->columns[c], layout->style)) {
			continue;
		}
		sum += widths[c] + 2;
		if (table_is_text(&layout->table->columns[c]) &&
			(*widest == UINT32_MAX || widths[c] > widths[*widest])) {
			*widest = c;
		}
	}
	return sum;
}

/* The width of every column if nothing is cut. */
static size_t *measure(const struct layout *layout)
{
	const struct table *table = layout->table;
	size_t *widths = mem_zeroed(table->nr_columns, sizeof(size_t));
	struct buf text = {0};

	for (unsigned int c = 0; c < table->nr_columns; c++) {
		table_add_title(&text, &table->columns[c], layout->units[c]);
		widths[c] = text.nr_bytes;
		text.nr_bytes = 0;
	}
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		for (unsigned int c = 0; c < table->nr_columns; c++) {
			const struct table_column *column = &table->columns[c];
			size_t width, nr_bytes;

			if (table_is_text(column)) {
				const char *bytes = table_cell_text(column, &cells[c], &nr_bytes);

				width = indent_of(layout, c, row) +
					text_shown_width(bytes, nr_bytes);
			} else {
				add_number(layout, &text, c, &cells[c]);
				width = text.nr_bytes;
				text.nr_bytes = 0;
			}
			widths[c] = width > widths[c] ? width : widths[c];
		}
	}
	buf_fini(&text);
	return widths;
}

/* On a terminal, cuts the widest texts first until lines fit, as far as allowed. */
static void find_limits(struct layout *layout)
{
	size_t *widths;
	size_t width;
	unsigned int c;

	for (c = 0; c < layout->table->nr_columns; c++) {
		layout->limits[c] = layout->style->is_wide ? 0 : NAME_WIDTH;
	}
	if (!layout->style->width || layout->style->is_wide || is_markdown(layout->style)) {
		return;
	}
	memset(layout->limits, 0, layout->table->nr_columns * sizeof(size_t));
	widths = measure(layout);
	while ((width = line_width(layout, widths, &c)) > layout->style->width && c != UINT32_MAX &&
		widths[c] > LEAST_WIDTH) {
		size_t excess = width - layout->style->width;

		widths[c] = widths[c] > LEAST_WIDTH + excess ? widths[c] - excess : LEAST_WIDTH;
		layout->limits[c] = widths[c];
	}
	free(widths);
}

/* ---- cells ---- */

static void add_cell(struct layout *layout, unsigned int c, const struct table_cell *cell,
	size_t row, size_t *width)
{
	const struct table_column *column = &layout->table->columns[c];
	size_t before = layout->text.nr_bytes;
	size_t nr_bytes;
	const char *bytes;

	if (!table_is_text(column)) {
		add_number(layout, &layout->text, c, cell);
		*width = layout->text.nr_bytes - before;
		return;
	}
	bytes = table_cell_text(column, cell, &nr_bytes);
	if (is_markdown(layout->style)) {
		text_add_markdown(&layout->text, bytes, nr_bytes);
		*width = layout->text.nr_bytes - before;
	} else {
		size_t indent = indent_of(layout, c, row);
		size_t limit = layout->limits[c];

		buf_pad(&layout->text, ' ', indent);
		limit = limit > indent + LEAST_WIDTH ? limit - indent : limit ? LEAST_WIDTH : 0;
		*width = indent + text_add_cut(&layout->text, bytes, nr_bytes, limit);
	}
}

/* Line 0 is the header, line n is row n - 1. Returns the number of the row's first cell. */
static double layout_line(struct layout *layout, size_t line)
{
	const struct table *table = layout->table;
	const struct table_cell *cells = line ? table_row(table, line - 1) : NULL;
	double number = cells ? cells[0].number : 0;

	layout->text.nr_bytes = 0;
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		size_t before = layout->text.nr_bytes;

		if (cells) {
			add_cell(layout, c, &cells[c], line - 1, &layout->widths[c]);
		} else {
			table_add_title(&layout->text, &table->columns[c], layout->units[c]);
			layout->widths[c] = layout->text.nr_bytes - before;
		}
		layout->ends[c] = layout->text.nr_bytes;
	}
	return number;
}

static void layout_init(
	struct layout *layout, const struct table *table, const struct table_style *style)
{
	*layout = (struct layout){.table = table,
		.style = style,
		.ends = mem_zeroed(table->nr_columns, sizeof(size_t)),
		.widths = mem_zeroed(table->nr_columns, sizeof(size_t)),
		.column_widths = mem_zeroed(table->nr_columns, sizeof(size_t)),
		.limits = mem_zeroed(table->nr_columns, sizeof(size_t)),
		.units = mem_zeroed(table->nr_columns, sizeof(*layout->units))};
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		layout->units[c] = table_unit(table, c, style);
	}
	find_limits(layout);
	for (size_t line = 0; line <= table->nr_rows; line++) {
		layout_line(layout, line);
		for (unsigned int c = 0; c < table->nr_columns; c++) {
			if (layout->widths[c] > layout->column_widths[c]) {
				layout->column_widths[c] = layout->widths[c];
			}
		}
	}
}

static void layout_fini(struct layout *layout)
{
	buf_fini(&layout->text);
	free(layout->ends);
	free(layout->widths);
	free(layout->column_widths);
	free(layout->limits);
	free(layout->units);
}

/* ---- lines ---- */

static void add_colored(
	struct buf *out, const struct table_style *style, const char *color, const char *text)
{
	buf_text(out, style->has_color ? color : "");
	buf_text(out, text);
	buf_text(out, style->has_color ? PLAIN : "");
}

/* Draws a percentage as a bar of up to BAR_WIDTH columns, in eighths if the terminal has them. */
static void add_bar(struct buf *out, const struct table_style *style, double percent)
{
	static const char *const eighths[] = {
		"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
	double share = percent > 0 ? (percent < 100 ? percent / 100 : 1) : 0;
	unsigned int steps = (unsigned int)(share * 8 * BAR_WIDTH + 0.5);
	unsigned int full = style->is_utf8 ? steps / 8 : (steps + 4) / 8;
	unsigned int part = style->is_utf8 ? steps % 8 : 0;

	buf_text(out, style->has_color ? CYAN : "");
	for (unsigned int i = 0; i < full; i++) {
		buf_text(out, style->is_utf8 ? "\u2588" : "#");
	}
	buf_text(out, eighths[part]);
	buf_text(out, style->has_color ? PLAIN : "");
	buf_pad(out, ' ', BAR_WIDTH - full - (part != 0));
}

static void print_line(struct layout *layout, size_t line, struct buf *out)
{
	const struct table *table = layout->table;
	const struct table_style *style = layout->style;
	bool is_rows = is_markdown(style);
	double share = layout_line(layout, line);

	buf_text(out, is_rows ? "|" : "");
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		size_t start = c ? layout->ends[c - 1] : 0;
		size_t space = layout->column_widths[c] - layout->widths[c];
		bool is_left = table_is_text(&table->columns[c]);
		bool is_last = c + 1 == table->nr_columns;

		if (!is_shown(&table->columns[c], style)) {
			continue;
		}
		buf_text(out, is_rows ? " " : "  ");
		buf_pad(out, ' ', is_left ? 0 : space);
		buf_add(out, layout->text.bytes + start, layout->ends[c] - start);
		buf_pad(out, ' ', is_left && (!is_last || is_rows) ? space : 0);
		buf_text(out, is_rows ? " |" : "");
		if (!c && has_bars(table, style)) {
			buf_text(out, "  ");
			if (line) {
				add_bar(out, style, share);
			} else {
				buf_pad(out, ' ', BAR_WIDTH);
			}
		}
	}
	buf_char(out, '\n');
}

static void print_header(struct layout *layout, struct buf *out)
{
	buf_text(out, layout->style->has_color ? BOLD : "");
	print_line(layout, 0, out);
	if (layout->style->has_color) {
		out->nr_bytes--; /* the newline follows the reset */
		buf_text(out, PLAIN "\n");
	}
}

static void print_rule(const struct layout *layout, struct buf *out)
{
	buf_char(out, '|');
	for (unsigned int c = 0; c < layout->table->nr_columns; c++) {
		bool is_left = table_is_text(&layout->table->columns[c]);

		if (is_shown(&layout->table->columns[c], layout->style)) {
			buf_char(out, ' ');
			buf_pad(out, '-', layout->column_widths[c] - !is_left);
			buf_text(out, is_left ? " |" : ": |");
		}
	}
	buf_char(out, '\n');
}

static void print_rows(const struct table *table, const struct table_style *style, struct buf *out)
{
	struct layout layout;

	layout_init(&layout, table, style);
	print_header(&layout, out);
	if (is_markdown(style)) {
		print_rule(&layout, out);
	}
	for (size_t row = 1; row <= table->nr_rows; row++) {
		print_line(&layout, row, out);
		buf_flush_if_large(out);
	}
	layout_fini(&layout);
}

/* Prints a note, indented. Lines longer than the terminal wrap at words. */
static void print_note(
	const char *note, size_t nr_bytes, const struct table_style *style, struct buf *out)
{
	struct buf text = {0};

	if (is_markdown(style)) {
		text_add_markdown(out, note, nr_bytes);
		buf_char(out, '\n');
		return;
	}
	text_add_shown(&text, note, nr_bytes, 0);
	buf_char(&text, '\0');
	buf_text(out, style->has_color ? DIM : "");
	text_wrap(out, text.bytes, "  ", style->width ? style->width : NAME_WIDTH);
	buf_text(out, style->has_color ? PLAIN : "");
	buf_fini(&text);
}

static void print_text(const struct table *table, const struct table_style *style, struct buf *out)
{
	bool is_md = is_markdown(style);

	buf_text(out, is_md ? "### " : "");
	add_colored(out, style, BOLD, table->title);
	buf_text(out, is_md ? "\n\n" : "\n");
	if (table->nr_rows) {
		print_rows(table, style, out);
	} else {
		buf_text(out, is_md ? "none\n" : "  none\n");
	}
	if (table->nr_cut) {
		buf_printf(out,
			is_md ? "\n%zu more rows; --top 0 shows all\n"
			      : "  %zu more rows; --top 0 shows all\n",
			table->nr_cut);
	}
	buf_text(out, is_md && table->note ? "\n" : "");
	for (const char *note = table->note; note; note = table_next_note(note)) {
		print_note(note, table_note_length(note), style, out);
	}
	if (table->figure && !is_md) {
		buf_text(out, table->figure);
	}
	buf_char(out, '\n');
}

void table_print(const struct table *table, const struct table_style *style, struct buf *out)
{
	switch (style->format) {
	case TABLE_CSV:
		print_csv(table, style, out);
		break;
	case TABLE_JSON:
		print_json(table, out);
		break;
	case TABLE_MARKDOWN:
	case TABLE_TEXT_FORMAT:
		print_text(table, style, out);
		break;
	}
}
