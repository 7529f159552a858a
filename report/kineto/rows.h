/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a trace as rows that wait to be put in the order of our streams: by their ends,
 * what encloses behind what lies in it, in groups. A trace has them by their begins at best, and
 * those of the GPU anywhere.
 */
#ifndef REPORT_KINETO_ROWS_H
#define REPORT_KINETO_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/kineto/out.h"
#include "report/kineto/python.h"

/* ---- work before its call ---- */

/*
 * Work of a GPU that begins before the call that launched it: where clocks jump, or are not the
 * same. Calls and work are joined by correlation id, in a table of fixed size for the last ids that
 * came: of two that are more than KINETO_EARLY_IDS launches apart in the order of their ends
 * nothing is known.
 */

#define KINETO_EARLY_IDS (1u << 18)

struct kineto_early_id {
	uint32_t id; /* 0: none */
	bool is_counted;
	uint64_t call, work; /* the first begin; UINT64_MAX not seen */
};

struct kineto_early {
	struct kineto_early_id *ids;
	uint64_t nr; /* launches whose work is early */
};

void kineto_early_init(struct kineto_early *early);
void kineto_early_fini(struct kineto_early *early);

/* In any order; the id 0 is none. */
void kineto_early_call(struct kineto_early *early, uint32_t id, uint64_t begin);
void kineto_early_work(struct kineto_early *early, uint32_t id, uint64_t begin);

/* When the call began, UINT64_MAX if that is not known yet, or no more. */
uint64_t kineto_early_find(const struct kineto_early *early, uint32_t id);

/* ---- sorting ---- */

struct kineto_row {
	uint64_t begin, end; /* ns of the trace */
	uint64_t order;	     /* in which they stand in the trace; set by kineto_rows_add */
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
		struct {
			uint64_t bytes;
			uint32_t comm, number, correlation;
			int32_t peer;
			uint8_t datatype;
		} nccl; /* its kind is the row's */
	};
	uint32_t thread; /* of work: the channel */
	uint8_t table;	 /* GPROF_TABLE_... */
	uint8_t kind;	 /* scope of an op; copy_kind; of an alloc the device's type */
	uint8_t source;	 /* memory; framework of an op; of an alloc the device */
	uint8_t target;
};

/* Rows in memory at a time; more lie in temporary files. */
#define KINETO_ROWS (1u << 19)

struct kineto_runs;

struct kineto_rows {
	struct kineto_row *rows;
	size_t nr_rows, capacity;
	size_t most;	 /* 0: KINETO_ROWS; tests have it small */
	uint64_t nr_all; /* with those in files */
	uint64_t last_order;
	uint64_t nr_early; /* launches whose work begins before them; found as rows are written */
	struct kineto_runs *runs; /* NULL: none yet */
	bool has_no_files;	  /* so all stay in memory */
};

/* Does it end earlier, or with the other one but lies in it? Equal ones: the later in the trace. */
static inline bool kineto_row_is_before(const struct kineto_row *a, const struct kineto_row *b)
{
	if (a->end != b->end) {
		return a->end < b->end;
	}
	return a->begin != b->begin ? a->begin > b->begin : a->order > b->order;
}

/* Zeroed is empty. */
void kineto_rows_fini(struct kineto_rows *rows);

/* A place in the order for a row that is added later. */
static inline uint64_t kineto_rows_order(struct kineto_rows *rows)
{
	return ++rows->last_order;
}

/* A new row, zeroed, good until the next. */
struct kineto_row *kineto_rows_add(struct kineto_rows *rows);

/*
 * Writes them all, in their order, with what is found on the way: depths, Python stacks. False if
 * files that some of them lie in could not be read back.
 */
bool kineto_rows_write(
	struct kineto_rows *rows, struct kineto_python *python, struct kineto_out *out);

#endif
