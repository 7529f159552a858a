/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table/print.h"

#include <math.h>
#include <stdio.h>
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
		table_print_text(table, style, out);
		break;
	}
}
