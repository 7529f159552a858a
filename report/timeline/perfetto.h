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
#define PFTRACE_AUTOGRAD_FLOW (1ull << 63)

enum pftrace_kind {
	PFTRACE_ARROW, /* no slice: the next one of its row that begins then has this flow */
	PFTRACE_CALL,
	PFTRACE_OP,
	PFTRACE_RANGE,
	PFTRACE_SLICE, /* nothing but its name */
	PFTRACE_WORK_KERNEL,
	PFTRACE_WORK_COPY,
	PFTRACE_WORK_SET,
	PFTRACE_WORK_GRAPH,
	PFTRACE_WAIT,
	PFTRACE_COLLECTIVE, /* value: its place in pftrace.collectives */
	PFTRACE_NCCL_CALL,  /* value: bytes; graph: sequence number; place: communicator */
};

/* A slice on its way; what the last ones are depends on its kind. */
struct pftrace_slice {
	struct spool_head head; /* by begin, then the longest first */
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
struct pftrace_copy {
	uint64_t end_ns;
	double rate; /* GB/s */
	uint32_t device;
};

struct pftrace_counter {
	uint32_t kind, device;
	uint64_t track;
	double level;
};

struct pftrace {
	struct timeline timeline; /* the process at hand, and its clocks */
	struct pftrace_out out;
	uint64_t next_track;
	struct nccl_ops collectives; /* of all processes, by communicator and number */
	/* of the process at hand */
	uint64_t process_track;
	struct pftrace_rows rows;
	struct spool *spool;
	struct idmap shapes;	      /* struct buf: packed arguments, by shape */
	struct pftrace_slice *arrows; /* that begin at arrow_ns */
	size_t nr_arrows, arrow_capacity;
	uint64_t arrow_ns;
	struct pftrace_counter *counters;
	size_t nr_counters, counter_capacity;
	struct pftrace_copy *copies;
	size_t nr_copies, copy_capacity;
	struct pftrace_queues queues;
	struct {
		uint64_t ns, value;
	} samples[32]; /* the last one of metrics that rise, by metric */
};

/* pftrace_read.c: rows of the process at hand into the spool, and counters into the file. */
void pftrace_read(struct pftrace *pftrace);

/*
 * pftrace_comm.c: collectives in a row of their communicator, those of one number joined across
 * ranks. Read before the first process, then each takes its own.
 */
void pftrace_comm_read(
	struct pftrace *pftrace, struct process *const *processes, size_t nr_processes);
void pftrace_comm_take(struct pftrace *pftrace, uint32_t process);
void pftrace_comm_args(
	struct pftrace *pftrace, struct pftrace_event *event, const struct pftrace_slice *slice);
/* Calls of NCCL on their threads. */
void pftrace_comm_calls(struct pftrace *pftrace, const struct batch *batch);
void pftrace_comm_call_args(
	struct pftrace *pftrace, struct pftrace_event *event, const struct pftrace_slice *slice);

/* A slice into the spool. */
struct pftrace_slice *pftrace_add_slice(struct pftrace *pftrace, enum pftrace_kind kind, size_t row,
	uint32_t name, uint64_t begin_ns, uint64_t end_ns);

/* pftrace_write.c: the spool into the file. */
void pftrace_write_slices(struct pftrace *pftrace);

/* pftrace_row.c: rows, made when they are first asked for. */
size_t pftrace_thread_row(struct pftrace *pftrace, uint64_t thread);
size_t pftrace_range_row(struct pftrace *pftrace, uint64_t thread, uint32_t domain);
size_t pftrace_python_row(struct pftrace *pftrace, uint64_t thread);
size_t pftrace_device_row(struct pftrace *pftrace, uint32_t device);
size_t pftrace_stream_row(struct pftrace *pftrace, const struct model_place *place, bool is_wait);
size_t pftrace_other_row(
	struct pftrace *pftrace, enum pftrace_row_kind kind, uint32_t a, const char *name);

/* pftrace_count.c: counters. */
void pftrace_count_samples(struct pftrace *pftrace, const struct batch *batch);
void pftrace_count_allocs(struct pftrace *pftrace, const struct batch *batch);
void pftrace_count_launch(struct pftrace *pftrace, uint32_t correlation, uint64_t ns);
void pftrace_count_work(struct pftrace *pftrace, uint32_t correlation,
	const struct model_place *place, uint64_t ns);
void pftrace_count_copy(struct pftrace *pftrace, uint32_t device, uint64_t begin_ns,
	uint64_t end_ns, uint64_t bytes);
/* Those that ended until then. */
void pftrace_count_copies_until(struct pftrace *pftrace, uint64_t ns);

/* What was written. */
struct pftrace_written {
	uint64_t nr_slices, nr_instants, nr_counts;
};

/* What is chosen of some processes: a whole file. pick may be NULL. */
struct pftrace_written pftrace_write(struct process *const *processes, size_t nr_processes,
	const struct timeline_pick *pick, struct buf *out);

/*
 * The same for a sink. `begin` gets what times of slices are counted from (CLOCK_REALTIME), and the
 * first and last event on that axis.
 */
void pftrace_walk(struct process *const *processes, size_t nr_processes,
	const struct timeline_pick *pick,
	void (*begin)(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns),
	const struct pftrace_sink *sink);

#endif
