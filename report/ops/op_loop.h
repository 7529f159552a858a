/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that runs the training loop: the one with most loader and optimizer ranges, else with
 * most operators outside all others, else (a range of the user is around them) with most operators.
 * 0 if there are no ops.
 */
#ifndef REPORT_OPS_OP_LOOP_H
#define REPORT_OPS_OP_LOOP_H

#include "report/model/model.h"

uint32_t op_loop_thread(struct process *process);

#endif
