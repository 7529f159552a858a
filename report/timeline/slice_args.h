/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of slices: what a viewer shows of one beside its name and times. slice_args.c
 * declares each argument once, with its names; Chrome JSON, Perfetto traces, the page and SVG are
 * written from that.
 */
#ifndef REPORT_TIMELINE_SLICE_ARGS_H
#define REPORT_TIMELINE_SLICE_ARGS_H

#include "report/timeline/slice.h"
#include "report/util/buf.h"

/*
 * All arguments: their keys, names in Perfetto traces and on the page, and names in Chrome JSON,
 * as PyTorch's profiler has them. "": not in that output.
 */
#define TRACK_ARGS(ARG)                                                            \
	ARG(CORRELATION, "correlation", "correlation")                             \
	ARG(RESULT, "result", "result")                                            \
	ARG(STACK, "Python stack", "Call stack")                                   \
	ARG(SEQUENCE, "sequence number", "sequence number")                        \
	ARG(INPUTS, "inputs", "Inputs")                                            \
	ARG(PAYLOAD, "payload", "payload")                                         \
	ARG(DEVICE, "device", "device")                                            \
	ARG(CONTEXT, "context", "context")                                         \
	ARG(STREAM, "stream", "stream")                                            \
	ARG(GRAPH, "graph id", "graph id")                                         \
	ARG(GRAPH_NODE, "graph node id", "graph node id")                          \
	ARG(BYTES, "bytes", "bytes")                                               \
	ARG(RATE, "GB/s", "memory bandwidth (GB/s)")                               \
	ARG(GRID, "grid", "grid")                                                  \
	ARG(BLOCK, "block", "block")                                               \
	ARG(CLUSTER, "cluster", "cluster")                                         \
	ARG(REGISTERS, "registers per thread", "registers per thread")             \
	ARG(STATIC_SHARED, "static shared memory (bytes)", "")                     \
	ARG(DYNAMIC_SHARED, "dynamic shared memory (bytes)", "")                   \
	ARG(BLOCKS_PER_SM, "blocks per SM", "blocks per SM")                       \
	ARG(WARPS_PER_SM, "warps per SM", "warps per SM")                          \
	ARG(OCCUPANCY, "est. achieved occupancy (%)", "est. achieved occupancy %") \
	ARG(LIMITER, "occupancy limited by", "")                                   \
	ARG(COUNT, "events", "")                                                   \
	ARG(CODE, "code", "")                                                      \
	ARG(ALGBW, "algorithm bandwidth incl. wait (GB/s)", "")                    \
	ARG(COMM, "communicator", "communicator")                                  \
	ARG(OPERATORS, "ATen operators", "ATen operators")                         \
	ARG(NODES, "source nodes", "source nodes")
#define CHROME_ARGS(ARG)                         \
	ARG(EXTERNAL_ID, "", "External id")      \
	ARG(OP_SEQUENCE, "", "Sequence number")  \
	ARG(FORWARD_THREAD, "", "Fwd thread id") \
	ARG(THREAD, "", "thread")                \
	ARG(COLLECTED, "", "collected")          \
	ARG(UNCOLLECTABLE, "", "uncollectable")  \
	ARG(WAITED_STREAM, "", "waited stream")  \
	ARG(QUEUED, "", "queued")                \
	ARG(SHARED, "", "shared memory")         \
	ARG(FROM_DEVICE, "", "fromDevice")       \
	ARG(TO_DEVICE, "", "toDevice")           \
	ARG(FROM_CONTEXT, "", "fromContext")     \
	ARG(TO_CONTEXT, "", "toContext")         \
	ARG(CHANNEL, "", "channel")

#define ARG_KEY(key, name, json) KEY_##key,

enum arg_key {
	KEY_NONE,
	TRACK_ARGS(ARG_KEY) NR_KEYS,
	LAST_TRACK_KEY = NR_KEYS - 1,
	CHROME_ARGS(ARG_KEY) NR_ALL_KEYS,
};

struct arg_name {
	const char *name;
	const char *json; /* with the text around it: ", \"grid\": " */
	size_t nr_json;	  /* its bytes; 0: not in Chrome JSON */
};
extern const struct arg_name arg_names[NR_ALL_KEYS];

/* "cuda_runtime"; NULL for CATEGORY_NONE. */
extern const char *const category_words[NR_CATEGORIES];

enum arg_type {
	ARG_UINT,
	ARG_INT,
	ARG_DOUBLE,
	ARG_TEXT,
	ARG_OWN_NUMBER, /* of the page, which keeps the number beside the arguments */
	/* in Chrome JSON alone */
	ARG_JSON,   /* a text that is JSON */
	ARG_INPUTS, /* a text that becomes several members */
};

struct arg {
	uint8_t key;  /* enum arg_key */
	uint8_t type; /* enum arg_type */
	union {
		uint64_t number;
		int64_t integer;
		double real;
		uint32_t text; /* of string_pool.h */
	};
};

/* No slice has more: a copy between GPUs has 14 at most, the shape of a launch 12. */
#define SLICE_ARGS 16u

struct slice_args {
	uint8_t nr;
	uint8_t shared_at; /* the shared ones stand before this one */
	struct arg args[SLICE_ARGS];
	const struct shared_args *shared; /* NULL: none */
};

/* Arguments that many slices have: those of a launch's shape. */
struct shared_args {
	struct slice_args made;
	struct buf packed; /* for the output's use */
};

struct arg_maker {
	struct timeline *timeline;
	const struct nccl_ops *collectives; /* those that slices of collectives number */
	bool is_json;			    /* Chrome JSON */
	/* Before the first slice that has them; may be NULL. */
	void (*share)(void *context, struct shared_args *shared);
	void *context;
	/* of the current process */
	struct idmap shared; /* struct shared_args, by shape */
	struct slice_args *args;
	struct arg dropped; /* the last one that the output has no name for */
};

/* Around the slices of a process. */
void arg_maker_enter(struct arg_maker *maker);
void arg_maker_leave(struct arg_maker *maker);

/* Fills args, which need not be initialized. */
void arg_maker_make(struct arg_maker *maker, const struct slice *slice, struct slice_args *args);

#endif
