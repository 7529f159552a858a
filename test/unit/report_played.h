/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training loop as it may come, from a seed: steps, operators in operators on two threads, calls
 * and work on two devices, with what is true of it, so that a test can add things up the slow way.
 * All clocks count the same; times are below PLAYED_TIME.
 */
#ifndef TEST_UNIT_REPORT_PLAYED_H
#define TEST_UNIT_REPORT_PLAYED_H

#include <stdbool.h>
#include <stdint.h>

#define PLAYED_TIME  6000u
#define PLAYED_OPS   600u
#define PLAYED_CALLS 800u
#define PLAYED_STEPS 8u

enum played_kind { PLAYED_OP, PLAYED_USER, PLAYED_LOADER };

struct played_op {
	uint64_t begin, end;
	uint32_t thread;
	int parent; /* place in ops, -1 none */
	enum played_kind kind;
	unsigned int name; /* of played_names, for PLAYED_OP */
	unsigned int depth;
};

enum played_work { PLAYED_NO_WORK, PLAYED_KERNEL, PLAYED_NCCL, PLAYED_COPY, PLAYED_SET };

/* A call and what it started; begin of the call UINT64_MAX: work without a call. */
struct played_call {
	uint64_t begin, end;
	uint32_t thread;
	int op; /* the innermost around it, -1 none */
	enum played_work work;
	uint32_t device;
	uint64_t work_begin, work_end;
	bool is_async;
};

struct played {
	struct played_op ops[PLAYED_OPS];
	struct played_call calls[PLAYED_CALLS];
	uint64_t steps[PLAYED_STEPS]; /* ticks of rows; the last one only ends a step */
	unsigned int nr_ops, nr_calls, nr_steps;
	unsigned int closed; /* the step that was not recorded, 0 none */
	uint64_t loop;	     /* where the first loader begins */
};

extern const char *const played_names[4];

/* Writes the stream to that path. */
void played_make(struct played *played, uint64_t seed, const char *path);

/* The step that the time lies in, counted from 1, 0 if in none that is whole. */
unsigned int played_step(const struct played *played, uint64_t time);

/* The innermost operator around, which may be itself; the next one; the outermost. -1: none. */
int played_operator(const struct played *played, int op);
int played_outer(const struct played *played, int op);
int played_outermost(const struct played *played, int op);

/* How many of its name its thread ran before it in the step; -1 if it lies in another operator. */
int played_place(const struct played *played, int op);

/* Whether it launched something, and how long what was launched in an operator ran. */
bool played_has_work(const struct played_call *call);
uint64_t played_gpu_ns(const struct played *played, int op);

#endif
