/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the rows of operator tables in Paddle's manner: a tree of names instead of a tree of calls.
 * analysis/event_rows.c and views/memops.c fill it during op_walk's pass. The second half counts
 * positions in a step: the pass goes backwards, so how many of a name came earlier is known only
 * when the step of the thread is over. Until then additions wait, with the number of those that
 * come later.
 */
#include "report/ops/event_tree.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/util/buf.h"

void event_tree_fini(struct event_tree *tree)
{
	hash_free(tree->index);
	free(tree->rows);
	*tree = (struct event_tree){0};
}

static void link_last(
	struct event_tree *tree, uint32_t *first, uint32_t *last, struct event_row *row)
{
	if (*last) {
		event_tree_row(tree, *last)->next = row->number;
	} else {
		*first = row->number;
	}
	*last = row->number;
}

uint32_t event_tree_find(struct event_tree *tree, const struct event_key *key)
{
	struct event_row *row, *outer;

	HASH_FIND(hh, tree->index, key, sizeof(*key), row);
	if (row) {
		return row->number;
	}
	row = mem_zeroed(1, sizeof(*row));
	row->key = *key;
	HASH_ADD(hh, tree->index, key, sizeof(*key), row);
	tree->rows = array_grow(tree->rows, tree->nr_rows, &tree->capacity, sizeof(*tree->rows));
	tree->rows[tree->nr_rows++] = row;
	row->number = (uint32_t)tree->nr_rows;
	if (key->outer) {
		outer = event_tree_row(tree, key->outer);
		link_last(tree, &outer->first, &outer->last, row);
	} else {
		link_last(tree, &tree->first, &tree->last, row);
	}
	return row->number;
}

void event_tree_add(struct event_tree *tree, uint32_t number, uint64_t cpu_ns, uint64_t gpu_ns)
{
	struct event_row *row = event_tree_row(tree, number);

	min_max_sum_add(&row->both,
		(cpu_ns == UINT64_MAX ? 0 : cpu_ns) + (gpu_ns == UINT64_MAX ? 0 : gpu_ns));
	if (cpu_ns != UINT64_MAX) {
		min_max_sum_add(&row->cpu, cpu_ns);
	}
	if (gpu_ns != UINT64_MAX) {
		min_max_sum_add(&row->gpu, gpu_ns);
	} else {
		row->lacks_gpu_times = true;
	}
}

void event_tree_add_replay(struct event_tree *tree, uint32_t number, uint64_t gpu_ns)
{
	struct event_row *row = event_tree_row(tree, number);

	row->both.sum += gpu_ns;
	min_max_sum_add(&row->gpu, gpu_ns);
}

/*
 * Copies the chain of rows from `number` up to `top`, below a row of that position: the recursion
 * is as deep as operators nest.
 */
uint32_t event_tree_placed(struct event_tree *tree, uint32_t number, uint32_t top, uint32_t place)
{
	struct event_key key = event_tree_row(tree, number)->key;

	if (number == top) {
		key.outer = top;
		key.kind = EVENT_KIND_PLACED;
		key.place = place;
	} else {
		key.outer = event_tree_placed(tree, key.outer, top, place);
	}
	return event_tree_find(tree, &key);
}

void event_row_name(const struct event_row *row, struct buf *out)
{
	size_t nr_bytes;
	const char *bytes = string_pool_shown(row->key.name, &nr_bytes);

	buf_add(out, bytes, nr_bytes);
	if (row->key.kind == EVENT_KIND_PLACED) {
		if (nr_bytes && bytes[nr_bytes - 1] >= '0' && bytes[nr_bytes - 1] <= '9') {
			buf_char(out, '#');
		}
		buf_uint(out, row->key.place - 1);
	}
}

/* Memory as Paddle names it. */
static const char *place_name(uint32_t memory_kind)
{
	switch (memory_kind) {
	case API_MEMORY_PAGEABLE:
		return "CPU";
	case API_MEMORY_PINNED:
		return "CUDAPinned";
	case API_MEMORY_MANAGED:
		return "CUDAManaged";
	case API_MEMORY_DEVICE:
	case API_MEMORY_ARRAY:
		return "GPU";
	default:
		return "?";
	}
}

/* Not all records say it, but the names of calls do. */
static const char *how_of(
	const struct process *process, const struct op_record *record, const struct op_call *call)
{
	uint8_t api;

	if (record->copy & COPY_IS_ASYNC) {
		return "Async";
	}
	if (!call) {
		return "";
	}
	return strstr(string_pool_text(process_call_name(process, call->call, &api), NULL), "Async")
		       ? "Async"
		       : "Sync";
}

/* Paddle names the call, with the two ends of the copy; a copy within one GPU has a mark. */
uint32_t event_copy_name(
	const struct process *process, const struct op_record *record, const struct op_call *call)
{
	const char *how = how_of(process, record, call);
	uint32_t kind = copy_kind_of(record->copy);
	const char *source = place_name(copy_source_of(record->copy));
	const char *target = place_name(copy_target_of(record->copy));
	char text[96];
	int length;

	if (record->table == GPROF_TABLE_memset) {
		length = snprintf(text, sizeof(text), "GpuMemset%s:%s", how, target);
	} else {
		length = snprintf(text, sizeof(text), "GpuMemcpy%s%s%s:%s->%s",
			kind == API_COPY_PTOP ? "Peer" : "", how,
			kind == API_COPY_DTOD ? "(same_gpu)" : "", source, target);
	}
	return string_pool_intern(text, (size_t)length);
}

/* ---- positions in a step ---- */

/* The operators of a name in the current step of a thread so far, counted from the step's end. */
struct count {
	uint32_t name, nr;
	uint64_t begin, end; /* of the last one seen */
};

struct place_thread {
	uint32_t step;
	struct op_place_item *items;
	size_t nr_items, item_capacity;
	struct count *counts;
	size_t nr_counts, count_capacity;
	struct idmap count_of; /* uint32_t, 1 + index in counts, by name */
	bool has_map;
};

void op_places_begin(struct op_places *places, struct process *process)
{
	idmap_init(&places->threads, sizeof(struct place_thread));
	phases_init(&places->phases, process);
	places->has_begun = true;
}

/*
 * `nr` of them came in all and `after` of them later, so the difference is the position from the
 * start of the step.
 */
static void finish_step(struct op_places *places, struct place_thread *thread)
{
	for (size_t i = 0; i < thread->nr_items; i++) {
		const struct op_place_item *item = &thread->items[i];
		uint32_t place = thread->counts[item->count].nr - item->after;

		if (place <= OP_PLACE_MAX) {
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

/*
 * An operator with the same times as the last one of its name is the same call: its content and
 * itself come one by one.
 */
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
