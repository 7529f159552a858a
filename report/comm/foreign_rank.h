/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds ranks of another job: processes without any communicator of the others here, although one
 * of the others would have to share it. The stream belongs to another job, or the ranks were
 * recorded at different times.
 */
#ifndef REPORT_COMM_FOREIGN_RANK_H
#define REPORT_COMM_FOREIGN_RANK_H

#include "report/model/model.h"

/* Sets `is_foreign`. The processes are sorted by rank. */
void foreign_rank_mark(struct process *const *processes, size_t nr_processes);

#endif
