/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up collections of Python's garbage of a process, by generation: all of them, and those in
 * steps. Whole steps count but for those that warm up. Outliers do count: a collection may be what
 * makes them longer than the others.
 *
 * Memory: 20 kB.
 */
#ifndef REPORT_OPS_GC_SUMS_H
#define REPORT_OPS_GC_SUMS_H

#include "report/ops/counted_steps.h"
#include "report/ops/op_walk.h"

#define GC_GENERATIONS 256u /* as many as a row may name; CPython has three */

struct gc_sum {
	uint64_t nr, ns, longest_ns;
	uint64_t collected, uncollectable; /* objects */
	/* The part of these in steps that count: */
	uint64_t nr_in_steps, ns_in_steps;
	uint64_t nr_steps; /* that have one */
	uint32_t last_step;
};

/* Zero-initialized. */
struct gc_sums {
	struct process *process;
	bool *counts; /* by step, as phases count them */
	struct gc_sum generations[GC_GENERATIONS];
	uint64_t nr_steps, steps_ns; /* that count; 0 where there are no steps */
};

/* Adds those of another process. */
void gc_sum_add(struct gc_sum *sum, const struct gc_sum *other);

/* In the order of struct op_view's callbacks. */
void gc_sums_begin(struct gc_sums *sums, struct process *process);
void gc_sums_add(struct gc_sums *sums, const struct op_collection *collection);
void gc_sums_end(struct gc_sums *sums, const struct phases *phases);

#endif
