/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what a block of a framework's allocator is for, by who allocated it and how long it lived.
 * The recording has no contents and no addresses of tensors, so these are rules:
 *
 *     temporary        freed before the end of the outermost operator that allocated it, of the run
 *                      of Backward, or of the optimizer's call
 *     gradients        allocated in Backward, lives longer than that
 *     optimizer state  allocated by the optimizer, lives longer than its call
 *     inputs           allocated by the data loader; or outside of modules by an operator that
 *                      creates a tensor from nothing (randn, zeros, arange ...), or that copies one
 *                      (to, pin_memory) whose block outlives the Backward of its step
 *     parameters       allocated before the first Backward, lives to the end of the loop or over
 *                      two ends of steps, and as many gradients are as large. Blocks of GPUs are
 *                      rounded up, so above 1 MiB they may differ by less than that. Without any
 *                      Backward (inference): created or moved as inputs are, before the end of the
 *                      first step, and lives to the end
 *     other            lives over two ends of steps, but is none of these: buffers of modules,
 *                      averages of weights, buckets, caches, data sets; or allocated outside of
 *                      all operators
 *     activations      the rest: results of other operators
 *
 * A worker of a data loader has neither parameters nor activations: what these would be are inputs.
 *
 * Memory: 64 bytes for each block that may be a parameter or other, 24 for each size of gradients.
 */
#ifndef REPORT_OPS_ALLOC_CATEGORY_H
#define REPORT_OPS_ALLOC_CATEGORY_H

#include "report/ops/op_walk.h"

enum alloc_category {
	ALLOC_PARAMETERS,
	ALLOC_GRADIENTS,
	ALLOC_OPTIMIZER_STATE,
	ALLOC_ACTIVATIONS,
	ALLOC_INPUTS,
	ALLOC_TEMPORARY,
	ALLOC_OTHER,
	NR_ALLOC_CATEGORIES,
};

extern const char *const alloc_category_names[NR_ALLOC_CATEGORIES];

#define ALLOC_NEVER UINT64_MAX

struct alloc_block {
	uint64_t tick, freed; /* freed: ALLOC_NEVER if no free is recorded */
	uint64_t address, bytes;
	uint32_t place;	 /* the caller's number of a device */
	uint32_t name;	 /* of the innermost operator, of string_pool.h; 0: none */
	uint32_t module; /* the innermost one's, "Linear_1 layers.1.fc"; 0: none or not recorded */
	bool is_gpu;
	bool is_weight;	  /* a parameter if there is no Backward */
	uint8_t category; /* enum alloc_category */
};

struct alloc_gradients; /* of one size on a device */

/* Starts with all zeros but for its callback. */
struct alloc_categories {
	/* Called once for each block, when its category is known: at once, or at the end. */
	void (*on_block)(void *context, const struct alloc_block *block);
	void *context;
	struct alloc_block *undecided;
	size_t nr_undecided, capacity;
	struct alloc_gradients *gradients;
	uint64_t first_backward; /* tick */
	bool has_backward;
	bool is_loader;
};

/* The next process; is_loader: a worker of a data loader. */
void alloc_categories_begin(struct alloc_categories *categories, bool is_loader);

/* The next allocation, from the last to the first, and when its block is freed. */
void alloc_categories_take(struct alloc_categories *categories, const struct op_alloc *alloc,
	const struct op *op, uint32_t place, uint64_t freed);

void alloc_categories_end(struct alloc_categories *categories);

#endif
