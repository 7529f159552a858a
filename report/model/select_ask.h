/* SPDX-License-Identifier: Apache-2.0 */
/* Choices for all processes of a report: whether they choose anything, and what they chose. */
#ifndef REPORT_MODEL_SELECT_ASK_H
#define REPORT_MODEL_SELECT_ASK_H

#include "report/model/select.h"
#include "report/table/table.h"

/*
 * Makes the choice for all processes. False if part of it fits none of them; then `why` says which
 * steps or windows there are, and nothing is chosen.
 */
bool select_all(struct process *const *processes, size_t nr_processes, const struct select_ask *ask,
	struct buf *why);
void select_drop_all(struct process *const *processes, size_t nr_processes);

/* What was chosen of each process, to be destroyed; NULL where there was no choice. */
struct table *select_table(struct process *const *processes, size_t nr_processes);

#endif
