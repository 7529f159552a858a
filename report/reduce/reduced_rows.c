/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of rows of all processes: the columns of tallies, sums, and who spent least and most. */
#include <stdio.h>

#include "report/util/string_pool.h"
#include "report/reduce/reduced_view.h"
#include "report/table/keyed_stats.h"

#define MOST_COLUMNS                                                              \
	(KEYED_STATS_NR_COLUMNS + NR_REDUCED_SUMS + 2u + REDUCED_SPREAD_COLUMNS + \
		REDUCED_NAME_COLUMNS)

struct layout {
	const char *key, *share;
	struct table_column sums[NR_REDUCED_SUMS];
	bool has_failed, has_untimed;
};

#define BYTES                                            \
	{                                                \
		"total_bytes", "Size", TABLE_SIZE, false \
	}

static const struct layout layouts[] = {
	[REDUCED_OPERATOR] = {"operator", "% of CPU total",
		.sums = {{"self_ns", "Self CPU", TABLE_TIME, false},
			{"gpu_self_ns", "Self GPU", TABLE_TIME, false},
			{"gpu_total_ns", "GPU total", TABLE_TIME, false},
			{"works", "GPU works", TABLE_COUNT, false}}},
	[REDUCED_KERNEL] = {"kernel", "% of kernel time", .has_untimed = true},
	[REDUCED_COLLECTIVE] = {"collectives", "% of communication",
		.sums = {{"overlap_ns", "Overlapped", TABLE_TIME, false}}},
	[REDUCED_MEMCPY] = {"memcpy", "% of copy time", .sums = {BYTES}, .has_untimed = true},
	[REDUCED_MEMSET] = {"memset", "% of set time", .sums = {BYTES}, .has_untimed = true},
	[REDUCED_API] = {"api", "% of API time", .has_failed = true},
	[REDUCED_NVTX] = {"nvtx", "% of range time"},
};

#define NR_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

/* Where the columns behind those of tallies stand; 0: not there. */
struct places {
	unsigned int nr, nr_sums, sums, failed, untimed, spread, name;
};

static unsigned int add(
	struct table_column *columns, struct places *places, struct table_column column)
{
	columns[places->nr] = column;
	return places->nr++;
}

static struct places choose_columns(enum reduced_view view, struct table_column *columns)
{
	const struct layout *layout = &layouts[view];
	const struct table_column tally[] = {KEYED_STATS_COLUMNS(layout->share)};
	static const struct table_column spread[] = {REDUCED_SPREAD};
	struct places places = {0};

	for (unsigned int i = 0; i < KEYED_STATS_NR_COLUMNS; i++) {
		add(columns, &places, tally[i]);
	}
	places.sums = places.nr;
	while (places.nr_sums < NR_REDUCED_SUMS && layout->sums[places.nr_sums].key) {
		add(columns, &places, layout->sums[places.nr_sums++]);
	}
	if (layout->has_failed) {
		places.failed = add(columns, &places,
			(struct table_column){"failed", "Failed", TABLE_COUNT, false});
	}
	if (layout->has_untimed) {
		places.untimed = add(columns, &places,
			(struct table_column){"untimed", "Untimed", TABLE_COUNT, true});
	}
	places.spread = places.nr;
	for (unsigned int i = 0; i < REDUCED_SPREAD_COLUMNS; i++) {
		add(columns, &places, spread[i]);
	}
	places.name = places.nr;
	places.nr += reduced_name_columns(view, &columns[places.nr]);
	return places;
}

void reduced_spread_fill(const struct reduced_row *row, struct table_cell *cells)
{
	table_set_integer(&cells[0], row->nr_processes);
	if (row->times.group.count) {
		table_set_integer(&cells[1], row->least.ns);
		reduced_who_cell(&cells[2], &row->least.who);
		table_set_integer(&cells[3], row->most.ns);
		reduced_who_cell(&cells[4], &row->most.who);
	}
}

static void fill(const struct places *places, struct reduced_row *row, double total_ns,
	struct table_cell *cells)
{
	uint64_t p99_ns = sketch_finish(&row->times);

	keyed_stats_fill_times(
		&row->times.group, p99_ns, row->times.group.count + row->untimed, total_ns, cells);
	for (unsigned int i = 0; i < places->nr_sums; i++) {
		table_set_integer(&cells[places->sums + i], row->sums[i]);
	}
	if (places->failed) {
		table_set_integer(&cells[places->failed], row->failed);
	}
	if (places->untimed) {
		table_set_integer(&cells[places->untimed], row->untimed);
	}
	reduced_spread_fill(row, &cells[places->spread]);
	reduced_name_fill(&row->key, &cells[places->name]);
}

static size_t count_without_works(const struct reduced *reduced)
{
	size_t nr = 0;

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		nr += reduced->processes[i].who.is_without_works;
	}
	return nr;
}

static void note(const struct reduced *reduced, unsigned int view, struct table *table)
{
	size_t nr_without = count_without_works(reduced);
	char without[96] = "";

	if (nr_without && view >= REDUCED_KERNEL && view <= REDUCED_MEMSET) {
		snprintf(without, sizeof(without), "; %zu of %zu processes have no device records",
			nr_without, reduced->nr_processes);
	}
	table_note(table,
		"all processes together; medians and p99 to 1.6 %%; most: the process that spent "
		"most in it%s",
		without);
}

struct table *reduced_rows_table(struct reduced *reduced, unsigned int view)
{
	static struct table_column columns[NR_LAYOUTS][MOST_COLUMNS];
	const struct layout *layout = &layouts[view];
	struct places places = choose_columns((enum reduced_view)view, columns[view]);
	struct table *table = table_create(
		layout->key, reduced_name_title((enum reduced_view)view), columns[view], places.nr);
	double total_ns = 0;

	for (struct reduced_row *row = reduced->rows; row; row = row->hh.next) {
		total_ns += row->key.view == view ? (double)row->times.group.sum : 0;
	}
	for (struct reduced_row *row = reduced->rows; row; row = row->hh.next) {
		if (row->key.view == view) {
			fill(&places, row, total_ns, table_add_row(table));
		}
	}
	note(reduced, view, table);
	table_sort(table, "total");
	return table;
}
