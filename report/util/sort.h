/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order in memory: comparisons, bisection, and the two sorts that are faster than qsort on events.
 * external_sort.h sorts what memory should not hold; heap.h keeps the first of a set on top.
 *
 *   run_sort, natural_sort   for items that come in long runs: they find the runs and merge them
 *   key_sort                for times in no order: they have few digits (radix sort)
 */
#ifndef REPORT_UTIL_SORT_H
#define REPORT_UTIL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "report/util/buf.h"

/* ---- comparisons ---- */

/* Of two values of any type. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* By the first comparison that differs, of up to six: ORDER(COMPARE(x->a, y->a), strcmp(...)). */
#define ORDER_2(a, b)				     ((a) ?: (b))
#define ORDER_3(a, ...)				     ((a) ?: ORDER_2(__VA_ARGS__))
#define ORDER_4(a, ...)				     ((a) ?: ORDER_3(__VA_ARGS__))
#define ORDER_5(a, ...)				     ((a) ?: ORDER_4(__VA_ARGS__))
#define ORDER_6(a, ...)				     ((a) ?: ORDER_5(__VA_ARGS__))
#define ORDER_OF(c1, c2, c3, c4, c5, c6, macro, ...) macro

#define ORDER(...) ORDER_OF(__VA_ARGS__, ORDER_6, ORDER_5, ORDER_4, ORDER_3, ORDER_2, )(__VA_ARGS__)

/* For qsort and bsearch: elements of these types, rising. */
int by_u64(const void *a, const void *b);
int by_i64(const void *a, const void *b);
int by_double(const void *a, const void *b);
int by_string(const void *a, const void *b); /* char * */

/* ---- bisection ---- */

/*
 * Sets `at`, a variable, to the first index in [first, end) for which `is_before` is false; `end`
 * if there is none. `is_before` is an expression of `at`, true up to some index and false from
 * there on.
 */
#define BISECT(at, first, end, is_before)                 \
	do {                                              \
		size_t low_ = (first), high_ = (end);     \
                                                          \
		while (low_ < high_) {                    \
			(at) = low_ + (high_ - low_) / 2; \
			if (is_before) {                  \
				low_ = (at) + 1;          \
			} else {                          \
				high_ = (at);             \
			}                                 \
		}                                         \
		(at) = low_;                              \
	} while (0)

/* ---- merging runs ---- */

/*
 * As qsort, but equal elements keep their order, and sorted ones only cost a look. Takes up to
 * twice as much memory again.
 */
void natural_sort(void *items, size_t nr, size_t size, int (*compare)(const void *, const void *));

/*
 * A stable merge sort of the runs that rise or fall already, for items that arrive in parts. Size
 * and order are constants of the caller's, so that the compiler makes plain copies and calls of
 * them. Each waiting run stays at least twice as long as the next, so items move rarely:
 *
 *   runs waiting   [ 80                 ][ 20      ][ 6 ]
 *   new run of 8                                     [ 8 ]     6 < 2 * 8: merged to 14,
 *                                                              20 < 2 * 14: merged to 34
 */
struct run_sort {
	char *aside;  /* the shorter of two runs while they are merged */
	size_t *runs; /* where the runs that wait for a merge begin */
	size_t nr_runs, run_capacity, aside_bytes;
	size_t end; /* of the last one */
};

/* Does `a` belong before `b`? Equal items: false. */
typedef bool run_sort_order(const void *context, const void *a, const void *b);

void run_sort_fini(struct run_sort *sort);

/* Starts with an array of which the first nr_sorted items are in order. */
void run_sort_begin(struct run_sort *sort, size_t nr_sorted);

#define RUN_SORT_INLINE static inline __attribute__((always_inline))

/* Used by the inline functions: makes room for another run, and for bytes aside. */
void run_sort_push(struct run_sort *sort, size_t begin);
void run_sort_reserve(struct run_sort *sort, size_t bytes);
void run_sort_turn(char *items, size_t nr, size_t bytes);

/* Returns the end of the run that begins at `first`; a falling one is turned to rise. */
RUN_SORT_INLINE size_t run_sort_find(char *items, size_t first, size_t nr, size_t bytes,
	run_sort_order *is_before, const void *context)
{
	const char *last = items + first * bytes;
	size_t end = first + 1;

	if (end < nr && is_before(context, last + bytes, last)) {
		do {
			last += bytes;
			end++;
		} while (end < nr && is_before(context, last + bytes, last));
		run_sort_turn(items + first * bytes, end - first, bytes);
	}
	for (last = items + (end - 1) * bytes; end < nr && !is_before(context, last + bytes, last);
		end++) {
		last += bytes;
	}
	return end;
}

/* Copies the first run aside and merges from the start. */
RUN_SORT_INLINE void run_sort_up(struct run_sort *sort, char *out, size_t nr_a, size_t nr_b,
	size_t bytes, run_sort_order *is_before, const void *context)
{
	const char *a = sort->aside, *a_end = a + nr_a * bytes;
	const char *b = out + nr_a * bytes, *b_end = b + nr_b * bytes;

	memcpy(sort->aside, out, nr_a * bytes);
	for (; a < a_end && b < b_end; out += bytes) {
		if (is_before(context, b, a)) {
			memcpy(out, b, bytes);
			b += bytes;
		} else {
			memcpy(out, a, bytes);
			a += bytes;
		}
	}
	memcpy(out, a, (size_t)(a_end - a));
}

/* Copies the second run aside and merges from the end. */
RUN_SORT_INLINE void run_sort_down(struct run_sort *sort, char *first, size_t nr_a, size_t nr_b,
	size_t bytes, run_sort_order *is_before, const void *context)
{
	const char *a = first + nr_a * bytes, *b = sort->aside + nr_b * bytes;
	char *out = first + (nr_a + nr_b) * bytes;

	memcpy(sort->aside, a, nr_b * bytes);
	while (a > first && b > sort->aside) {
		out -= bytes;
		if (is_before(context, b - bytes, a - bytes)) {
			a -= bytes;
			memcpy(out, a, bytes);
		} else {
			b -= bytes;
			memcpy(out, b, bytes);
		}
	}
	memcpy(first, sort->aside, (size_t)(b - sort->aside));
}

/*
 * Merges the last two runs where they overlap: the front of the first and the back of the second
 * mostly stay where they are. Only the shorter of the two parts is copied aside.
 */
RUN_SORT_INLINE void run_sort_merge(struct run_sort *sort, char *items, size_t bytes,
	run_sort_order *is_before, const void *context)
{
	size_t middle = sort->runs[--sort->nr_runs], a, b;
	const char *second = items + middle * bytes, *last = second - bytes;

	BISECT(a, sort->runs[sort->nr_runs - 1], middle,
		!is_before(context, second, items + a * bytes));
	if (a == middle) {
		return;
	}
	BISECT(b, middle, sort->end, is_before(context, items + b * bytes, last));
	run_sort_reserve(sort, (middle - a < b - middle ? middle - a : b - middle) * bytes);
	if (middle - a <= b - middle) {
		run_sort_up(
			sort, items + a * bytes, middle - a, b - middle, bytes, is_before, context);
	} else {
		run_sort_down(
			sort, items + a * bytes, middle - a, b - middle, bytes, is_before, context);
	}
}

/* Is the last run but one less than twice as long as the last? */
static inline bool run_sort_is_due(const struct run_sort *sort)
{
	const size_t *last = sort->runs + sort->nr_runs - 1;

	return sort->nr_runs > 1 && last[0] - last[-1] < 2 * (sort->end - last[0]);
}

/* Adds the items behind those that were added before; there are `nr` now. They may move between
 * calls. */
RUN_SORT_INLINE void run_sort_add(struct run_sort *sort, void *items, size_t nr, size_t bytes,
	run_sort_order *is_before, const void *context)
{
	while (sort->end < nr) {
		run_sort_push(sort, sort->end);
		sort->end = run_sort_find(items, sort->end, nr, bytes, is_before, context);
		while (run_sort_is_due(sort)) {
			run_sort_merge(sort, items, bytes, is_before, context);
		}
	}
}

/* Merges all runs that still wait. */
RUN_SORT_INLINE void run_sort_end(struct run_sort *sort, void *items, size_t bytes,
	run_sort_order *is_before, const void *context)
{
	while (sort->nr_runs > 1) {
		run_sort_merge(sort, items, bytes, is_before, context);
	}
}

/* ---- digits ---- */

struct sort_key {
	uint64_t key;
	size_t at; /* which item it is the key of */
};

/* Compares two items with equal keys, as qsort does. */
typedef int key_sort_order(const void *context, size_t a, size_t b);

/*
 * Sorts by key, then by `compare`, then as they stand. Returns `keys` or `spare`, which has as much
 * room; the keys themselves are lower by the least of them afterwards.
 */
struct sort_key *key_sort(struct sort_key *keys, struct sort_key *spare, size_t nr,
	key_sort_order *compare, const void *context);

#endif
