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
 * The thread in which the step at a place began. Where the recorder found the end of the step
 * itself, the row has the thread of the recorder, and this is the loop's.
 */
uint32_t loop_step_thread(struct process *process, size_t place);

/*
 * Lets the first step begin with its first batch, optimizer step or clearing of gradients. Its row
 * has the time at which the recording began: what ran before the loop, such as building a model, is
 * in no step. The time stays if the first phase is a run of operators, which may be either.
 */
void loop_begin_steps(struct process *process);

#endif
