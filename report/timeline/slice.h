/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a process as slices: the one walk over events that every format of a timeline is made
 * of. A sink gets slices in the order of the stream. chrome.c writes them as they come, in Kineto's
 * dialect; tracks.c sorts them and lays them out on tracks, for Perfetto, the page and SVG.
 */
#ifndef REPORT_TIMELINE_SLICE_H
#define REPORT_TIMELINE_SLICE_H

#include <stddef.h>

#include "report/comm/nccl_ops.h"
#include "report/timeline/timeline.h"

enum slice_kind {
	/* on threads of the host */
	SLICE_CALL,
	SLICE_NCCL_CALL,
	SLICE_OP,
	SLICE_PYTHON,
	SLICE_RANGE,	  /* NVTX push and pop, which nest */
	SLICE_FREE_RANGE, /* NVTX start and end, which overlap freely */
	SLICE_MARK,	  /* NVTX; an instant */
	/* on streams of devices */
	SLICE_KERNEL,
	SLICE_COPY,
	SLICE_SET,
	SLICE_GRAPH,
	SLICE_WAIT, /* CUPTI's synchronization record */
	/* of the process */
	SLICE_OVERHEAD,
	SLICE_STATE, /* of a thread: on a CPU, blocked ... */
	SLICE_STEP,
	SLICE_WINDOW,
	SLICE_COLLECTIVE,
	SLICE_LOSS,   /* an instant */
	SLICE_NOTICE, /* an instant */
};

enum slice_category {
	CATEGORY_NONE,
	CATEGORY_RUNTIME,
	CATEGORY_DRIVER,
	CATEGORY_LIBRARY,
	CATEGORY_OPERATOR,
	CATEGORY_ANNOTATION,
	CATEGORY_PYTHON,
	CATEGORY_KERNEL,
	CATEGORY_NCCL,
	CATEGORY_COPY,
	CATEGORY_SET,
	CATEGORY_SYNC,
	CATEGORY_OVERHEAD,
	CATEGORY_STEP,
	CATEGORY_MARK,
	CATEGORY_COMM,
	CATEGORY_NCCL_API,
	CATEGORY_STATE,
	NR_CATEGORIES,
};

/* NVTX's types of payloads, widened to 64 bits. */
enum slice_payload { PAYLOAD_NONE, PAYLOAD_UINT, PAYLOAD_INT, PAYLOAD_DOUBLE, PAYLOAD_OTHER };

/* Members that a slice does not have are 0. Names and texts are ids of string_pool.h. */
struct slice {
	/* A sort of slices keeps these members alone, see SLICE_KEPT_BYTES. */
	/*
	 * bytes; payload of NVTX; an operator's sequence number + 1; number of a step; index of a
	 * collective in its list; objects that a collection freed; of a kernel its node in a graph
	 */
	uint64_t value;
	union {
		uint64_t correlation; /* of calls and GPU activities */
		uint64_t sequence;    /* of an NCCL call */
	};
	uint32_t row; /* set by the sink: where it put the slice */
	uint32_t name;
	uint32_t shape; /* of a launch; inputs of an operator: a text */
	union {
		uint32_t place_id; /* of GPU activities */
		uint32_t stack;	   /* of calls and operators: Python's, py_stack.h */
		uint32_t comm;	   /* of an NCCL call or collective */
	};
	union {
		uint32_t graph; /* of GPU activities */
		int32_t result; /* of a call */
	};
	uint8_t kind, category;
	uint8_t payload; /* of NVTX: enum slice_payload, of `value` */
	bool has_inputs; /* of an operator; the text may be empty */
	/*
	 * A walk over times alone sets these, kind, of calls the correlation ID, and of operators
	 * and ranges category, name and domain.
	 */
	uint64_t begin_ns, end_ns; /* on the time axis; equal for an instant */
	uint64_t thread; /* of the host: the recorder's number; overhead, state: the tid */
	uint32_t domain; /* of NVTX */
	uint8_t copy_kind;
	bool is_trace_range;	 /* a step that is also among the operators of an imported trace */
	bool is_collection;	 /* of Python's garbage */
	uint32_t text;		 /* of a notice */
	int64_t number;		 /* lost events; the code of a notice */
	uint64_t uncollectable;	 /* objects that a collection could not free */
	uint64_t forward_thread; /* of an autograd node: the framework's number */
	/* of GPU activities */
	struct model_place place;
	uint32_t channel;
	uint64_t graph_node;
	uint64_t clock_begin, clock_end; /* CUPTI's ns */
	uint32_t peer[4];     /* of a copy: source and destination device, then their contexts */
	uint64_t external_id; /* set by the sink: of the operator that it is or belongs to */
};

#define SLICE_KEPT_BYTES offsetof(struct slice, begin_ns)

struct slice_alloc {
	uint64_t ns, thread;
	uint64_t allocated_bytes, reserved_bytes, address;
	int64_t bytes;
	uint32_t device, device_type; /* type 0: the host */
};

struct slice_sample {
	uint64_t ns, value;
	uint32_t device;
	uint8_t metric; /* enum gprof_metric */
};

struct slice_flow_end {
	uint64_t ns;
	uint32_t row;
};

/* All but slice may be NULL. */
struct slice_sink {
	void (*slice)(void *context, struct slice *slice);
	/* From a forward operator to its autograd node; nr counts from 1. Both slices came before.
	 */
	void (*flow)(void *context, uint64_t nr, const struct slice_flow_end *from,
		const struct slice_flow_end *to);
	void (*alloc)(void *context, const struct slice_alloc *alloc);
	void (*sample)(void *context, const struct slice_sample *sample);
	/* GPU activities that come later begin at clock_ns of CUPTI's clock, or after it. */
	void (*no_earlier)(void *context, uint64_t clock_ns);
	/* The walk comes to that block, which may have no slices. */
	void (*block)(void *context, size_t block);
	void *context;
};

enum slice_length { SLICES_ALL, SLICES_SHORT, SLICES_LONG };

/* The longest of the short rows of SLICES_HOST, in ticks, and of SLICES_GPU, in CUPTI's ns. */
struct slice_lengths {
	uint64_t ticks, device_ns;
};

struct slice_walk {
	struct timeline *timeline;
	const struct slice_sink *sink;
	bool is_times_only;  /* slices have what stands first in struct slice; no allocations */
	bool is_outer_first; /* of operators that have the same time the outer one comes first */
	bool is_whole_only;  /* steps: not those whose begin or end is unknown, or that have gaps */
	/* Rows of SLICES_HOST and SLICES_GPU by their length; blocks: those to read, NULL: all. */
	enum slice_length length;
	struct slice_lengths lengths;
	const bool *blocks;
};

/* Slices of the current process. A walk reads blocks in order, and those of `sources` alone. */
void slice_walk_blocks(const struct slice_walk *walk, unsigned int sources);
/* Flows alone: the sink gets the operators they may end at, with thread and times, and the flows.
 */
void slice_walk_flows(const struct slice_walk *walk);
void slice_walk_steps(const struct slice_walk *walk);
void slice_walk_windows(const struct slice_walk *walk);
void slice_walk_notices(const struct slice_walk *walk);

/*
 * Collectives of all processes, in the order of their communicators and numbers; the walk has those
 * of one process. slice.value is the index in ops, slice.comm numbers the communicators of the
 * process from 1.
 */
void slice_collectives_read(struct nccl_ops *ops, const struct timeline *timeline,
	struct process *const *processes, size_t nr_processes);
void slice_walk_collectives(
	const struct slice_walk *walk, const struct nccl_ops *ops, uint32_t process);

#endif
