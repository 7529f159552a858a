/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cells of all rows are one array. A table as long as the recording has a source instead, which
 * makes each row when it is printed. Rows may have levels: a sort keeps rows behind their parents,
 * since two rows compare as those of their ancestors do that are siblings.
 */
#include "report/table/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/string_pool.h"
#include "report/util/sort.h"

struct table *table_create(const char *key, const char *title, const struct table_column *columns,
	unsigned int nr_columns)
{
	struct table *table = mem_zeroed(1, sizeof(*table));

	table->key = mem_text(key);
	for (char *dash = table->key; (dash = strchr(dash, '-')); dash++) {
		*dash = '_'; /* a key that jq and JavaScript take without quotes */
	}
	table->title = mem_text(title);
	table_set_columns(table, columns, nr_columns);
	return table;
}

void table_set_title(struct table *table, const char *title)
{
	free(table->title);
	table->title = mem_text(title);
}

void table_set_columns(
	struct table *table, const struct table_column *columns, unsigned int nr_columns)
{
	free(table->columns);
	table->columns = mem_zeroed(nr_columns + 1, sizeof(*columns));
	memcpy(table->columns, columns, nr_columns * sizeof(*columns));
	table->nr_columns = nr_columns;
}

static void forget_texts(struct table_cell *cells, size_t nr_cells)
{
	for (size_t i = 0; i < nr_cells; i++) {
		free(cells[i].text);
	}
}

static void destroy_source(struct table *table)
{
	struct table_source *source = table->source;

	source->destroy(source->context);
	forget_texts(source->cells, table->nr_columns);
	free(source->cells);
	free(source);
}

void table_destroy(struct table *table)
{
	if (!table) {
		return;
	}
	if (table->source) {
		destroy_source(table);
	} else {
		forget_texts(table->cells, table->nr_rows * table->nr_columns);
	}
	free(table->columns);
	free(table->cells);
	free(table->levels);
	free(table->key);
	free(table->title);
	free(table->note);
	free(table->figure);
	free(table->figure_json);
	free(table);
}

void table_note(struct table *table, const char *format, ...)
{
	va_list arguments;
	char *note = NULL, *all = NULL;

	va_start(arguments, format);
	if (vasprintf(&note, format, arguments) < 0) {
		note = NULL;
	}
	va_end(arguments);
	for (char *end = note; end && (end = strchr(end, '\n'));) {
		*end = ' '; /* of a text from the stream */
	}
	if (note && table->note) {
		if (asprintf(&all, "%s\n%s", table->note, note) < 0) {
			all = NULL;
		}
		free(note);
		note = all;
	}
	if (note) {
		free(table->note);
		table->note = note;
	}
}

size_t table_note_length(const char *note)
{
	return strcspn(note, "\n");
}

const char *table_next_note(const char *note)
{
	note += table_note_length(note);
	return *note ? note + 1 : NULL;
}

void table_add_notes(struct buf *out, const struct table *table)
{
	for (const char *note = table->note; note; note = table_next_note(note)) {
		buf_text(out, note == table->note ? "" : " ");
		buf_add(out, note, table_note_length(note));
	}
}

void table_set_source(struct table *table, struct table_source *source, size_t nr_rows)
{
	table->source = source;
	table->nr_rows = nr_rows;
	source->cells = mem_zeroed(table->nr_columns, sizeof(*source->cells));
}

const struct table_cell *table_row(const struct table *table, size_t row)
{
	struct table_source *source = table->source;

	if (!source) {
		return &table->cells[row * table->nr_columns];
	}
	forget_texts(source->cells, table->nr_columns);
	memset(source->cells, 0, table->nr_columns * sizeof(*source->cells));
	source->row(source->context, row, source->cells);
	return source->cells;
}

struct table_cell *table_add_row(struct table *table)
{
	struct table_cell *row;

	table->cells = array_grow(table->cells, table->nr_rows, &table->capacity,
		table->nr_columns * sizeof(*table->cells));
	row = &table->cells[table->nr_rows++ * table->nr_columns];
	memset(row, 0, table->nr_columns * sizeof(*row));
	if (table->levels) {
		table_set_level(table, 0);
	}
	return row;
}

static uint64_t integer_at(const char *member, size_t size)
{
	uint8_t byte;
	uint32_t word;
	uint64_t value;

	switch (size) {
	case sizeof(byte):
		memcpy(&byte, member, sizeof(byte));
		return byte == UINT8_MAX ? UINT64_MAX : byte;
	case sizeof(word):
		memcpy(&word, member, sizeof(word));
		return word == UINT32_MAX ? UINT64_MAX : word;
	default:
		memcpy(&value, member, sizeof(value));
		return value;
	}
}

static double number_at(const char *member, size_t size, bool is_number)
{
	double number;
	uint64_t value;

	if (is_number) {
		memcpy(&number, member, sizeof(number));
		return number;
	}
	value = integer_at(member, size);
	return value == UINT64_MAX ? NAN : (double)value;
}

static void set_text(const struct table_column *column, const char *member, struct table_cell *cell)
{
	const char *text;
	uint64_t name;
	size_t nr_bytes;

	if (column->size == sizeof(text)) {
		memcpy(&text, member, sizeof(text));
		if (text) {
			table_set_string(cell, text);
		}
		return;
	}
	name = integer_at(member, column->size);
	if (name != UINT64_MAX) {
		text = string_pool_text((uint32_t)name, &nr_bytes);
		table_set_text(cell, text, nr_bytes);
	}
}

static inline void set_member(
	const struct table_column *column, const char *member, struct table_cell *cell)
{
	uint64_t value;

	if (column->set) {
		column->set(member, cell);
	} else if (column->is_number) {
		table_set_number(cell, number_at(member, column->size, true));
	} else if (!column->names && (column->type == TABLE_TEXT || column->type == TABLE_DIGITS)) {
		set_text(column, member, cell);
	} else if ((value = integer_at(member, column->size)) == UINT64_MAX) {
		return;
	} else if (!column->names) {
		table_set_integer(cell, value);
	} else if (column->names[value]) {
		table_set_string(cell, column->names[value]);
	}
}

static inline void set_cell(const struct table_column *column, const char *row, const char *state,
	struct table_cell *cell)
{
	const char *member = row + column->offset;
	double whole;

	if (!column->whole_size) {
		set_member(column, member, cell);
		return;
	}
	whole = number_at((column->is_whole_of_state ? state : row) + column->whole,
		column->whole_size, column->is_whole_number);
	if (column->factor <= 0) {
		if (whole != 0 && !isnan(whole)) {
			set_member(column, member, cell);
		}
	} else if (whole > 0) {
		table_set_number(cell, (double)column->factor *
					       number_at(member, column->size, column->is_number) /
					       whole);
	}
}

static void fill(const struct table_column *columns, unsigned int nr_columns, const void *row,
	const void *state, struct table_cell *cells)
{
	for (unsigned int c = 0; c < nr_columns; c++) {
		if (columns[c].size) {
			set_cell(&columns[c], row, state, &cells[c]);
		}
	}
}

void table_fill(const struct table_column *columns, unsigned int nr_columns, const void *row,
	struct table_cell *cells)
{
	fill(columns, nr_columns, row, NULL, cells);
}

void table_set_state(struct table *table, const void *state)
{
	table->state = state;
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		struct table_column *column = &table->columns[c];

		if (column->wide_unless) {
			column->is_wide_only =
				!*(const bool *)((const char *)state + column->wide_unless - 1);
		}
	}
}

void table_set_saturated(const void *member, struct table_cell *cell)
{
	uint64_t value;

	memcpy(&value, member, sizeof(value));
	table_set_integer(cell, value);
}

void table_set_buf(const void *member, struct table_cell *cell)
{
	const struct buf *text = member;

	if (text->nr_bytes) {
		table_set_text(cell, text->bytes, text->nr_bytes);
	}
}

struct table_cell *table_add(struct table *table, const void *row)
{
	struct table_cell *cells = table_add_row(table);

	fill(table->columns, table->nr_columns, row, table->state, cells);
	return cells;
}

void table_set_level(struct table *table, uint8_t level)
{
	while (table->level_capacity < table->nr_rows) {
		size_t before = table->level_capacity;

		table->levels =
			array_grow(table->levels, before, &table->level_capacity, sizeof(uint8_t));
		memset(table->levels + before, 0, table->level_capacity - before);
	}
	table->levels[table->nr_rows - 1] = level;
}

const struct table_cell *table_find_cell(const struct table *table, size_t row, const char *key)
{
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		if (strcmp(table->columns[c].key, key) == 0) {
			return &table_row(table, row)[c];
		}
	}
	return NULL;
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
			value > 0 ? value < 0x1p64 ? (uint64_t)(value + 0.5) : UINT64_MAX : 0;
	}
}

void table_set_text(struct table_cell *cell, const char *bytes, size_t nr_bytes)
{
	free(cell->text);
	cell->is_known = true;
	cell->text = mem_zeroed(nr_bytes + 1, 1);
	if (nr_bytes) {
		memcpy(cell->text, bytes, nr_bytes);
	}
	cell->nr_text = nr_bytes;
}

void table_set_string(struct table_cell *cell, const char *text)
{
	table_set_text(cell, text, strlen(text));
}

double table_share(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : NAN;
}

void table_set_share(struct table_cell *cell, double part, double whole)
{
	table_set_number(cell, table_share(part, whole));
}

bool table_is_text(const struct table_column *column)
{
	return column->type == TABLE_NAME || column->type == TABLE_TEXT;
}

/* ---- order ---- */

/* A row during a sort. */
struct sort_row {
	const struct table *table;
	unsigned int column;
	size_t place;
	const size_t *outer; /* by index: the row's parent; NULL without levels */
	bool is_rising;	     /* numbers ascend, too */
};

const char *table_cell_text(
	const struct table_column *column, const struct table_cell *cell, size_t *nr_bytes)
{
	if (column->type == TABLE_NAME) {
		return string_pool_shown((uint32_t)cell->integer, nr_bytes);
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

	return ORDER(memcmp(text_a, text_b, nr_a < nr_b ? nr_a : nr_b), COMPARE(nr_a, nr_b));
}

/*
 * Replaces two rows at different depths by their ancestors that are siblings. False if one row
 * contains the other.
 */
static bool go_out(const struct sort_row *a, size_t *place_a, size_t *place_b)
{
	const uint8_t *levels = a->table->levels;

	if (!a->outer) {
		return true;
	}
	while (levels[*place_a] > levels[*place_b]) {
		*place_a = a->outer[*place_a];
	}
	while (levels[*place_b] > levels[*place_a]) {
		*place_b = a->outer[*place_b];
	}
	if (*place_a == *place_b) {
		return false;
	}
	while (a->outer[*place_a] != a->outer[*place_b]) {
		*place_a = a->outer[*place_a];
		*place_b = a->outer[*place_b];
	}
	return true;
}

/*
 * Rows of inner levels stay below their outer one: two rows compare by their ancestors that are
 * siblings (go_out).
 */
static int compare_rows(const void *x, const void *y)
{
	const struct sort_row *a = x, *b = y;
	const struct table *table = a->table;
	const struct table_column *column = &table->columns[a->column];
	size_t place_a = a->place, place_b = b->place;
	const struct table_cell *cell_a, *cell_b;
	int order;

	if (!go_out(a, &place_a, &place_b)) {
		return COMPARE(a->place, b->place);
	}
	cell_a = &table->cells[place_a * table->nr_columns + a->column];
	cell_b = &table->cells[place_b * table->nr_columns + a->column];

	if (table_is_text(column)) {
		order = compare_texts(column, cell_a, cell_b);
	} else if (cell_a->is_known != cell_b->is_known) {
		return cell_a->is_known ? -1 : 1;
	} else if (cell_a->integer != cell_b->integer) {
		order = cell_a->integer > cell_b->integer ? -1 : 1;
	} else {
		order = (cell_a->number < cell_b->number) - (cell_a->number > cell_b->number);
	}
	if (a->is_rising && !table_is_text(column)) {
		order = -order;
	}
	return order ? order : COMPARE(place_a, place_b);
}

int table_find_column(const struct table *table, const char *key)
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

void table_set_wide(struct table *table, const char *key, bool is_wide_only)
{
	int column = table_find_column(table, key);

	if (column >= 0) {
		table->columns[column].is_wide_only = is_wide_only;
	}
}

/*
 * Returns the parent of each row by index, SIZE_MAX for none; NULL without levels. It also makes
 * each level one more than the parent's.
 */
static size_t *find_outer(const struct table *table)
{
	uint8_t *levels = table->levels;
	size_t *outer;

	if (!levels) {
		return NULL;
	}
	outer = mem_zeroed(table->nr_rows, sizeof(*outer));
	for (size_t i = 0; i < table->nr_rows; i++) {
		outer[i] = i - 1;
		while (outer[i] != SIZE_MAX && levels[outer[i]] >= levels[i]) {
			outer[i] = outer[outer[i]];
		}
	}
	for (size_t i = 0; i < table->nr_rows; i++) {
		levels[i] = outer[i] == SIZE_MAX ? 0 : (uint8_t)(levels[outer[i]] + 1);
	}
	return outer;
}

static void reorder_levels(struct table *table, const struct sort_row *order)
{
	uint8_t *levels = mem_zeroed(table->level_capacity, sizeof(*levels));

	for (size_t i = 0; i < table->nr_rows; i++) {
		levels[i] = table->levels[order[i].place];
	}
	free(table->levels);
	table->levels = levels;
}

/* A table whose rows come from a source has no cells in memory, and lets the source sort. */
static bool sort(struct table *table, const char *key, bool is_rising)
{
	int column = table_find_column(table, key);
	size_t row_bytes = table->nr_columns * sizeof(*table->cells);
	struct sort_row *order;
	struct table_cell *cells;
	size_t *outer;

	if (column < 0) {
		return false;
	}
	table->sort_column = (unsigned int)column + 1;
	if (table->source) {
		if (table->source->sort) {
			table->source->sort(table->source->context, (unsigned int)column);
		}
		return table->source->sort != NULL;
	}
	order = mem_zeroed(table->nr_rows, sizeof(*order));
	cells = mem_zeroed(table->nr_rows, row_bytes);
	outer = find_outer(table);
	for (size_t i = 0; i < table->nr_rows; i++) {
		order[i] = (struct sort_row){table, (unsigned int)column, i, outer, is_rising};
	}
	qsort(order, table->nr_rows, sizeof(*order), compare_rows);
	for (size_t i = 0; i < table->nr_rows; i++) {
		memcpy(cells + i * table->nr_columns,
			table->cells + order[i].place * table->nr_columns, row_bytes);
	}
	if (table->levels) {
		reorder_levels(table, order);
	}
	free(order);
	free(outer);
	free(table->cells);
	table->cells = cells;
	table->capacity = table->nr_rows;
	return true;
}

bool table_sort(struct table *table, const char *key)
{
	return sort(table, key, false);
}

bool table_sort_rising(struct table *table, const char *key)
{
	return sort(table, key, true);
}

void table_cut(struct table *table, size_t nr_rows)
{
	size_t nr_outer = 0, kept = 0;

	if (!nr_rows) {
		return;
	}
	for (size_t i = 0; i < table->nr_rows; i++) {
		nr_outer += table_level(table, i) == 0;
		kept = nr_outer <= nr_rows ? i + 1 : kept;
	}
	if (nr_outer <= nr_rows) {
		return;
	}
	if (!table->source) {
		forget_texts(table->cells + kept * table->nr_columns,
			(table->nr_rows - kept) * table->nr_columns);
	}
	table->nr_cut += nr_outer - nr_rows;
	table->nr_rows = kept;
}
