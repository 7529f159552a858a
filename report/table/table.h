/* SPDX-License-Identifier: Apache-2.0 */
/* A table of results as data. Cells keep the exact value; print.h formats them. */
#ifndef REPORT_TABLE_TABLE_H
#define REPORT_TABLE_TABLE_H

#include <stddef.h>

#include "report/util/buf.h"

enum table_type {
	TABLE_NAME,	 /* a number of string_pool.h, shown by string_pool_shown */
	TABLE_TEXT,	 /* bytes */
	TABLE_COUNT,	 /* an integer */
	TABLE_ID,	 /* an identifier: printed without separators */
	TABLE_TIME,	 /* an integer, ns */
	TABLE_MEAN_TIME, /* a double, ns */
	TABLE_SIZE,	 /* an integer, bytes */
	TABLE_MEAN_SIZE, /* a double, bytes */
	TABLE_RATE,	 /* a double, bytes per second */
	TABLE_PERCENT,	 /* a double; the title says of what */
	TABLE_NUMBER,	 /* a double; the title names its unit */
	TABLE_DIGITS,	 /* a number in its own digits, as text */
};

struct table_cell;

struct table_column {
	const char *key;   /* in JSON, with its unit: "total_ns" */
	const char *title; /* without its unit: "Total" */
	enum table_type type;
	bool is_wide_only; /* left out of the text unless --wide */
	bool is_minor;	   /* left out of the text before others where lines are too long */
	bool is_major;	   /* left out after all others, as without it rows look alike */
	bool is_name;	   /* says what a row is, if that is not the column `name` */
	bool is_p;	   /* a NUMBER that is a probability: text has "< 0.01", not 0.00 */
	bool is_kernel;	   /* names of kernels, which text shortens */
	bool is_sentence;  /* as the last column of the text it wraps; it is not cut */
	bool is_below;	   /* where lines of the text are too long, it has lines below its row */
	const char *help;  /* what it means, for `help VIEW`; NULL: the title says it */
	/*
	 * The member of a row that has the value, set by TABLE_MEMBER and the macros beside it;
	 * size 0: whoever adds rows sets the cell.
	 */
	uint16_t offset, size;
	bool is_number; /* the member is a double, not an integer */
	/*
	 * TABLE_IF and the quotients: the other member, which may be one of the table's state;
	 * factor: 0 but for quotients.
	 */
	bool is_whole_number, is_whole_of_state;
	uint16_t whole, whole_size;
	float factor;
	uint16_t wide_unless;	  /* 1 + the offset of a bool of the state: see TABLE_WIDE_UNLESS */
	const char *const *names; /* TABLE_NAMED: the texts by the member; or NULL */
	void (*set)(const void *member, struct table_cell *cell); /* TABLE_SET; or NULL */
};

/* A column; more members may follow, as .is_wide_only, .help or TABLE_MEMBER. */
#define TABLE_COLUMN(the_key, the_title, the_type, ...)                                 \
	{                                                                               \
		.key = (the_key), .title = (the_title), .type = (the_type), __VA_ARGS__ \
	}

struct table_cell {
	bool is_known; /* else the cell is empty, and null in JSON */
	uint64_t integer;
	double number;
	char *text;
	size_t nr_text;
};

/* Makes rows while they are printed, so that a table of every event needs no memory for them. */
struct table_source {
	void *context;
	/* Fills the cells of a row, which start unknown. Rising rows are cheap. */
	void (*row)(void *context, size_t row, struct table_cell *cells);
	/* Sorts the rows by a column, as table_sort does; NULL if the order is fixed. */
	void (*sort)(void *context, unsigned int column);
	void (*destroy)(void *context);
	struct table_cell *cells; /* of the last row; owned by the table */
};

struct table {
	char *key; /* of the JSON object: "kernel" */
	char *title;
	struct table_column *columns; /* its own, so that a view may hide some */
	unsigned int nr_columns;
	const void *state; /* the caller's, with the members that columns name of it; or NULL */
	struct table_cell *cells;
	size_t nr_rows, capacity;
	struct table_source
		*source; /* replaces `cells`; NULL for most tables. All rows are at level 0 */
	uint8_t *levels; /* of rows; NULL: all 0. See table_set_level */
	size_t level_capacity;
	unsigned int sort_column; /* by which table_sort sorted, counted from 1; 0: none */
	size_t nr_cut;		  /* rows of level 0 that --top left out */
	char *note;		  /* below the rows, one a line, or NULL; see table_note */
	char *figure;		  /* lines below the rows in text output, trusted bytes, or NULL */
	char *figure_json;	  /* the same figure for the HTML page, or NULL */
	bool is_aside;		  /* shown only on request */
	bool is_figure_only;	  /* in text and Markdown the figure stands for the rows */
};

/*
 * The columns, the title and the key are copied; dashes of the key become underscores. The texts of
 * the columns must stay.
 */
struct table *table_create(const char *key, const char *title, const struct table_column *columns,
	unsigned int nr_columns);
void table_destroy(struct table *table);

void table_set_title(struct table *table, const char *title);

/* For a table without rows. */
void table_set_columns(
	struct table *table, const struct table_column *columns, unsigned int nr_columns);

/*
 * Appends a note, formatted: a sentence that changes how to read this table. Definitions belong to
 * the help of a column or of the view.
 */
void table_note(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The notes one by one, the first at table->note: its length, and the next one or NULL. */
size_t table_note_length(const char *note);
const char *table_next_note(const char *note);

/* Appends all notes as one line. */
void table_add_notes(struct buf *out, const struct table *table);

/* Takes ownership of the source, which comes from mem_zeroed and has nr_rows rows. */
void table_set_source(struct table *table, struct table_source *source, size_t nr_rows);

/* The cells of a row, valid until the next call. */
const struct table_cell *table_row(const struct table *table, size_t row);

#define TABLE_IS_NUMBER(row, member) \
	_Generic(((struct row *)NULL)->member, double : true, default : false)

/*
 * The sources of a column: where table_add finds its value in a `struct row`. Integers are unsigned
 * (or a rank) of 1, 4 or 8 bytes, and all ones are unknown; of a double NAN is. In a column of type
 * TEXT an integer is a number of string_pool.h; all else there is a const char *, NULL unknown.
 */
#define TABLE_MEMBER(row, member)                                                             \
	.offset = offsetof(struct row, member), .size = sizeof(((struct row *)NULL)->member), \
	.is_number = TABLE_IS_NUMBER(row, member)
#define TABLE_WHOLE(row, known)                                                                  \
	.whole = offsetof(struct row, known), .whole_size = sizeof(((struct row *)NULL)->known), \
	.is_whole_number = TABLE_IS_NUMBER(row, known)
/* The same where `known` is neither 0 nor unknown itself; else the cell is unknown, too. */
#define TABLE_IF(row, member, known) TABLE_MEMBER(row, member), TABLE_WHOLE(row, known)
/* The same with a member of the table's state, a `struct view`. */
#define TABLE_IF_STATE(row, member, view, known) \
	TABLE_MEMBER(row, member), TABLE_WHOLE(view, known), .is_whole_of_state = true
#define TABLE_NONZERO(row, member) TABLE_IF(row, member, member)
/* The quotient of two members, unknown if `all` is not above 0: in percent, ... */
#define TABLE_SHARE(row, member, all) TABLE_IF(row, member, all), .factor = 100
#define TABLE_SHARE_OF_STATE(row, member, view, all) \
	TABLE_IF_STATE(row, member, view, all), .factor = 100
/* ... as it is, and of a second where `ns` is the whole. */
#define TABLE_MEAN(row, sum, nr)	  TABLE_IF(row, sum, nr), .factor = 1
#define TABLE_PER_SECOND(row, member, ns) TABLE_IF(row, member, ns), .factor = 1e9f
/* The text that an array has for an integer; NULL in it is unknown. */
#define TABLE_NAMED(row, member, texts) TABLE_MEMBER(row, member), .names = (texts)
/* A function sets the cell, from the address of the member, of any type; also after TABLE_IF. */
#define TABLE_SET(row, member, function) TABLE_MEMBER(row, member), .set = (function)
/* A uint64_t that saturates: all ones are known, too. */
void table_set_saturated(const void *member, struct table_cell *cell);
#define TABLE_SATURATED(row, member) TABLE_SET(row, member, table_set_saturated)
/* The bytes of a struct buf; none are unknown. */
void table_set_buf(const void *member, struct table_cell *cell);
#define TABLE_BUF(row, member) TABLE_SET(row, member, table_set_buf)

/* Not a source: text shows the column without --wide only if that bool of the state is set. */
#define TABLE_WIDE_UNLESS(view, member) .wide_unless = 1 + offsetof(struct view, member)

/* Sets the state, which must stay while rows are added, and with it which columns are wide. */
void table_set_state(struct table *table, const void *state);

/* Appends a row with the values of columns that have a source, and returns its cells. */
struct table_cell *table_add(struct table *table, const void *row);

/* Sets the cells of some columns that have a source, without a table or behind other columns. */
void table_fill(const struct table_column *columns, unsigned int nr_columns, const void *row,
	struct table_cell *cells);
#define TABLE_FILL(columns, row, cells) \
	table_fill((columns), sizeof(columns) / sizeof((columns)[0]), (row), (cells))

/* Appends a row of unknown cells and returns the first. Fill by the set functions. */
struct table_cell *table_add_row(struct table *table);

/*
 * Makes the last row a child of a row before it, at a level of one less. It stays with its parent
 * in any order, and text indents its `name`.
 */
void table_set_level(struct table *table, uint8_t level);
static inline uint8_t table_level(const struct table *table, size_t row)
{
	return table->levels ? table->levels[row] : 0;
}

/* Does the column hold text? Text is aligned left, numbers right. */
bool table_is_text(const struct table_column *column);

/* The bytes of a NAME or TEXT cell. */
const char *table_cell_text(
	const struct table_column *column, const struct table_cell *cell, size_t *nr_bytes);

/* The cell of the column with that key, NULL if there is no such column. */
const struct table_cell *table_find_cell(const struct table *table, size_t row, const char *key);
void table_set_integer(struct table_cell *cell, uint64_t value);
void table_set_number(struct table_cell *cell, double value);
/* bytes may be NULL if there are none. */
void table_set_text(struct table_cell *cell, const char *bytes, size_t nr_bytes);
void table_set_string(struct table_cell *cell, const char *text);

/* 100 * part / whole; NAN, which is unknown, if the whole is 0. */
double table_share(double part, double whole);

/* Sets that share. Leaves the cell alone if the whole is 0. */
void table_set_share(struct table_cell *cell, double part, double whole);

/* The index of the column with that key, with or without its unit; -1 if there is none. */
int table_find_column(const struct table *table, const char *key);

/* Sets is_wide_only of the column with that key, if there is one. */
void table_set_wide(struct table *table, const char *key, bool is_wide_only);

/*
 * Sorts by the column with that key, with or without its unit. Texts sort ascending, numbers
 * descending, unknown ones last. Equal rows keep their order; child rows are sorted within their
 * parent. False if there is no such column.
 */
bool table_sort(struct table *table, const char *key);

/* Sorts numbers ascending; tables with a source still sort them descending. */
bool table_sort_rising(struct table *table, const char *key);

/* Keeps the first nr_rows rows of level 0 and their children; 0 keeps all. */
void table_cut(struct table *table, size_t nr_rows);

#endif
