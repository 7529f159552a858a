/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devices did for the calls of a process, read from its blocks and given to the calls by
 * correlation id alone: sums, and where somebody wants them the records themselves.
 *
 * Held are those that no call has taken yet. Where records are wanted it is read beforehand which
 * calls there are (a bit each), so that none waits for a call that does not come.
 */
#ifndef REPORT_OPS_OP_LAUNCH_H
#define REPORT_OPS_OP_LAUNCH_H

#include "report/util/idset.h"
#include "report/model/model.h"
#include "report/ops/op_records.h"
#include "report/util/gpu_times.h"

struct op_launch {
	struct process *process;
	struct gpu_times worked;
	struct op_records *records; /* the caller's; NULL where only sums are wanted */
	struct idset *called;	    /* correlation ids of calls, with `records` */
	uint32_t lone;		    /* a list of records: those whose call is not in the stream */
	bool *is_communication;	    /* by the places of process.shapes; NULL: none is */
};

void op_launch_init(struct op_launch *launch, struct process *process, struct op_records *records);
void op_launch_fini(struct op_launch *launch);

/* The load that op_launch_load will do of a block; its mask is 0 if it will do none. */
struct stream_request op_launch_request(const struct op_launch *launch, size_t block);

/* Reads a block, if it is one of work. */
void op_launch_load(struct op_launch *launch, size_t block);

/* Takes what was done for a call; false if nothing is known of it. */
bool op_launch_take(struct op_launch *launch, uint32_t correlation, struct gpu_times_entry *work);

/* After the last call: nothing will take what is left. It joins `lone`. */
void op_launch_end(struct op_launch *launch);

#endif
