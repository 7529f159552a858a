/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of results, and how it is printed: text aligned by display width, CSV, JSON, Markdown.
 * Numbers keep their exact value and unit until they are printed; JSON has times as integers with
 * _ns in the key and sizes with _bytes.
 */
#ifndef REPORT_TABLE_TABLE_H
#define REPORT_TABLE_TABLE_H

#include "report/util/buf.h"

enum table_type {
	TABLE_NAME,	 /* a number of names.h, shown as string_pool_shown gives it */
	TABLE_TEXT,	 /* bytes */
	TABLE_COUNT,	 /* an integer */
	TABLE_ID,	 /* an integer that names something: no separators */
	TABLE_TIME,	 /* an integer, ns */
	TABLE_MEAN_TIME, /* a double, ns */
	TABLE_SIZE,	 /* an integer, bytes */
	TABLE_MEAN_SIZE, /* a double, bytes */
	TABLE_RATE,	 /* a double, bytes per second */
	TABLE_PERCENT,	 /* a double; the title says of what */
	TABLE_NUMBER,	 /* a double; the title says its unit */
	TABLE_DIGITS,	 /* a number as its text has it */
};

struct table_column {
	const char *key;   /* in JSON, with the unit: "total_ns" */
	const char *title; /* without unit: "Total" */
	enum table_type type;
	bool is_wide_only; /* left out of the text unless --wide */
};

struct table_cell {
	bool is_known; /* else the cell is empty, null in JSON */
	uint64_t integer;
	double number;
	char *text;
	size_t nr_text;
};

/* Rows that are made as they are printed, so that a table of every event needs no memory for them.
 */
struct table_source {
	void *context;
	/* Fills the cells of a row, which are unknown so far; rows after each other are cheap. */
	void (*row)(void *context, size_t row, struct table_cell *cells);
	/* Puts the rows in the order of a column, as table_sort does; NULL if they stay. */
	void (*sort)(void *context, unsigned int column);
	void (*destroy)(void *context);
	struct table_cell *cells; /* of the row made last; the table's */
};

struct table {
	const char *key;       /* of the JSON object: "kernel" */
	const char *other_key; /* the same rows once more under another key, or NULL */
	char *title;
	const struct table_column *columns;
	unsigned int nr_columns;
	struct table_cell *cells;
	size_t nr_rows, capacity;
	struct table_source *source; /* instead of cells, NULL for most; all rows of level 0 */
	uint8_t *levels; /* of rows, NULL: all 0. A row lies in the last one before of a lower level
			  */
	size_t level_capacity;
	size_t nr_cut; /* rows of level 0 that --top left out */
	char *note;    /* a line below the title, or NULL */
	char *figure; /* lines below the rows, in text alone, or NULL; of our making: shown as it is
		       */
	char *figure_json; /* the same for the page of `html` to draw, or NULL */
	bool is_aside;	   /* not worth showing unless it was asked for */
};

/* columns must stay; the title is copied. */
struct table *table_create(const char *key, const char *title, const struct table_column *columns,
	unsigned int nr_columns);
void table_destroy(struct table *table);

/* Sets the note, formatted. */
void table_note(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Takes over the source (memory of mem_zeroed), of nr_rows rows. */
void table_set_source(struct table *table, struct table_source *source, size_t nr_rows);

/* The cells of a row, good until the next call. */
const struct table_cell *table_row(const struct table *table, size_t row);

/* Appends a row of unknown cells and returns the first. Fill by the set functions. */
struct table_cell *table_add_row(struct table *table);

/*
 * The last row lies in one before it, of one level less: it stays with it in any order, and text
 * has its name (the column `name`) further to the right.
 */
void table_set_level(struct table *table, uint8_t level);
static inline uint8_t table_level(const struct table *table, size_t row)
{
	return table->levels ? table->levels[row] : 0;
}

/* Is it a column of words? These are at the left, numbers at the right. */
bool table_is_text(const struct table_column *column);

/* The bytes of a NAME or TEXT cell. */
const char *table_cell_text(
	const struct table_column *column, const struct table_cell *cell, size_t *nr_bytes);

/* The cell in a row of the column with that key, NULL if there is no such column. */
const struct table_cell *table_find_cell(const struct table *table, size_t row, const char *key);
void table_set_integer(struct table_cell *cell, uint64_t value);
void table_set_number(struct table_cell *cell, double value);
/* bytes may be NULL where there are none. */
void table_set_text(struct table_cell *cell, const char *bytes, size_t nr_bytes);
void table_set_string(struct table_cell *cell, const char *text);

/* The part in percent of the whole; the cell stays as it is if that is nothing. */
void table_set_share(struct table_cell *cell, double part, double whole);

/* The place of the column whose key, or key without its unit, is `key`; -1 if there is none. */
int table_find_column(const struct table *table, const char *key);

/*
 * Sorts by the column whose key, or key without its unit, is `key`: names rising, numbers falling,
 * unknown ones last. False if there is no such column. Rows that are equal stay in order, rows of a
 * level are sorted within the one that they lie in.
 */
bool table_sort(struct table *table, const char *key);

/* The same with numbers rising; tables with a source fall nevertheless. */
bool table_sort_rising(struct table *table, const char *key);

/* Keeps the first nr_rows rows of level 0 with those in them, 0 keeps all. */
void table_cut(struct table *table, size_t nr_rows);

#endif
