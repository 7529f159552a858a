/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of rows that add up over processes: the columns of keyed_stats.h and the sums that the
 * view declares, or its own columns; and the processes that spent least and most.
 */
#include <stdio.h>
#include <string.h>

#include "report/util/string_pool.h"
#include "report/analysis/view.h"
#include "report/reduce/reduced_view.h"
#include "report/stats/keyed_stats.h"

#define MAX_COLUMNS \
	(KEYED_STATS_NR_COLUMNS + VIEW_MERGE_SUMS + 2u + REDUCED_SPREAD_COLUMNS + VIEW_MERGE_KEYS)

/* ---- names ---- */

const char *reduced_name_title(enum reduced_view view)
{
	const struct view_class *class = reduced_classes[view];

	return class->merge.title ? class->merge.title : class->title;
}

/* Copies the columns with these keys of a view. Returns their number. */
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
	return add_columns(
		reduced_classes[view], reduced_classes[view]->merge.keys, VIEW_MERGE_KEYS, columns);
}

void reduced_name_fill(const struct reduced_key *key, struct table_cell *cells)
{
	const struct view_merge *merge = &reduced_classes[key->view]->merge;
	const struct keyed_stats_row row = {.name = key->name, .kind = key->kind};
	struct table_column columns[VIEW_MERGE_KEYS];

	if (merge->fill_keys) {
		merge->fill_keys(key->kind, key->name, cells);
	} else if (!merge->keys[1]) {
		table_set_integer(cells, key->name);
	} else {
		table_fill(columns, reduced_name_columns(key->view, columns), &row, cells);
	}
}

/* ---- rows ---- */

static const struct table_column spread[] = {REDUCED_SPREAD};

/* Indices of columns; failed and untimed: 0 if there is none. */
struct places {
	unsigned int nr, own, nr_sums, sums, failed, untimed, spread, name;
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

static void add_own_columns(
	const struct view_class *class, struct table_column *columns, struct places *places)
{
	places->nr = add_columns(class, class->merge.keys, VIEW_MERGE_KEYS, columns);
	places->own = places->nr;
	memcpy(&columns[places->nr], class->merge.columns,
		class->merge.nr_columns * sizeof(*columns));
	places->nr += class->merge.nr_columns;
}

static void add_keyed_columns(
	const struct view_class *class, struct table_column *columns, struct places *places)
{
	const struct table_column keyed[] = {KEYED_STATS_COLUMNS(
		class->merge.share ? class->merge.share : class->columns[0].title)};

	memcpy(columns, keyed, sizeof(keyed));
	places->sums = KEYED_STATS_NR_COLUMNS;
	places->nr_sums =
		add_columns(class, class->merge.sums, VIEW_MERGE_SUMS, &columns[places->sums]);
	places->nr = places->sums + places->nr_sums;
	places->failed = add_count(class, "failed", columns, places);
	places->untimed = add_count(class, "untimed", columns, places);
}

static struct places choose_columns(const struct view_class *class, struct table_column *columns)
{
	struct places places = {0};

	if (class->merge.fill) {
		add_own_columns(class, columns, &places);
	} else {
		add_keyed_columns(class, columns, &places);
	}
	places.spread = places.nr;
	memcpy(&columns[places.spread], spread, sizeof(spread));
	places.nr += REDUCED_SPREAD_COLUMNS;
	if (!class->merge.fill) {
		places.name = places.nr;
		places.nr += add_columns(
			class, class->merge.keys, VIEW_MERGE_KEYS, &columns[places.name]);
	}
	return places;
}

static void fill_keyed(const struct places *places, const struct reduced_row *row, uint64_t p99_ns,
	double total_ns, struct table_cell *cells)
{
	static const struct table_column columns[] = {KEYED_STATS_COLUMNS("")};
	struct keyed_stats_times times = keyed_stats_times_of(
		&row->times.group, p99_ns, row->times.group.count + row->untimed, total_ns);

	TABLE_FILL(columns, &times, cells);
	for (unsigned int i = 0; i < places->nr_sums; i++) {
		table_set_integer(&cells[places->sums + i], row->sums[i]);
	}
	if (places->failed) {
		table_set_integer(&cells[places->failed], row->failed);
	}
	if (places->untimed) {
		table_set_integer(&cells[places->untimed], row->untimed);
	}
}

static void fill(const struct places *places, struct reduced_row *row, double total_ns,
	struct table_cell *cells)
{
	const struct view_merge *merge = &reduced_classes[row->key.view]->merge;
	uint64_t p99_ns = sketch_finish(&row->times);

	if (merge->fill) {
		const struct view_merged merged = {
			&row->times.group, p99_ns, row->untimed, row->sums, row->key.kind};

		merge->fill(&merged, &cells[places->own]);
	} else {
		fill_keyed(places, row, p99_ns, total_ns, cells);
	}
	TABLE_FILL(spread, row, &cells[places->spread]);
	reduced_name_fill(&row->key, &cells[places->name]);
}

static size_t count_without_devices(const struct reduced *reduced)
{
	size_t nr = 0;

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		nr += reduced->processes[i].who.has_no_devices;
	}
	return nr;
}

static void note(const struct reduced *reduced, unsigned int view, struct table *table)
{
	size_t nr_without = count_without_devices(reduced);

	if (reduced_classes[view]->merge.note) {
		table_note(table, "%s", reduced_classes[view]->merge.note);
		return;
	}
	table_note(table, "Sums over all processes; medians and p99 are accurate to 1.6 %%.");
	if (nr_without && view >= REDUCED_KERNEL && view <= REDUCED_MEMSET) {
		table_note(table, "%zu of %zu processes have no GPU activities.", nr_without,
			reduced->nr_processes);
	}
}

struct table *reduced_rows_table(struct reduced *reduced, unsigned int view)
{
	const struct view_class *class = reduced_classes[view];
	struct table_column columns[MAX_COLUMNS];
	struct places places = choose_columns(class, columns);
	struct table *table = table_create(
		class->name, reduced_name_title((enum reduced_view)view), columns, places.nr);
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
	table_sort(table, class->merge.sort ? class->merge.sort : "total");
	return table;
}
