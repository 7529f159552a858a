/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that seem to last beyond whole later ones of their stream. A stream runs one kernel after
 * the other, so the end is wrong: traces of ROCm have such (a kernel of 1 ms that lasts 25 ms). It
 * ends where the next one begins. Two kernels that overlap are no fault: programmatic launches do,
 * and so do the kernels of a graph, which have one correlation ID or the graph's.
 */
#ifndef REPORT_IMPORT_KINETO_ROWS_OVERRUN_H
#define REPORT_IMPORT_KINETO_ROWS_OVERRUN_H

#include <stdint.h>

#include "report/import/kineto/rows.h"
#include "report/util/idmap.h"

/* Starts of a stream that are kept. If a kernel passes more, it ends at the first of these. */
#define KINETO_OVERRUN_STARTS 256u

struct kineto_overrun {
	struct idmap streams; /* struct kineto_starts, by place */
	uint64_t nr;	      /* kernels that end earlier than in the trace */
};

void kineto_overrun_init(struct kineto_overrun *overrun);
void kineto_overrun_fini(struct kineto_overrun *overrun);

/* The end of a kernel, for rows in the order of their ends. */
uint64_t kineto_overrun_end(struct kineto_overrun *overrun, const struct kineto_row *row);

#endif
