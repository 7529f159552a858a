/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as OpenMetrics 1.0: a column of numbers is a family of gauges, gprof_TABLE_COLUMN, and a
 * row a sample of each. Texts and identifiers are labels. Units are base units: seconds, bytes,
 * ratios.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/table/print.h"
#include "report/util/hash.h"
#include "report/util/text.h"

#define NS_A_SECOND 1000000000u

/* The end of a column's key, and what it is in base units. */
struct unit {
	const char *suffix, *name; /* "_ns", "_seconds" */
	const char *unit;	   /* for UNIT; NULL: none */
	double factor;
};

static const struct unit units[] = {
	{"_ns", "_seconds", "seconds", 1e-9},
	{"ratio_pct", "ratio", "ratio", 1e-2}, /* not twice in the name */
	{"_pct", "_ratio", "ratio", 1e-2},
	{"_bytes", "_bytes", "bytes", 1},
	{"bytes_per_s", "bytes_per_second", "bytes_per_second", 1},
	{"_per_s", "_per_second", NULL, 1},
	{"", "", NULL, 1},
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), nr_end = strlen(end);

	return length >= nr_end && !strcmp(text + length - nr_end, end);
}

static const struct unit *unit_of(const struct table_column *column)
{
	const struct unit *unit = units;

	while (!ends_with(column->key, unit->suffix)) {
		unit++;
	}
	return unit;
}

/* Texts with figures in them are no labels: each run would begin a series of its own. */
static bool is_label(const struct table_column *column)
{
	static const char *const figures[] = {"finding_", "evidence", "sites", NULL};

	return table_is_text(column)
		       ? column->type != TABLE_DIGITS && !text_begins_with_any(column->key, figures)
		       : column->type == TABLE_ID || !strcmp(column->key, "device");
}

static bool is_metric(const struct table_column *column)
{
	return !is_label(column) && (!table_is_text(column) || column->type == TABLE_DIGITS);
}

/* Text as labels and HELP have it; what is not UTF-8 is shown as \xNN. */
static void add_escaped(struct buf *out, const char *bytes, size_t nr_bytes)
{
	struct buf shown = {0};

	text_add_shown(&shown, bytes, nr_bytes, 0);
	for (size_t i = 0; i < shown.nr_bytes; i++) {
		char c = shown.bytes[i];

		if (c == '\\' || c == '"') {
			buf_char(out, '\\');
		}
		buf_char(out, c);
	}
	buf_fini(&shown);
}

/* Keys are words of lower case but for a few of other tools. */
static void add_name(struct buf *out, const char *key, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		buf_char(out, isalnum((unsigned char)key[i]) ? key[i] : '_');
	}
}

static void add_metric(
	struct buf *out, const struct table *table, const struct table_column *column)
{
	const struct unit *unit = unit_of(column);

	buf_text(out, "gprof_");
	add_name(out, table->key, strlen(table->key));
	buf_char(out, '_');
	add_name(out, column->key, strlen(column->key) - strlen(unit->suffix));
	buf_text(out, unit->name);
}

static void add_labels(struct buf *out, const struct table *table, const struct table_cell *cells)
{
	const char *separator = "";

	for (unsigned int c = 0; c < table->nr_columns; c++) {
		const struct table_column *column = &table->columns[c];
		size_t nr_bytes = 0;
		const char *bytes;

		if (!is_label(column) || (!table_is_text(column) && !cells[c].is_known)) {
			continue;
		}
		buf_text(out, separator);
		add_name(out, column->key, strlen(column->key));
		buf_text(out, "=\"");
		if (!table_is_text(column)) {
			buf_uint(out, cells[c].integer);
		} else {
			bytes = table_cell_text(column, &cells[c], &nr_bytes);
			add_escaped(out, bytes, nr_bytes);
		}
		buf_char(out, '"');
		separator = ",";
	}
}

static void add_value(
	struct buf *out, const struct table_column *column, const struct table_cell *cell)
{
	const struct unit *unit = unit_of(column);

	if (column->type == TABLE_DIGITS) {
		buf_add(out, cell->text, cell->nr_text);
	} else if (column->type == TABLE_TIME && cell->number > -0.5) {
		buf_printf(out, "%llu.%09llu", (unsigned long long)(cell->integer / NS_A_SECOND),
			(unsigned long long)(cell->integer % NS_A_SECOND));
	} else if ((column->type == TABLE_COUNT || column->type == TABLE_SIZE) &&
		   cell->number > -0.5) {
		buf_uint(out, cell->integer);
	} else {
		buf_printf(out, "%.12g", cell->number * unit->factor);
	}
}

/* ---- rows ---- */

struct seen {
	char *labels;
	UT_hash_handle hh;
};

/* Do two rows have the same labels? Then rows need a number. */
static bool has_equal_rows(const struct table *table)
{
	struct seen *all = NULL, *entry, *next;
	bool is_found = false;

	for (size_t row = 0; row < table->nr_rows && !is_found; row++) {
		struct buf labels = {0};

		add_labels(&labels, table, table_row(table, row));
		buf_char(&labels, '\0');
		HASH_FIND_STR(all, labels.bytes, entry);
		is_found = entry != NULL;
		if (is_found) {
			buf_fini(&labels);
			break;
		}
		entry = mem_zeroed(1, sizeof(*entry));
		entry->labels = labels.bytes;
		HASH_ADD_KEYPTR(hh, all, entry->labels, strlen(entry->labels), entry);
	}
	HASH_ITER(hh, all, entry, next)
	{
		HASH_DEL(all, entry);
		free(entry->labels);
		free(entry);
	}
	return is_found;
}

static void print_family(
	const struct table *table, unsigned int c, bool is_numbered, struct buf *out)
{
	const struct table_column *column = &table->columns[c];
	const char *help = column->help ? column->help : column->title;
	const struct unit *unit = unit_of(column);
	bool has_head = false;

	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);
		struct buf labels = {0};

		if (!cells[c].is_known) {
			continue;
		}
		if (!has_head) {
			buf_text(out, "# TYPE ");
			add_metric(out, table, column);
			buf_text(out, " gauge\n");
			if (unit->unit) {
				buf_text(out, "# UNIT ");
				add_metric(out, table, column);
				buf_printf(out, " %s\n", unit->unit);
			}
			buf_text(out, "# HELP ");
			add_metric(out, table, column);
			buf_printf(out, " %s: ", table->title);
			add_escaped(out, help, strlen(help));
			buf_char(out, '\n');
			has_head = true;
		}
		add_metric(out, table, column);
		add_labels(&labels, table, cells);
		if (is_numbered) {
			buf_printf(&labels, "%srow=\"%zu\"", labels.nr_bytes ? "," : "", row + 1);
		}
		if (labels.nr_bytes) {
			buf_char(out, '{');
			buf_add(out, labels.bytes, labels.nr_bytes);
			buf_char(out, '}');
		}
		buf_fini(&labels);
		buf_char(out, ' ');
		add_value(out, column, &cells[c]);
		buf_char(out, '\n');
		buf_flush_if_large(out);
	}
}

void table_print_openmetrics(const struct table *table, struct buf *out)
{
	bool is_numbered = has_equal_rows(table);

	for (unsigned int c = 0; c < table->nr_columns; c++) {
		if (is_metric(&table->columns[c])) {
			print_family(table, c, is_numbered, out);
		}
	}
}
