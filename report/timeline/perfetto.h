/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline as a Perfetto trace (TrackEvent). Each process is read once; its slices go through a
 * spool (spool.h) into the order of their begins, since the format closes slices of a track from
 * the innermost and knows them by nothing else. Memory: the spool, and what is open at one moment.
 *
 *     process PID             its counters; steps, record windows, losses and notices; CUPTI's
 * overhead thread TID (name)     operators and calls in each other NVTX [domain], Python GPU n its
 * counters stream n, stream n (2): what overlaps; waits
 *
 * Flows join calls with what they launched (by correlation id, in the order of begins), and forward
 * operators with their autograd nodes.
 */
#ifndef REPORT_TIMELINE_PERFETTO_H
#define REPORT_TIMELINE_PERFETTO_H

#include "report/comm/nccl_ops.h"
#include "report/timeline/perfetto_lane.h"
#include "report/timeline/perfetto_queue.h"
#include "report/util/external_sort.h"
#include "report/timeline/timeline.h"

/* Flows of calls have the process above and the correlation id; those of autograd this bit. */
#define PERFETTO_AUTOGRAD_FLOW (1ull << 63)

enum perfetto_kind {
	PERFETTO_ARROW, /* no slice: the next one of its row that begins then has this flow */
	PERFETTO_CALL,
	PERFETTO_OP,
	PERFETTO_RANGE,
	PERFETTO_SLICE, /* nothing but its name */
	PERFETTO_WORK_KERNEL,
	PERFETTO_WORK_COPY,
	PERFETTO_WORK_SET,
	PERFETTO_WORK_GRAPH,
	PERFETTO_WAIT,
	PERFETTO_COLLECTIVE, /* value: its place in pftrace.collectives */
	PERFETTO_NCCL_CALL,  /* value: bytes; graph: sequence number; place: communicator */
};

/* A slice on its way; what the last ones are depends on its kind. */
struct perfetto_slice {
	struct external_sort_head head; /* by begin, then the longest first */
	uint64_t dur_ns;
	uint64_t value; /* bytes; node of a graph; payload; sequence number; flow of an arrow */
	uint32_t row;	/* in pftrace.rows */
	uint32_t name;	/* of names.h */
	uint32_t correlation;
	uint32_t shape; /* kernel's, or inputs' (of names.h); result of a call; type of a payload */
	uint32_t place; /* of work; or a Python stack of the stream */
	uint8_t kind, category;
	uint32_t graph;
};

/* A copy that runs, for the counter of bandwidth. */
struct perfetto_copy {
	uint64_t end_ns;
	double rate; /* GB/s */
	uint32_t device;
};

struct perfetto_counter {
	uint32_t kind, device;
	uint64_t track;
	double level;
};

struct perfetto {
	struct timeline timeline; /* the process at hand, and its clocks */
	struct perfetto_out out;
	uint64_t next_track;
	struct nccl_ops collectives; /* of all processes, by communicator and number */
	/* of the process at hand */
	uint64_t process_track;
	struct perfetto_rows rows;
	struct external_sort *spool;
	struct idmap shapes;	       /* struct buf: packed arguments, by shape */
	struct perfetto_slice *arrows; /* that begin at arrow_ns */
	size_t nr_arrows, arrow_capacity;
	uint64_t arrow_ns;
	struct perfetto_counter *counters;
	size_t nr_counters, counter_capacity;
	struct perfetto_copy *copies;
	size_t nr_copies, copy_capacity;
	struct perfetto_queues queues;
	struct {
		uint64_t ns, value;
	} samples[32]; /* the last one of metrics that rise, by metric */
};

/* perfetto_read.c: rows of the process at hand into the spool, and counters into the file. */
void perfetto_read(struct perfetto *pftrace);

/*
 * pftrace_comm.c: collectives in a row of their communicator, those of one number joined across
 * ranks. Read before the first process, then each takes its own.
 */
void perfetto_comm_read(
	struct perfetto *pftrace, struct process *const *processes, size_t nr_processes);
void perfetto_comm_take(struct perfetto *pftrace, uint32_t process);
void perfetto_comm_args(
	struct perfetto *pftrace, struct perfetto_event *event, const struct perfetto_slice *slice);
/* Calls of NCCL on their threads. */
void perfetto_comm_calls(struct perfetto *pftrace, const struct batch *batch);
void perfetto_comm_call_args(
	struct perfetto *pftrace, struct perfetto_event *event, const struct perfetto_slice *slice);

/* A slice into the spool. */
struct perfetto_slice *perfetto_add_slice(struct perfetto *pftrace, enum perfetto_kind kind,
	size_t row, uint32_t name, uint64_t begin_ns, uint64_t end_ns);

/* perfetto_write.c: the spool into the file. */
void perfetto_write_slices(struct perfetto *pftrace);

/* perfetto_row.c: rows, made when they are first asked for. */
size_t perfetto_thread_row(struct perfetto *pftrace, uint64_t thread);
size_t perfetto_range_row(struct perfetto *pftrace, uint64_t thread, uint32_t domain);
size_t perfetto_python_row(struct perfetto *pftrace, uint64_t thread);
size_t perfetto_device_row(struct perfetto *pftrace, uint32_t device);
size_t perfetto_stream_row(struct perfetto *pftrace, const struct model_place *place, bool is_wait);
size_t perfetto_other_row(
	struct perfetto *pftrace, enum perfetto_row_kind kind, uint32_t a, const char *name);

/* pftrace_count.c: counters. */
void perfetto_count_samples(struct perfetto *pftrace, const struct batch *batch);
void perfetto_count_allocs(struct perfetto *pftrace, const struct batch *batch);
void perfetto_count_launch(struct perfetto *pftrace, uint32_t correlation, uint64_t ns);
void perfetto_count_work(struct perfetto *pftrace, uint32_t correlation,
	const struct model_place *place, uint64_t ns);
void perfetto_count_copy(struct perfetto *pftrace, uint32_t device, uint64_t begin_ns,
	uint64_t end_ns, uint64_t bytes);
/* Those that ended until then. */
void perfetto_count_copies_until(struct perfetto *pftrace, uint64_t ns);

/* What was written. */
struct perfetto_written {
	uint64_t nr_slices, nr_instants, nr_counts;
};

/* What is chosen of some processes: a whole file. pick may be NULL. */
struct perfetto_written perfetto_write(struct process *const *processes, size_t nr_processes,
	const struct timeline_pick *pick, struct buf *out);

/*
 * The same for a sink. `begin` gets what times of slices are counted from (CLOCK_REALTIME), and the
 * first and last event on that axis.
 */
void perfetto_walk(struct process *const *processes, size_t nr_processes,
	const struct timeline_pick *pick,
	void (*begin)(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns),
	const struct perfetto_sink *sink);

#endif
