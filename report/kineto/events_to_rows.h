/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a trace to rows: what is kept of each kind, and what is counted because it is not. */
#ifndef REPORT_KINETO_EVENTS_TO_ROWS_H
#define REPORT_KINETO_EVENTS_TO_ROWS_H

#include "report/kineto/nccl.h"
#include "report/kineto/pair.h"
#include "report/kineto/rows.h"
#include "report/kineto/shape.h"
#include "report/kineto/thread.h"

/* ProfilerStep#N */
struct kineto_step {
	uint64_t begin, end, number;
	uint32_t thread;
	size_t order;
};

struct kineto_convert {
	struct kineto_out *out;
	struct kineto_json json;
	struct kineto_threads threads;
	struct kineto_rows rows;
	struct kineto_shapes shapes;
	struct kineto_python python;
	struct kineto_pairs pairs;
	struct kineto_nccl nccl;
	uint64_t pair_order; /* of the row of the pair at hand, 0: of none */
	struct kineto_step *steps;
	size_t nr_steps, step_capacity;
	uint64_t nr_other_steps, nr_overlapping_steps; /* found as they are written */
	uint8_t *call_tables; /* by the id of the string; 0: not looked at */
	size_t nr_call_tables;
	uint64_t first_ns, last_ns;		    /* of what was kept; first > last: nothing */
	uint64_t nr_flows, nr_gpu_ranges, nr_other; /* whole, but nothing that we keep */
	uint64_t nr_pairs; /* begins without an end and ends without a begin, of kinds that we keep
			    */
	uint64_t nr_incomplete; /* without begin, duration or name */
};

void kineto_convert_init(struct kineto_convert *take, struct kineto_out *out);
void kineto_convert_fini(struct kineto_convert *take);

/* The event that take->json has taken apart. False: it is none. */
bool kineto_convert_event(struct kineto_convert *take);

/* ---- for kineto_gpu.c ---- */

/* The id of the text of a token, 0 for none. */
uint32_t kineto_convert_string(struct kineto_convert *take, int token);

/* A row of a table from the event's begin to its end. */
struct kineto_row *kineto_convert_row(
	struct kineto_convert *take, const struct kineto_event *event, uint8_t table);

/* A number of the event that is of 32 bits, else 0. */
static inline uint32_t kineto_narrow(const struct kineto_event *event, enum kineto_number number)
{
	uint64_t value = event->numbers[number];

	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

#endif
