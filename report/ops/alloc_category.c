/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges blocks of a framework's allocator by the rules in the header. memory/memory_in_use.c
 * feeds it with the allocations of op_walk's backward pass. Most blocks are judged at once: the
 * phase, the operators around the allocation and the time of the free suffice. Only a block that
 * may be a parameter waits: it differs from other lasting blocks by having a gradient of its size,
 * and the number of these is complete only when the pass has reached the start of the process.
 */
#include "report/ops/alloc_category.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/hash.h"

/* Allocators of GPUs may leave less than this unused in a large block. */
#define LARGE_BYTES (1u << 20)

const char *const alloc_category_names[NR_ALLOC_CATEGORIES] = {
	[ALLOC_PARAMETERS] = "parameters",
	[ALLOC_GRADIENTS] = "gradients",
	[ALLOC_OPTIMIZER_STATE] = "optimizer state",
	[ALLOC_ACTIVATIONS] = "activations",
	[ALLOC_INPUTS] = "inputs",
	[ALLOC_TEMPORARY] = "temporary",
	[ALLOC_OTHER] = "other",
};

struct alloc_gradients {
	struct {
		uint64_t bytes;
		uint64_t place;
	} key;
	uint64_t run;	  /* of Backward: its end */
	uint64_t nr_here; /* in that run */
	uint64_t nr;	  /* in the run with most, and then those without a parameter yet */
	UT_hash_handle hh;
};

/* ---- operators ---- */

static bool is_one_of(const char *name, const char *const *names)
{
	if (strncmp(name, "aten::", 6) != 0) {
		return false;
	}
	while (*names && strcmp(name + 6, *names) != 0) {
		names++;
	}
	return *names != NULL;
}

/* Makes a tensor that depends on no other. */
static bool creates(const char *name)
{
	static const char *const names[] = {"randn", "rand", "randint", "randperm", "arange",
		"linspace", "ones", "zeros", "full", "eye", "empty", "tensor", "lift_fresh", NULL};

	return is_one_of(name, names);
}

static bool copies(const char *name)
{
	static const char *const names[] = {"to", "_to_copy", "pin_memory", "clone", NULL};

	return is_one_of(name, names);
}

/* The outermost one around, without modules, steps and ranges of the user and of phases. */
static const struct op *outermost(const struct op *op)
{
	const struct op *outer = NULL;

	for (; op; op = op->parent) {
		const struct op_kind *kind = op_kind(op->name, op->framework, op->scope);

		if (op->is & OP_IS_OPERATOR && !kind->is_step &&
			(kind->class == OP_OTHER || kind->class == OP_BACKWARD)) {
			outer = op;
		}
	}
	return outer;
}

static uint32_t module_of(const struct op *op)
{
	size_t nr_bytes;
	const char *text;

	while (op && !(op->is & OP_IS_MODULE)) {
		op = op->parent;
	}
	if (!op) {
		return 0;
	}
	text = op_module_name(op->name, &nr_bytes);
	return string_pool_intern(text, strlen(text));
}

/* ---- rules ---- */

/* Is there a Backward after `tick` in its step, and is it over when the block is freed? */
static bool outlives_backward(const struct phases *phases, uint64_t tick, uint64_t freed)
{
	uint32_t step = phases_step(phases, tick);

	for (size_t i = phases->nr_segments; i-- > 0 && phases->segments[i].step <= step;) {
		if (phases->segments[i].class == OP_BACKWARD && phases->segments[i].begin > tick) {
			return freed > phases->segments[i].end;
		}
	}
	return true;
}

/* Does it live over two ends of steps? */
static bool is_kept(const struct phases *phases, uint64_t tick, uint64_t freed)
{
	return phases_has_steps(phases) &&
	       phases_step(phases, freed) >= phases_step(phases, tick) + 2;
}

/* Was it allocated before or in the first step, and is it in use when all phases are over? */
static bool lives_on(const struct phases *phases, uint64_t tick, uint64_t freed)
{
	return phases_step(phases, tick) <= 1 && freed > phases->last;
}

/*
 * Judges a block that no phase explains: an input or an activation, or other without an
 * operator.
 */
static enum alloc_category passing(
	const struct phases *phases, const struct alloc_block *block, const struct op *outer)
{
	const char *name = outer ? string_pool_text(outer->name, NULL) : "";

	if (!outer) {
		return ALLOC_OTHER;
	}
	if (!block->module &&
		(creates(name) ||
			(copies(name) && outlives_backward(phases, block->tick, block->freed)))) {
		return ALLOC_INPUTS;
	}
	return ALLOC_ACTIVATIONS;
}

/* The category that follows from the class of a phase alone; NR_ALLOC_CATEGORIES: none. */
static enum alloc_category by_phase(enum op_class class, bool outlives_phase)
{
	switch (class) {
	case OP_DATALOADER:
		return ALLOC_INPUTS;
	case OP_BACKWARD:
	case OP_REDUCTION:
		return outlives_phase ? ALLOC_GRADIENTS : ALLOC_TEMPORARY;
	case OP_OPTIMIZATION:
	case OP_CLEARING:
		return outlives_phase ? ALLOC_OPTIMIZER_STATE : ALLOC_TEMPORARY;
	default:
		return NR_ALLOC_CATEGORIES;
	}
}

/*
 * Gradients of a size are counted in each run of Backward apart, since each run allocates them
 * anew. The run with most of them shows how many parameters of that size there are.
 */
static void add_gradient(
	struct alloc_categories *categories, const struct alloc_block *block, uint64_t run)
{
	struct alloc_gradients *size, key;

	memset(&key, 0, sizeof(key));
	key.key.bytes = block->bytes;
	key.key.place = block->place;
	hash_put(categories->gradients, key, &key.key, size);
	size->nr_here = size->run == run ? size->nr_here + 1 : 1;
	size->run = run;
	size->nr = size->nr_here > size->nr ? size->nr_here : size->nr;
}

static void add_undecided(struct alloc_categories *categories, const struct alloc_block *block)
{
	categories->undecided = array_grow(categories->undecided, categories->nr_undecided,
		&categories->capacity, sizeof(*categories->undecided));
	categories->undecided[categories->nr_undecided++] = *block;
}

void alloc_categories_begin(struct alloc_categories *categories, bool is_loader)
{
	categories->is_loader = is_loader;
	categories->nr_undecided = 0;
	categories->first_backward = UINT64_MAX;
	categories->has_backward = false;
}

/*
 * The order of the tests is the order of the rules: temporary beats the phase, the phase beats the
 * rest. Blocks come from the last allocation to the first, so the last assignment of first_backward
 * is the earliest Backward.
 */
void alloc_categories_take(struct alloc_categories *categories, const struct op_alloc *alloc,
	const struct op *op, uint32_t place, uint64_t freed)
{
	const struct phases *phases = alloc->phases;
	const struct op *outer = outermost(op);
	const struct phase_segment *segment =
		op && op->segment < phases->nr_segments ? &phases->segments[op->segment] : NULL;
	struct alloc_block block = {.tick = alloc->tick,
		.freed = freed,
		.address = alloc->address,
		.bytes = (uint64_t)alloc->bytes,
		.place = place,
		.name = op ? op_row_name(op->name) : 0,
		.module = module_of(op),
		.is_gpu = alloc->device_type != 0};
	enum alloc_category category = by_phase(
		segment ? (enum op_class)op->phase : OP_RANGE, segment && freed > segment->end);

	categories->has_backward |= phases->has_backward;
	if (segment && op->phase == OP_BACKWARD) {
		categories->first_backward = alloc->tick; /* so far */
	}
	if (outer && freed <= outer->end) {
		category = ALLOC_TEMPORARY;
	} else if (category == ALLOC_GRADIENTS) {
		add_gradient(categories, &block, segment->end);
	} else if (category == NR_ALLOC_CATEGORIES) {
		bool is_lasting = lives_on(phases, alloc->tick, freed);

		category = passing(phases, &block, outer);
		if (categories->is_loader && category == ALLOC_ACTIVATIONS) {
			category = ALLOC_INPUTS;
		}
		block.is_weight = is_lasting && category == ALLOC_INPUTS && !categories->is_loader;
		if (is_kept(phases, alloc->tick, freed)) {
			category = ALLOC_OTHER;
		}
		block.category = (uint8_t)category;
		if (category == ALLOC_OTHER || is_lasting) {
			add_undecided(categories, &block);
			return;
		}
	}
	block.category = (uint8_t)category;
	categories->on_block(categories->context, &block);
}

/* ---- parameters ---- */

static struct alloc_gradients *gradients_of(
	const struct alloc_categories *categories, const struct alloc_block *block)
{
	struct alloc_gradients *size, key;

	memset(&key, 0, sizeof(key));
	key.key.bytes = block->bytes;
	key.key.place = block->place;
	HASH_FIND(hh, categories->gradients, &key.key, sizeof(key.key), size);
	return size && size->nr ? size : NULL;
}

/* Returns the nearest of the sizes that differ by less than an allocator may leave unused. */
static struct alloc_gradients *about_as_large(
	const struct alloc_categories *categories, const struct alloc_block *block)
{
	struct alloc_gradients *nearest = NULL;
	uint64_t least = LARGE_BYTES;

	for (struct alloc_gradients *size = categories->gradients; size; size = size->hh.next) {
		uint64_t apart = size->key.bytes > block->bytes ? size->key.bytes - block->bytes
								: block->bytes - size->key.bytes;

		if (size->nr && size->key.place == block->place && apart < least) {
			nearest = size;
			least = apart;
		}
	}
	return nearest;
}

/* May it be a parameter by its time? */
static bool is_early(const struct alloc_categories *categories, const struct alloc_block *block)
{
	return block->tick < categories->first_backward && block->category != ALLOC_PARAMETERS;
}

/*
 * Goes from the first block to the last, since buffers that are made of parameters come after them.
 * Each parameter uses up one gradient of its size. Exact sizes have the first choice; large blocks
 * of GPUs then take gradients of about their size.
 */
static void find_parameters(struct alloc_categories *categories, bool is_exact)
{
	for (size_t i = categories->nr_undecided; i-- > 0;) {
		struct alloc_block *block = &categories->undecided[i];
		struct alloc_gradients *size;

		if (!is_early(categories, block) ||
			(!is_exact && (!block->is_gpu || block->bytes < LARGE_BYTES))) {
			continue;
		}
		size = is_exact ? gradients_of(categories, block)
				: about_as_large(categories, block);
		if (size || (block->is_weight && !categories->has_backward)) {
			block->category = ALLOC_PARAMETERS;
		}
		if (size) {
			size->nr--;
		}
	}
}

void alloc_categories_end(struct alloc_categories *categories)
{
	find_parameters(categories, true);
	find_parameters(categories, false);
	for (size_t i = 0; i < categories->nr_undecided; i++) {
		categories->on_block(categories->context, &categories->undecided[i]);
	}
	free(categories->undecided);
	categories->undecided = NULL;
	categories->nr_undecided = categories->capacity = 0;
	hash_free(categories->gradients);
}
