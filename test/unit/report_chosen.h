/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of chosen steps and windows share: rows with numbers of their own, and how often
 * each of them was seen of what a choice left.
 */
#ifndef TEST_UNIT_REPORT_CHOSEN_H
#define TEST_UNIT_REPORT_CHOSEN_H

#include "report/ops/op_walk.h"
#include "test/gen/gen.h"

#define CHOSEN_MOST 8192u

/* By begins of calls, operators and ranges, and by the numbers of work and of marks. */
struct chosen {
	unsigned int calls[CHOSEN_MOST], works[CHOSEN_MOST], marks[CHOSEN_MOST];
	unsigned int walked_calls[CHOSEN_MOST], walked_works[CHOSEN_MOST];
	unsigned int ops[CHOSEN_MOST], ranges[CHOSEN_MOST];
};

extern struct chosen chosen;
extern const struct op_view chosen_view; /* counts what a walk hands out */

/* Chooses; "" is no choice. Returns what is wrong, "" if nothing. */
const char *chosen_by(struct process *process, const char *steps, const char *windows);

/* Counts anew what a scan and a walk see. */
void chosen_see(struct process *process);

/* The end of a process and of its choice. */
void chosen_end(struct process *process);

void chosen_step(struct gen *gen, uint64_t tick, uint64_t number);
void chosen_call(struct gen *gen, uint32_t thread, uint64_t begin, uint32_t correlation);
void chosen_kernel(struct gen *gen, uint64_t begin, uint32_t correlation, uint64_t number);
void chosen_mark(struct gen *gen, uint32_t thread, uint64_t time, uint8_t op, uint64_t range,
	uint64_t number);

#endif
