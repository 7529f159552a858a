/* SPDX-License-Identifier: Apache-2.0 */
/* One process of an export of Nsight Systems, while it becomes a stream. */
#ifndef REPORT_IMPORT_NSYS_TRACE_H
#define REPORT_IMPORT_NSYS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/import/out.h"
#include "report/import/step_names.h"
#include "report/import/nsys/database.h"
#include "report/util/idmap.h"
#include "report/util/idset.h"

/*
 * Times of an export count from the begin of the session, and what precedes it is negative. A tick
 * is such a time and this.
 */
#define NSYS_TICKS_BEFORE (1ull << 40)

/* An enumeration of an export has fewer values. */
#define NSYS_KINDS 16u

/* A row of StringIds and the texts of the stream that are made of it. */
struct nsys_string;

/* A thread by its tid. */
struct nsys_thread {
	uint32_t id, tid;
	uint32_t name; /* a string of the stream, 0: unknown */
	uint64_t seen; /* tick of its first event; UINT64_MAX: none */
	/* Scheduling events give the tick since which it is on a CPU, 0: on none; and the sum. */
	uint64_t on_cpu_since, cpu_ns;
	uint32_t cpu;		/* on which it is, or was last */
	uint64_t off_cpu_since; /* 0: it is on one, or it was on none before */
	/* The outermost call that is open; and the last one that has two rows, see host.c. */
	uint64_t call_end;
	uint32_t call_correlation, repeated_correlation;
	uint32_t call_stack;
	uint16_t call;
	struct nsys_nccl_call *nccl; /* of NCCL, NULL: it is in none */
	uint64_t nccl_end;	     /* of NCCL's last range */
	uint32_t nccl_depth;	     /* of ncclGroupStart */
	uint64_t nccl_group;
};

/* An event of the host that has begun, until its end is written. */
struct nsys_open {
	uint64_t begin, end, order;
	uint32_t thread; /* a tid */
	union {
		struct {
			uint32_t correlation, native_stack;
			int32_t result;
			uint16_t call;
			bool is_launch, is_repeated;
		} call;
		struct {
			uint64_t range; /* 0: a pop */
			uint32_t domain;
		} range;
		struct {
			uint64_t sequence;
			uint32_t name;
			uint16_t depth;
			uint8_t scope;
		} op;
		struct nsys_nccl_call *nccl;
	};
	uint8_t table; /* GPROF_TABLE_... */
};

/* The GPUs of a process by the numbers that CUDA gives them in it. */
struct nsys_device {
	uint64_t gpu;
	uint32_t device;
};

struct nsys_trace {
	struct nsys_database *database;
	struct import_out *out;
	uint64_t process; /* the upper bits of its globalPid */
	bool is_only;	  /* process of the file */
	bool is_first;	  /* it has the notices about the file */
	struct nsys_string *strings;
	struct idmap threads;	      /* struct nsys_thread by tid */
	struct idset *called, *async; /* correlation IDs of calls, and of asynchronous ones */
	struct nsys_domain *domains;  /* of NVTX, by number */
	struct nsys_stack *stacks;    /* of pushed ranges, by thread and domain */
	struct nsys_nccl *nccl;
	struct nsys_device *devices; /* none: they have the numbers of the GPUs */
	size_t nr_devices;
	struct nsys_metric *metrics; /* of GPUs, by their numbers */
	struct nsys_samples *samples;
	struct nsys_open *open; /* a heap: the first one ends first */
	size_t nr_open, open_capacity;
	uint64_t nr_orders;
	uint64_t nr_ranges;					  /* of START and END */
	struct import_step_names steps;				  /* ranges that may be some */
	uint8_t memory_kinds[NSYS_KINDS], sync_types[NSYS_KINDS]; /* CUPTI's, by the export's */
	uint64_t nr_rows;
	uint64_t nr_incomplete;		/* without a begin, an end or a name */
	uint64_t nr_metrics;		/* of GPUs that are not read */
	uint64_t first_tick, last_tick; /* first > last: nothing */
	uint64_t utc_ns;		/* of the begin of the session; 0: unknown */
	bool has_rank;
	enum { NSYS_NOT_ASKED, NSYS_NO, NSYS_YES } own_states; /* see sched.c */
	const char *problem;				       /* the first one of reading */
};

/* ---- tables.c ---- */

/* For struct nsys_query_want and struct nsys_source. */
#define NSYS_COLUMNS(names) .columns = (names), .nr_columns = sizeof(names) / sizeof((names)[0])

/*
 * Opens a table; where `want` has a key, for the rows of this process. NULL if nsys_query_open()
 * is.
 */
struct nsys_query *nsys_table_open(struct nsys_trace *trace, const struct nsys_query_want *want);

/* Keeps why reading ended too early, if it did. The query may be NULL. */
void nsys_table_close(struct nsys_trace *trace, struct nsys_query *query);

/* Opens a table, calls `take` for each row, and closes it. */
typedef void nsys_take_row(struct nsys_trace *trace, const struct nsys_query *query, void *context);
void nsys_table_read(struct nsys_trace *trace, const struct nsys_query_want *want,
	nsys_take_row *take, void *context);

/*
 * The text of one column, else that of StringIds by the id in another; NULL if there is neither.
 * Valid until the next row or string.
 */
const char *nsys_table_text(struct nsys_trace *trace, const struct nsys_query *query,
	unsigned int text, unsigned int id, size_t *nr_bytes);

/* ---- events.c ---- */

/* The tick of a time of the export; false if it is none, or precedes the session by long. */
bool nsys_tick(const struct nsys_query *query, unsigned int column, uint64_t *tick);

/* The thread of a globalTid, made if it is new; `seen`: the tick of an event of it. */
struct nsys_thread *nsys_thread_of(struct nsys_trace *trace, uint64_t global_tid, uint64_t seen);

/* Adds an event that nsys_events_read writes when all that ends before it is written. */
struct nsys_open *nsys_open_add(
	struct nsys_trace *trace, uint8_t table, uint32_t tid, uint64_t begin, uint64_t end);

/* Reads and writes all events, by their ends. */
void nsys_events_read(struct nsys_trace *trace);
void nsys_events_fini(struct nsys_trace *trace);

/* A table of events, and the function that takes each row; `tick` is that of its first column. */
struct nsys_source {
	const char *table;
	const char *const *columns;
	unsigned int nr_columns, nr_needed;
	const char *key;
	const char *where;
	/* Rows come by the end, the second column, and inner ones first; or by the begin, outer
	 * ones first, for what is open for a while. */
	bool is_by_begin;
	/*
	 * Its rows are of every process, such as calls of the system and nsys's own work: they make
	 * a stream only where there are no other rows.
	 */
	bool is_of_system;
	void (*take)(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick);
};

/* ---- strings.c ---- */

/* The string of the stream for an id of StringIds, 0 if there is none. */
uint32_t nsys_string(struct nsys_trace *trace, const struct nsys_query *query, unsigned int column);

/* The name of a call: its text without a version ("cudaMemcpy_v3020"), and what follows from it. */
struct nsys_call {
	uint16_t call; /* of table call */
	uint8_t table; /* GPROF_TABLE_api... */
	uint8_t api;   /* enum gprof_api */
	bool is_async, is_known;
};

/* is_system: a function of the system, not of CUDA. */
struct nsys_call nsys_call_of(struct nsys_trace *trace, const struct nsys_query *query,
	unsigned int column, bool is_system);
void nsys_strings_fini(struct nsys_trace *trace);

/* ---- sched.c: SCHED_EVENTS, and what gprof itself exports of them ---- */

#define NSYS_SCHED_COLUMNS     5
#define NSYS_OWN_STATE_COLUMNS 7
extern const char *const nsys_sched_columns[NSYS_SCHED_COLUMNS];
extern const char *const nsys_own_state_columns[NSYS_OWN_STATE_COLUMNS];
void nsys_sched_take(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick);
void nsys_sched_take_own(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick);

/* ---- gpu.c, host.c: the tables of events ---- */

extern const struct nsys_source nsys_gpu_sources[], nsys_host_sources[]; /* end with a NULL table */

/* Those of both lists, in order; NULL behind the last one. */
const struct nsys_source *nsys_source_at(size_t i);

/* Reads what has no order: events of streams. After the others. */
void nsys_gpu_read_events(struct nsys_trace *trace);

/* Reads the names of NVTX's domains and threads, and of metrics. Before the others. */
void nsys_host_read_domains(struct nsys_trace *trace);
void nsys_host_read_metrics(struct nsys_trace *trace);
/* Fills `called` and `async`. Before the others: by their clocks, activities may end before their
 * call begins.
 */
void nsys_host_read_async(struct nsys_trace *trace);

/*
 * Opens a range of a thread in a domain. Returns false if it does not lie within the innermost one
 * that is open there; else it is the innermost, and *depth how many are around it.
 */
bool nsys_host_push(struct nsys_trace *trace, uint32_t thread, uint64_t domain, uint64_t begin,
	uint64_t end, size_t *depth);

/* Writes an event of the host that has ended. */
void nsys_host_close(struct nsys_trace *trace, const struct nsys_open *open);
void nsys_host_fini(struct nsys_trace *trace);

/* ---- samples.c ---- */

/* Reads the stacks of CPU samples and of API calls. Before the others. */
void nsys_samples_read(struct nsys_trace *trace);
/* The stack of the call with that callchainId, 0 if there is none. */
#define NSYS_NO_CHAIN UINT64_MAX
uint32_t nsys_samples_call_stack(const struct nsys_trace *trace, uint64_t chain, bool is_system);

#define NSYS_SAMPLE_COLUMNS 4
extern const char *const nsys_sample_columns[NSYS_SAMPLE_COLUMNS];
void nsys_samples_take(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick);
void nsys_samples_fini(struct nsys_trace *trace);

/* ---- nccl.c ---- */

/* Reads where the facts are in payloads. */
void nsys_nccl_read(struct nsys_trace *trace);

/* The columns that have a payload, and the number of the domain. */
struct nsys_nccl_columns {
	unsigned int json, json_id, binary;
	uint64_t domain;
};

struct nsys_nccl_range {
	struct nsys_thread *thread;
	const char *name;
	size_t nr_bytes;
	uint64_t begin, end;
};

/*
 * A range of NVTX in NCCL's domain. NCCL's own nested calls are left out; without its payload the
 * communicator and the bytes are unknown.
 */
void nsys_nccl_range(struct nsys_trace *trace, const struct nsys_query *query,
	const struct nsys_nccl_columns *columns, const struct nsys_nccl_range *range);

/* A launch within a call of NCCL. */
void nsys_nccl_launch(struct nsys_thread *thread, uint64_t begin, uint32_t correlation);
void nsys_nccl_close(struct nsys_trace *trace, const struct nsys_open *open);

/* Writes the communicators. */
void nsys_nccl_write(struct nsys_trace *trace);
void nsys_nccl_fini(struct nsys_trace *trace);

/* ---- ops.c ---- */

/* The operators of gprof's own export. */
#define NSYS_OWN_OP_COLUMNS 10
extern const char *const nsys_own_op_columns[NSYS_OWN_OP_COLUMNS];
void nsys_ops_take_own(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick);

/*
 * A pushed range of the default domain. Returns true if it is an operator that PyTorch's emit_nvtx
 * marked, and then has it written when it ends.
 */
bool nsys_ops_add(struct nsys_trace *trace, uint32_t tid, const char *text, size_t nr_bytes,
	uint64_t begin, uint64_t end);
void nsys_ops_close(struct nsys_trace *trace, const struct nsys_open *open);

/* ---- steps.c ---- */

/* Writes the steps: those of gprof's own export if it is one, else those of ranges. */
void nsys_steps_write(struct nsys_trace *trace);

/* ---- facts.c ---- */

/* Devices, names, host, rank, versions; the first before the events, the second after. */
void nsys_facts_read(struct nsys_trace *trace);
void nsys_facts_write(struct nsys_trace *trace);

#endif
