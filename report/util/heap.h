/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binary heaps in arrays, the largest key on top. Items have any size and a key of 64 bits at any
 * offset; both are constants of the caller's, so that the compiler makes plain copies of them.
 */
#ifndef REPORT_UTIL_HEAP_H
#define REPORT_UTIL_HEAP_H

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

#endif
