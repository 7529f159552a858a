/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of work on devices, kept in lists until the call that launched them comes. Memory is that
 * of the most that were kept at once; what is taken out is used again.
 */
#ifndef REPORT_OPS_OP_RECORDS_H
#define REPORT_OPS_OP_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
bool op_records_take(struct op_records *records, uint32_t *list, struct op_record *record);

#endif
