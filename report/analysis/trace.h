/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events one by one: each record of device work with the call that launched it (op_walk.h), or each
 * call; and tables with a row for each. All processes together, in the order of their begins. They
 * lie in a spool, so memory is bounded by EXTERNAL_SORT_BYTES, however many there are.
 */
#ifndef REPORT_ANALYSIS_TRACE_H
#define REPORT_ANALYSIS_TRACE_H

#include "report/util/external_sort.h"
#include "report/analysis/view.h"

struct trace_event {
	struct external_sort_head head;	   /* begin of what the trace is of; UINT64_MAX: unknown */
	uint64_t begin_ns, dur_ns;	   /* of the record */
	uint64_t api_begin_ns, api_dur_ns; /* of its call */
	uint64_t bytes;
	uint32_t process; /* index in the input */
	uint32_t thread;  /* of the call, an id of the stream */
	uint32_t call;	  /* of string_pool.h */
	uint32_t op;	  /* innermost operator around the call, of string_pool.h; 0 none */
	uint32_t step;	  /* as in phase_segment */
	uint64_t correlation;
	uint32_t copy;	/* copy_pack() */
	uint32_t shape; /* an id of the stream; of a graph as a whole: its number */
	uint32_t place; /* an id of the stream */
	int32_t result; /* of the call */
	uint8_t table;	/* GPROF_TABLE_... of the record */
	uint8_t api;	/* enum gprof_api of the call */
	bool is_timed, has_record, has_call;
};

enum trace_order {
	TRACE_BY_RECORD, /* by the begins of records */
	TRACE_BY_CALL,	 /* by those of calls; records without one come last */
	TRACE_BY_LENGTH, /* the longest records, or calls, first */
};

/* Times are on the axis of all processes, see time_axis.h. */
struct trace {
	struct process **processes; /* the caller's */
	size_t nr_processes;
	enum trace_order order;
	struct process *process; /* the current one */
	uint32_t place;		 /* of it */
	struct external_sort *spool;
	uint64_t nr_untimed, nr_without_call;
	const void *hint; /* the caller's, for `fill` */
};

struct trace *trace_create(const struct view_input *input, enum trace_order order);
void trace_destroy(struct trace *trace);

/* For the callbacks of op_view with these names. */
void trace_begin(struct trace *trace, struct process *process);
void trace_record(struct trace *trace, const struct op_record *record, const struct op_call *call,
	const struct op *op);
void trace_call(struct trace *trace, const struct op_call *call, const struct op *op);

/* For the callbacks of scan_view: driver calls within other calls, whose operator is not known. */
#define TRACE_NESTED_CALLS                                            \
	{                                                             \
		GPROF_TABLE_api_nested, COL_ALL(NR_COL_api_nested), 0 \
	}
void trace_nested_calls(struct trace *trace, const struct batch *batch);

/* A time of the current process, CLOCK_MONOTONIC, on the axis. */
uint64_t trace_time(const struct trace *trace, uint64_t ns);

/*
 * The name of an event: a kernel's name, "Memcpy HtoD (Pinned -> Device)", a graph; of
 * string_pool.h.
 */
uint32_t trace_name(const struct trace *trace, const struct trace_event *event);

/* Its kernel's shape; all 0 for what is none or not known. */
struct model_shape trace_shape(const struct trace *trace, const struct trace_event *event);
struct model_place trace_place(const struct trace *trace, const struct trace_event *event);

/* Is its result known? CUDA's results are not negative; other formats than ours do not have them.
 */
bool trace_has_result(const struct trace *trace, const struct trace_event *event);

/* Is static shared memory separate? Else dynamic_shared_bytes of the shape is of both. */
bool trace_has_static(const struct trace *trace, const struct trace_event *event);

/* From the end of the call to the begin of the record; false if there is no such time. */
bool trace_queue(const struct trace_event *event, uint64_t *begin_ns, uint64_t *dur_ns);

/*
 * The events become the rows of a table that has none yet; the trace is the table's own from now
 * on. `fill` gets the cells of a row, all unknown.
 */
void trace_fill(struct trace *trace, struct table *table,
	void (*fill)(const struct trace *trace, const struct trace_event *event,
		struct table_cell *cells));

/* The same with a new table. */
struct table *trace_table(struct trace *trace, const char *key, const char *title,
	const struct table_column *columns, unsigned int nr_columns,
	void (*fill)(const struct trace *trace, const struct trace_event *event,
		struct table_cell *cells));

/* The state of a view that is such a table: its `begin` and `fini`, and the trace for its `fill`.
 */
struct trace_view {
	struct view_input input;
	struct trace *trace; /* NULL once a table has taken it */
};

void trace_view_begin(void *state, struct process *process);
void trace_view_fini(void *state);

/* The caller, or the table that it fills, owns the trace from now on. */
struct trace *trace_view_take(void *state);

#endif
