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

enum arg_key {
	KEY_NONE,
	KEY_CORRELATION,
	KEY_RESULT,
	KEY_STACK,
	KEY_SEQUENCE,
	KEY_INPUTS,
	KEY_PAYLOAD,
	KEY_DEVICE,
	KEY_CONTEXT,
	KEY_STREAM,
	KEY_GRAPH,
	KEY_GRAPH_NODE,
	KEY_BYTES,
	KEY_RATE,
	KEY_GRID,
	KEY_BLOCK,
	KEY_CLUSTER,
	KEY_REGISTERS,
	KEY_STATIC_SHARED,
	KEY_DYNAMIC_SHARED,
	KEY_BLOCKS_PER_SM,
	KEY_WARPS_PER_SM,
	KEY_OCCUPANCY,
	KEY_LIMITER,
	KEY_COUNT,
	KEY_CODE,
	KEY_ALGBW,
	KEY_COMM,
	KEY_OPERATORS,
	KEY_NODES,
	NR_KEYS,
	/* Chrome JSON alone has these. */
	KEY_EXTERNAL_ID = NR_KEYS,
	KEY_OP_SEQUENCE,
	KEY_FORWARD_THREAD,
	KEY_THREAD,
	KEY_COLLECTED,
	KEY_UNCOLLECTABLE,
	KEY_WAITED_STREAM,
	KEY_QUEUED,
	KEY_SHARED,
	KEY_FROM_DEVICE,
	KEY_TO_DEVICE,
	KEY_FROM_CONTEXT,
	KEY_TO_CONTEXT,
	KEY_CHANNEL,
	NR_ALL_KEYS,
};

/*
 * An argument's names. NULL: not in that output. `json` has the text around it: ", \"grid\": ".
 */
struct arg_name {
	const char *name; /* in Perfetto traces and on the page */
	const char *json; /* in Chrome JSON, as PyTorch's profiler has it */
	size_t nr_json;	  /* its bytes */
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
};

/* Around the slices of a process. */
void arg_maker_enter(struct arg_maker *maker);
void arg_maker_leave(struct arg_maker *maker);

/* Fills args, which need not be initialized. */
void arg_maker_make(struct arg_maker *maker, const struct slice *slice, struct slice_args *args);

#endif
