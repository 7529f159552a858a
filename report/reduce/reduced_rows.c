/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of rows of all processes: the columns of tallies, sums, and who spent least and most. */
#include <stdio.h>
#include <string.h>

#include "report/util/string_pool.h"
#include "report/analysis/view.h"
#include "report/reduce/reduced_view.h"
#include "report/table/keyed_stats.h"

#define MOST_COLUMNS \
	(KEYED_STATS_NR_COLUMNS + NR_REDUCED_SUMS + 2u + REDUCED_SPREAD_COLUMNS + VIEW_MERGE_KEYS)

/* The view whose rows these are: its columns and what of it adds up. */
static const struct view_class *const classes[NR_REDUCED_VIEWS] = {
	[REDUCED_OPERATOR] = &view_operator,
	[REDUCED_KERNEL] = &view_kernel,
	[REDUCED_COLLECTIVE] = &view_collective,
	[REDUCED_MEMCPY] = &view_memcpy,
	[REDUCED_MEMSET] = &view_memset,
	[REDUCED_API] = &view_api,
	[REDUCED_NVTX] = &view_nvtx,
	[REDUCED_NCCL] = &view_communication,
};

/* ---- names ---- */

const char *reduced_name_title(enum reduced_view view)
{
	return view == REDUCED_NCCL ? "NCCL operations" : classes[view]->title;
}

/* The columns of these keys, as many as returned. */
static unsigned int add_columns(const struct view_class *class, const char *const *keys,
	unsigned int most, struct table_column *columns)
{
	unsigned int nr = 0;

	while (nr < most && keys[nr]) {
		columns[nr] = *view_column(class, keys[nr]);
		nr++;
	}
	return nr;
}

unsigned int reduced_name_columns(enum reduced_view view, struct table_column *columns)
{
	return add_columns(classes[view], classes[view]->merge.keys, VIEW_MERGE_KEYS, columns);
}

void reduced_name_fill(const struct reduced_key *key, struct table_cell *cells)
{
	const struct view_merge *merge = &classes[key->view]->merge;

	if (merge->fill_keys) {
		merge->fill_keys(key->kind, key->name, cells);
	} else {
		table_set_integer(cells, key->name);
	}
}

/* ---- rows ---- */

/* Where the columns behind those of tallies stand; 0: not there. */
struct places {
	unsigned int nr, nr_sums, sums, failed, untimed, spread, name;
};

static unsigned int add_count(const struct view_class *class, const char *key,
	struct table_column *columns, struct places *places)
{
	const struct table_column *column = view_column(class, key);

	if (!column) {
		return 0;
	}
	columns[places->nr] = *column;
	return places->nr++;
}

static struct places choose_columns(enum reduced_view view, struct table_column *columns)
{
	const struct view_class *class = classes[view];
	const struct table_column tally[] = {KEYED_STATS_COLUMNS(
		class->merge.share ? class->merge.share : class->columns[0].title)};
	static const struct table_column spread[] = {REDUCED_SPREAD};
	struct places places = {.nr = KEYED_STATS_NR_COLUMNS, .sums = KEYED_STATS_NR_COLUMNS};

	memcpy(columns, tally, sizeof(tally));
	places.nr_sums =
		add_columns(class, class->merge.sums, VIEW_MERGE_SUMS, &columns[places.sums]);
	places.nr += places.nr_sums;
	places.failed = add_count(class, "failed", columns, &places);
	places.untimed = add_count(class, "untimed", columns, &places);
	places.spread = places.nr;
	memcpy(&columns[places.spread], spread, sizeof(spread));
	places.name = places.spread + REDUCED_SPREAD_COLUMNS;
	places.nr = places.name + reduced_name_columns(view, &columns[places.name]);
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
	struct table_column columns[MOST_COLUMNS];
	struct places places = choose_columns((enum reduced_view)view, columns);
	struct table *table =
		table_create(classes[view]->name, classes[view]->title, columns, places.nr);
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
