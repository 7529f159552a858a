/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows that op_walk.c joins, from the last to the first by their ends, over all threads. Blocks
 * come in groups (FORMAT.md, checkpoints) that hold a prefix of what each thread did; so one group
 * is in memory at a time, and what may still be later than something of the group before it.
 */
#ifndef REPORT_OP_LOAD_H
#define REPORT_OP_LOAD_H

#include "report/model.h"

enum op_event_kind {
	OP_EVENT_OP,
	OP_EVENT_WORK, /* a call that device work is known of, or its Python stack */
	OP_EVENT_ALLOC,
	OP_EVENT_PUSH, /* of an NVTX range */
	OP_EVENT_POP,
};

struct op_event {
	uint64_t begin, end; /* ticks */
	/* An op's sequence, a call's device time in ns, an allocation's bytes, a range's domain. */
	uint64_t value;
	uint64_t order;	  /* rows of one table and thread: as they were written */
	uint64_t address; /* of an allocation */
	uint32_t thread;
	uint32_t name, shape; /* of names.h; a range's full name */
	uint32_t py_stack;    /* 0 not taken */
	uint32_t nr_works;
	uint16_t depth;
	uint8_t kind; /* enum op_event_kind */
	uint8_t framework;
	uint8_t scope; /* or the type of the device */
	uint8_t device;
	bool is_async; /* ended on another thread */
};

/*
 * Nothing is handed out for a process without ops, allocations and Python stacks, nor, where
 * has_ranges, ranges.
 */
void op_load_run(struct process *process, bool has_ranges,
	void (*take)(void *context, const struct op_event *event), void *context);

/*
 * The thread that runs the training loop: the one with most loader and optimizer ranges, else with
 * most operators outside all others. 0 if there are no ops.
 */
uint32_t op_load_loop_thread(struct process *process);

/* For the progress. */
uint64_t op_load_nr_rows(const struct process *process, bool has_ranges);

#endif
