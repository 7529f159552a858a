/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a whole table in memory, and the numbers of its rows sorted by the keys; a look-up
 * is two binary searches. A row has the rowid that a scan would give it, by the part (a block) that
 * it came in.
 */
#include "report/sql/event.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

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
		event_cells_reserve(&index->cells, index->of.columns, index->capacity);
	}
	for (unsigned int c = 0; index->of.columns >> c; c++) {
		if (index->of.columns >> c & 1) {
			memcpy(index->cells.values[c] + index->cells.nr, cells->values[c],
				cells->nr * sizeof(int64_t));
			memcpy(index->cells.known[c] + index->cells.nr, cells->known[c],
				cells->nr * sizeof(bool));
		}
	}
	index->cells.nr = nr_rows;
}

static int compare_values(int64_t a, int64_t b)
{
	return COMPARE(a, b);
}

static int by_keys(const void *x, const void *y, void *context)
{
	const struct event_index *index = context;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	const int64_t *times = index->cells.values[index->of.table->time_column];
	int order = 0;

	for (unsigned int k = 0; k < index->of.nr_keys && !order; k++) {
		const int64_t *values = index->cells.values[index->of.keys[k]];

		order = compare_values(values[a], values[b]);
	}
	if (!order && index->of.has_time) {
		order = compare_values(times[a], times[b]);
	}
	return order ? order : COMPARE(a, b);
}

/* A value that is not known equals nothing. */
static bool has_keys(const struct event_index *index, size_t row)
{
	for (unsigned int k = 0; k < index->of.nr_keys; k++) {
		if (!index->cells.known[index->of.keys[k]][row]) {
			return false;
		}
	}
	return true;
}

static void sort_rows(struct event_index *index)
{
	index->order = mem_zeroed(index->cells.nr, sizeof(*index->order));
	for (size_t row = 0; row < index->cells.nr; row++) {
		if (has_keys(index, row)) {
			index->order[index->nr_rows++] = (uint32_t)row;
		}
	}
	qsort_r(index->order, index->nr_rows, sizeof(*index->order), by_keys, index);
}

static void destroy(struct event_index *index)
{
	event_cells_fini(&index->cells);
	free(index->parts);
	free(index->order);
	free(index);
}

static bool is_same(const struct event_index_of *a, const struct event_index_of *b)
{
	return a->table == b->table && a->columns == b->columns && a->nr_keys == b->nr_keys &&
	       a->has_time == b->has_time &&
	       !memcmp(a->keys, b->keys, a->nr_keys * sizeof(*a->keys));
}

/*
 * A query that needs other columns gets an index of its own. NULL: there are more rows than an
 * index can number.
 */
const struct event_index *event_index_find(
	struct event_indexes *indexes, struct event_input *input, const struct event_index_of *of)
{
	static const struct event_bounds any = {.first_ns = INT64_MIN, .last_ns = INT64_MAX};
	struct event_scan scan = {0};
	struct event_index *index;

	for (index = indexes->first; index; index = index->next) {
		if (is_same(&index->of, of)) {
			return index;
		}
	}
	index = mem_zeroed(1, sizeof(*index));
	index->of = *of;
	event_scan_begin(&scan, input, of->table, of->columns, &any);
	while (event_scan_next(&scan) && index->cells.nr <= UINT32_MAX - GPROF_BLOCK_ROWS) {
		append(index, &scan);
	}
	event_scan_end(&scan);
	if (index->cells.nr > UINT32_MAX - GPROF_BLOCK_ROWS) {
		destroy(index);
		return NULL;
	}
	sort_rows(index);
	index->next = indexes->first;
	indexes->first = index;
	return index;
}

void event_indexes_fini(struct event_indexes *indexes)
{
	struct event_index *index, *next;

	for (index = indexes->first; index; index = next) {
		next = index->next;
		destroy(index);
	}
	indexes->first = NULL;
}

/* Compares a row with these keys and that time. */
static int compare_row(
	const struct event_index *index, size_t row, const int64_t *values, int64_t time_ns)
{
	int order = 0;

	for (unsigned int k = 0; k < index->of.nr_keys && !order; k++) {
		order = compare_values(index->cells.values[index->of.keys[k]][row], values[k]);
	}
	if (!order && index->of.has_time) {
		order = compare_values(
			index->cells.values[index->of.table->time_column][row], time_ns);
	}
	return order;
}

/*
 * Returns the first position in `order` of a row that is not before these; is_behind: of one behind
 * them.
 */
static size_t find_place(
	const struct event_index *index, const int64_t *values, int64_t time_ns, bool is_behind)
{
	size_t at;

	BISECT(at, 0, index->nr_rows,
		compare_row(index, index->order[at], values, time_ns) < (int)is_behind);
	return at;
}

void event_index_look_up(const struct event_index *index, const int64_t *values,
	const struct event_bounds *bounds, size_t *begin, size_t *end)
{
	*begin = find_place(index, values, bounds->first_ns, false);
	*end = find_place(index, values, bounds->last_ns, true);
}

int64_t event_index_rowid(const struct event_index *index, size_t row)
{
	const struct event_index_part *part;
	size_t at; /* behind the last part that begins at the row, or before */

	BISECT(at, 1, index->nr_parts, index->parts[at].first <= row);
	part = &index->parts[at - 1];
	return part->first_rowid + (int64_t)(row - part->first);
}
