/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU samples by frame: how many were at it (self), and how many at it or in what it called
 * (total). Samples are first counted by stack, so that each stack is walked once; a frame counts
 * once in a stack, however often it is there.
 */
#ifndef REPORT_MODEL_FRAME_SUMS_H
#define REPORT_MODEL_FRAME_SUMS_H

#include "report/model/model.h"
#include "report/util/hash.h"

/* All but the line are numbers of string_pool.h. */
struct frame_key {
	uint32_t function, file;
	uint32_t line; /* 0 where lines are not told apart */
};

struct frame_sum {
	struct frame_key key;
	uint64_t nr_self, nr_total, self_ns, total_ns;
	uint64_t last_stack; /* that counted it */
	UT_hash_handle hh;
};

/* The samples of a stack, whose id is the caller's. */
struct frame_samples {
	uint64_t stack;
	uint64_t nr, ns;
};

struct frame_sums { /* starts with all zeros */
	struct frame_sum *all;
	struct idmap stacks; /* struct frame_samples of the process that is read */
	uint64_t nr_stacks;
};

/* Before the samples of a process. */
void frame_sums_begin(struct frame_sums *sums);

void frame_sums_count(struct frame_sums *sums, uint64_t stack, uint64_t ns);

/*
 * After them: calls add_stack(sums, process, samples) for each stack, which adds its frames, the
 * innermost first.
 */
void frame_sums_end(struct frame_sums *sums, struct process *process,
	void (*add_stack)(struct frame_sums *sums, struct process *process,
		const struct frame_samples *samples));

/* Adds a frame of the stack that is walked. is_self: it is the innermost one. */
void frame_sums_add(struct frame_sums *sums, const struct frame_key *key,
	const struct frame_samples *samples, bool is_self);

void frame_sums_fini(struct frame_sums *sums);

#endif
