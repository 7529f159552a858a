/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For select.c: which NVTX rows are chosen. The end of a range goes with its begin, wherever it is;
 * rows that only name something are always there.
 */
#ifndef REPORT_MODEL_SELECT_NVTX_H
#define REPORT_MODEL_SELECT_NVTX_H

#include "report/model/model.h"

/* By block of the stream a bit for each row, or NULL where a block has none that is chosen. */
uint64_t **select_nvtx_read(struct process *process);
void select_nvtx_destroy(uint64_t **kept, size_t nr_blocks);

#endif
