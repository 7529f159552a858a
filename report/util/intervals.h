/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of half-open intervals [begin, end), and their intersection, difference and union.
 *
 * Unlike busy.h this keeps the intervals, so that sets can be compared. A set takes 16 bytes for
 * each interval that stays separate, and for each one added since intervals_merge.
 *
 * A set starts as zeros. It ignores empty intervals and those that end before they begin.
 */
#ifndef REPORT_UTIL_INTERVALS_H
#define REPORT_UTIL_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/sort.h"

struct interval {
	uint64_t begin, end;
};

/*
 * Sorts intervals by their begins, of which the first nr_sorted are in order already; stable. GPU
 * activities arrive in a few rising runs, one per stream, and reverse passes produce falling ones.
 */
void interval_sort(struct run_sort *sort, struct interval *items, size_t nr_sorted, size_t nr);

/* ---- sets ---- */

struct intervals {
	struct interval *items;
	size_t nr, capacity;
	bool is_unsorted; /* intervals_merge has not sorted the latest additions */
};

void intervals_fini(struct intervals *set);

/*
 * Joins an interval that begins inside the last one, or where it ends, at once. Sets built in order
 * therefore stay merged.
 */
void intervals_add(struct intervals *set, uint64_t begin, uint64_t end);

/*
 * Sorts the intervals and joins those that overlap or touch. It costs nothing if the set is merged.
 */
void intervals_merge(struct intervals *set);

/* All functions below expect merged sets. */
uint64_t intervals_length(const struct intervals *set);

/* Replace `out`, which is no input, by the part in both, or in [begin, end). */
void intervals_intersect(
	const struct intervals *a, const struct intervals *b, struct intervals *out);
void intervals_clip(
	const struct intervals *set, uint64_t begin, uint64_t end, struct intervals *out);

#endif
