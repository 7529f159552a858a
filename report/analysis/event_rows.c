/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins event_tree.c with the options of a view: --per-thread puts the thread into the key of a
 * row, and --detail=all adds each call once more at its position in the step. Positions are known
 * only at the end of a thread's step, when add_placed() is called back.
 */
#include "report/analysis/event_rows.h"

/* Called back when the position of the operator in its step is known. */
static void add_placed(void *context, const struct op_place_item *item, uint32_t place)
{
	struct event_tree *tree = context;

	event_tree_add(tree, event_tree_placed(tree, item->number, item->top, place), item->cpu_ns,
		item->gpu_ns);
}

void event_rows_init(struct event_rows *rows, const struct view_input *input)
{
	rows->input = *input;
	rows->places.add = add_placed;
	rows->places.context = &rows->tree;
}

void event_rows_fini(struct event_rows *rows)
{
	event_tree_fini(&rows->tree);
}

void event_rows_begin(struct event_rows *rows, struct process *process)
{
	rows->process = process;
	rows->process_number++;
	if (rows->input.detail == VIEW_DETAIL_ALL) {
		op_places_begin(&rows->places, process);
	}
}

void event_rows_end(struct event_rows *rows)
{
	op_places_end(&rows->places);
}

uint32_t event_rows_find(struct event_rows *rows, uint32_t outer, enum event_kind kind,
	uint32_t name, uint32_t thread)
{
	struct event_key key = {.outer = outer, .name = name, .kind = kind};

	if (rows->input.is_per_thread) {
		key.process = rows->process_number;
		key.thread = thread;
	}
	return event_tree_find(&rows->tree, &key);
}

void event_rows_add(struct event_rows *rows, const struct op *outermost, uint32_t top,
	uint32_t number, uint64_t cpu_ns, uint64_t gpu_ns)
{
	event_tree_add(&rows->tree, number, cpu_ns, gpu_ns);
	if (outermost && rows->input.detail == VIEW_DETAIL_ALL) {
		op_places_add(&rows->places, outermost,
			(struct op_place_item){
				.top = top, .number = number, .cpu_ns = cpu_ns, .gpu_ns = gpu_ns});
	}
}
