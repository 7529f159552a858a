/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of NCCL in the timeline, on their threads. */
#ifndef REPORT_TIMELINE_JSON_NCCL_H
#define REPORT_TIMELINE_JSON_NCCL_H

#include "report/timeline/timeline.h"

/* The columns of table nccl that are needed. */
#define TIMELINE_NCCL_MASK COL_ALL(NR_COL_nccl)

void timeline_nccl_take(struct timeline *timeline, const struct batch *batch);

#endif
