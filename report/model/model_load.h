/* SPDX-License-Identifier: Apache-2.0 */
/* For model.c: rows of the small tables into a process. */
#ifndef REPORT_MODEL_MODEL_LOAD_H
#define REPORT_MODEL_MODEL_LOAD_H

#include "report/model/model.h"

/* Reads all batches of the small tables. */
void model_load(struct process *process);

#endif
