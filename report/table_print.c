/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"

#define NAME_WIDTH 80u

/* A power of ten that a column is printed in. */
struct unit {
	const char *name;
	double factor;
};

static const struct unit time_units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
static const struct unit size_units[] = {{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}};
static const struct unit rate_units[] = {{"GB/s", 1e9}, {"MB/s", 1e6}, {"KB/s", 1e3}, {"B/s", 1}};

static bool is_text(const struct table_column *column)
{
	return column->type == TABLE_NAME || column->type == TABLE_TEXT;
}

static bool is_time(const struct table_column *column)
{
	return column->type == TABLE_TIME || column->type == TABLE_MEAN_TIME;
}

static const struct unit *find_unit(
	const struct unit *units, const struct table *table, unsigned int c)
{
	double most = 0;
	int k = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		most = fmax(most, table_row(table, i)[c].number);
	}
	while (k < 3 && most < 10 * units[k].factor) {
		k++;
	}
	return &units[k];
}

/* The unit of a column in text; NULL for what has none. CSV has base units unless told otherwise.
 */
static const struct unit *column_unit(
	const struct table *table, unsigned int c, const struct table_style *style)
{
	const struct table_column *column = &table->columns[c];
	bool is_exact = style->format == TABLE_CSV;

	if (is_time(column)) {
		for (int k = 0; style->unit && k < 4; k++) {
			if (strcmp(time_units[k].name, style->unit) == 0) {
				return &time_units[k];
			}
		}
		return is_exact ? &time_units[3] : find_unit(time_units, table, c);
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
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);

	for (int i = 0; i < length; i++) {
		if (separate && i && (length - i) % 3 == 0) {
			buf_char(out, ',');
		}
		buf_char(out, digits[i]);
	}
}

/* A number without quotes or padding. */
static void add_number(struct buf *out, const struct table_column *column,
	const struct table_cell *cell, const struct unit *unit, bool separate)
{
	if (!cell->is_known) {
		return;
	}
	if (column->type == TABLE_COUNT || column->type == TABLE_ID) {
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

static void add_title(struct buf *out, const struct table_column *column, const struct unit *unit)
{
	buf_text(out, column->title);
	if (unit) {
		buf_printf(out, " (%s)", unit->name);
	}
}

/* ---- text and Markdown ---- */

/* All cells as printed, in one buffer. */
struct layout {
	struct buf text;
	size_t *ends;	/* of each cell in text, header first */
	size_t *widths; /* of each cell in columns */
	size_t *column_widths;
};

static bool is_shown(const struct table_column *column, const struct table_style *style)
{
	return style->is_wide || !column->is_wide_only;
}

static void add_cell(struct buf *out, const struct table_column *column,
	const struct table_cell *cell, const struct unit *unit, const struct table_style *style,
	unsigned int level, size_t *width)
{
	size_t before = out->nr_bytes;
	size_t nr_bytes;
	const char *bytes;

	if (!is_text(column)) {
		add_number(out, column, cell, unit, true);
		*width = out->nr_bytes - before;
	} else if (style->format == TABLE_MARKDOWN) {
		bytes = table_cell_text(column, cell, &nr_bytes);
		text_add_markdown(out, bytes, nr_bytes);
		*width = out->nr_bytes - before;
	} else {
		size_t indent = strcmp(column->key, "name") == 0 ? 2 * (size_t)level : 0;

		bytes = table_cell_text(column, cell, &nr_bytes);
		buf_pad(out, ' ', indent);
		*width = indent +
			 text_add_shown(out, bytes, nr_bytes, style->is_wide ? 0 : NAME_WIDTH);
	}
}

static void make_layout(
	const struct table *table, const struct table_style *style, struct layout *layout)
{
	size_t nr_cells = (table->nr_rows + 1) * table->nr_columns;
	const struct unit **units = mem_zeroed(table->nr_columns, sizeof(struct unit *));
	size_t k = 0;

	*layout = (struct layout){.ends = mem_zeroed(nr_cells, sizeof(size_t)),
		.widths = mem_zeroed(nr_cells, sizeof(size_t)),
		.column_widths = mem_zeroed(table->nr_columns, sizeof(size_t))};
	for (unsigned int c = 0; c < table->nr_columns; c++, k++) {
		units[c] = column_unit(table, c, style);
		add_title(&layout->text, &table->columns[c], units[c]);
		layout->ends[k] = layout->text.nr_bytes;
		layout->widths[k] = layout->ends[k] - (k ? layout->ends[k - 1] : 0);
		layout->column_widths[c] = layout->widths[k];
	}
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		for (unsigned int c = 0; c < table->nr_columns; c++, k++) {
			add_cell(&layout->text, &table->columns[c], &cells[c], units[c], style,
				table_level(table, row), &layout->widths[k]);
			layout->ends[k] = layout->text.nr_bytes;
			if (layout->widths[k] > layout->column_widths[c]) {
				layout->column_widths[c] = layout->widths[k];
			}
		}
	}
	free(units);
}

static void print_line(const struct table *table, const struct table_style *style,
	const struct layout *layout, size_t line, struct buf *out)
{
	bool is_markdown = style->format == TABLE_MARKDOWN;

	buf_text(out, is_markdown ? "|" : "");
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		size_t k = line * table->nr_columns + c;
		size_t start = k ? layout->ends[k - 1] : 0;
		size_t space = layout->column_widths[c] - layout->widths[k];
		bool is_left = is_text(&table->columns[c]);
		bool is_last = c + 1 == table->nr_columns;

		if (!is_shown(&table->columns[c], style)) {
			continue;
		}
		buf_text(out, is_markdown ? " " : "  ");
		buf_pad(out, ' ', is_left ? 0 : space);
		buf_add(out, layout->text.bytes + start, layout->ends[k] - start);
		buf_pad(out, ' ', is_left && (!is_last || is_markdown) ? space : 0);
		buf_text(out, is_markdown ? " |" : "");
	}
	buf_char(out, '\n');
}

static void print_rule(const struct table *table, const struct table_style *style,
	const struct layout *layout, struct buf *out)
{
	buf_char(out, '|');
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		bool is_left = is_text(&table->columns[c]);

		if (is_shown(&table->columns[c], style)) {
			buf_char(out, ' ');
			buf_pad(out, '-', layout->column_widths[c] - !is_left);
			buf_text(out, is_left ? " |" : ": |");
		}
	}
	buf_char(out, '\n');
}

void table_print_text(const struct table *table, const struct table_style *style, struct buf *out)
{
	bool is_markdown = style->format == TABLE_MARKDOWN;
	struct layout layout;

	buf_printf(out, is_markdown ? "### %s\n\n" : "%s\n", table->title);
	if (table->note) {
		if (is_markdown) {
			text_add_markdown(out, table->note, strlen(table->note));
		} else {
			buf_text(out, "  ");
			text_add_shown(out, table->note, strlen(table->note), 0);
		}
		buf_text(out, is_markdown ? "\n\n" : "\n");
	}
	if (table->nr_rows) {
		make_layout(table, style, &layout);
		print_line(table, style, &layout, 0, out);
		if (is_markdown) {
			print_rule(table, style, &layout, out);
		}
		for (size_t row = 1; row <= table->nr_rows; row++) {
			print_line(table, style, &layout, row, out);
		}
		buf_fini(&layout.text);
		free(layout.ends);
		free(layout.widths);
		free(layout.column_widths);
	}
	if (!table->nr_rows) {
		buf_text(out, is_markdown ? "none\n" : "  none\n");
	}
	if (table->nr_cut) {
		buf_printf(out,
			is_markdown ? "\n%zu more rows; --top 0 shows all\n"
				    : "  %zu more rows; --top 0 shows all\n",
			table->nr_cut);
	}
	if (table->figure && !is_markdown) {
		buf_text(out, table->figure);
	}
	buf_char(out, '\n');
}

/* ---- CSV and JSON ---- */

void table_print_csv(const struct table *table, const struct table_style *style, struct buf *out)
{
	buf_printf(out, "# %s\n", table->title);
	if (table->note) {
		buf_text(out, "# ");
		text_add_csv_remark(out, table->note, strlen(table->note));
		buf_char(out, '\n');
	}
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		buf_text(out, c ? ",\"" : "\"");
		add_title(out, &table->columns[c], column_unit(table, c, style));
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
			if (is_text(column)) {
				const char *bytes = table_cell_text(column, cell, &nr_bytes);

				text_add_csv(out, bytes, nr_bytes);
			} else {
				add_number(out, column, cell, column_unit(table, c, style), false);
			}
		}
		buf_char(out, '\n');
		buf_flush_much(out);
	}
	buf_char(out, '\n');
}

static void add_json_value(
	struct buf *out, const struct table_column *column, const struct table_cell *cell)
{
	size_t nr_bytes;
	const char *bytes;

	if (is_text(column)) {
		bytes = table_cell_text(column, cell, &nr_bytes);
		text_add_json(out, bytes, nr_bytes);
	} else if (!cell->is_known) {
		buf_text(out, "null");
	} else if (column->type == TABLE_PERCENT || column->type == TABLE_NUMBER) {
		buf_printf(out, "%.3f", cell->number);
	} else {
		buf_uint(out, cell->integer);
	}
}

static void print_json_rows(const struct table *table, const char *key, struct buf *out)
{
	buf_printf(out, "  \"%s\": {\n    \"title\": ", key);
	text_add_json(out, table->title, strlen(table->title));
	if (table->note) {
		buf_text(out, ",\n    \"note\": ");
		text_add_json(out, table->note, strlen(table->note));
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
		buf_flush_much(out);
	}
	buf_text(out, table->nr_rows ? "\n    ]\n  }" : "]\n  }");
}

void table_print_json(const struct table *table, struct buf *out)
{
	print_json_rows(table, table->key, out);
	if (table->other_key) {
		buf_text(out, ",\n");
		print_json_rows(table, table->other_key, out);
	}
}

void table_add_auto_time(struct buf *out, double ns)
{
	const struct unit *unit = &time_units[3];
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
