/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/op_place.h"

#include <stdlib.h>

#include "report/util/buf.h"

/* Operators of a name in the step of a thread, so far: from its end. */
struct count {
	uint32_t name, nr;
	uint64_t begin, end; /* of the one seen last */
};

struct place_thread {
	uint32_t step;
	struct op_place_item *items;
	size_t nr_items, item_capacity;
	struct count *counts;
	size_t nr_counts, count_capacity;
	struct idmap count_of; /* uint32_t, 1 + place in counts, by name */
	bool has_map;
};

void op_places_begin(struct op_places *places, struct process *process)
{
	idmap_init(&places->threads, sizeof(struct place_thread));
	phases_init(&places->phases, process);
	places->has_begun = true;
}

static void finish_step(struct op_places *places, struct place_thread *thread)
{
	for (size_t i = 0; i < thread->nr_items; i++) {
		const struct op_place_item *item = &thread->items[i];
		uint32_t place = thread->counts[item->count].nr - item->after;

		if (place <= OP_PLACE_MOST) {
			places->add(places->context, item, place);
		} else {
			places->is_cut = true;
		}
	}
	thread->nr_items = 0;
	thread->nr_counts = 0;
	if (thread->has_map) {
		idmap_fini(&thread->count_of);
		thread->has_map = false;
	}
}

static uint32_t count_of(struct place_thread *thread, uint32_t name)
{
	uint32_t *number;

	if (!thread->has_map) {
		idmap_init(&thread->count_of, sizeof(uint32_t));
		thread->has_map = true;
	}
	number = idmap_put(&thread->count_of, name);
	if (!*number) {
		thread->counts = array_grow(thread->counts, thread->nr_counts,
			&thread->count_capacity, sizeof(*thread->counts));
		thread->counts[thread->nr_counts++] = (struct count){.name = name};
		*number = (uint32_t)thread->nr_counts;
	}
	return *number - 1;
}

void op_places_add(struct op_places *places, const struct op *outer, struct op_place_item item)
{
	struct place_thread *thread = idmap_put(&places->threads, outer->thread);
	uint32_t step = phases_step(&places->phases, outer->begin);
	struct count *count;

	if (!phases_has_steps(&places->phases)) {
		return;
	}
	if (step != thread->step) {
		finish_step(places, thread);
		thread->step = step;
	}
	item.count = count_of(thread, outer->name);
	count = &thread->counts[item.count];
	if (!count->nr || count->begin != outer->begin || count->end != outer->end) {
		count->nr++;
		count->begin = outer->begin;
		count->end = outer->end;
	}
	item.after = count->nr - 1;
	thread->items =
		array_grow(thread->items, thread->nr_items, &thread->item_capacity, sizeof(item));
	thread->items[thread->nr_items++] = item;
}

void op_places_end(struct op_places *places)
{
	if (!places->has_begun) {
		return;
	}
	for (size_t i = 0; i < places->threads.nr; i++) {
		struct place_thread *thread = idmap_at(&places->threads, i);

		finish_step(places, thread);
		free(thread->items);
		free(thread->counts);
	}
	idmap_fini(&places->threads);
	phases_fini(&places->phases);
	places->has_begun = false;
}
