/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of times: half-open intervals [begin, end), and what sets of them have in common or not.
 * Unlike busy.h it keeps the intervals, so that sets can be compared; a set takes 16 bytes for each
 * stretch that stands alone, and each that was added since intervals_merge.
 *
 * A set starts with all zeros. Empty intervals and those that end before they begin are left out.
 */
#ifndef REPORT_UTIL_INTERVALS_H
#define REPORT_UTIL_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- sorting ---- */

/*
 * Sorts intervals by their begins, equal ones staying in order. Work comes in a few rising runs,
 * one a stream, and passes from the end give falling ones: runs are found, turned and merged.
 */

struct interval {
	uint64_t begin, end;
};

/* What it works with, to be used again. Starts with all zeros. */
struct interval_sort {
	struct interval *scratch;
	size_t *runs; /* where they begin, and the end */
	size_t nr_runs, capacity, run_capacity;
};

void interval_sort_fini(struct interval_sort *sort);
void interval_sort_run(struct interval_sort *sort, struct interval *items, size_t nr_items);

/* ---- sets ---- */

struct intervals {
	struct interval *items;
	size_t nr, capacity;
	bool is_unsorted; /* something was added that intervals_merge has not put in its place */
};

void intervals_fini(struct intervals *set);

/* Takes everything out, but keeps the memory. */
void intervals_clear(struct intervals *set);

/* What begins in or behind the last one is joined at once: sets that are made in order stay merged.
 */
void intervals_add(struct intervals *set, uint64_t begin, uint64_t end);

/* Sorts, and joins what overlaps or touches. Of a merged set it costs nothing. */
void intervals_merge(struct intervals *set);

/* All below are of merged sets. */
uint64_t intervals_length(const struct intervals *set);

/* How much of it lies in [begin, end). */
uint64_t intervals_length_in(const struct intervals *set, uint64_t begin, uint64_t end);

/* `out` is neither of them, and is replaced by what is in both, in a alone, in any, in [begin,
 * end).
 */
void intervals_intersect(
	const struct intervals *a, const struct intervals *b, struct intervals *out);
void intervals_subtract(
	const struct intervals *a, const struct intervals *b, struct intervals *out);
void intervals_unite(const struct intervals *a, const struct intervals *b, struct intervals *out);
void intervals_clip(
	const struct intervals *set, uint64_t begin, uint64_t end, struct intervals *out);

#endif
