/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells are written one after the other, a head and the bytes of a text, into a buffer that moves
 * to a temporary file when it is full. The table reads rows back in order, through a window on that
 * file; for an earlier row it begins again at the first.
 */
#include "report/sql/database.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/util/files.h"

#define READ_BYTES (256u << 10)

enum tag {
	TAG_NULL,
	TAG_INTEGER,
	TAG_NUMBER,
	TAG_TEXT,
};

/* Precedes each cell; the bytes of a text follow. */
struct head {
	uint8_t tag;
	uint32_t nr_bytes;
	union {
		int64_t integer;
		double number;
	};
};

struct result {
	unsigned int nr_columns;
	char **names;
	bool *has_text; /* of each column */
	struct table_column *columns;
	size_t nr_rows;
	struct buf tail; /* what is not in the file */
	int fd;		 /* -1: there is none */
	uint64_t file_bytes;
	bool is_failed;
	unsigned int column; /* of the row that is being added */
	/* For reading, from `at` on. */
	size_t row;
	uint64_t at;
	char *window; /* the file from window_at on */
	uint64_t window_at;
	size_t window_bytes;
	struct buf text;
};

/* Titles and keys are printed as they are. */
static void make_plain(char *name)
{
	for (; *name; name++) {
		*name = (unsigned char)*name < ' ' || strchr("\"\\|\177", *name) ? '_' : *name;
	}
}

struct result *result_create(unsigned int nr_columns, const char *const *names)
{
	struct result *result = mem_zeroed(1, sizeof(*result));

	result->nr_columns = nr_columns;
	result->fd = -1;
	result->names = mem_zeroed(nr_columns, sizeof(*result->names));
	result->has_text = mem_zeroed(nr_columns, sizeof(*result->has_text));
	result->columns = mem_zeroed(nr_columns, sizeof(*result->columns));
	for (unsigned int c = 0; c < nr_columns; c++) {
		result->names[c] = mem_text(names[c]);
	}
	return result;
}

void result_destroy(struct result *result)
{
	for (unsigned int c = 0; c < result->nr_columns; c++) {
		free(result->names[c]);
	}
	if (result->fd >= 0) {
		close(result->fd);
	}
	free(result->names);
	free(result->has_text);
	free(result->columns);
	free(result->window);
	buf_fini(&result->tail);
	buf_fini(&result->text);
	free(result);
}

/* ---- adding rows ---- */

void result_begin_row(struct result *result)
{
	result->column = 0;
}

static void add_cell(struct result *result, struct head head, const char *bytes)
{
	result->has_text[result->column++] |= head.tag == TAG_TEXT;
	buf_add(&result->tail, &head, sizeof(head));
	buf_add(&result->tail, bytes, head.nr_bytes);
}

void result_integer(struct result *result, int64_t value)
{
	add_cell(result, (struct head){.tag = TAG_INTEGER, .integer = value}, NULL);
}

void result_number(struct result *result, double value)
{
	add_cell(result, (struct head){.tag = TAG_NUMBER, .number = value}, NULL);
}

void result_text(struct result *result, const char *bytes, size_t nr_bytes)
{
	add_cell(result, (struct head){.tag = TAG_TEXT, .nr_bytes = (uint32_t)nr_bytes}, bytes);
}

void result_null(struct result *result)
{
	add_cell(result, (struct head){.tag = TAG_NULL}, NULL);
}

static bool write_tail(struct result *result)
{
	if (result->fd < 0) {
		result->fd = temp_file_open();
	}
	if (result->fd < 0 || !temp_file_write(result->fd, result->file_bytes, result->tail.bytes,
				      result->tail.nr_bytes)) {
		return false;
	}
	result->file_bytes += result->tail.nr_bytes;
	result->tail.nr_bytes = 0;
	return true;
}

bool result_end_row(struct result *result)
{
	result->nr_rows++;
	return result->tail.nr_bytes < RESULT_BYTES || write_tail(result);
}

unsigned int result_nr_columns(const struct result *result)
{
	return result->nr_columns;
}

const char *result_name(const struct result *result, unsigned int column)
{
	return result->names[column];
}

/* ---- reading them ---- */

/* Returns the next bytes, which are valid until the next call. */
static const char *read_bytes(struct result *result, size_t nr_bytes)
{
	uint64_t at = result->at;

	result->at += nr_bytes;
	if (at >= result->file_bytes) { /* rows are in one of the two as a whole */
		return result->tail.bytes + (at - result->file_bytes);
	}
	if (at < result->window_at || at + nr_bytes > result->window_at + result->window_bytes) {
		uint64_t left = result->file_bytes - at;

		result->window_bytes = nr_bytes > READ_BYTES ? nr_bytes : READ_BYTES;
		result->window_bytes =
			left < result->window_bytes ? (size_t)left : result->window_bytes;
		result->window = mem_resize(result->window, result->window_bytes, 1);
		result->window_at = at;
		temp_file_read_back(result->fd, at, result->window, result->window_bytes);
	}
	return result->window + (at - result->window_at);
}

static void set_digits(struct table_cell *cell, const struct head *head)
{
	char digits[64];

	if (head->tag == TAG_INTEGER) {
		snprintf(digits, sizeof(digits), "%" PRId64, head->integer);
	} else if (isfinite(head->number)) {
		snprintf(digits, sizeof(digits) - 2, "%.15g", head->number);
		if (!strpbrk(digits, ".e")) {
			strcat(digits, ".0"); /* as SQLite has it: not a whole number */
		}
	} else {
		return; /* JSON has no infinity */
	}
	table_set_string(cell, digits);
}

/* A cell of a column of the caller's, whose numbers are not negative. */
static void set_typed(struct table_cell *cell, const struct head *head)
{
	if (head->tag == TAG_INTEGER) {
		table_set_integer(cell, (uint64_t)head->integer);
	} else {
		table_set_number(cell, head->number);
	}
}

/* cells: NULL passes the row over. */
static void read_row(
	struct result *result, const struct table_column *columns, struct table_cell *cells)
{
	for (unsigned int c = 0; c < result->nr_columns; c++) {
		struct head head;
		const char *bytes;

		memcpy(&head, read_bytes(result, sizeof(head)), sizeof(head));
		bytes = read_bytes(result, head.nr_bytes);
		if (!cells || head.tag == TAG_NULL) {
			continue;
		}
		if (head.tag == TAG_TEXT) {
			table_set_text(&cells[c], bytes, head.nr_bytes);
		} else if (columns[c].type == TABLE_DIGITS || columns[c].type == TABLE_TEXT) {
			set_digits(&cells[c], &head);
		} else {
			set_typed(&cells[c], &head);
		}
	}
	result->row++;
}

struct source {
	struct result *result;
	const struct table_column *columns;
};

static void fill_row(void *context, size_t row, struct table_cell *cells)
{
	const struct source *source = context;
	struct result *result = source->result;

	if (row < result->row) {
		result->row = 0;
		result->at = 0;
	}
	while (result->row < row) {
		read_row(result, source->columns, NULL);
	}
	read_row(result, source->columns, cells);
}

static void destroy_source(void *context)
{
	struct source *source = context;

	result_destroy(source->result);
	free(source);
}

struct table *result_table_of(struct result *result, const char *key, const char *title,
	const struct table_column *columns)
{
	struct table *table = table_create(key, title, columns, result->nr_columns);
	struct table_source *table_source = mem_zeroed(1, sizeof(*table_source));
	struct source *source = mem_zeroed(1, sizeof(*source));

	*source = (struct source){result, columns};
	*table_source = (struct table_source){
		.context = source, .row = fill_row, .destroy = destroy_source};
	table_set_source(table, table_source, result->nr_rows);
	return table;
}

/* Names that come twice get a number, since they are keys in JSON. */
static void make_unique(struct result *result, unsigned int column)
{
	unsigned int nr = 1;

	for (unsigned int c = 0; c < column; c++) {
		nr += strcmp(result->names[c], result->names[column]) == 0;
	}
	if (nr > 1) {
		struct buf name = {0};

		buf_printf(&name, "%s_%u", result->names[column], nr);
		buf_char(&name, '\0');
		free(result->names[column]);
		result->names[column] = name.bytes;
	}
}

struct table *result_table(struct result *result, const char *key, const char *title)
{
	for (unsigned int c = 0; c < result->nr_columns; c++) {
		make_plain(result->names[c]);
	}
	for (unsigned int c = result->nr_columns; c-- > 0;) {
		make_unique(result, c);
	}
	for (unsigned int c = 0; c < result->nr_columns; c++) {
		result->columns[c] = (struct table_column){.key = result->names[c],
			.title = result->names[c],
			.type = result->has_text[c] ? TABLE_TEXT : TABLE_DIGITS};
	}
	return result_table_of(result, key, title, result->columns);
}
