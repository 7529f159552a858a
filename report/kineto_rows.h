/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a trace as rows that wait to be put in the order of our streams: by their ends,
 * what encloses behind what lies in it, in groups. A trace has them by their begins at best, and
 * those of the GPU anywhere.
 */
#ifndef REPORT_KINETO_ROWS_H
#define REPORT_KINETO_ROWS_H

#include <stdbool.h>

#include "report/kineto_out.h"
#include "report/kineto_python.h"

struct kineto_row {
	uint64_t begin, end; /* ns of the trace */
	union {
		struct {
			uint64_t sequence;
			uint32_t name, shape, forward_thread;
			uint32_t py_stack; /* 0: found by the Python calls around it */
			uint16_t depth;	   /* found as they are written */
		} op;
		struct {
			uint32_t correlation;
			uint32_t py_stack; /* as of an op */
			uint16_t call;
			bool is_async; /* says its name */
		} call;
		struct {
			uint32_t code;
			uint32_t stack;	 /* as of an op */
			bool is_builtin; /* and so in no stack */
		} py_call;
		struct {
			uint64_t address, allocated, reserved;
			int64_t bytes;
		} alloc;
		struct {
			uint64_t bytes, graph_node;
			uint32_t place, correlation, graph, shape;
		} work; /* and overhead: shape is its kind */
	};
	uint32_t thread; /* of work: the channel */
	uint8_t table;	 /* GPROF_TABLE_... */
	uint8_t kind;	 /* scope of an op; copy_kind; of an alloc the device's type */
	uint8_t source;	 /* memory; framework of an op; of an alloc the device */
	uint8_t target;
};

struct kineto_rows {
	struct kineto_row *rows;
	size_t nr_rows, capacity;
};

/* Zeroed is empty. */
void kineto_rows_fini(struct kineto_rows *rows);

/* A new row, zeroed, good until the next. */
struct kineto_row *kineto_rows_add(struct kineto_rows *rows);

/* Writes them all, in their order, with what is found on the way: depths, Python stacks. */
void kineto_rows_write(
	struct kineto_rows *rows, struct kineto_python *python, struct kineto_out *out);

#endif
