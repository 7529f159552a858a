/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table/keyed_stats.h"

#include <stdlib.h>

#include "report/util/hash.h"

struct tally_index {
	uint64_t key;
	uint32_t row;
	UT_hash_handle hh;
};

void tally_init(struct tally *tally)
{
	*tally = (struct tally){0};
	stat_init(&tally->times);
	stat_init(&tally->sizes);
}

void tally_fini(struct tally *tally)
{
	hash_free(tally->index);
	stat_fini(&tally->times);
	stat_fini(&tally->sizes);
	free(tally->rows);
	*tally = (struct tally){0};
}

uint32_t tally_find(struct tally *tally, uint64_t key, uint32_t name, uint32_t kind)
{
	struct tally_index *index;

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
	tally->rows[tally->nr_rows++] = (struct tally_row){.key = key, .name = name, .kind = kind};
	stat_grow(&tally->times, index->row);
	stat_grow(&tally->sizes, index->row);
	return index->row;
}

void tally_finish(struct tally *tally)
{
	stat_finish(&tally->times);
	stat_finish(&tally->sizes);
}

uint64_t tally_calls(const struct tally *tally, size_t row)
{
	return tally->times.groups[row].count + tally->rows[row].untimed;
}

double tally_total_ns(const struct tally *tally)
{
	double total_ns = 0;

	for (size_t i = 0; i < tally->nr_rows; i++) {
		total_ns += (double)tally->times.groups[i].sum;
	}
	return total_ns;
}

/* cells: share, total, calls, average, median; and, from there on, least, most, deviation. */
static void fill(const struct stat_group *times, uint64_t calls, double total_ns,
	struct table_cell *cells, struct table_cell *rest)
{
	table_set_integer(&cells[2], calls);
	if (!times->count) {
		return; /* nothing is known of its times */
	}
	table_set_integer(&cells[1], stat_sum(times));
	table_set_share(&cells[0], (double)times->sum, total_ns);
	table_set_number(&cells[3], stat_mean(times));
	table_set_number(&cells[4], stat_median(times));
	table_set_integer(&rest[0], times->min);
	table_set_integer(&rest[1], times->max);
	table_set_number(&rest[2], stat_deviation(times));
}

void tally_fill_times(const struct stat_group *times, uint64_t p99_ns, uint64_t calls,
	double total_ns, struct table_cell *cells)
{
	fill(times, calls, total_ns, cells, cells + 6);
	if (times->count) {
		table_set_integer(&cells[5], p99_ns);
	}
}

void tally_fill(const struct tally *tally, size_t row, double total_ns, struct table_cell *cells)
{
	tally_fill_times(&tally->times.groups[row], stat_p99(&tally->times, row),
		tally_calls(tally, row), total_ns, cells);
}

void tally_fill_nsys(
	const struct tally *tally, size_t row, double total_ns, struct table_cell *cells)
{
	fill(&tally->times.groups[row], tally_calls(tally, row), total_ns, cells, cells + 5);
}

void tally_note(const struct tally *tally, struct table *table)
{
	if (!tally->times.is_exact) {
		table_note(table, "%s%smedians and p99 to 1.6 %% (more than %u values)",
			table->note ? table->note : "", table->note ? "; " : "", STAT_EXACT);
	}
}
