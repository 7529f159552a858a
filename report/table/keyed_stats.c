/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table/keyed_stats.h"

#include <stdlib.h>

#include "report/util/hash.h"

struct keyed_stats_index {
	uint64_t key;
	uint32_t row;
	UT_hash_handle hh;
};

void keyed_stats_init(struct keyed_stats *tally)
{
	*tally = (struct keyed_stats){0};
	histogram_init(&tally->times);
	histogram_init(&tally->sizes);
}

void keyed_stats_fini(struct keyed_stats *tally)
{
	hash_free(tally->index);
	histogram_fini(&tally->times);
	histogram_fini(&tally->sizes);
	free(tally->rows);
	*tally = (struct keyed_stats){0};
}

uint32_t keyed_stats_find(struct keyed_stats *tally, uint64_t key, uint32_t name, uint32_t kind)
{
	struct keyed_stats_index *index;

	HASH_FIND(hh, tally->index, &key, sizeof(key), index);
	if (index) {
		return index->row;
	}
	index = mem_zeroed(1, sizeof(*index));
	index->key = key;
	index->row = (uint32_t)tally->nr_rows;
	HASH_ADD(hh, tally->index, key, sizeof(index->key), index);
	tally->rows =
		array_grow(tally->rows, tally->nr_rows, &tally->capacity, sizeof(*tally->rows));
	tally->rows[tally->nr_rows++] =
		(struct keyed_stats_row){.key = key, .name = name, .kind = kind};
	histogram_grow(&tally->times, index->row);
	histogram_grow(&tally->sizes, index->row);
	return index->row;
}

void keyed_stats_finish(struct keyed_stats *tally)
{
	histogram_finish(&tally->times);
	histogram_finish(&tally->sizes);
}

uint64_t keyed_stats_calls(const struct keyed_stats *tally, size_t row)
{
	return tally->times.groups[row].count + tally->rows[row].untimed;
}

double keyed_stats_total_ns(const struct keyed_stats *tally)
{
	double total_ns = 0;

	for (size_t i = 0; i < tally->nr_rows; i++) {
		total_ns += (double)tally->times.groups[i].sum;
	}
	return total_ns;
}

/* cells: share, total, calls, average, median; and, from there on, least, most, deviation. */
static void fill(const struct histogram_group *times, uint64_t calls, double total_ns,
	struct table_cell *cells, struct table_cell *rest)
{
	table_set_integer(&cells[2], calls);
	if (!times->count) {
		return; /* nothing is known of its times */
	}
	table_set_integer(&cells[1], histogram_sum(times));
	table_set_share(&cells[0], (double)times->sum, total_ns);
	table_set_number(&cells[3], histogram_mean(times));
	table_set_number(&cells[4], histogram_median(times));
	table_set_integer(&rest[0], times->min);
	table_set_integer(&rest[1], times->max);
	table_set_number(&rest[2], histogram_deviation(times));
}

void keyed_stats_fill_times(const struct histogram_group *times, uint64_t p99_ns, uint64_t calls,
	double total_ns, struct table_cell *cells)
{
	fill(times, calls, total_ns, cells, cells + 6);
	if (times->count) {
		table_set_integer(&cells[5], p99_ns);
	}
}

void keyed_stats_fill(
	const struct keyed_stats *tally, size_t row, double total_ns, struct table_cell *cells)
{
	keyed_stats_fill_times(&tally->times.groups[row], histogram_p99(&tally->times, row),
		keyed_stats_calls(tally, row), total_ns, cells);
}

void keyed_stats_fill_nsys(
	const struct keyed_stats *tally, size_t row, double total_ns, struct table_cell *cells)
{
	fill(&tally->times.groups[row], keyed_stats_calls(tally, row), total_ns, cells, cells + 5);
}

void keyed_stats_note(const struct keyed_stats *tally, struct table *table)
{
	if (!tally->times.is_exact) {
		table_note(table, "%s%smedians and p99 to 1.6 %% (more than %u values)",
			table->note ? table->note : "", table->note ? "; " : "", HISTOGRAM_EXACT);
	}
}
