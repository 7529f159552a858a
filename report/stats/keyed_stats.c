/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of most views: a key, a name, and the statistics of times and sizes in two histograms,
 * where row k is group k. Views look up the row of each event, so the header has a small cache by
 * hash in front of the hash table here.
 */
#include "report/stats/keyed_stats.h"

#include <math.h>
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

struct keyed_stats_times keyed_stats_times_of(
	const struct histogram_group *times, uint64_t p99_ns, uint64_t calls, double total_ns)
{
	if (!times->count) {
		return (struct keyed_stats_times){
			NAN, UINT64_MAX, calls, NAN, NAN, UINT64_MAX, UINT64_MAX, UINT64_MAX, NAN};
	}
	return (struct keyed_stats_times){.share_pct = table_share((double)times->sum, total_ns),
		.total_ns = histogram_sum(times),
		.calls = calls,
		.avg_ns = histogram_mean(times),
		.median_ns = histogram_median(times),
		.p99_ns = p99_ns,
		.min_ns = times->min,
		.max_ns = times->max,
		.stddev_ns = histogram_deviation(times)};
}

static const struct histogram_group *shown_times(const struct keyed_stats *stats, size_t row)
{
	static const struct histogram_group none;

	return stats->rows[row].is_counted ? &none : &stats->times.groups[row];
}

struct keyed_stats_times keyed_stats_times(
	const struct keyed_stats *stats, size_t row, double total_ns)
{
	return keyed_stats_times_of(shown_times(stats, row), histogram_p99(&stats->times, row),
		keyed_stats_calls(stats, row), total_ns);
}

void keyed_stats_add(const struct keyed_stats *stats, size_t row, double total_ns,
	const void *shown, struct table *table)
{
	struct keyed_stats_times times = keyed_stats_times(stats, row, total_ns);
	struct table_cell *cells = table_add_row(table);

	table_fill(table->columns, KEYED_STATS_NR_COLUMNS, &times, cells);
	table_fill(table->columns + KEYED_STATS_NR_COLUMNS,
		table->nr_columns - KEYED_STATS_NR_COLUMNS, shown ? shown : &stats->rows[row],
		cells + KEYED_STATS_NR_COLUMNS);
}

void keyed_stats_note(const struct keyed_stats *stats, struct table *table)
{
	if (!stats->times.is_exact) {
		table_note(table, "Medians and p99 are accurate to 1.6 %% (more than %u values).",
			HISTOGRAM_EXACT);
	}
}
