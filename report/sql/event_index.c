/* SPDX-License-Identifier: Apache-2.0 */
#include "report/sql/event_index.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

static size_t hash_of(const int64_t *values, unsigned int nr_keys)
{
	uint64_t hash = 0;

	for (unsigned int k = 0; k < nr_keys; k++) {
		hash = (hash ^ (uint64_t)values[k]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	return (size_t)hash;
}

/* A value that is not known equals nothing. */
static bool keys_of(const struct event_index *index, size_t row, int64_t *values)
{
	for (unsigned int k = 0; k < index->nr_keys; k++) {
		values[k] = index->cells.values[index->keys[k]][row];
		if (!index->cells.known[index->keys[k]][row]) {
			return false;
		}
	}
	return true;
}

static void append(struct event_index *index, const struct event_scan *scan)
{
	const struct event_cells *cells = &scan->cells;
	size_t nr_rows = index->cells.nr + cells->nr;

	index->parts = array_grow(
		index->parts, index->nr_parts, &index->part_capacity, sizeof(*index->parts));
	index->parts[index->nr_parts++] =
		(struct event_index_part){index->cells.nr, scan->first_rowid};

	if (nr_rows > index->capacity) {
		index->capacity = nr_rows * 2;
		event_cells_reserve(&index->cells, index->columns, index->capacity);
	}
	for (unsigned int c = 0; index->columns >> c; c++) {
		if (index->columns >> c & 1) {
			memcpy(index->cells.values[c] + index->cells.nr, cells->values[c],
				cells->nr * sizeof(int64_t));
			memcpy(index->cells.known[c] + index->cells.nr, cells->known[c],
				cells->nr * sizeof(bool));
		}
	}
	index->cells.nr = nr_rows;
}

/* From the last row to the first, so that those of one key are found in their order. */
static void link_rows(struct event_index *index)
{
	for (index->nr_heads = 16; index->nr_heads < index->cells.nr;) {
		index->nr_heads *= 2;
	}
	index->heads = mem_zeroed(index->nr_heads, sizeof(uint32_t));
	index->nexts = mem_zeroed(index->cells.nr, sizeof(uint32_t));
	for (size_t row = index->cells.nr; row-- > 0;) {
		int64_t values[EVENT_INDEX_KEYS];
		uint32_t *head;

		if (keys_of(index, row, values)) {
			head = &index->heads[hash_of(values, index->nr_keys) &
					     (index->nr_heads - 1)];
			index->nexts[row] = *head;
			*head = (uint32_t)(row + 1);
		}
	}
}

const struct event_index *event_index_find(struct event_indexes *indexes, struct event_input *input,
	const struct event_table *table, uint64_t columns, const unsigned int *keys,
	unsigned int nr_keys)
{
	static const struct event_bounds any = {.first_ns = INT64_MIN, .last_ns = INT64_MAX};
	struct event_scan scan = {0};
	struct event_index *index;

	for (index = indexes->first; index; index = index->next) {
		if (index->table == table && index->columns == columns &&
			index->nr_keys == nr_keys &&
			!memcmp(index->keys, keys, nr_keys * sizeof(*keys))) {
			return index;
		}
	}
	index = mem_zeroed(1, sizeof(*index));
	index->table = table;
	index->columns = columns;
	index->nr_keys = nr_keys;
	memcpy(index->keys, keys, nr_keys * sizeof(*keys));
	event_scan_begin(&scan, input, table, columns, &any);
	/* Rows are counted in 32 bits here; what is more would take 40 GB. */
	while (event_scan_next(&scan) && index->cells.nr < UINT32_MAX / 2) {
		append(index, &scan);
	}
	event_scan_end(&scan);
	link_rows(index);
	index->next = indexes->first;
	indexes->first = index;
	return index;
}

void event_indexes_fini(struct event_indexes *indexes)
{
	struct event_index *index, *next;

	for (index = indexes->first; index; index = next) {
		next = index->next;
		event_cells_fini(&index->cells);
		free(index->parts);
		free(index->heads);
		free(index->nexts);
		free(index);
	}
	indexes->first = NULL;
}

static uint32_t find_from(const struct event_index *index, const int64_t *values, uint32_t row)
{
	for (; row; row = index->nexts[row - 1]) {
		int64_t found[EVENT_INDEX_KEYS];

		if (keys_of(index, row - 1, found) &&
			!memcmp(found, values, index->nr_keys * sizeof(*values))) {
			return row;
		}
	}
	return 0;
}

uint32_t event_index_first(const struct event_index *index, const int64_t *values)
{
	return find_from(index, values,
		index->heads[hash_of(values, index->nr_keys) & (index->nr_heads - 1)]);
}

uint32_t event_index_next(const struct event_index *index, const int64_t *values, uint32_t row)
{
	return find_from(index, values, index->nexts[row - 1]);
}

int64_t event_index_rowid(const struct event_index *index, uint32_t row)
{
	size_t low = 0, high = index->nr_parts;

	while (high - low > 1) { /* the last part that begins at the row, or before */
		size_t middle = low + (high - low) / 2;

		if (index->parts[middle].first <= row - 1) {
			low = middle;
		} else {
			high = middle;
		}
	}
	return index->parts[low].first_rowid + (int64_t)(row - 1 - index->parts[low].first);
}
