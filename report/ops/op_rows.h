/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For op_load.c: rows of what the host did, as events.
 */
#ifndef REPORT_OPS_OP_ROWS_H
#define REPORT_OPS_OP_ROWS_H

#include "report/ops/op_launch.h"
#include "report/ops/op_load.h"
#include "report/model/ranges.h"

/* Starts with all zeros. */
struct op_events {
	struct op_event *items;
	size_t nr, capacity;
};

struct op_rows {
	struct process *process;
	const struct op_load_want *want;
	struct op_launch *launch; /* the caller's */
	struct ranges *ranges;	  /* what they are called; NULL where none are wanted */
	uint32_t order;		  /* of the last row; the caller's to set */
};

void op_rows_init(struct op_rows *rows, struct process *process, const struct op_load_want *want,
	struct op_launch *launch);
void op_rows_fini(struct op_rows *rows);

/* The tables whose rows become events, a bit each. */
uint64_t op_rows_tables(const struct op_rows *rows);

/* The load that op_rows_load will do of a block; its mask is 0 if it will do none. */
struct stream_request op_rows_request(const struct op_rows *rows, size_t block);

/*
 * Appends the rows of a block, if it is one of the host's. Makes no names, unless ranges are
 * wanted: so another thread may do that meanwhile.
 */
void op_rows_load(struct op_rows *rows, size_t block, struct op_events *events);

/* Appends events that are there. */
void op_rows_append(struct op_events *events, const struct op_event *more, size_t nr_more);

/* Names an operator that is_unnamed. */
void op_rows_name(const struct op_rows *rows, struct op_event *event);

#endif
