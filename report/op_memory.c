/* SPDX-License-Identifier: Apache-2.0 */
#include "report/op_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/hash.h"

/* Of an operator that the pass has not left, on one device. */
struct part {
	uint64_t device;
	uint64_t begin, end; /* of the operator: its place is used again */
	struct op_memory_sums self, total;
	struct part *next; /* on another device */
};

/* The parts of an operator. */
struct open {
	const struct op *op;
	struct part *parts;
	UT_hash_handle hh;
};

/* A block that was given back, later than the event at hand. */
struct freed {
	struct {
		uint64_t address, device;
	} key;
	uint64_t tick, bytes;
	UT_hash_handle hh;
};

struct calls {
	uint32_t name;
	uint64_t nr;
	UT_hash_handle hh;
};

struct op_memory_view {
	struct op_memory *rows;
	struct open *open;
	struct freed *freed;
	struct calls *calls;
	struct op_memory_block *blocks; /* a heap: the smallest first */
	size_t nr_blocks;
	uint64_t nr_all_blocks;
	struct process *process;
	const struct op_memory **list;
};

static void *create(const struct view_input *input)
{
	struct op_memory_view *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	view->blocks = mem_zeroed(OP_MEMORY_BLOCKS, sizeof(*view->blocks));
	return view;
}

/* ---- blocks ---- */

static void swap_blocks(struct op_memory_block *a, struct op_memory_block *b)
{
	struct op_memory_block other = *a;

	*a = *b;
	*b = other;
}

static void sink(struct op_memory_block *heap, size_t nr, size_t at)
{
	for (;;) {
		size_t least = at, left = 2 * at + 1;

		for (size_t i = left; i < left + 2 && i < nr; i++) {
			least = heap[i].bytes < heap[least].bytes ? i : least;
		}
		if (least == at) {
			return;
		}
		swap_blocks(&heap[at], &heap[least]);
		at = least;
	}
}

static void add_block(struct op_memory_view *view, const struct op_memory_block *block)
{
	size_t at;

	view->nr_all_blocks++;
	if (view->nr_blocks == OP_MEMORY_BLOCKS) {
		if (block->bytes > view->blocks[0].bytes) {
			view->blocks[0] = *block;
			sink(view->blocks, view->nr_blocks, 0);
		}
		return;
	}
	at = view->nr_blocks++;
	view->blocks[at] = *block;
	while (at && view->blocks[at].bytes < view->blocks[(at - 1) / 2].bytes) {
		swap_blocks(&view->blocks[at], &view->blocks[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

static uint64_t since_begin(const struct op_memory_view *view, uint64_t tick)
{
	uint64_t ns = clock_map_time(&view->process->host_clock, tick);

	return ns > view->process->first_ns ? ns - view->process->first_ns : 0;
}

/* Given back, but never asked for as far as is known: before the recording. */
static void add_unasked(struct op_memory_view *view, const struct freed *freed)
{
	struct op_memory_block block = {.bytes = freed->bytes,
		.alloc_ns = UINT64_MAX,
		.free_ns = since_begin(view, freed->tick),
		.device = (uint32_t)freed->key.device};

	add_block(view, &block);
}

/* The pass goes backwards: what is given back comes first. */
static void take_block(
	struct op_memory_view *view, const struct op_alloc *alloc, uint32_t device, uint32_t name)
{
	struct op_memory_block block = {.bytes = (uint64_t)alloc->bytes,
		.alloc_ns = since_begin(view, alloc->tick),
		.free_ns = UINT64_MAX,
		.name = name,
		.device = device};
	struct freed *freed, key = {.key = {alloc->address, device}};

	HASH_FIND(hh, view->freed, &key.key, sizeof(key.key), freed);
	if (alloc->bytes > 0) {
		if (freed) {
			block.free_ns = since_begin(view, freed->tick);
			HASH_DEL(view->freed, freed);
			free(freed);
		}
		add_block(view, &block);
		return;
	}
	if (freed) {
		add_unasked(view, freed); /* its place was asked for again unseen */
	} else {
		freed = mem_zeroed(1, sizeof(*freed));
		freed->key = key.key;
		HASH_ADD(hh, view->freed, key, sizeof(freed->key), freed);
	}
	freed->tick = alloc->tick;
	freed->bytes = 0 - (uint64_t)alloc->bytes;
}

static void forget_freed(struct op_memory_view *view)
{
	for (const struct freed *freed = view->freed; freed; freed = freed->hh.next) {
		add_unasked(view, freed);
	}
	hash_free(view->freed);
}

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
	view->process = process;
}

static const struct op *operator_of(const struct op *op)
{
	while (op && (op_is_module(op->framework, op->scope) ||
			     op_is_user(op->name, op->framework, op->scope))) {
		op = op->parent;
	}
	return op;
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
		/* An operator at that place was left without a word: it was not chosen. */
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

	op = operator_of(op);
	take_block(view, alloc, device, op ? op->name : 0);
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
	const struct op *parent = operator_of(op->parent);

	if (parent) {
		add_sums(&find_part(view, parent, part->device)->total, &part->total);
	}
	HASH_FIND(hh, view->rows, &key.key, sizeof(key.key), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = key.key;
		HASH_ADD(hh, view->rows, key, sizeof(row->key), row);
	}
	add_sums(&row->self, &part->self);
	if (is_outer(op)) {
		add_sums(&row->total, &part->total);
	}
}

static void take_op(void *context, const struct op *op)
{
	struct op_memory_view *view = context;
	struct calls *calls;
	struct open *open;

	if (operator_of(op) != op) {
		return;
	}
	HASH_FIND(hh, view->calls, &op->name, sizeof(op->name), calls);
	if (!calls) {
		calls = mem_zeroed(1, sizeof(*calls));
		calls->name = op->name;
		HASH_ADD(hh, view->calls, name, sizeof(calls->name), calls);
	}
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
	(void)process;
	(void)phases;
	forget_freed(context);
	forget_open(context);
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

static int by_bytes(const void *a, const void *b)
{
	const struct op_memory_block *x = a, *y = b;

	if (x->bytes != y->bytes) {
		return x->bytes > y->bytes ? -1 : 1;
	}
	return x->alloc_ns < y->alloc_ns ? -1 : x->alloc_ns > y->alloc_ns;
}

const struct op_memory_block *op_memory_blocks(void *context, size_t *nr)
{
	struct op_memory_view *view = context;

	qsort(view->blocks, view->nr_blocks, sizeof(*view->blocks), by_bytes);
	*nr = view->nr_blocks;
	return view->blocks;
}

uint64_t op_memory_nr_blocks(const void *context)
{
	return ((const struct op_memory_view *)context)->nr_all_blocks;
}

uint32_t op_memory_device_name(uint32_t device)
{
	char text[32];
	uint32_t type = device >> 8;
	int length = type == 0	 ? snprintf(text, sizeof(text), "CPU")
		     : type == 1 ? snprintf(text, sizeof(text), "GPU%u", device & 255)
				 : snprintf(text, sizeof(text), "device %u:%u", type, device & 255);

	return names_intern(text, (size_t)length);
}

static void destroy(void *context)
{
	struct op_memory_view *view = context;

	forget_open(view);
	hash_free(view->rows);
	hash_free(view->freed);
	hash_free(view->calls);
	free(view->blocks);
	free(view->list);
	free(view);
}

const struct view_class view_op_memory = {
	.name = "op-memory",
	.help = "for styles",
	.ops = {.begin = begin, .op = take_op, .alloc = take_alloc, .end = end},
	.create = create,
	.destroy = destroy,
};
