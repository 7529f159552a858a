/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts the events of a trace into the order of our streams: by end, an outer event after what it
 * contains, in groups. A trace is sorted by begin at best, and has GPU activities anywhere.
 */
#ifndef REPORT_IMPORT_KINETO_ROWS_H
#define REPORT_IMPORT_KINETO_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/format/intern.h"
#include "report/import/out.h"
#include "report/util/external_sort.h"

/*
 * Python functions and stacks of a trace. A function is written "file(line): name". The line is
 * that of its definition in python_function events, and the current line in an operator's "Call
 * stack" (innermost first, separated by semicolons). "<built-in ...>" is a C function without a
 * file.
 */

struct kineto_python {
	struct intern files, codes, stacks, texts;
	uint32_t *text_stacks; /* by the id in `texts` */
	size_t capacity;
};

/* Zero-initialized. */
void kineto_python_fini(struct kineto_python *python);

/* The id of a py_code row for the name of a python_function event; 0 if there is no memory. */
uint32_t kineto_python_code(
	struct kineto_python *python, struct import_out *out, const char *name, size_t nr_bytes);

/*
 * The id of a py_stack row: `code` at `line` (0: unknown), called from the stack `parent` (0:
 * none).
 */
uint32_t kineto_python_stack(struct kineto_python *python, struct import_out *out, uint32_t parent,
	uint32_t code, uint32_t line);

/* Does the same for a "Call stack"; 0 for an empty one. */
uint32_t kineto_python_text(
	struct kineto_python *python, struct import_out *out, const char *text, size_t nr_bytes);

/* ---- activities before their call ---- */

/*
 * Finds GPU activities that begin before their call, because clocks jump or differ. Calls and
 * activities are joined by correlation ID in a table of fixed size. If the two are more than
 * KINETO_EARLY_IDS launches apart, in the order of ends, they are not compared.
 */

#define KINETO_EARLY_IDS (1u << 18)

/* The clocks of host and device are known to about that; traces may have whole us. */
#define KINETO_EARLY_NS 1000u

struct kineto_early_id {
	uint32_t id; /* 0: none */
	bool is_counted;
	uint64_t call, activity; /* the first begin; UINT64_MAX: not seen */
};

struct kineto_early {
	struct kineto_early_id *ids;
	uint64_t nr; /* launches with an early activity */
};

/* ---- sorting ---- */

/* The begin and end of a GPU activity without times. */
#define KINETO_UNTIMED UINT64_MAX

struct kineto_row {
	union {
		struct external_sort_head head;
		struct {
			uint64_t end, begin; /* ns of the trace */
		};
	};
	uint64_t order; /* position in the trace; set by kineto_rows_add */
	union {
		struct {
			uint64_t sequence;
			uint32_t name, shape, forward_thread;
			uint32_t py_stack; /* 0: derived from the Python calls around it */
			uint16_t depth;	   /* set while rows are written */
			bool is_once;	   /* left out directly within one of its name */
			bool is_step;	   /* ProfilerStep#N */
			bool is_mark;	   /* one that gprof's own timeline has for a step */
		} op;
		struct {
			uint32_t correlation;
			uint32_t py_stack; /* as for an op */
			uint16_t call;
			bool is_async; /* by its name */
		} call;
		struct {
			uint32_t code;
			uint32_t stack;	 /* as for an op */
			bool is_builtin; /* built-in functions are in no stack */
		} py_call;
		struct {
			uint64_t collected, uncollectable; /* objects */
		} collection;
		struct {
			uint64_t address, allocated, reserved;
			int64_t bytes;
			uint8_t framework;
		} alloc;
		struct {
			uint64_t bytes, graph_node;
			uint32_t place, correlation, graph, shape;
		} activity; /* also overhead, with its kind in shape */
		struct {
			uint64_t bytes;
			uint32_t comm, number, correlation;
			int32_t peer;
			uint8_t datatype;
		} nccl; /* its kind is that of the row */
	};
	uint32_t thread; /* of an activity: the channel */
	uint8_t table;	 /* GPROF_TABLE_... */
	uint8_t kind;	 /* scope of an op; copy_kind; device type of an alloc; generation */
	uint8_t source;	 /* memory kind; framework of an op; device of an alloc */
	uint8_t target;
};

/* Rows in memory at a time; more go to a temporary file. */
#define KINETO_ROWS (1u << 19)

struct kineto_rows {
	struct external_sort *sorter; /* by falling end, then begin, then order */
	size_t most;		      /* 0: KINETO_ROWS; tests use a small number */
	uint64_t nr_all;
	uint64_t last_order;
	uint64_t nr_early;   /* launches with an early activity; counted while rows are written */
	uint64_t nr_overrun; /* kernels that end earlier than in the trace; likewise */
	uint64_t nr_twice;   /* operators left out: is_once, is_mark; likewise */
	bool are_ends_right; /* of kernels: none overruns (rows_overrun.h) */
	bool are_of_xla;     /* operators and ranges, in a timeline made of XLA's trace */
	bool are_recorded;   /* they, in a timeline made of a recording */
};

/* Zero-initialized. */
void kineto_rows_fini(struct kineto_rows *rows);

/* Reserves the position of a row that is added later. */
static inline uint64_t kineto_rows_order(struct kineto_rows *rows)
{
	return ++rows->last_order;
}

/* A new zeroed row, valid until the next. */
struct kineto_row *kineto_rows_add(struct kineto_rows *rows);

/*
 * Writes all rows in order, and sets depths and Python stacks on the way. False if a temporary
 * file had no room for them.
 */
bool kineto_rows_write(
	struct kineto_rows *rows, struct kineto_python *python, struct import_out *out);

#endif
