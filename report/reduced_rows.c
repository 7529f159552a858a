/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of rows of all processes: the columns of tallies, sums, and who spent least and most. */
#include <stdio.h>
#include <stdlib.h>

#include "report/api.h"
#include "report/copy.h"
#include "report/names.h"
#include "report/reduced_view.h"
#include "report/view.h"

#define MOST_COLUMNS (TALLY_NR_COLUMNS + NR_REDUCED_SUMS + 9u)

struct layout {
	const char *key, *title, *share, *thing;
	struct table_column sums[NR_REDUCED_SUMS];
	struct table_column kind;
	const char *(*kind_name)(uint32_t kind);
	bool has_failed, has_untimed;
};

static const char *seen_by(uint32_t kind)
{
	return kind & COPY_IS_HOST_CALL ? "host calls" : "device records";
}

#define BYTES                                            \
	{                                                \
		"total_bytes", "Size", TABLE_SIZE, false \
	}
#define ASYNC                                       \
	{                                           \
		"async", "Async", TABLE_TEXT, false \
	}

static const struct layout layouts[NR_REDUCED_VIEWS] = {
	[REDUCED_OPERATOR] = {"operator", "Operators", "% of CPU total", "Operator",
		.sums = {{"self_ns", "Self CPU", TABLE_TIME, false},
			{"gpu_self_ns", "Self GPU", TABLE_TIME, false},
			{"gpu_total_ns", "GPU total", TABLE_TIME, false},
			{"works", "GPU works", TABLE_COUNT, false}}},
	[REDUCED_KERNEL] = {"kernel", "Kernels", "% of kernel time", "Kernel", .has_untimed = true},
	[REDUCED_COLLECTIVE] = {"collectives", "Collectives", "% of communication", "Kernel",
		.sums = {{"overlap_ns", "Overlapped", TABLE_TIME, false}}},
	[REDUCED_MEMCPY] = {"memcpy", "Memory copies", "% of copy time", "Operation",
		.sums = {BYTES}, .kind = ASYNC, .kind_name = copy_async, .has_untimed = true},
	[REDUCED_MEMSET] = {"memset", "Memory sets", "% of set time", "Operation", .sums = {BYTES},
		.kind = ASYNC, .kind_name = copy_async, .has_untimed = true},
	[REDUCED_API] = {"api", "API calls", "% of API time", "Call",
		.kind = {"api", "API", TABLE_TEXT, false}, .kind_name = api_name,
		.has_failed = true},
	[REDUCED_NVTX] = {"nvtx", "NVTX ranges", "% of range time", "Range",
		.kind = {"style", "Style", TABLE_TEXT, false}, .kind_name = view_nvtx_style},
};

/* Where the columns behind those of tallies stand; 0: not there. */
struct places {
	unsigned int nr, nr_sums, sums, failed, untimed, seen_by, processes, least, most, kind;
};

static unsigned int add(
	struct table_column *columns, struct places *places, struct table_column column)
{
	columns[places->nr] = column;
	return places->nr++;
}

static struct places choose_columns(const struct layout *layout, struct table_column *columns)
{
	const struct table_column tally[] = {TALLY_COLUMNS(layout->share)};
	struct places places = {0};
	bool is_copy = layout->kind_name == copy_async;

	for (unsigned int i = 0; i < TALLY_NR_COLUMNS; i++) {
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
	places.processes = add(columns, &places,
		(struct table_column){"processes", "Processes", TABLE_COUNT, false});
	places.least =
		add(columns, &places, (struct table_column){"least_ns", "Least", TABLE_TIME, true});
	add(columns, &places,
		(struct table_column){"least_rank", "Least by rank", TABLE_TEXT, true});
	places.most =
		add(columns, &places, (struct table_column){"most_ns", "Most", TABLE_TIME, false});
	add(columns, &places,
		(struct table_column){"most_rank", "Most by rank", TABLE_TEXT, false});
	if (is_copy) {
		places.seen_by = add(columns, &places,
			(struct table_column){"seen_by", "Seen by", TABLE_TEXT, true});
	}
	if (layout->kind_name) {
		places.kind = add(columns, &places, layout->kind);
	}
	add(columns, &places, (struct table_column){"name", layout->thing, TABLE_NAME, false});
	return places;
}

void reduced_who_cell(struct table_cell *cell, const struct reduced_who *who)
{
	char text[24];

	if (who->rank >= 0) {
		snprintf(text, sizeof(text), "%lld", (long long)who->rank);
		table_set_string(cell, text);
	} else {
		table_set_string(cell, names_raw(who->name, NULL));
	}
}

static void fill(const struct layout *layout, const struct places *places, struct reduced_row *row,
	double total_ns, struct table_cell *cells)
{
	uint64_t p99_ns = sketch_finish(&row->times);

	tally_fill_times(
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
	table_set_integer(&cells[places->processes], row->nr_processes);
	if (row->times.group.count) {
		table_set_integer(&cells[places->least], row->least.ns);
		reduced_who_cell(&cells[places->least + 1], &row->least.who);
		table_set_integer(&cells[places->most], row->most.ns);
		reduced_who_cell(&cells[places->most + 1], &row->most.who);
	}
	if (places->seen_by) {
		table_set_string(&cells[places->seen_by], seen_by(row->key.kind));
	}
	if (places->kind) {
		table_set_string(&cells[places->kind], layout->kind_name(row->key.kind));
	}
	table_set_integer(&cells[places->nr - 1], row->key.name);
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
	static struct table_column columns[NR_REDUCED_VIEWS][MOST_COLUMNS];
	const struct layout *layout = &layouts[view];
	struct places places = choose_columns(layout, columns[view]);
	struct table *table = table_create(layout->key, layout->title, columns[view], places.nr);
	double total_ns = 0;

	for (struct reduced_row *row = reduced->rows; row; row = row->hh.next) {
		total_ns += row->key.view == view ? (double)row->times.group.sum : 0;
	}
	for (struct reduced_row *row = reduced->rows; row; row = row->hh.next) {
		if (row->key.view == view) {
			fill(layout, &places, row, total_ns, table_add_row(table));
		}
	}
	note(reduced, view, table);
	table_sort(table, "total");
	return table;
}

const struct reduced_view_class reduced_views[] = {
	{"steps", reduced_steps_table, 0},
	{"distributed", reduced_distributed_table, 0},
	{"operator", reduced_rows_table, REDUCED_OPERATOR},
	{"kernel", reduced_rows_table, REDUCED_KERNEL},
	{"collectives", reduced_rows_table, REDUCED_COLLECTIVE},
	{"memcpy", reduced_rows_table, REDUCED_MEMCPY},
	{"memset", reduced_rows_table, REDUCED_MEMSET},
	{"api", reduced_rows_table, REDUCED_API},
	{"nvtx", reduced_rows_table, REDUCED_NVTX},
	{NULL, NULL, 0},
};

const struct reduced_view_class *reduced_view_find(const char *name)
{
	for (const struct reduced_view_class *class = reduced_views; class->name; class ++) {
		if (strcmp(class->name, name) == 0) {
			return class;
		}
	}
	return NULL;
}
