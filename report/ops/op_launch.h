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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/idset.h"
#include "report/model/model.h"
#include "report/ops/gpu_times.h"

/* ---- records ---- */

/*
 * Records of work on devices, kept in lists until the call that launched them comes. Memory is that
 * of the most that were kept at once; what is taken out is used again.
 */

/* One record of work on a device. */
struct op_record {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; both 0 where it is not timed */
	uint64_t bytes;		   /* of a copy or set */
	uint64_t graph_node;	   /* 0 outside graphs */
	uint32_t graph;
	uint32_t shape; /* of a kernel: an id of the stream, 0 unknown */
	uint32_t place; /* an id of the stream */
	uint32_t correlation;
	uint32_t copy; /* of a copy or set: copy_pack(), see copy.h */
	uint8_t table; /* GPROF_TABLE_kernel, _memcpy, _memset or _graph; also of what is not timed
			*/
	bool is_timed;
};

struct op_records_item {
	struct op_record record;
	uint32_t next; /* in its list, or in that of the free ones */
};

/* Starts with all zeros. */
struct op_records {
	struct op_records_item *items; /* numbered from 1 */
	size_t nr_items, capacity;
	uint32_t free;
};

void op_records_fini(struct op_records *records);

/* Room for one more at the head of a list (0: an empty one), which is then that list. */
struct op_record *op_records_add(struct op_records *records, uint32_t *list);

/* Takes the first out of a list; false if it is empty. */
bool op_records_pop(struct op_records *records, uint32_t *list, struct op_record *record);

struct op_launch {
	struct process *process;
	struct gpu_times times;
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
bool op_launch_remove(struct op_launch *launch, uint32_t correlation, struct gpu_times_entry *work);

/* After the last call: nothing will take what is left. It joins `lone`. */
void op_launch_end(struct op_launch *launch);

#endif
