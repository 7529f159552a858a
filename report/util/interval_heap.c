/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/interval_heap.h"

#include "report/util/buf.h"

void interval_heap_push(struct intervals *heap, struct busy_interval item)
{
	size_t at = heap->nr;

	heap->items = array_grow(heap->items, heap->nr, &heap->capacity, sizeof(*heap->items));
	heap->nr++;
	for (; at && heap->items[(at - 1) / 2].end < item.end; at = (at - 1) / 2) {
		heap->items[at] = heap->items[(at - 1) / 2];
	}
	heap->items[at] = item;
}

struct busy_interval interval_heap_pop(struct intervals *heap)
{
	struct busy_interval top = heap->items[0], last = heap->items[--heap->nr];
	size_t at = 0;

	for (size_t child = 1; child < heap->nr; child = 2 * at + 1) {
		child +=
			child + 1 < heap->nr && heap->items[child + 1].end > heap->items[child].end;
		if (heap->items[child].end <= last.end) {
			break;
		}
		heap->items[at] = heap->items[child];
		at = child;
	}
	heap->items[at] = last;
	return top;
}

void interval_heap_join(struct intervals *heap)
{
	heap->is_unsorted = true;
	intervals_merge(heap);
	for (size_t i = 0; i < heap->nr / 2; i++) { /* falling ones are a heap */
		struct busy_interval item = heap->items[i];

		heap->items[i] = heap->items[heap->nr - 1 - i];
		heap->items[heap->nr - 1 - i] = item;
	}
}
