/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables that compare the processes of a summary, as rank_spread_table compares those of streams:
 * minimum, median and maximum, and the processes that have them. A table with a row for each
 * process gives a row for each of its columns, with exact values. Rows of all processes together
 * give the times that each process spent in them; their medians come from a sketch.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/reduce/reduced_view.h"
#include "report/util/sort.h"

struct over_row {
	const char *name;
	uint64_t nr_processes;
	double min, median, max;
	uint64_t min_ns, max_ns; /* the same, where they are integers */
	bool differs;		 /* else the processes with least and most are all of them */
	struct reduced_who least, most;
};

#define OVER_COLUMNS(type, mean, unit, min_of, max_of)                                             \
	TABLE_COLUMN("processes", "Processes", TABLE_COUNT, TABLE_MEMBER(over_row, nr_processes)), \
		TABLE_COLUMN("min_" unit, "Min", type, TABLE_MEMBER(over_row, min_of)),            \
		TABLE_COLUMN("min_rank", "of rank", TABLE_TEXT,                                    \
			TABLE_IF(over_row, least, differs), .set = reduced_set_who),               \
		TABLE_COLUMN("median_" unit, "Median", mean, TABLE_MEMBER(over_row, median)),      \
		TABLE_COLUMN("max_" unit, "Max", type, TABLE_MEMBER(over_row, max_of)),            \
		TABLE_COLUMN("max_rank", "of rank", TABLE_TEXT, TABLE_IF(over_row, most, differs), \
			.set = reduced_set_who)
#define OVER_NR_COLUMNS 6u

#define TITLE_BYTES 64u

static void name_table(char *title, const char *of)
{
	snprintf(title, TITLE_BYTES, "%s over processes", of);
}

/* ---- values of each process ---- */

struct value {
	double value;
	size_t process;
};

static int by_value(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	return ORDER(COMPARE(x->value, y->value), COMPARE(x->process, y->process));
}

/* Adds a row with the values of one column, which are sorted; one at least. */
static void add_values(struct table *table, const struct reduced *reduced, const char *name,
	const struct value *values, size_t nr)
{
	const struct value *last = &values[nr - 1];

	table_add(table, &(struct over_row){.name = name,
				 .nr_processes = nr,
				 .min = values->value,
				 .median = (values[(nr - 1) / 2].value + values[nr / 2].value) / 2,
				 .max = last->value,
				 .differs = values->value < last->value,
				 .least = reduced_who_of(&reduced->processes[values->process].who),
				 .most = reduced_who_of(&reduced->processes[last->process].who)});
}

/* Collects and sorts the known values of a column. Returns their number. */
static size_t take_values(const struct table *each, unsigned int column, struct value *values)
{
	size_t nr = 0;

	for (size_t i = 0; i < each->nr_rows; i++) {
		const struct table_cell *cell = &table_row(each, i)[column];

		if (cell->is_known) {
			values[nr++] = (struct value){each->columns[column].type == TABLE_SIZE
							      ? (double)cell->integer
							      : cell->number,
				i};
		}
	}
	if (nr) {
		qsort(values, nr, sizeof(*values), by_value);
	}
	return nr;
}

/*
 * Columns of the type of the last one are compared; ranks, PIDs and numbers of steps have other
 * types.
 */
static struct table *over_processes(
	struct reduced *reduced, const struct reduced_view_class *class, const char *key)
{
	static const struct table_column times[] = {
		TABLE_COLUMN("name", "Time", TABLE_TEXT, TABLE_MEMBER(over_row, name)),
		OVER_COLUMNS(TABLE_MEAN_TIME, TABLE_MEAN_TIME, "ns", min, max),
	};
	static const struct table_column sizes[] = {
		TABLE_COLUMN("name", "Memory", TABLE_TEXT, TABLE_MEMBER(over_row, name)),
		OVER_COLUMNS(TABLE_MEAN_SIZE, TABLE_MEAN_SIZE, "bytes", min, max),
	};
	struct table *each = class->each(reduced, 1), *table;
	struct value *values = mem_zeroed(each->nr_rows, sizeof(*values));
	enum table_type type = each->columns[each->nr_columns - 1].type;
	char title[TITLE_BYTES];

	name_table(title, each->title);
	table = table_create(key, title, type == TABLE_SIZE ? sizes : times, 1 + OVER_NR_COLUMNS);
	for (unsigned int i = 0; i < each->nr_columns; i++) {
		size_t nr = each->columns[i].type == type ? take_values(each, i, values) : 0;

		if (nr) {
			add_values(table, reduced, each->columns[i].title, values, nr);
		}
	}
	for (const char *note = each->note; note; note = table_next_note(note)) {
		table_note(table, "%.*s", (int)table_note_length(note), note);
	}
	table_note(table, "Processes without a value do not count.");
	free(values);
	table_destroy(each);
	return table;
}

/* ---- rows of all processes ---- */

static const struct table_column over[] = {
	OVER_COLUMNS(TABLE_TIME, TABLE_MEAN_TIME, "ns", min_ns, max_ns)};

static void fill_row(struct reduced_row *row, struct table_cell *cells)
{
	bool has_each = reduced_row_has_each(row);
	struct over_row shown = {
		.nr_processes = has_each ? row->of_processes.group.count : row->nr_processes,
		.min_ns = row->least.ns,
		.median = NAN,
		.max_ns = row->most.ns,
		.differs = row->least.ns < row->most.ns,
		.least = row->least.who,
		.most = row->most.who};

	if (has_each) {
		sketch_finish(&row->of_processes);
		shown.median = histogram_median(&row->of_processes.group);
	}
	TABLE_FILL(over, &shown, cells);
}

static struct table *over_rows(
	struct reduced *reduced, const struct reduced_view_class *class, const char *key)
{
	struct table_column columns[VIEW_MERGE_KEYS + OVER_NR_COLUMNS];
	enum reduced_view view = (enum reduced_view) class->argument;
	unsigned int nr_names = reduced_name_columns(view, columns);
	char title[TITLE_BYTES];
	struct table *table;

	name_table(title, reduced_name_title(view));
	memcpy(&columns[nr_names], over, sizeof(over));
	table = table_create(key, title, columns, nr_names + OVER_NR_COLUMNS);
	for (struct reduced_row *row = reduced->rows; row; row = row->hh.next) {
		if (row->key.view == class->argument && row->times.group.count) {
			struct table_cell *cells = table_add_row(table);

			reduced_name_fill(&row->key, cells);
			fill_row(row, &cells[nr_names]);
		}
	}
	table_note(table, "Values are totals of a process; processes without a row do not count. "
			  "Medians are accurate to 1.6 %%.");
	table_sort(table, "max");
	return table;
}

struct table *reduced_over_table(
	struct reduced *reduced, const struct reduced_view_class *class, const char *key)
{
	if (class->each) {
		return over_processes(reduced, class, key);
	}
	return class->table == reduced_steps_table ? reduced_steps_table(reduced, 0)
						   : over_rows(reduced, class, key);
}
