/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/op_records.h"

#include <stdlib.h>

#include "report/util/buf.h"

void op_records_fini(struct op_records *records)
{
	free(records->items);
	*records = (struct op_records){0};
}

struct op_record *op_records_add(struct op_records *records, uint32_t *list)
{
	uint32_t number = records->free;
	struct op_records_item *item;

	if (number) {
		item = &records->items[number - 1];
		records->free = item->next;
	} else {
		records->items = array_grow(records->items, records->nr_items, &records->capacity,
			sizeof(*records->items));
		item = &records->items[records->nr_items++];
		number = (uint32_t)records->nr_items;
	}
	*item = (struct op_records_item){.next = *list};
	*list = number;
	return &item->record;
}

bool op_records_take(struct op_records *records, uint32_t *list, struct op_record *record)
{
	uint32_t number = *list;
	struct op_records_item *item;

	if (!number) {
		return false;
	}
	item = &records->items[number - 1];
	*record = item->record;
	*list = item->next;
	item->next = records->free;
	records->free = number;
	return true;
}
