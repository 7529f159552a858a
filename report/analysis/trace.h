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
	const void *hint; /* the caller's, for functions of columns */
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

/*
 * An event as columns show it: all ones, NAN and NULL are unknown. Of a call without a record, only
 * what belongs to the call is known.
 */
struct trace_row {
	const struct trace *trace; /* the first member: see TRACE_SET */
	struct trace_event event;
	const struct process *process;
	uint64_t start_ns, duration_ns, queue_ns; /* queue: from the end of the call to the start */
	uint64_t device, context, stream;
	uint64_t grid[3], block[3], registers, dynamic_bytes;
	uint64_t static_bytes; /* unknown where it is not separate: dynamic_bytes is of both then */
	/* Of copies and memsets; a memset has a target and no source. */
	uint64_t bytes;
	double bytes_per_s;
	const char *source, *target;
	const char *left; /* nvprof and nsys show the memory of a memset on the left */
	/* Of the call. Other formats than ours do not have results. */
	uint64_t step, tid, result;
	uint32_t call, thread_name;
};

/* A function sets the cell; it gets the row. */
#define TRACE_SET(function)  TABLE_SET(trace_row, trace, function)
#define TRACE_MEMBER(member) TABLE_MEMBER(trace_row, member)
#define TRACE_RANK_PID_COLUMNS                                                                  \
	TABLE_COLUMN(                                                                           \
		"rank", "Rank", TABLE_ID, .is_wide_only = true, VIEW_RANK(trace_row, process)), \
		TABLE_COLUMN("pid", "PID", TABLE_ID, .is_wide_only = true,                      \
			VIEW_PID(trace_row, process))

/*
 * The events become the rows of a table that has none yet; the trace is the table's own from now
 * on. The sources of the columns are members of struct trace_row.
 */
void trace_fill(struct trace *trace, struct table *table);

/* The same with a new table, of one of the styles. */
struct table *trace_table(
	struct trace *trace, const struct table_column *columns, unsigned int nr_columns);

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
