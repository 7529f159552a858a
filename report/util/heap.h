/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binary heaps in arrays. Items have any size; those of heap_push() and heap_drop() have a key of
 * 64 bits at any offset, the largest on top, the others are in the order of a function. All these
 * are constants of the caller's, so that the compiler makes plain copies and calls of them.
 */
#ifndef REPORT_UTIL_HEAP_H
#define REPORT_UTIL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t heap_key(const char *items, size_t at, size_t bytes, size_t key)
{
	uint64_t value;

	memcpy(&value, items + at * bytes + key, sizeof(value));
	return value;
}

/* Adds an item to a heap of so many; the array has room for it. key: the offset of its key. */
static inline void heap_push(void *heap, size_t nr, size_t bytes, size_t key, const void *item)
{
	char *items = heap;
	uint64_t own = heap_key(item, 0, bytes, key);
	size_t at = nr;

	for (; at && heap_key(items, (at - 1) / 2, bytes, key) < own; at = (at - 1) / 2) {
		memcpy(items + at * bytes, items + (at - 1) / 2 * bytes, bytes);
	}
	memcpy(items + at * bytes, item, bytes);
}

/* Removes the top of a heap, of which so many items are left; `last` was the one behind these. */
static inline void heap_drop(void *heap, size_t nr_left, size_t bytes, size_t key, const void *last)
{
	char *items = heap;
	uint64_t own = heap_key(last, 0, bytes, key);
	size_t at = 0, child;

	while ((child = 2 * at + 1) < nr_left) {
		child += child + 1 < nr_left && heap_key(items, child + 1, bytes, key) >
							heap_key(items, child, bytes, key);
		if (heap_key(items, child, bytes, key) <= own) {
			break;
		}
		memcpy(items + at * bytes, items + child * bytes, bytes);
		at = child;
	}
	memcpy(items + at * bytes, last, bytes);
}

/* ---- in the order of a function ---- */

/* The most bytes of such an item. */
#define HEAP_ITEM_BYTES 256u

/* Does a belong above b? */
typedef bool heap_order(const void *a, const void *b);

static inline bool heap_swap_if(char *items, size_t a, size_t b, size_t bytes, heap_order *is_above)
{
	char item[HEAP_ITEM_BYTES];

	if (!is_above(items + a * bytes, items + b * bytes)) {
		return false;
	}
	memcpy(item, items + a * bytes, bytes);
	memcpy(items + a * bytes, items + b * bytes, bytes);
	memcpy(items + b * bytes, item, bytes);
	return true;
}

/* Moves the last item of a heap, at `at`, up to where it belongs. Returns where that is. */
static inline size_t heap_rise(void *heap, size_t at, size_t bytes, heap_order *is_above)
{
	while (at && heap_swap_if(heap, at, (at - 1) / 2, bytes, is_above)) {
		at = (at - 1) / 2;
	}
	return at;
}

/* Moves the top of a heap of so many items down to where it belongs. */
static inline void heap_sink(void *heap, size_t nr, size_t bytes, heap_order *is_above)
{
	char *items = heap;
	size_t at = 0, child;

	while ((child = 2 * at + 1) < nr) {
		child += child + 1 < nr &&
			 is_above(items + (child + 1) * bytes, items + child * bytes);
		if (!heap_swap_if(items, child, at, bytes, is_above)) {
			return;
		}
		at = child;
	}
}

#endif
