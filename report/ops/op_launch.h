/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU activities of the calls of a process, joined by correlation ID: sums, and the records if
 * wanted.
 *
 * It holds activities until their call removes them. If records are wanted, it first reads which
 * calls exist (a bit each), so that none waits for a call that never comes.
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
 * Lists of GPU activity records, kept until their call comes. Memory is that of the most kept at
 * once, as free records are reused.
 */

/* One GPU activity. */
struct op_record {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; both 0 if it has no times */
	uint64_t bytes;		   /* of a copy or set */
	uint64_t graph_node;	   /* 0 outside graphs */
	uint32_t graph;
	uint32_t shape; /* of a kernel: an id of the stream, 0: unknown */
	uint32_t place; /* an id of the stream */
	uint64_t correlation;
	uint32_t copy; /* of a copy or set: copy_pack(), see copy_kind.h */
	uint8_t table; /* GPROF_TABLE_kernel, _memcpy, _memset or _graph */
	bool is_timed;
	bool is_communication;	 /* of a kernel with times: kernel_class_of its name */
	bool is_capture_unknown; /* of a graph: its node was captured while nothing was recorded */
	uint32_t next;		 /* the next record of its list, or of the free ones */
};

/* The kernel, or what the copy, set or graph is called; a number of string_pool.h. */
uint32_t op_record_name(const struct process *process, const struct op_record *record);

/* Why no operator is around an activity, in round brackets. */
#define OP_LACKS_OPERATOR "(no operator)"
#define OP_LACKS_CAPTURE  "(captured before the recording)"
const char *op_record_lacks_op(const struct op_record *record, bool has_call);

/* Zero-initialized. */
struct op_records {
	struct op_record *items; /* numbered from 1 */
	size_t nr_items, capacity;
	uint32_t free;
};

void op_records_fini(struct op_records *records);

/* Adds a record at the head of a list; 0 is an empty list. The caller sets all but `next`. */
struct op_record *op_records_add(struct op_records *records, uint32_t *list);

/* Removes the first record of a list, NULL if it is empty. It is valid until the next is added. */
static inline const struct op_record *op_records_pop(struct op_records *records, uint32_t *list)
{
	uint32_t number = *list;
	struct op_record *item;

	if (!number) {
		return NULL;
	}
	item = &records->items[number - 1];
	*list = item->next;
	item->next = records->free;
	records->free = number;
	return item;
}

/* A call that launched activities, or has a Python stack. */
struct op_gpu_call {
	uint64_t ns; /* of the activities */
	uint32_t nr_activities, py_stack;
};

struct op_launch {
	struct process *process;
	struct gpu_times times;
	struct op_records *records; /* the caller's; NULL if only sums are wanted */
	struct idset *called;	    /* correlation IDs of calls, with `records` */
	uint32_t no_call;	    /* a list of records whose call is not in the stream */
	bool *is_communication;	    /* by index in process.shapes; NULL: none is */
};

void op_launch_init(struct op_launch *launch, struct process *process, struct op_records *records);
void op_launch_fini(struct op_launch *launch);

/* The load that op_launch_load will do for a block; its mask is 0 if there is none. */
struct stream_request op_launch_request(const struct op_launch *launch, size_t block);

/* Reads a block if it holds activities. */
void op_launch_load(struct op_launch *launch, size_t block);

/* Removes the activities of a call; false if there are none. */
bool op_launch_remove(struct op_launch *launch, uint64_t correlation, struct gpu_times_entry *work);

/* Call it after the last call: the remaining records join `no_call`. */
void op_launch_end(struct op_launch *launch);

#endif
