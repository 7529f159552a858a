/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory page of TensorBoard, in the manner of op_average.c: sums of open operators become rows
 * when the walk leaves the operator. Here an operator has one part for each device, and calls count
 * also where nothing was allocated, so they have a table of their own.
 */
#include "report/memory/op_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/hash.h"

/* The sums of an operator that the pass has not left, on one device. */
struct part {
	uint64_t device;
	uint64_t begin, end; /* of the operator, whose memory is used again */
	struct op_memory_sums self, total;
	struct part *next; /* on another device */
};

/* The parts of an operator. */
struct open {
	const struct op *op;
	struct part *parts;
	UT_hash_handle hh;
};

struct calls {
	uint32_t name;
	uint64_t nr;
	UT_hash_handle hh;
};

struct op_memory_view {
	struct view_input input;
	struct op_memory *rows;
	struct open *open;
	struct calls *calls;
	struct allocations blocks;
	const struct op_memory **list;
};

/* ---- operators ---- */

static void forget_open(struct op_memory_view *view)
{
	for (struct open *open = view->open; open; open = open->hh.next) {
		for (struct part *part = open->parts, *next; part; part = next) {
			next = part->next;
			free(part);
		}
	}
	hash_free(view->open);
}

static void begin(void *context, struct process *process)
{
	struct op_memory_view *view = context;

	forget_open(view);
	allocations_begin(&view->blocks, process);
}

static struct part *find_part(struct op_memory_view *view, const struct op *op, uint64_t device)
{
	struct open *open;
	struct part *part;

	HASH_FIND_PTR(view->open, &op, open);
	if (!open) {
		open = mem_zeroed(1, sizeof(*open));
		open->op = op;
		HASH_ADD_PTR(view->open, op, open);
	}
	for (part = open->parts; part && part->device != device; part = part->next) {
	}
	if (!part) {
		part = mem_zeroed(1, sizeof(*part));
		part->device = device;
		part->next = open->parts;
		open->parts = part;
	}
	if (part->begin != op->begin || part->end != op->end) {
		/*
		 * An operator that is not selected was left without a call of take_op(); see
		 * op_average.c.
		 */
		part->self = part->total = (struct op_memory_sums){0};
		part->begin = op->begin;
		part->end = op->end;
	}
	return part;
}

/* Wraps, as sums of hostile numbers may. */
static void add_sums(struct op_memory_sums *sums, const struct op_memory_sums *more)
{
	sums->increase = (int64_t)((uint64_t)sums->increase + (uint64_t)more->increase);
	sums->count += more->count;
	sums->bytes += more->bytes;
}

static void take_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	struct op_memory_view *view = context;
	uint32_t device = (uint32_t)alloc->device_type << 8 | alloc->device;
	struct op_memory_sums sums = {.increase = alloc->bytes};

	op = op_operator_around(op);
	allocations_take(&view->blocks, alloc, device, op ? op->name : 0);
	if (!op) {
		return;
	}
	if (alloc->bytes > 0) {
		sums.count = 1;
		sums.bytes = (uint64_t)alloc->bytes;
	}
	add_sums(&find_part(view, op, device)->self, &sums);
	add_sums(&find_part(view, op, device)->total, &sums);
}

static bool is_outer(const struct op *op)
{
	for (const struct op *outer = op->parent; outer; outer = outer->parent) {
		if (outer->name == op->name) {
			return false;
		}
	}
	return true;
}

static void add_row(struct op_memory_view *view, const struct op *op, const struct part *part)
{
	struct op_memory key = {.key = {op->name, (uint32_t)part->device}}, *row;
	const struct op *parent = op_operator_around(op->parent);

	if (parent) {
		add_sums(&find_part(view, parent, part->device)->total, &part->total);
	}
	hash_put(view->rows, key, &key.key, row);
	add_sums(&row->self, &part->self);
	if (is_outer(op)) {
		add_sums(&row->total, &part->total);
	}
}

/* Only outermost calls of a name count, as totals of nested ones would count twice. */
static void take_op(void *context, const struct op *op)
{
	struct op_memory_view *view = context;
	struct calls *calls;
	struct open *open;

	if (op_operator_around(op) != op) {
		return;
	}
	hash_put(view->calls, name, &op->name, calls);
	calls->nr += is_outer(op);
	HASH_FIND_PTR(view->open, &op, open);
	if (!open) {
		return;
	}
	HASH_DEL(view->open, open);
	for (struct part *part = open->parts, *next; part; part = next) {
		next = part->next;
		if (part->begin == op->begin && part->end == op->end) {
			add_row(view, op, part);
		}
		free(part);
	}
	free(open);
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct op_memory_view *view = context;

	(void)process;
	(void)phases;
	allocations_end(&view->blocks);
	forget_open(view);
}

/* ---- for styles ---- */

const struct op_memory **op_memory_rows(void *context, size_t *nr)
{
	struct op_memory_view *view = context;
	size_t at = 0;

	view->list = mem_resize(view->list, HASH_COUNT(view->rows) + 1, sizeof(struct op_memory *));
	for (struct op_memory *row = view->rows; row; row = row->hh.next) {
		struct calls *calls;

		HASH_FIND(hh, view->calls, &row->key.name, sizeof(row->key.name), calls);
		row->calls = calls ? calls->nr : 0;
		view->list[at++] = row;
	}
	*nr = at;
	return view->list;
}

struct allocations *op_memory_blocks(void *context)
{
	return &((struct op_memory_view *)context)->blocks;
}

uint32_t op_memory_device_name(uint32_t device)
{
	char text[32];
	uint32_t type = device >> 8;
	int length = type == 0	 ? snprintf(text, sizeof(text), "CPU")
		     : type == 1 ? snprintf(text, sizeof(text), "GPU%u", device & 255)
				 : snprintf(text, sizeof(text), "device %u:%u", type, device & 255);

	return string_pool_intern(text, (size_t)length);
}

static void fini(void *state)
{
	struct op_memory_view *view = state;

	forget_open(view);
	hash_free(view->rows);
	hash_free(view->calls);
	allocations_fini(&view->blocks);
	free(view->list);
}

const struct view_class view_op_memory = {
	.name = "op-memory",
	.help = "for styles",
	VIEW_STATE(struct op_memory_view),
	.ops = {.begin = begin, .op = take_op, .alloc = take_alloc, .end = end},
	.fini = fini,
};
