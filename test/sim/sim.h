/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the simulated libraries share. The model (devices, streams, memory, graphs) lives in the
 * simulated libcuda.so.1; the simulated runtime and CUPTI reach it through one table of functions,
 * struct sim_core, which they get from cuGetExportTable, as the real ones get their private tables.
 *
 * Threads: one lock guards the whole model (sim_lock in stream.c). Nothing is called out of the
 * model under that lock: neither trace functions, nor host functions, nor CPU kernels.
 *
 * Results are CUDA's codes (the same numbers in both APIs); times are ns of CLOCK_REALTIME.
 */
#ifndef GPROF_SIM_H
#define GPROF_SIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/sim/cuda_abi.h"

#define SIM_EXPORT	__attribute__((visibility("default")))
#define SIM_UNLIKELY(x) __builtin_expect(!!(x), 0)

enum sim_code {
	SIM_OK = 0,
	SIM_INVALID_VALUE = 1,
	SIM_OUT_OF_MEMORY = 2,
	SIM_NOT_INITIALIZED = 3,
	SIM_DEINITIALIZED = 4,
	SIM_INVALID_CONFIGURATION = 9,
	SIM_INSUFFICIENT_DRIVER = 35,
	SIM_INVALID_SYMBOL = 13,
	SIM_INVALID_DEVICE_FUNCTION = 98,
	SIM_NO_DEVICE = 100,
	SIM_INVALID_DEVICE = 101,
	SIM_INVALID_IMAGE = 200,
	SIM_INVALID_CONTEXT = 201,
	SIM_PEER_UNSUPPORTED = 217,
	SIM_FILE_NOT_FOUND = 301,
	SIM_INVALID_HANDLE = 400,
	SIM_SYMBOL_NOT_FOUND = 500,
	SIM_NOT_READY = 600,
	SIM_PEER_ALREADY_ENABLED = 704,
	SIM_PEER_NOT_ENABLED = 705,
	SIM_HOST_ALREADY_REGISTERED = 712,
	SIM_HOST_NOT_REGISTERED = 713,
	SIM_NOT_PERMITTED = 800,
	SIM_NOT_SUPPORTED = 801,
	SIM_CAPTURE_UNSUPPORTED = 900,
	SIM_CAPTURE_INVALIDATED = 901,
	SIM_CAPTURE_UNMATCHED = 903,
	SIM_ILLEGAL_STATE = 401,
};

/* Memory by CUPTI's memory kinds, so that records need no translation. */
enum sim_space {
	SIM_PAGEABLE = 1,
	SIM_PINNED = 2,
	SIM_DEVICE = 3,
	SIM_ARRAY = 4,
	SIM_MANAGED = 5,
	SIM_DEVICE_STATIC = 6,
	SIM_MANAGED_STATIC = 7,
};

enum sim_limit {
	SIM_MAX_DEVICES = 80,
	SIM_MAX_ARGS = 32,
	SIM_MAX_CBID = 1024,
	SIM_FIRST_STREAM_ID = 13, /* ids below are the driver's own; 7 is the legacy stream */
	SIM_LEGACY_STREAM_ID = 7,
	SIM_PER_THREAD_STREAM_ID = 8,
};

struct sim_device {
	int index;
	char name[64];
	uint8_t uuid[16];
	uint64_t memory_bytes;
	_Atomic uint64_t used_bytes; /* others ask without the lock */
	/* Times up to which things are busy, under the model's lock. */
	uint64_t legacy_tail_ns;
	uint64_t blocking_tail_ns;
	uint64_t engine_ns[2]; /* host to device, device to host */
	struct sim_context *primary;
	uint32_t peers; /* bit per device whose memory may be reached */
};

struct sim_context {
	struct sim_device *device;
	uint32_t uid;
	unsigned int flags;
	bool is_primary;
	struct sim_stream *legacy;
};

struct sim_graph;

struct sim_stream {
	uint32_t magic;
	uint32_t id;
	struct sim_context *context;
	unsigned int flags; /* 1: does not synchronise with the legacy stream */
	int priority;
	bool is_legacy;
	bool is_per_thread;
	uint64_t tail_ns;
	uint64_t wait_ns; /* nothing starts before: events waited for */
	bool last_was_kernel;
	uint64_t last_start_ns;
	uint32_t nr_pending; /* operations still in the worker's queue */
	struct sim_capture *capture;
	struct sim_stream *next;
};

struct sim_event {
	uint32_t magic;
	uint32_t id;
	unsigned int flags; /* 2: no timing */
	struct sim_stream *stream;
	uint64_t time_ns;	     /* when the last recording completes; 0: never recorded */
	uint32_t nr_pending;	     /* recordings still in the worker's queue */
	struct sim_capture *capture; /* last recorded in a capture */
	struct sim_node *capture_node;
};

typedef void (*sim_cpu_fn)(void **args, cudart_dim3 grid, cudart_dim3 block);

/* A kernel, as both APIs' handles point to. */
struct sim_function {
	uint32_t magic;
	char *name;	  /* mangled */
	const void *host; /* the runtime's key, or NULL */
	sim_cpu_fn cpu;	  /* NULL: computes nothing */
	int nr_args;	  /* -1: sizes unknown, so the CPU version runs inside the launch */
	size_t arg_bytes[SIM_MAX_ARGS];
	uint32_t hash;
	int registers;
	int static_shared_bytes;
	int max_threads;
	int dynamic_shared_bytes; /* limit set by an attribute */
	_Atomic bool is_loaded;	  /* by the runtime, for a launch */
};

struct sim_array {
	uint32_t magic;
	size_t element_bytes;
	size_t width, height, depth; /* 0 counts as one */
	cudart_channel_format_desc desc;
	unsigned char *data;
};

enum sim_op_kind {
	SIM_OP_KERNEL,
	SIM_OP_COPY,
	SIM_OP_SET,
	SIM_OP_HOST,
	SIM_OP_RECORD, /* an event */
	SIM_OP_WAIT,
	SIM_OP_EMPTY,
	SIM_OP_MEMORY, /* an allocation or release; no time on the device */
	SIM_OP_SYNC,   /* a wait of the host */
	SIM_OP_GRAPH,  /* a whole graph */
	SIM_OP_CHILD,
	SIM_OP_KINDS,
};

/* Rows of bytes; one row of @width for a plain copy. */
struct sim_copy {
	void *dst;
	const void *src;
	size_t width, height, depth;
	size_t dst_pitch, src_pitch; /* bytes from row to row */
	size_t dst_slice, src_slice; /* bytes from plane to plane */
};

/*
 * One thing that a device does: what the model runs, what a graph keeps, and what is handed to the
 * trace once its times are known.
 */
struct sim_op {
	enum sim_op_kind kind;
	struct sim_stream *stream;
	uint64_t start_ns, end_ns;
	uint64_t queued_ns;
	bool has_end; /* its code has said when it ends */
	uint32_t correlation_id;
	uint32_t device_id, context_id, stream_id;
	uint64_t graph_node_id;
	uint32_t graph_id;
	/* kernels */
	struct sim_function *function;
	cudart_dim3 grid, block;
	uint32_t shared_bytes;
	uint8_t launch_type;
	void **args; /* of the caller while it launches, else a copy of ours */
	/* copies, sets, memory */
	struct sim_copy copy;
	uint64_t bytes;
	uint8_t copy_kind, src_kind, dst_kind, is_async;
	uint8_t is_peer;
	uint32_t src_device_id, dst_device_id;
	uint32_t value, element_bytes;
	uint64_t address;
	uint8_t is_release;
	/* host functions and stream callbacks */
	void (*host_fn)(void *data);
	void (*callback_fn)(void *stream, int status, void *data);
	void *host_data;
	/* events and synchronisation */
	struct sim_event *event;
	uint32_t sync_type;
	uint32_t event_id;
	int result;
};

/* One API call in progress; frames of one thread form a chain through up. */
struct sim_frame {
	struct sim_frame *up;
	struct sim_thread *thread;
	const char *name;
	const char *symbol; /* of the launched kernel */
	const void *params;
	void *result; /* points at the return code */
	uint64_t start_ns;
	uint64_t correlation_data;
	uint32_t correlation_id;
	uint32_t cbid;
	uint8_t domain; /* enum cupti_domain */
	uint8_t flags;	/* what the trace wants of it: SIM_WANT_* */
};

enum sim_want {
	SIM_WANT_CALLBACK = 1,
	SIM_WANT_RECORD = 2,
};

/* Per thread of the process; lives in libcuda. */
struct sim_thread {
	struct sim_frame *frame;
	struct sim_context *stack[16];
	int depth;
	bool is_ptsz; /* inside a function of the default stream per thread */
	uint32_t tid;
	struct sim_stream *per_thread[SIM_MAX_DEVICES];
	int capture_mode;
};

/* What the simulated CUPTI plugs into the model. All are called without any lock held. */
struct sim_trace {
	/* By domain - 1 and cbid: SIM_WANT_*; read on every API call. */
	_Atomic uint8_t want[2][SIM_MAX_CBID];
	_Atomic uint32_t ops;	   /* bit per sim_op_kind that is recorded */
	_Atomic bool whole_graphs; /* one record a graph instead of one a node */
	void (*enter)(struct sim_frame *frame);
	void (*leave)(struct sim_frame *frame);
	void (*op)(const struct sim_op *op);
	/* cbid of CUPTI's resource domain */
	void (*resource)(uint32_t cbid, struct sim_context *context, struct sim_stream *stream);
	void (*graph_node)(uint32_t cbid, struct sim_node *node);
};

/* The table: SIM_CORE_LIST in core.def gives every function of the model. */
struct sim_core {
	_Atomic(struct sim_trace *) trace;
	_Atomic bool has_failures; /* SIM_FAIL is set */
#define CORE(ret, name, params) ret(*name) params;
#include "test/sim/core.def"
};

extern const uint8_t sim_core_uuid[16];

static inline uint64_t sim_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
