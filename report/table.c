/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/table_print.h"

struct table *table_create(const char *key, const char *title, const struct table_column *columns,
	unsigned int nr_columns)
{
	struct table *table = mem_zeroed(1, sizeof(*table));

	table->key = key;
	table->title = mem_text(title);
	table->columns = columns;
	table->nr_columns = nr_columns;
	return table;
}

void table_destroy(struct table *table)
{
	if (!table) {
		return;
	}
	for (size_t i = 0; i < table->nr_rows * table->nr_columns; i++) {
		free(table->cells[i].text);
	}
	free(table->cells);
	free(table->title);
	free(table->note);
	free(table->figure);
	free(table);
}

void table_note(struct table *table, const char *format, ...)
{
	va_list arguments;
	char *note = NULL;

	va_start(arguments, format);
	if (vasprintf(&note, format, arguments) < 0) {
		note = NULL;
	}
	va_end(arguments);
	free(table->note);
	table->note = note;
}

struct table_cell *table_add_row(struct table *table)
{
	struct table_cell *row;

	table->cells = array_grow(table->cells, table->nr_rows, &table->capacity,
		table->nr_columns * sizeof(*table->cells));
	row = &table->cells[table->nr_rows++ * table->nr_columns];
	memset(row, 0, table->nr_columns * sizeof(*row));
	return row;
}

void table_set_integer(struct table_cell *cell, uint64_t value)
{
	cell->is_known = true;
	cell->integer = value;
	cell->number = (double)value;
}

void table_set_number(struct table_cell *cell, double value)
{
	if (isfinite(value)) {
		cell->is_known = true;
		cell->number = value;
		cell->integer =
			value > 0 ? value < 1.8e19 ? (uint64_t)(value + 0.5) : UINT64_MAX : 0;
	}
}

void table_set_text(struct table_cell *cell, const char *bytes, size_t nr_bytes)
{
	free(cell->text);
	cell->is_known = true;
	cell->text = mem_zeroed(nr_bytes + 1, 1);
	memcpy(cell->text, bytes, nr_bytes);
	cell->nr_text = nr_bytes;
}

/* ---- order ---- */

/* A row while rows are sorted. */
struct sort_row {
	const struct table *table;
	unsigned int column;
	size_t place;
};

const char *table_cell_text(
	const struct table_column *column, const struct table_cell *cell, size_t *nr_bytes)
{
	if (column->type == TABLE_NAME) {
		return names_shown((uint32_t)cell->integer, nr_bytes);
	}
	*nr_bytes = cell->nr_text;
	return cell->text ? cell->text : "";
}

static int compare_texts(
	const struct table_column *column, const struct table_cell *a, const struct table_cell *b)
{
	size_t nr_a, nr_b;
	const char *text_a = table_cell_text(column, a, &nr_a);
	const char *text_b = table_cell_text(column, b, &nr_b);
	int order = memcmp(text_a, text_b, nr_a < nr_b ? nr_a : nr_b);

	return order ? order : (nr_a > nr_b) - (nr_a < nr_b);
}

static int compare_rows(const void *x, const void *y)
{
	const struct sort_row *a = x, *b = y;
	const struct table *table = a->table;
	const struct table_column *column = &table->columns[a->column];
	const struct table_cell *cell_a = &table->cells[a->place * table->nr_columns + a->column];
	const struct table_cell *cell_b = &table->cells[b->place * table->nr_columns + b->column];
	int order;

	if (column->type == TABLE_NAME || column->type == TABLE_TEXT) {
		order = compare_texts(column, cell_a, cell_b);
	} else if (cell_a->integer != cell_b->integer) {
		order = cell_a->integer > cell_b->integer ? -1 : 1;
	} else {
		order = (cell_a->number < cell_b->number) - (cell_a->number > cell_b->number);
	}
	return order ? order : (a->place > b->place) - (a->place < b->place);
}

static int find_column(const struct table *table, const char *key)
{
	size_t length = strlen(key);

	for (unsigned int c = 0; c < table->nr_columns; c++) {
		const char *column = table->columns[c].key;

		if (strncmp(column, key, length) == 0 &&
			(!column[length] || strcmp(column + length, "_ns") == 0 ||
				strcmp(column + length, "_bytes") == 0 ||
				strcmp(column + length, "_pct") == 0)) {
			return (int)c;
		}
	}
	return -1;
}

bool table_sort(struct table *table, const char *key)
{
	int column = find_column(table, key);
	size_t row_bytes = table->nr_columns * sizeof(*table->cells);
	struct sort_row *order;
	struct table_cell *cells;

	if (column < 0) {
		return false;
	}
	order = mem_zeroed(table->nr_rows, sizeof(*order));
	cells = mem_zeroed(table->nr_rows, row_bytes);
	for (size_t i = 0; i < table->nr_rows; i++) {
		order[i] = (struct sort_row){table, (unsigned int)column, i};
	}
	qsort(order, table->nr_rows, sizeof(*order), compare_rows);
	for (size_t i = 0; i < table->nr_rows; i++) {
		memcpy(cells + i * table->nr_columns,
			table->cells + order[i].place * table->nr_columns, row_bytes);
	}
	free(order);
	free(table->cells);
	table->cells = cells;
	table->capacity = table->nr_rows;
	return true;
}

void table_cut(struct table *table, size_t nr_rows)
{
	if (!nr_rows || table->nr_rows <= nr_rows) {
		return;
	}
	for (size_t i = nr_rows * table->nr_columns; i < table->nr_rows * table->nr_columns; i++) {
		free(table->cells[i].text);
	}
	table->nr_cut += table->nr_rows - nr_rows;
	table->nr_rows = nr_rows;
}

void table_print(const struct table *table, const struct table_style *style, struct buf *out)
{
	switch (style->format) {
	case TABLE_CSV:
		table_print_csv(table, style, out);
		break;
	case TABLE_JSON:
		table_print_json(table, out);
		break;
	case TABLE_MARKDOWN:
	case TABLE_TEXT_FORMAT:
		table_print_text(table, style, out);
		break;
	}
}
