/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that did not communicate with the others here, though one of these would have had to:
 * their stream is of another job, or the ranks were recorded at different times.
 */
#ifndef REPORT_COMM_FOREIGN_RANK_H
#define REPORT_COMM_FOREIGN_RANK_H

#include "report/model/model.h"

/* Sets `is_foreign`. The processes are by rank, rising. */
void foreign_rank_mark(struct process *const *processes, size_t nr_processes);

#endif
