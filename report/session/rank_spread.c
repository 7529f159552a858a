/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of --across-ranks. Each rank's view becomes a table (make_one); a row is known by the
 * texts in it, together with those of the rows around it. Entries of one such key are then compared
 * by one column. The ranks' tables live until the end, since entries point into their cells.
 */
#include "report/session/summary.h"
#include "report/util/sort.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Deeper rows count as those of the last of these. */
#define MAX_LEVELS 16u

/* Integers of damaged streams may be as large as they can be, and larger once they are doubles. */
#define MAX_INTEGER 0x1.fffffffffffffp63

/* Behind the names of the view's rows. */
enum column {
	RANKS,
	MIN,
	MIN_RANK,
	MEDIAN,
	MAX,
	MAX_RANK,
	NR_COLUMNS,
};

/* A row of a rank. */
struct entry {
	char *key;
	uint64_t rank;
	double value;
	const struct table_cell *cells;
};

struct over {
	struct table **tables; /* of ranks */
	size_t nr_tables, tables_capacity;
	int column; /* that is compared */
	struct entry *entries;
	size_t nr, capacity;
};

/* Does it name the row? A value that each rank has for itself does not. */
static bool is_name(const struct table_column *column)
{
	static const char *const own[] = {"pid", "rank", "tid", "thread", "file", "host", "curve",
		"evidence", "sites", "finding_1", "finding_2", "finding_3"};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (strcmp(column->key, own[i]) == 0) {
			return false;
		}
	}
	return column->type == TABLE_NAME || column->type == TABLE_TEXT || column->type == TABLE_ID;
}

static bool is_time(const struct table_column *column)
{
	return column->type == TABLE_TIME || column->type == TABLE_MEAN_TIME;
}

/* The types of columns that are numbers, and what their extremes are called. */
static const struct kind {
	enum table_type type, mean;
	const char *min, *median, *max;
} kinds[] = {
	{TABLE_TIME, TABLE_MEAN_TIME, "min_ns", "median_ns", "max_ns"},
	{TABLE_MEAN_TIME, TABLE_MEAN_TIME, "min_ns", "median_ns", "max_ns"},
	{TABLE_SIZE, TABLE_MEAN_SIZE, "min_bytes", "median_bytes", "max_bytes"},
	{TABLE_MEAN_SIZE, TABLE_MEAN_SIZE, "min_bytes", "median_bytes", "max_bytes"},
	{TABLE_RATE, TABLE_RATE, "min_bytes_per_s", "median_bytes_per_s", "max_bytes_per_s"},
	{TABLE_PERCENT, TABLE_PERCENT, "min_pct", "median_pct", "max_pct"},
	{TABLE_COUNT, TABLE_NUMBER, "min", "median", "max"},
	{TABLE_NUMBER, TABLE_NUMBER, "min", "median", "max"},
};

/* NULL for a type that is no number to compare: names, IDs, and digits, which are a text. */
static const struct kind *find_kind(enum table_type type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].type == type) {
			return &kinds[i];
		}
	}
	return NULL;
}

static bool is_number(const struct table_column *column)
{
	static const char *const own[] = {"device", "rank"};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (strcmp(column->key, own[i]) == 0) {
			return false;
		}
	}
	return find_kind(column->type) != NULL;
}

static bool is_integer(enum table_type type)
{
	return type == TABLE_COUNT || type == TABLE_ID || type == TABLE_TIME || type == TABLE_SIZE;
}

/*
 * Returns how well a column compares ranks: durations best, then values that are no counts, then
 * counts, points in time last.
 */
static unsigned int worth(const struct table_column *column)
{
	static const char *const points[] = {"start_ns", "end_ns", "allocation_ns", "release_ns"};

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		if (strcmp(column->key, points[i]) == 0) {
			return 1;
		}
	}
	if (!is_number(column)) {
		return 0;
	}
	return is_time(column) ? 4 : column->type == TABLE_COUNT ? 2 : 3;
}

static int choose_column(const struct table *table, const char *wanted)
{
	unsigned int best = 0;
	int number = -1;

	if (wanted) {
		number = table_find_column(table, wanted);
		return number >= 0 && is_number(&table->columns[number]) ? number : -1;
	}
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		if (worth(&table->columns[i]) > best) {
			best = worth(&table->columns[i]);
			number = (int)i;
		}
	}
	return number;
}

/* ---- rows of one rank ---- */

static void add_name(
	struct buf *key, const struct table_column *column, const struct table_cell *cell)
{
	if (column->type == TABLE_TEXT) {
		buf_add(key, cell->text, cell->nr_text);
	} else if (cell->is_known) {
		buf_printf(key, "%" PRIu64, cell->integer);
	}
	buf_char(key, '\t');
}

/*
 * Adds the rows of a rank. keys: the key of the last row of each level, which begins with those of
 * the rows around it.
 */
static void add_rows(struct over *over, const struct table *table, uint64_t rank)
{
	const struct table_column *column = &table->columns[over->column];
	struct buf keys[MAX_LEVELS] = {{0}};

	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);
		const struct table_cell *cell = &cells[over->column];
		uint8_t level = table_level(table, row);
		struct buf *key = &keys[level < MAX_LEVELS ? level : MAX_LEVELS - 1];

		key->nr_bytes = 0;
		if (key != keys) {
			buf_add(key, key[-1].bytes, key[-1].nr_bytes);
		}
		for (unsigned int i = 0; i < table->nr_columns; i++) {
			if (is_name(&table->columns[i])) {
				add_name(key, &table->columns[i], &cells[i]);
			}
		}
		if (cell->is_known) {
			over->entries = array_grow(
				over->entries, over->nr, &over->capacity, sizeof(*over->entries));
			over->entries[over->nr++] = (struct entry){
				.key = strndup(key->nr_bytes ? key->bytes : "", key->nr_bytes),
				.rank = rank,
				.value = is_integer(column->type) ? (double)cell->integer
								  : cell->number,
				.cells = cells,
			};
		}
	}
	for (unsigned int i = 0; i < MAX_LEVELS; i++) {
		buf_fini(&keys[i]);
	}
}

/* Makes the table of one process alone. */
static struct table *make_one(
	const struct view_class *class, const struct view_input *input, struct process *process)
{
	struct view_input one = *input;
	struct table *table;
	void *view;

	one.processes = &process;
	one.nr_processes = 1;
	view_run(&one, &class, 1, &view);
	table = view_table(class, view);
	view_destroy(class, view);
	return table;
}

/* ---- all ranks ---- */

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	order = order ? order : COMPARE(x->value, y->value);
	return order ? order : COMPARE(x->rank, y->rank);
}

static size_t count_ranks(const struct entry *entries, size_t nr)
{
	uint64_t *ranks = mem_zeroed(nr, sizeof(*ranks));
	size_t nr_ranks = 1;

	for (size_t i = 0; i < nr; i++) {
		ranks[i] = entries[i].rank;
	}
	qsort(ranks, nr, sizeof(*ranks), by_u64);
	for (size_t i = 1; i < nr; i++) {
		nr_ranks += ranks[i] != ranks[i - 1];
	}
	free(ranks);
	return nr_ranks;
}

static void set_value(struct table_cell *cell, enum table_type type, double value)
{
	if (is_integer(type)) {
		table_set_integer(cell, (uint64_t)fmin(value, MAX_INTEGER));
	} else {
		table_set_number(cell, value);
	}
}

/* Fills a row from the entries of one key, which are sorted by value. */
static void fill(
	const struct over *over, const struct entry *entries, size_t nr, struct table_cell *cells)
{
	const struct table *table = over->tables[0];
	enum table_type type = table->columns[over->column].type;

	for (unsigned int i = 0; i < table->nr_columns; i++) {
		const struct table_cell *cell = &entries->cells[i];

		if (!is_name(&table->columns[i])) {
			continue;
		}
		if (cell->is_known && table->columns[i].type == TABLE_TEXT) {
			table_set_text(cells, cell->text, cell->nr_text);
		} else if (cell->is_known) {
			table_set_integer(cells, cell->integer);
		}
		cells++;
	}
	table_set_integer(&cells[RANKS], count_ranks(entries, nr));
	set_value(&cells[MIN], type, entries[0].value);
	table_set_number(&cells[MEDIAN], (entries[(nr - 1) / 2].value + entries[nr / 2].value) / 2);
	set_value(&cells[MAX], type, entries[nr - 1].value);
	if (entries[0].value < entries[nr - 1].value) { /* else it is all of them */
		table_set_integer(&cells[MIN_RANK], entries[0].rank);
		table_set_integer(&cells[MAX_RANK], entries[nr - 1].rank);
	}
}

/* The view's names, and those of enum column; they live as long as the table. */
static struct table_column *make_columns(const struct over *over, unsigned int *nr)
{
	const struct table *table = over->tables[0];
	enum table_type type = table->columns[over->column].type;
	struct table_column *columns = mem_zeroed(table->nr_columns + NR_COLUMNS, sizeof(*columns));
	const struct kind *kind = find_kind(type);

	*nr = 0;
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		if (is_name(&table->columns[i])) {
			columns[(*nr)++] = table->columns[i];
		}
	}
	columns[*nr + RANKS] = (struct table_column)TABLE_COLUMN("nr_ranks", "Ranks", TABLE_COUNT);
	columns[*nr + MIN] = (struct table_column)TABLE_COLUMN(kind->min, "Min", type);
	columns[*nr + MIN_RANK] =
		(struct table_column)TABLE_COLUMN("min_rank", "of rank", TABLE_ID);
	columns[*nr + MEDIAN] =
		(struct table_column)TABLE_COLUMN(kind->median, "Median", kind->mean);
	columns[*nr + MAX] = (struct table_column)TABLE_COLUMN(kind->max, "Max", type);
	columns[*nr + MAX_RANK] =
		(struct table_column)TABLE_COLUMN("max_rank", "of rank", TABLE_ID);
	*nr += NR_COLUMNS;
	return columns;
}

static struct table *make_table(struct over *over, size_t nr_left_out)
{
	const struct table *one = over->tables[0];
	unsigned int nr_columns;
	struct table_column *columns = make_columns(over, &nr_columns);
	struct table *table = table_create(one->key, one->title, columns, nr_columns);

	free(columns);
	if (over->nr) {
		qsort(over->entries, over->nr, sizeof(*over->entries), by_key);
	}
	for (size_t at = 0, nr; at < over->nr; at += nr) {
		nr = 1;
		while (at + nr < over->nr &&
			strcmp(over->entries[at].key, over->entries[at + nr].key) == 0) {
			nr++;
		}
		fill(over, &over->entries[at], nr, table_add_row(table));
	}
	table_sort(table, "max");
	table_note(table, "Compares \"%s\" of %zu ranks; a rank without the row has no value.",
		one->columns[over->column].title, over->nr_tables);
	if (nr_left_out) {
		table_note(table, "Processes without a rank are excluded.");
	}
	return table;
}

static void finish(struct over *over)
{
	for (size_t i = 0; i < over->nr; i++) {
		free(over->entries[i].key);
	}
	free(over->entries);
	for (size_t i = 0; i < over->nr_tables; i++) {
		table_destroy(over->tables[i]);
	}
	free(over->tables);
}

/* Makes the table of each rank by itself, since a view sums over all processes that it gets. */
struct table *rank_spread_table(const struct view_class *class, const struct view_input *input,
	struct rank_waits *waits, const char *column, const char **wrong)
{
	struct over over = {0};
	struct view_input one_input = *input;
	struct table *table = NULL;
	size_t nr_left_out = 0;

	*wrong = NULL;
	one_input.waits = waits;
	rank_waits_begin_again(waits);
	for (size_t i = 0; i < input->nr_processes && !*wrong; i++) {
		struct table *one;

		rank_waits_begin(waits);
		if (input->processes[i]->rank < 0) {
			nr_left_out++;
			continue;
		}
		one = make_one(class, &one_input, input->processes[i]);
		over.tables = array_grow(
			over.tables, over.nr_tables, &over.tables_capacity, sizeof(*over.tables));
		over.tables[over.nr_tables++] = one;
		over.column = choose_column(one, column);
		if (one->source) {
			*wrong = "--across-ranks cannot compare views of single events";
		} else if (over.column < 0) {
			*wrong = "no view has such a column of numbers for --across-ranks";
		} else {
			add_rows(&over, one, (uint64_t)input->processes[i]->rank);
		}
	}
	if (!over.nr_tables) {
		*wrong = "no process has a rank for --across-ranks";
	}
	if (!*wrong) {
		table = make_table(&over, nr_left_out);
		view_note_fit(table, input->processes, input->nr_processes);
	}
	finish(&over);
	return table;
}
