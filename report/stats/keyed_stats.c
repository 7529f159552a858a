/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of most views: a key, a name, and the statistics of times and sizes in two histograms,
 * where row k is group k. Views look up the row of each event, so the header has a small cache by
 * hash in front of the hash table here. Cells are filled in the order of KEYED_STATS_COLUMNS; the
 * columns of nsys lack p99, hence the two pointers of fill().
 */
#include "report/stats/keyed_stats.h"

#include <stdlib.h>

#include "report/util/hash.h"

struct keyed_stats_index {
	uint64_t key;
	uint32_t row;
	UT_hash_handle hh;
};

void keyed_stats_init(struct keyed_stats *stats)
{
	*stats = (struct keyed_stats){0};
	histogram_init(&stats->times);
	histogram_init(&stats->sizes);
}

void keyed_stats_fini(struct keyed_stats *stats)
{
	hash_free(stats->index);
	histogram_fini(&stats->times);
	histogram_fini(&stats->sizes);
	free(stats->rows);
	*stats = (struct keyed_stats){0};
}

static struct keyed_stats_index *add_row(
	struct keyed_stats *stats, uint64_t key, uint32_t name, uint32_t kind)
{
	struct keyed_stats_index *index = mem_zeroed(1, sizeof(*index));

	index->key = key;
	index->row = (uint32_t)stats->nr_rows;
	HASH_ADD(hh, stats->index, key, sizeof(index->key), index);
	stats->rows =
		array_grow(stats->rows, stats->nr_rows, &stats->capacity, sizeof(*stats->rows));
	stats->rows[stats->nr_rows++] =
		(struct keyed_stats_row){.key = key, .name = name, .kind = kind};
	histogram_grow(&stats->times, index->row);
	histogram_grow(&stats->sizes, index->row);
	return index;
}

uint32_t keyed_stats_find_slow(
	struct keyed_stats *stats, uint64_t key, uint32_t name, uint32_t kind)
{
	struct keyed_stats_index *index;

	HASH_FIND(hh, stats->index, &key, sizeof(key), index);
	if (!index) {
		index = add_row(stats, key, name, kind);
	}
	*keyed_stats_recent(stats, key) = (struct keyed_stats_recent){key, index->row + 1};
	return index->row;
}

void keyed_stats_finish(struct keyed_stats *stats)
{
	if (!stats->is_finished) {
		histogram_finish(&stats->times);
		histogram_finish(&stats->sizes);
		stats->is_finished = true;
	}
}

uint64_t keyed_stats_calls(const struct keyed_stats *stats, size_t row)
{
	return stats->times.groups[row].count + stats->rows[row].untimed;
}

double keyed_stats_total_ns(const struct keyed_stats *stats)
{
	double total_ns = 0;

	for (size_t i = 0; i < stats->nr_rows; i++) {
		total_ns += stats->rows[i].is_counted ? 0 : (double)stats->times.groups[i].sum;
	}
	return total_ns;
}

/*
 * cells: share, total, calls, mean, median. rest: minimum, maximum, deviation, which stand behind
 * p99 or in its stead.
 */
static void fill(const struct histogram_group *times, uint64_t calls, double total_ns,
	struct table_cell *cells, struct table_cell *rest)
{
	table_set_integer(&cells[2], calls);
	if (!times->count) {
		return; /* no times are known */
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

static const struct histogram_group *shown_times(const struct keyed_stats *stats, size_t row)
{
	static const struct histogram_group none;

	return stats->rows[row].is_counted ? &none : &stats->times.groups[row];
}

void keyed_stats_fill(
	const struct keyed_stats *stats, size_t row, double total_ns, struct table_cell *cells)
{
	keyed_stats_fill_times(shown_times(stats, row), histogram_p99(&stats->times, row),
		keyed_stats_calls(stats, row), total_ns, cells);
}

struct table_cell *keyed_stats_add(
	const struct keyed_stats *stats, size_t row, double total_ns, struct table *table)
{
	struct table_cell *cells = table_add(table, &stats->rows[row]);

	keyed_stats_fill(stats, row, total_ns, cells);
	return cells;
}

void keyed_stats_fill_nsys(
	const struct keyed_stats *stats, size_t row, double total_ns, struct table_cell *cells)
{
	fill(shown_times(stats, row), keyed_stats_calls(stats, row), total_ns, cells, cells + 5);
}

void keyed_stats_note(const struct keyed_stats *stats, struct table *table)
{
	if (!stats->times.is_exact) {
		table_note(table, "Medians and p99 are accurate to 1.6 %% (more than %u values).",
			HISTOGRAM_EXACT);
	}
}
