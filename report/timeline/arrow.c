/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/arrow.h"

#include <stdlib.h>
#include <uthash.h>

/*
 * What an autograd node and the operator that made it have in common: autograd's numbers count in
 * each thread that computes a forward pass.
 */
struct made {
	uint64_t sequence;
	uint64_t thread; /* the framework's number */
};

/* The ends of an arrow, until both are known. */
struct arrow {
	struct made made;
	struct arrow_end from, to;
	bool has_from, has_to;
	UT_hash_handle hh;
};

struct arrows {
	struct idset *wanted;	      /* what nodes were made by; may hold others, see wanted_id */
	uint64_t thread;	      /* that made them, if all have the same */
	bool has_thread, has_threads; /* one, several */
	struct arrow *waiting;
	uint64_t nr_drawn;
	void (*draw)(void *context, uint64_t nr, const struct arrow_end *from,
		const struct arrow_end *to);
	void *context;
};

/* Numbers of one thread are apart, and few pages of the set hold those of many. */
static uint32_t wanted_id(const struct made *made)
{
	return (uint32_t)made->sequence ^ (uint32_t)made->thread << 24;
}

static bool is_node(uint64_t framework, uint64_t scope)
{
	return framework == GPROF_FRAMEWORK_TORCH && scope == OP_TORCH_BACKWARD;
}

static void read_nodes(struct arrows *arrows, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		const struct made made = {
			b->col[COL_op_sequence][i], (uint32_t)b->col[COL_op_forward_thread][i]};

		if (!made.sequence ||
			!is_node(b->col[COL_op_framework][i], b->col[COL_op_scope][i])) {
			continue;
		}
		arrows->has_threads |= arrows->has_thread && made.thread != arrows->thread;
		arrows->thread = made.thread;
		arrows->has_thread = true;
		idset_add(arrows->wanted, wanted_id(&made));
	}
}

struct arrows *arrows_create(struct timeline *timeline,
	void (*draw)(void *context, uint64_t nr, const struct arrow_end *from,
		const struct arrow_end *to),
	void *context)
{
	static const uint32_t mask = COL_BIT(COL_op_sequence) | COL_BIT(COL_op_forward_thread) |
				     COL_BIT(COL_op_framework) | COL_BIT(COL_op_scope);
	struct arrows *arrows = mem_zeroed(1, sizeof(*arrows));
	struct stream *stream = timeline->process->stream;

	arrows->draw = draw;
	arrows->context = context;
	arrows->wanted = idset_create();
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_op &&
			timeline_load(timeline, i, mask, &batch)) {
			read_nodes(arrows, &batch);
		}
	}
	return arrows;
}

static void finish(struct arrows *arrows, struct arrow *arrow)
{
	if (arrow->has_from && arrow->has_to) {
		arrows->draw(arrows->context, ++arrows->nr_drawn, &arrow->from, &arrow->to);
	}
	HASH_DEL(arrows->waiting, arrow);
	free(arrow);
}

void arrows_destroy(struct arrows *arrows)
{
	struct arrow *arrow, *next;

	HASH_ITER(hh, arrows->waiting, arrow, next)
	{
		finish(arrows, arrow);
	}
	idset_destroy(arrows->wanted);
	free(arrows);
}

static struct arrow *find_arrow(struct arrows *arrows, const struct made *made)
{
	struct arrow *arrow;

	HASH_FIND(hh, arrows->waiting, made, sizeof(*made), arrow);
	if (!arrow) {
		arrow = mem_zeroed(1, sizeof(*arrow));
		arrow->made = *made;
		HASH_ADD(hh, arrows->waiting, made, sizeof(arrow->made), arrow);
	}
	return arrow;
}

/*
 * Operators carry the number that the next node will get, whether or not they make it: the one that
 * did is the last that begins with it. Rows of other threads may be written before it, so a node
 * without its operator waits.
 */
void arrows_add(struct arrows *arrows, const struct batch *b, uint32_t i, enum op_class class,
	const struct arrow_end *end)
{
	bool ends = is_node(b->col[COL_op_framework][i], b->col[COL_op_scope][i]);
	struct made made = {
		b->col[COL_op_sequence][i], (uint32_t)(ends ? b->col[COL_op_forward_thread][i]
							    : b->col[COL_op_framework_thread][i])};
	struct arrow *arrow;

	if (!made.sequence || (!ends && class == OP_BACKWARD)) {
		return;
	}
	/* A forward operator that does not tell its thread is that of the only one there is. */
	if (!ends && !made.thread && arrows->has_thread && !arrows->has_threads) {
		made.thread = arrows->thread;
	}
	if (!idset_has(arrows->wanted, wanted_id(&made))) {
		return;
	}
	arrow = find_arrow(arrows, &made);
	if (!ends && (!arrow->has_from || end->ns >= arrow->from.ns)) {
		arrow->has_from = true;
		arrow->from = *end;
	} else if (ends && !arrow->has_to) {
		arrow->has_to = true;
		arrow->to = *end;
		if (arrow->has_from) {
			finish(arrows, arrow);
		}
	}
}
