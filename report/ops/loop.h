/* SPDX-License-Identifier: Apache-2.0 */
/* The training loop of a process: its thread, and where its first step begins. */
#ifndef REPORT_OPS_LOOP_H
#define REPORT_OPS_LOOP_H

#include "report/model/model.h"

/*
 * The thread with most loader and optimizer ranges. If there are none, it is the one with most
 * outermost operators, or, if a user's range encloses all, with most operators. Without operators,
 * it is the one with most launches and copies; 0 without these. Events are read once a process.
 */
uint32_t loop_thread(struct process *process);

/*
 * The thread in which the step with that index began. Where the recorder found the end of the step
 * itself, the row has the thread of the recorder, and this is the loop's.
 */
uint32_t loop_step_thread(struct process *process, size_t place);

/*
 * The tick at which the loop begins: with the first batch, optimizer step or clearing of gradients
 * in the first step. The row of that step has the time at which the recording began: what ran
 * before the loop, such as building a model, is in no step. UINT64_MAX: it is unknown, since the
 * first phase is a run of operators, which may be either, or since the row itself is exact. The
 * operators of the first step are read once a process.
 */
uint64_t loop_begin(struct process *process);

/* Lets the first step begin there, if that is known. */
void loop_begin_steps(struct process *process);

#endif
