/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a stream that mark steps and windows, as a process has them. */
#ifndef REPORT_MODEL_MODEL_MARKS_H
#define REPORT_MODEL_MODEL_MARKS_H

#include "report/model/model.h"

/* Once all rows of tables step, window and info are there. */
void model_marks_order(struct process *process);

#endif
