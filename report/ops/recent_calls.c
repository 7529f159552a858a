/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/recent_calls.h"

#include <stdlib.h>

#include "report/util/buf.h"

void recent_calls_fini(struct recent_calls *recent)
{
	gpu_times_fini(&recent->places);
	free(recent->items);
	*recent = (struct recent_calls){0};
}

bool recent_calls_remove(
	struct recent_calls *recent, uint32_t correlation, struct recent_calls_item *item)
{
	struct gpu_times_entry entry;

	if (!gpu_times_remove(&recent->places, correlation, &entry)) {
		return false;
	}
	*item = recent->items[entry.records - 1];
	recent->items[entry.records - 1].correlation = 0;
	return true;
}

bool recent_calls_put(struct recent_calls *recent, const struct recent_calls_item *item,
	struct recent_calls_item *gone)
{
	struct recent_calls_item old;
	bool is_gone = false;
	size_t place;

	if (!item->correlation) {
		return false;
	}
	recent_calls_remove(recent, item->correlation, &old);
	if (recent->nr_items < RECENT_CALLS_ITEMS) {
		recent->items = array_grow(
			recent->items, recent->nr_items, &recent->capacity, sizeof(*recent->items));
		place = recent->nr_items++;
	} else {
		place = recent->next;
		recent->next = (recent->next + 1) % RECENT_CALLS_ITEMS;
		is_gone = recent_calls_remove(recent, recent->items[place].correlation, gone);
	}
	recent->items[place] = *item;
	gpu_times_put(&recent->places, item->correlation)->records = (uint32_t)place + 1;
	return is_gone;
}

const struct recent_calls_item *recent_calls_get(
	const struct recent_calls *recent, uint32_t correlation)
{
	const struct gpu_times_entry *entry = gpu_times_find(&recent->places, correlation);

	return entry ? &recent->items[entry->records - 1] : NULL;
}
