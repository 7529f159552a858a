/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/recent_calls.h"

#include <stdlib.h>

#include "report/util/buf.h"

void recent_fini(struct recent *recent)
{
	worked_fini(&recent->places);
	free(recent->items);
	*recent = (struct recent){0};
}

bool recent_take(struct recent *recent, uint32_t correlation, struct recent_item *item)
{
	struct worked_entry entry;

	if (!worked_take(&recent->places, correlation, &entry)) {
		return false;
	}
	*item = recent->items[entry.records - 1];
	recent->items[entry.records - 1].correlation = 0;
	return true;
}

bool recent_put(struct recent *recent, const struct recent_item *item, struct recent_item *gone)
{
	struct recent_item old;
	bool is_gone = false;
	size_t place;

	if (!item->correlation) {
		return false;
	}
	recent_take(recent, item->correlation, &old);
	if (recent->nr_items < RECENT_ITEMS) {
		recent->items = array_grow(
			recent->items, recent->nr_items, &recent->capacity, sizeof(*recent->items));
		place = recent->nr_items++;
	} else {
		place = recent->next;
		recent->next = (recent->next + 1) % RECENT_ITEMS;
		is_gone = recent_take(recent, recent->items[place].correlation, gone);
	}
	recent->items[place] = *item;
	worked_put(&recent->places, item->correlation)->records = (uint32_t)place + 1;
	return is_gone;
}

const struct recent_item *recent_get(const struct recent *recent, uint32_t correlation)
{
	const struct worked_entry *entry = worked_find(&recent->places, correlation);

	return entry ? &recent->items[entry->records - 1] : NULL;
}
