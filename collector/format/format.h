/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * The stream format, as both sides of it see it: the recorder that writes and the reader that reads.
 * FORMAT.md is the contract in words (grammar, codecs, version table, what needs a bump).
 *
 * Everything of the format derives from the one list of tables below: the row structs that threads
 * write into their rings, the schema that travels in each stream, and the reader's expectations.
 * All integers are little-endian. This header may include <stdint.h>, <stddef.h>,
 * codes.h, ring_file.h and stream_file.h only.
 */
#ifndef COLLECTOR_FORMAT_FORMAT_H
#define COLLECTOR_FORMAT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "collector/format/codes.h"
#include "collector/format/ring_file.h"
#include "collector/format/stream_file.h"

/* The bytes of one text at most, in rings and streams; longer ones are cut and counted. */
#define GPROF_TEXT_BYTES 4096u

/* In the cause of a loss row: of these events only a detail is missing. */
#define GPROF_LOSS_KEPT "the event is kept"

/* The meaning of a column; it travels in the schema. */
enum gprof_kind {
	GPROF_KIND_UINT = 1,   /* a number */
	GPROF_KIND_INT = 2,    /* a signed number, sign-extended to 64 bits */
	GPROF_KIND_ID = 3,     /* a number that mostly counts up */
	GPROF_KIND_TICK = 4,   /* a time in ticks of the CPU clock (raw while in a ring) */
	GPROF_KIND_DEVTIME = 5,/* a time in ns of CUPTI's clock */
	GPROF_KIND_SPAN = 6,   /* a duration; in a ring or row struct it holds the END time instead */
	GPROF_KIND_STRING = 7, /* id of a row of table string, 0 = none; in a ring: the inline text */
	GPROF_KIND_TEXT = 8,   /* bytes */
	GPROF_KIND_BYTES = 9,  /* a number of bytes */
	GPROF_KIND_ADDRESS = 10,
	GPROF_KIND_CORRELATION = 11, /* CUPTI's correlation ID, unwrapped to 64 bits; rings have its 32 */
};

/* A TEXT field of a row struct inside the recorder; never on disk in this form. */
struct gprof_text {
	const char *bytes;
	uint64_t nr_bytes;
};

/* The head of each row in a ring. */
struct gprof_row_head {
	uint16_t bytes;	     /* of the whole row with its text, a multiple of 8 */
	uint8_t table;	     /* enum gprof_table */
	uint8_t reserved;
	uint32_t text_bytes; /* of the text at text_offset = bytes of the table's row struct */
};

/*
 * Facts of a table, by which readers and the recorder choose tables, so that no list of them stands
 * elsewhere. They do not travel in streams.
 */
enum gprof_fact {
	GPROF_IS_EVENT = 0x001,	       /* It happened. Other tables describe what events name. */
	GPROF_IS_CALL = 0x002,	       /* A call of an API that no other call made. */
	GPROF_IS_ACTIVITY = 0x004,     /* Work of a GPU. */
	GPROF_IS_UNTIMED = 0x008,      /* Work of a GPU whose times are unknown. */
	GPROF_IS_COMPUTING = 0x010,    /* The activity runs kernels. */
	GPROF_IS_COPYING = 0x020,      /* The activity writes `bytes` to memory. */
	GPROF_IS_PROGRESS = 0x040,     /* It shows that a process does not hang. */
	GPROF_IN_OWN_STEP = 0x080,     /* It belongs to the step of its first column's tick. */
	GPROF_IN_LAUNCH_STEP = 0x100,  /* It belongs to the step of the call with its correlation. */
	GPROF_ON_THREAD_TRACK = 0x200, /* Timelines draw it with its thread. */
	GPROF_ON_STREAM_TRACK = 0x400, /* Timelines draw it with its CUDA stream. */

	GPROF_FACTS_HOST = GPROF_IS_EVENT | GPROF_IN_OWN_STEP | GPROF_ON_THREAD_TRACK,
	GPROF_FACTS_CALL = GPROF_FACTS_HOST | GPROF_IS_CALL,
	GPROF_FACTS_LAUNCHED = GPROF_IS_EVENT | GPROF_IN_LAUNCH_STEP,
	GPROF_FACTS_ACTIVITY = GPROF_FACTS_LAUNCHED | GPROF_IS_ACTIVITY | GPROF_IS_PROGRESS |
			       GPROF_ON_STREAM_TRACK,
};

/*
 * The tables: T(id, name, facts, what a row is). Numbers are for ever; append only.
 * The columns of table NAME are GPROF_COLUMNS_NAME(C, t): C(t, C type, name, kind), where t is handed
 * through (a table's name, say) and the C types are those of the row struct. Append only: a reader goes by names and treats a missing column as unknown.
 */
#define GPROF_TABLES(T)                                                                            \
	T(1, schema, 0, "a column of a table of this stream")                                      \
	T(2, string, 0, "a text that other rows name by its id")                                   \
	T(3, info, 0, "a fact about the process, the host or the recording")                       \
	T(4, anchor, 0, "one point in time on all clocks")                                         \
	T(5, checkpoint, 0, "how much of a thread's ring the blocks before contain")               \
	T(6, loss, 0, "missing events, by cause")                                                  \
	T(7, notice, 0, "something that was switched off or went wrong, with the remedy")          \
	T(8, thread, 0, "a thread began, got a name, or ended")                                    \
	T(9, call, 0, "a function of an API that other rows name by its id")                       \
	T(10, api, GPROF_FACTS_CALL, "an API call")                                                \
	T(11, api_launch, GPROF_FACTS_CALL | GPROF_IS_PROGRESS,                                    \
		"an API call that starts kernels, graphs or host functions")                       \
	T(12, api_copy, GPROF_FACTS_CALL | GPROF_IS_PROGRESS, "an API call that copies memory")    \
	T(13, api_set, GPROF_FACTS_CALL | GPROF_IS_PROGRESS, "an API call that sets memory")       \
	T(14, api_alloc, GPROF_FACTS_CALL | GPROF_IS_PROGRESS,                                     \
		"an API call that allocates or frees memory")                                      \
	T(15, api_sync, GPROF_FACTS_CALL, "an API call that synchronises or queries")              \
	T(16, ring_launch, 0, "api_launch as a ring holds it, before its launch has a shape")      \
	T(17, function, 0, "the name of a kernel by the host address that launches it")            \
	T(18, shape, 0, "a kernel with its launch configuration, named by its id")                 \
	T(19, place, 0, "a device, context and stream, named by its id")                           \
	T(20, kernel, GPROF_FACTS_ACTIVITY | GPROF_IS_COMPUTING, "a kernel that ran")              \
	T(21, memcpy, GPROF_FACTS_ACTIVITY | GPROF_IS_COPYING, "a memcpy that ran")                \
	T(22, memset, GPROF_FACTS_ACTIVITY | GPROF_IS_COPYING, "a memset that ran")                \
	T(23, sync, GPROF_FACTS_LAUNCHED | GPROF_ON_STREAM_TRACK,                                  \
		"a synchronisation as CUPTI saw it")                                               \
	T(24, memory, GPROF_FACTS_LAUNCHED, "an allocation or release as CUPTI saw it")            \
	T(25, overhead, GPROF_FACTS_LAUNCHED,                                                      \
		"time that CUPTI or the driver spent on profiling")                                \
	T(26, graph, GPROF_FACTS_ACTIVITY | GPROF_IS_COMPUTING,                                    \
		"a CUDA graph that ran, traced as a whole")                                        \
	T(27, untimed, GPROF_FACTS_LAUNCHED | GPROF_IS_UNTIMED | GPROF_IS_PROGRESS,                \
		"GPU work that ran but has no times from CUPTI")                                   \
	T(28, device, 0, "a GPU")                                                                  \
	T(29, context, 0, "a CUDA context")                                                        \
	T(30, stream, 0, "a CUDA stream")                                                          \
	T(31, nvtx, GPROF_IS_EVENT | GPROF_IS_PROGRESS,                                            \
		"an NVTX range begin, range end, or mark")                                         \
	T(32, step, 0, "a step began (and the one before it ended)")                               \
	T(33, window, 0, "the schedule changed its state")                                         \
	T(34, event, GPROF_FACTS_LAUNCHED, "a CUDA event was recorded")                            \
	T(35, attribute, 0, "a number about a device")                                             \
	T(36, op, GPROF_FACTS_HOST | GPROF_IS_PROGRESS,                                            \
		"an operator, autograd node or range of a framework")                              \
	T(37, op_name, 0, "the name of an operator, by which op rows name it")                     \
	T(38, op_shape, 0,                                                                         \
		"shapes and types of an operator's inputs, by which op rows name them")            \
	T(39, alloc, GPROF_FACTS_HOST | GPROF_IS_PROGRESS,                                         \
		"an allocation or release by a framework's allocator")                             \
	T(40, sample, GPROF_IN_OWN_STEP, "a sampled number about the process, host or GPU")        \
	T(41, py_file, 0, "a file of Python code, named by its id")                                \
	T(42, py_code, 0, "a Python function, named by its id")                                    \
	T(43, py_stack, 0,                                                                         \
		"a Python stack, named by its id: its innermost frame and the stack of the "       \
		"others")                                                                          \
	T(44, py_call, GPROF_FACTS_HOST | GPROF_IS_PROGRESS, "a call of a Python function")        \
	T(45, nccl, GPROF_FACTS_HOST | GPROF_IS_PROGRESS, "a call of NCCL")                        \
	T(46, nccl_comm, 0, "a communicator of NCCL, as one rank of it sees it")                   \
	T(47, hang, 0, "where a hung process is blocked, or that it resumed")                      \
	T(48, api_nested, GPROF_FACTS_HOST, "a driver call within another API call")               \
	T(49, estimate, 0, "what another profiler estimated of the launches of a shape")           \
	T(50, api_count, 0, "API calls that are only counted, of a thread and a function")         \
	T(51, graph_node, 0,                                                                       \
		"a node of a CUDA graph was created, or became a copy of another node")            \
	T(52, py_gc, GPROF_FACTS_HOST, "a collection of Python's garbage")                         \
	T(53, code_file, 0,                                                                        \
		"a file of machine code that the process had loaded, named by its id")             \
	T(54, native_stack, 0,                                                                     \
		"a stack of machine code, named by its id: its innermost frame and the "           \
		"stack of the others")                                                             \
	T(55, cpu_sample, GPROF_IS_EVENT | GPROF_IN_OWN_STEP,                                      \
		"a sample of a thread that ran on a CPU")                                          \
	T(56, os_call, GPROF_FACTS_HOST, "a call of the C library that may wait")                  \
	T(57, os_count, 0, "such calls that are only counted, of a function")                      \
	T(58, nccl_op, GPROF_IN_OWN_STEP,                                                          \
		"an operation of NCCL as its profiler plugin saw it: how NCCL ran it")             \
	T(59, nccl_channel, GPROF_IN_OWN_STEP,                                                     \
		"what a channel had in an nccl_op: its kernel, or its network transfers")          \
	T(60, thread_cpu, 0, "how long a thread ran on CPUs, and waited for one")                  \
	T(61, wait_sample, GPROF_IS_EVENT | GPROF_IN_OWN_STEP,                                     \
		"a look at a thread that waited in the kernel")                                    \
	T(62, compiled_call, 0,                                                                    \
		"a call in code that torch.compile generated: what it stands for")                 \
	T(63, gil_sample, GPROF_IS_EVENT | GPROF_IN_OWN_STEP,                                      \
		"a look at who holds Python's lock")                                               \
	T(64, thread_state, GPROF_FACTS_HOST, "a thread ran, or was off the CPUs")                          \
	T(65, nccl_net, GPROF_IN_OWN_STEP,                                                         \
		"what a transfer of NCCL moved through one network device")

#define GPROF_COLUMNS_schema(C, t)                                                                 \
	C(t, uint16_t, table, UINT)                                                                \
	C(t, uint16_t, column, UINT)                                                               \
	C(t, uint8_t, kind, UINT)                                                                  \
	C(t, uint8_t, width, UINT)	  /* bytes in the row struct */                            \
	C(t, uint16_t, offset, UINT) /* in the row struct */                                       \
	C(t, uint16_t, row_bytes, UINT)                                                            \
	C(t, struct gprof_text, table_name, TEXT)                                                  \
	C(t, struct gprof_text, name, TEXT)

#define GPROF_COLUMNS_string(C, t)                                                                 \
	C(t, uint32_t, id, ID)                                                                     \
	C(t, struct gprof_text, text, TEXT)

#define GPROF_COLUMNS_info(C, t)                                                                   \
	C(t, struct gprof_text, key, TEXT)                                                         \
	C(t, struct gprof_text, value, TEXT)

/*
 * cupti_ns is 0 without CUPTI, and while another client replaces its clock. error_ns: how far apart
 * the reads may be.
 */
#define GPROF_COLUMNS_anchor(C, t)                                                                 \
	C(t, uint64_t, tick, TICK)                                                                 \
	C(t, uint64_t, monotonic_ns, ID)                                                           \
	C(t, uint64_t, realtime_ns, ID)                                                            \
	C(t, uint64_t, cupti_ns, ID)                                                               \
	C(t, uint32_t, error_ns, UINT)

/*
 * All chunks of the thread before chunk_seq, and `offset` bytes of that one, are in the stream.
 * newest_correlation: the newest correlation ID at that time, in the row of thread 0; 0: none.
 */
#define GPROF_COLUMNS_checkpoint(C, t)                                                             \
	C(t, uint64_t, tick, TICK)                                                                 \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint32_t, chunk_seq, UINT)                                                            \
	C(t, uint32_t, offset, UINT)                                                               \
	C(t, uint64_t, newest_correlation, ID)

#define GPROF_COLUMNS_loss(C, t)                                                                   \
	C(t, uint64_t, tick, TICK)                                                                 \
	C(t, uint64_t, count, UINT) /* since the row before with the same cause */                 \
	C(t, uint32_t, cause, STRING)

#define GPROF_COLUMNS_notice(C, t)                                                                 \
	C(t, uint64_t, tick, TICK)                                                                 \
	C(t, int32_t, code, INT) /* of the API that refused, 0 if none */                          \
	C(t, uint32_t, cause, STRING)                                                              \
	C(t, uint32_t, text, STRING)

/* what: 0 seen (first event), 1 created (by parent), 2 named, 3 ended. thread counts from 1. */
#define GPROF_COLUMNS_thread(C, t)                                                                 \
	C(t, uint64_t, tick, TICK)                                                                 \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint32_t, tid, UINT)                                                                  \
	C(t, uint32_t, parent, UINT)                                                               \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, uint8_t, what, UINT)

/* api: enum gprof_api */
#define GPROF_COLUMNS_call(C, t)                                                                   \
	C(t, uint32_t, id, ID)                                                                     \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, uint8_t, api, UINT)

/* Marks a native_stack in a ring as the number of a copy, whose stack has no id yet (call_stack.h). */
#define GPROF_STACK_OF_COPY 0x80000000u

/*
 * Every api_* table, and os_call, starts with these. correlation: 0 if unknown. source: enum
 * gprof_source. result is the API's return code.
 */
#define GPROF_COLUMNS_API_COMMON(C, t)                                                             \
	C(t, uint64_t, begin, TICK)                                                                \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint32_t, correlation, CORRELATION)                                                   \
	C(t, int32_t, result, INT)                                                                 \
	C(t, uint16_t, call, UINT)                                                                 \
	C(t, uint8_t, source, UINT)

/*
 * event, stream: the API's handles, where the call records an event on a stream or makes a stream
 * wait for one; else both 0. native_stack, here and in the tables below: who called; 0: not taken.
 */
#define GPROF_COLUMNS_api(C, t)                                                                    \
	GPROF_COLUMNS_API_COMMON(C, t)                                                             \
	C(t, uint64_t, event, ADDRESS)                                                             \
	C(t, uint64_t, stream, ADDRESS)                                                            \
	C(t, uint32_t, native_stack, UINT)

/* begin, dur: when they were made. The first call of a thread, and those that fail, have api rows. */
#define GPROF_COLUMNS_api_count(C, t)                                                              \
	C(t, uint64_t, begin, TICK)                                                                \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint16_t, call, UINT)                                                                 \
	C(t, uint64_t, nr, UINT)

/* Its time is part of that of the call around it, whose correlation it has. */
#define GPROF_COLUMNS_api_nested(C, t) GPROF_COLUMNS_API_COMMON(C, t)

/* stream: the API's handle, 0: the default one. shape: 0: no kernel. py_stack: 0: not taken. */
#define GPROF_COLUMNS_api_launch(C, t)                                                             \
	GPROF_COLUMNS_API_COMMON(C, t)                                                             \
	C(t, uint32_t, shape, UINT)                                                                \
	C(t, uint64_t, stream, ADDRESS)                                                            \
	C(t, uint32_t, py_stack, UINT)                                                             \
	C(t, uint32_t, native_stack, UINT)

/* kind: cudaMemcpyKind 0 HtoH 1 HtoD 2 DtoH 3 DtoD 4 by address */
#define GPROF_COLUMNS_api_copy(C, t)                                                               \
	GPROF_COLUMNS_API_COMMON(C, t)                                                             \
	C(t, uint8_t, copy_kind, UINT)                                                             \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint64_t, stream, ADDRESS)                                                            \
	C(t, uint64_t, dst, ADDRESS)                                                               \
	C(t, uint64_t, src, ADDRESS)                                                               \
	C(t, uint32_t, native_stack, UINT)

#define GPROF_COLUMNS_api_set(C, t)                                                                \
	GPROF_COLUMNS_API_COMMON(C, t)                                                             \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint64_t, stream, ADDRESS)                                                            \
	C(t, uint64_t, dst, ADDRESS)                                                               \
	C(t, uint32_t, native_stack, UINT)

/* op: 0 allocate, 1 free. space: enum gprof_space. */
#define GPROF_COLUMNS_api_alloc(C, t)                                                              \
	GPROF_COLUMNS_API_COMMON(C, t)                                                             \
	C(t, uint8_t, op, UINT)                                                                    \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint64_t, address, ADDRESS)                                                           \
	C(t, uint64_t, stream, ADDRESS)                                                            \
	C(t, uint8_t, space, UINT)                                                                 \
	C(t, uint32_t, native_stack, UINT)

#define GPROF_COLUMNS_api_sync(C, t)                                                               \
	GPROF_COLUMNS_API_COMMON(C, t)                                                             \
	C(t, uint64_t, object, ADDRESS) /* stream or event waited for, 0 the device */             \
	C(t, uint32_t, native_stack, UINT)

/* Only in rings; the drain turns it into api_launch and a shape. */
#define GPROF_COLUMNS_ring_launch(C, t)                                                            \
	GPROF_COLUMNS_API_COMMON(C, t)                                                             \
	C(t, uint32_t, shared_bytes, BYTES)                                                        \
	C(t, uint64_t, stream, ADDRESS)                                                            \
	C(t, uint64_t, function, ADDRESS)                                                          \
	C(t, uint32_t, grid_x, UINT)                                                               \
	C(t, uint32_t, grid_y, UINT)                                                               \
	C(t, uint32_t, grid_z, UINT)                                                               \
	C(t, uint32_t, block_x, UINT)                                                              \
	C(t, uint32_t, block_y, UINT)                                                              \
	C(t, uint32_t, block_z, UINT)                                                              \
	C(t, uint32_t, py_stack, UINT)                                                             \
	C(t, uint32_t, native_stack, UINT)

#define GPROF_COLUMNS_function(C, t)                                                               \
	C(t, uint64_t, address, ADDRESS)                                                           \
	C(t, uint32_t, name, STRING)

/*
 * From a launch (function set, name 0 unless known) or from a kernel record (function 0). Fields
 * that the source lacks are 0; cluster 0 means no clusters.
 */
#define GPROF_COLUMNS_shape(C, t)                                                                  \
	C(t, uint32_t, id, ID)                                                                     \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, uint64_t, function, ADDRESS)                                                          \
	C(t, uint32_t, grid_x, UINT)                                                               \
	C(t, uint32_t, grid_y, UINT)                                                               \
	C(t, uint32_t, grid_z, UINT)                                                               \
	C(t, uint32_t, block_x, UINT)                                                              \
	C(t, uint32_t, block_y, UINT)                                                              \
	C(t, uint32_t, block_z, UINT)                                                              \
	C(t, uint32_t, cluster_x, UINT)                                                            \
	C(t, uint32_t, cluster_y, UINT)                                                            \
	C(t, uint32_t, cluster_z, UINT)                                                            \
	C(t, uint32_t, registers, UINT)                                                            \
	C(t, uint32_t, static_shared_bytes, BYTES)                                                 \
	C(t, uint32_t, dynamic_shared_bytes, BYTES)                                                \
	C(t, uint32_t, local_bytes, BYTES)                                                         \
	C(t, uint32_t, launch_type, UINT)

/* Only in streams made of traces: a reader needs it where the device is unknown. */
#define GPROF_COLUMNS_estimate(C, t)                                                               \
	C(t, uint32_t, shape, UINT)                                                                \
	C(t, uint32_t, blocks_per_sm_milli, UINT)                                                  \
	C(t, uint32_t, occupancy_pct, UINT)

#define GPROF_COLUMNS_place(C, t)                                                                  \
	C(t, uint32_t, id, ID)                                                                     \
	C(t, uint32_t, device, UINT)                                                               \
	C(t, uint32_t, context, UINT)                                                              \
	C(t, uint32_t, stream, UINT)

/* Every table of work on a device starts with these. graph_node: 0 outside graphs. */
#define GPROF_COLUMNS_WORK_COMMON(C, t)                                                            \
	C(t, uint64_t, begin, DEVTIME)                                                             \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint32_t, place, UINT)                                                                \
	C(t, uint32_t, correlation, CORRELATION)                                                   \
	C(t, uint32_t, graph, UINT)                                                                \
	C(t, uint64_t, graph_node, UINT)

/* channel: the hardware queue, 0 if unknown */
#define GPROF_COLUMNS_kernel(C, t)                                                                 \
	GPROF_COLUMNS_WORK_COMMON(C, t)                                                            \
	C(t, uint32_t, shape, UINT)                                                                \
	C(t, uint32_t, channel, UINT)

/* Bits of `flags` of copies and memsets. */
#define GPROF_COPY_ASYNC   1u /* the call is asynchronous */
#define GPROF_COPY_PEER	   2u /* from CUPTI's record of a peer copy */
#define GPROF_COPY_NO_CALL 4u /* an imported trace lacks the call: ASYNC is unknown */

/* copy_kind, src_kind, dst_kind: CUPTI's numbers; devices and contexts differ only for peer copies */
#define GPROF_COLUMNS_memcpy(C, t)                                                                 \
	GPROF_COLUMNS_WORK_COMMON(C, t)                                                            \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint32_t, src_device, UINT)                                                           \
	C(t, uint32_t, dst_device, UINT)                                                           \
	C(t, uint32_t, src_context, UINT)                                                          \
	C(t, uint32_t, dst_context, UINT)                                                          \
	C(t, uint32_t, channel, UINT)                                                              \
	C(t, uint8_t, copy_kind, UINT)                                                             \
	C(t, uint8_t, src_kind, UINT)                                                              \
	C(t, uint8_t, dst_kind, UINT)                                                              \
	C(t, uint8_t, flags, UINT) /* GPROF_COPY_... */

#define GPROF_COLUMNS_memset(C, t)                                                                 \
	GPROF_COLUMNS_WORK_COMMON(C, t)                                                            \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint32_t, value, UINT)                                                                \
	C(t, uint32_t, channel, UINT)                                                              \
	C(t, uint8_t, memory_kind, UINT)                                                           \
	C(t, uint8_t, flags, UINT)

/* type: CUPTI's; place has device 0xffffffff (the record does not name it) */
#define GPROF_COLUMNS_sync(C, t)                                                                   \
	C(t, uint64_t, begin, DEVTIME)                                                             \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint32_t, place, UINT)                                                                \
	C(t, uint32_t, correlation, CORRELATION)                                                   \
	C(t, uint32_t, event, UINT)                                                                \
	C(t, uint64_t, event_sync, UINT)                                                           \
	C(t, int32_t, result, INT)                                                                 \
	C(t, uint8_t, type, UINT)

#define GPROF_COLUMNS_memory(C, t)                                                                 \
	C(t, uint64_t, time, DEVTIME)                                                              \
	C(t, uint32_t, place, UINT)                                                                \
	C(t, uint32_t, correlation, CORRELATION)                                                   \
	C(t, uint64_t, address, ADDRESS)                                                           \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint32_t, source, STRING)                                                             \
	C(t, uint8_t, op, UINT)                                                                    \
	C(t, uint8_t, memory_kind, UINT)                                                           \
	C(t, uint8_t, is_async, UINT)

#define GPROF_COLUMNS_overhead(C, t)                                                               \
	C(t, uint64_t, begin, DEVTIME)                                                             \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint32_t, overhead_kind, UINT)                                                        \
	C(t, uint32_t, tid, UINT) /* 0 if the record is not about a thread */                      \
	C(t, uint32_t, correlation, CORRELATION)

#define GPROF_COLUMNS_graph(C, t) GPROF_COLUMNS_WORK_COMMON(C, t)

/*
 * node, original: CUPTI's IDs of nodes, as `graph_node` of GPU activities has them. original: the
 * node that it is a copy of, 0 for a node that the program created. An executable graph has copies
 * of the nodes of the graph that it was made of; an update makes them copies of other nodes, so of
 * several rows of a node the last one before a launch counts. graph: CUPTI's ID, 0 if unknown.
 * kind: CUgraphNodeType.
 */
#define GPROF_COLUMNS_graph_node(C, t)                                                             \
	C(t, uint64_t, time, TICK)                                                                 \
	C(t, uint64_t, node, ID)                                                                   \
	C(t, uint64_t, original, ID)                                                               \
	C(t, uint32_t, graph, UINT)                                                                \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint8_t, kind, UINT)

/* table: the table where the row would stand had it times; shape only for kernels */
#define GPROF_COLUMNS_untimed(C, t)                                                                \
	C(t, uint32_t, place, UINT)                                                                \
	C(t, uint32_t, correlation, CORRELATION)                                                   \
	C(t, uint32_t, graph, UINT)                                                                \
	C(t, uint32_t, shape, UINT)                                                                \
	C(t, uint64_t, graph_node, UINT)                                                           \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint8_t, table, UINT)                                                                 \
	C(t, uint8_t, copy_kind, UINT)

#define GPROF_COLUMNS_device(C, t)                                                                 \
	C(t, uint32_t, id, UINT)                                                                   \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, struct gprof_text, uuid, TEXT)

#define GPROF_COLUMNS_context(C, t)                                                                \
	C(t, uint32_t, id, UINT)                                                                   \
	C(t, uint32_t, device, UINT)                                                               \
	C(t, uint32_t, parent, UINT)                                                               \
	C(t, uint32_t, null_stream, UINT)                                                          \
	C(t, uint8_t, is_green, UINT)

#define GPROF_COLUMNS_stream(C, t)                                                                 \
	C(t, uint32_t, context, UINT)                                                              \
	C(t, uint32_t, stream, UINT)                                                               \
	C(t, uint32_t, priority, UINT)                                                             \
	C(t, uint32_t, flags, UINT)

/* op: enum gprof_nvtx; payload_type: NVTX's, payload its bits; range: id of start/end ranges */
#define GPROF_COLUMNS_nvtx(C, t)                                                                   \
	C(t, uint64_t, time, TICK)                                                                 \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, uint64_t, payload, UINT)                                                              \
	C(t, uint64_t, range, UINT)                                                                \
	C(t, uint32_t, domain, UINT) /* id given by op DOMAIN, 0 the default one */                \
	C(t, uint32_t, category, UINT)                                                             \
	C(t, uint32_t, color, UINT) /* ARGB, 0 none */                                             \
	C(t, uint32_t, registered, UINT) /* id given by op STRING, 0 if the name is its own */     \
	C(t, uint8_t, op, UINT)                                                                    \
	C(t, uint8_t, payload_type, UINT)

/* how: which rule found it (enum gprof_step_rule) */
#define GPROF_COLUMNS_step(C, t)                                                                   \
	C(t, uint64_t, time, TICK)                                                                 \
	C(t, uint64_t, step, ID)                                                                   \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint8_t, how, UINT)

/* state: enum gprof_window_state; window counts the record windows from 1, step is the one to come */
#define GPROF_COLUMNS_window(C, t)                                                                 \
	C(t, uint64_t, time, TICK)                                                                 \
	C(t, uint64_t, step, UINT)                                                                 \
	C(t, uint32_t, window, UINT)                                                               \
	C(t, uint8_t, state, UINT)

#define GPROF_COLUMNS_event(C, t)                                                                  \
	C(t, uint64_t, time, DEVTIME)                                                              \
	C(t, uint32_t, place, UINT)                                                                \
	C(t, uint32_t, correlation, CORRELATION)                                                   \
	C(t, uint32_t, event, UINT)

#define GPROF_COLUMNS_attribute(C, t)                                                              \
	C(t, uint32_t, device, UINT)                                                               \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, uint64_t, value, UINT)

/*
 * Written when it ends. sequence: of autograd, plus 1, 0 for none; a backward node has the one of
 * its forward operator, and that one's framework_thread in forward_thread. depth: how many it lies
 * in, on its thread. end_thread differs from thread where an asynchronous one ends elsewhere.
 */
#define GPROF_COLUMNS_op(C, t)                                                                     \
	C(t, uint64_t, begin, TICK)                                                                \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint64_t, sequence, ID)                                                               \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint32_t, op_name, UINT) /* 0: see name */                                            \
	C(t, uint32_t, name, STRING)  /* of those that are too many for ids */                     \
	C(t, uint32_t, op_shape, UINT) /* 0: not recorded */                                       \
	C(t, uint32_t, framework_thread, UINT)                                                     \
	C(t, uint32_t, forward_thread, UINT)                                                       \
	C(t, uint32_t, end_thread, UINT)                                                           \
	C(t, uint16_t, depth, UINT)                                                                \
	C(t, uint8_t, framework, UINT) /* enum gprof_framework */                                  \
	C(t, uint8_t, scope, UINT)     /* the framework's own: at::RecordScope, Paddle's type */   \
	C(t, uint32_t, py_stack, UINT) /* as it began; 0: not taken */

#define GPROF_COLUMNS_op_name(C, t)                                                                \
	C(t, uint32_t, id, ID)                                                                     \
	C(t, uint32_t, name, STRING)

/*
 * As "float32[64,3,32,32], int64[64], scalar"; ? for what is not known. Of convolutions also lists
 * of integers: "float32[64,3,32,32], float32[8,3,3,3], scalar, (2,2), (1,1), (1,1)".
 */
#define GPROF_COLUMNS_op_shape(C, t)                                                               \
	C(t, uint32_t, id, ID)                                                                     \
	C(t, uint32_t, name, STRING)

/* bytes: negative when taken back. The totals are the allocator's own, of that device, after it. */
#define GPROF_COLUMNS_alloc(C, t)                                                                  \
	C(t, uint64_t, time, TICK)                                                                 \
	C(t, uint64_t, address, UINT)                                                              \
	C(t, int64_t, bytes, INT)                                                                  \
	C(t, uint64_t, allocated_bytes, ID)                                                        \
	C(t, uint64_t, reserved_bytes, ID)                                                         \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint8_t, device_type, UINT) /* c10::DeviceType: 0 CPU, 1 CUDA */                      \
	C(t, uint8_t, device, UINT)                                                                \
	C(t, uint8_t, framework, UINT)

/* metric: enum gprof_metric; device: the GPU, or 255 for process and host. */
#define GPROF_COLUMNS_sample(C, t)                                                                 \
	C(t, uint64_t, time, TICK)                                                                 \
	C(t, uint64_t, value, UINT)                                                                \
	C(t, uint8_t, metric, UINT)                                                                \
	C(t, uint8_t, device, UINT)

#define GPROF_COLUMNS_py_file(C, t)                                                                \
	C(t, uint32_t, id, ID)                                                                     \
	C(t, uint32_t, name, STRING)

/* line: where the function begins. */
#define GPROF_COLUMNS_py_code(C, t)                                                                \
	C(t, uint32_t, id, ID)                                                                     \
	C(t, uint32_t, py_file, UINT)                                                              \
	C(t, uint32_t, line, UINT)                                                                 \
	C(t, uint32_t, name, STRING)

/* The innermost frame; parent: the stack of its caller, 0 for none. line: 0 if unknown. */
#define GPROF_COLUMNS_py_stack(C, t)                                                               \
	C(t, uint32_t, id, ID)                                                                     \
	C(t, uint32_t, parent, UINT)                                                               \
	C(t, uint32_t, py_code, UINT)                                                              \
	C(t, uint32_t, line, UINT)

/* Written when it ends. */
#define GPROF_COLUMNS_py_call(C, t)                                                                \
	C(t, uint64_t, begin, TICK)                                                                \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint32_t, py_code, UINT)

/*
 * It launched the GPU activities whose calls, on the same thread, have correlation IDs after
 * correlation_before and up to correlation (equal: no launch was seen). In a group, the row with
 * kind GROUP_END and the same group has these IDs. sequence: counts the collectives of the
 * communicator, or the sends or receives between this rank and the peer, from 1; 0 unknown. bytes:
 * of the count that the call gives. peer: root or other side, -1 where there is none. redop:
 * NCCL's, 254 one of the program's own, 255 none.
 */
#define GPROF_COLUMNS_nccl(C, t)                                                                   \
	C(t, uint64_t, begin, TICK)                                                                \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint32_t, correlation, CORRELATION)                                                   \
	C(t, uint32_t, correlation_before, CORRELATION)                                            \
	C(t, int32_t, result, INT)                                                                 \
	C(t, uint32_t, comm, UINT) /* of nccl_comm; 0 none or unknown */                           \
	C(t, uint32_t, sequence, ID)                                                               \
	C(t, uint64_t, group, ID) /* counts groups and calls outside of them */                    \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint64_t, stream, ADDRESS) /* the API's handle */                                     \
	C(t, int32_t, peer, INT)                                                                   \
	C(t, uint8_t, kind, UINT)     /* enum gprof_nccl */                                        \
	C(t, uint8_t, datatype, UINT) /* NCCL's, 255 none */                                       \
	C(t, uint8_t, redop, UINT)

/*
 * key: the same on all ranks of it and on no other, 0 unknown. rank: -1 unknown. hash, name: NCCL's
 * own; 0 where its profiler plugin did not say them.
 */
#define GPROF_COLUMNS_nccl_comm(C, t)                                                              \
	C(t, uint64_t, tick, TICK)                                                                 \
	C(t, uint32_t, id, ID)                                                                     \
	C(t, uint64_t, key, UINT)                                                                  \
	C(t, int32_t, rank, INT)                                                                   \
	C(t, uint32_t, nr_ranks, UINT)                                                             \
	C(t, uint32_t, parent, UINT) /* that it was split from, 0 none */                          \
	C(t, uint64_t, hash, UINT)                                                                 \
	C(t, uint32_t, name, STRING)

/*
 * One look at the process, at `tick`, is several rows with the same number `hang`, counted from 1;
 * what `since`, `name` and the others are depends on the item, see enum gprof_hang. step: how many
 * had ended. thread: 0 one without events; task: the kernel's id of it. is_open: the call has not
 * returned.
 */
#define GPROF_COLUMNS_hang(C, t)                                                                  \
	C(t, uint64_t, tick, TICK)                                                                 \
	C(t, uint64_t, since, TICK)                                                                \
	C(t, uint64_t, work_end, DEVTIME)                                                          \
	C(t, uint64_t, step, UINT)                                                                 \
	C(t, uint64_t, handle, ADDRESS) /* the API's, of a stream */                               \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint32_t, hang, ID)                                                                  \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, uint32_t, text, STRING)                                                               \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint32_t, task, UINT)                                                                 \
	C(t, uint32_t, correlation, CORRELATION)                                                   \
	C(t, uint32_t, shape, UINT) /* 0: it is not a kernel */                                    \
	C(t, uint32_t, place, UINT)                                                                \
	C(t, uint32_t, comm, UINT)                                                                 \
	C(t, uint32_t, sequence, ID)                                                               \
	C(t, uint8_t, item, UINT)                                                                  \
	C(t, uint8_t, nccl_kind, UINT)                                                             \
	C(t, uint8_t, is_open, UINT)                                                               \
	C(t, uint32_t, line, UINT) /* 0: unknown */

/* Written when it ends. The objects that it freed, and those that it could not free. */
#define GPROF_COLUMNS_py_gc(C, t)                                                                  \
	C(t, uint64_t, begin, TICK)                                                                \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint64_t, collected, UINT)                                                            \
	C(t, uint64_t, uncollectable, UINT)                                                        \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint8_t, generation, UINT) /* 0: the youngest */

/* build_id: the ELF note's bytes as hexadecimal digits; 0: the file has none. */
#define GPROF_COLUMNS_code_file(C, t)                                                              \
	C(t, uint32_t, id, ID)                                                                     \
	C(t, uint32_t, path, STRING)                                                               \
	C(t, uint32_t, build_id, STRING)

/*
 * The innermost frame; parent: the stack of its caller, 0 for none. address: an address of the file
 * as its symbols have it; without a file (0), one of the process. In a caller, it is the last byte
 * of the call. name: the function, where another profiler named it, or GPROF_NATIVE_STACK_OUTER;
 * else 0.
 */
#define GPROF_NATIVE_STACK_OUTER "...: outer frames"

#define GPROF_COLUMNS_native_stack(C, t)                                                           \
	C(t, uint32_t, id, ID)                                                                     \
	C(t, uint32_t, parent, UINT)                                                               \
	C(t, uint32_t, code_file, UINT)                                                            \
	C(t, uint64_t, address, ADDRESS)                                                           \
	C(t, uint32_t, name, STRING)

/*
 * task: the kernel's id of the thread, whose name it had then. ns: CPU time that it stands for.
 * native_stack: 0 if the kernel did not take the sample. py_stack: 0 if the thread ran no Python
 * code.
 */
#define GPROF_PY_STACK_NOT_READ UINT32_MAX

#define GPROF_COLUMNS_cpu_sample(C, t)                                                             \
	C(t, uint64_t, time, TICK)                                                                 \
	C(t, uint64_t, ns, UINT)                                                                   \
	C(t, uint32_t, task, UINT)                                                                 \
	C(t, uint32_t, native_stack, UINT)                                                         \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, uint32_t, py_stack, UINT)

/*
 * result: errno or the returned error; 0: success. object: the address of the lock or the like that
 * the call waits for, or the thread. file: identifies what the descriptor refers to; 0: none, or
 * unknown. name: only the first row with a file number carries the file's name; a row without a
 * number may carry the path that the call tried to open or run. caller: where the call returns to, an
 * address of the process. native_stack: who called; of a short call, and where the stack is unknown,
 * `caller` as a stack of one frame. holder: the thread (the system's number) that had the mutex as the
 * call began; 0: unknown. py_stack: as of api_launch.
 */
#define GPROF_COLUMNS_os_call(C, t)                                                                \
	GPROF_COLUMNS_API_COMMON(C, t)                                                             \
	C(t, int64_t, returned, INT)                                                               \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint64_t, object, ADDRESS)                                                            \
	C(t, uint32_t, file, UINT)                                                                 \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, uint64_t, caller, ADDRESS)                                                            \
	C(t, uint32_t, native_stack, UINT)                                                         \
	C(t, uint32_t, holder, UINT)                                                               \
	C(t, uint32_t, py_stack, UINT)

/* Calls that were shorter than GPROF_OS_MIN_NS. begin, dur: the time in which they were made. */
#define GPROF_COLUMNS_os_count(C, t)                                                               \
	C(t, uint64_t, begin, TICK)                                                                \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint16_t, call, UINT)                                                                 \
	C(t, uint64_t, nr, UINT)                                                                   \
	C(t, uint64_t, bytes, BYTES)

/*
 * Written when NCCL hands it to its proxy thread and to the GPU. call_begin: of its row of table nccl;
 * unknown: as time. peer: root or other side. version: of the plugin's interface. See FORMAT.md.
 */
#define GPROF_COLUMNS_nccl_op(C, t)                                                                \
	C(t, uint64_t, time, TICK)                                                                 \
	C(t, uint64_t, op, ID)                                                                     \
	C(t, uint64_t, call_begin, TICK)                                                           \
	C(t, uint64_t, sequence, ID)                                                               \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint32_t, comm, UINT) /* of nccl_comm; 0 unknown */                                   \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, int32_t, peer, INT)                                                                   \
	C(t, uint8_t, kind, UINT)      /* enum gprof_nccl; 0 one of later versions */              \
	C(t, uint8_t, datatype, UINT)  /* NCCL's, 255 unknown */                                   \
	C(t, uint8_t, algorithm, UINT) /* enum gprof_nccl_algorithm */                             \
	C(t, uint8_t, protocol, UINT)  /* enum gprof_nccl_protocol */                              \
	C(t, uint8_t, channels, UINT)  /* 0 unknown */                                             \
	C(t, uint8_t, warps, UINT)     /* of a channel; 0 unknown */                               \
	C(t, uint8_t, is_captured, UINT) /* called while its stream was captured into a graph */   \
	C(t, uint8_t, version, UINT)

/*
 * Written when it ends. begin and dur are when NCCL's proxy thread saw it. Of a kernel (what) it has
 * the GPU's times, 0 unknown; of transfers bytes, steps, and what these waited for; see FORMAT.md.
 */
#define GPROF_COLUMNS_nccl_channel(C, t)                                                           \
	C(t, uint64_t, begin, TICK)                                                                \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint64_t, op, ID)                                                                     \
	C(t, uint64_t, gpu_begin, UINT)                                                            \
	C(t, uint64_t, gpu_ns, UINT)                                                               \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint64_t, own_gpu_ns, UINT)                                                           \
	C(t, uint64_t, peer_ns, UINT)                                                              \
	C(t, uint64_t, network_ns, UINT)                                                           \
	C(t, uint64_t, data_ns, UINT)                                                              \
	C(t, uint64_t, first_ns, UINT)                                                             \
	C(t, uint64_t, first_after_ns, UINT)                                                       \
	C(t, uint64_t, later_ns, UINT)                                                             \
	C(t, uint64_t, pause_ns, UINT)                                                             \
	C(t, uint64_t, pause_after_ns, UINT)                                                       \
	C(t, uint32_t, steps, UINT)                                                                \
	C(t, uint32_t, comm, UINT)                                                                 \
	C(t, uint32_t, for_pid, UINT)                                                              \
	C(t, int32_t, peer, INT) /* rank in the communicator; -1 none */                           \
	C(t, uint8_t, channel, UINT)                                                               \
	C(t, uint8_t, what, UINT) /* enum gprof_nccl_channel */

/*
 * Written with the row of nccl_channel that has the same op, channel, peer and what. begin and dur:
 * from its first request to the end of its last one. bytes: 0 where the plugin does not say, as of
 * receives of InfiniBand. busy_ns: sum over requests, which overlap, of the time from NCCL's passing
 * it to the network to its end; least_ns and most_ns of one. device: its number among those of the
 * connection, -1 unknown. queue: number of the first queue pair, or descriptor of the first socket.
 * local_high, local_low: the socket's own address as one of IPv6; 0 unknown.
 */
#define GPROF_COLUMNS_nccl_net(C, t)                                                               \
	C(t, uint64_t, begin, TICK)                                                                \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint64_t, op, ID)                                                                     \
	C(t, uint64_t, bytes, BYTES)                                                               \
	C(t, uint64_t, busy_ns, UINT)                                                              \
	C(t, uint64_t, least_ns, UINT)                                                             \
	C(t, uint64_t, most_ns, UINT)                                                              \
	C(t, uint64_t, local_high, UINT)                                                           \
	C(t, uint64_t, local_low, UINT)                                                            \
	C(t, uint32_t, requests, UINT)                                                             \
	C(t, uint32_t, queue, UINT)                                                                \
	C(t, uint32_t, comm, UINT)                                                                 \
	C(t, int32_t, peer, INT)                                                                   \
	C(t, int32_t, device, INT)                                                                 \
	C(t, uint8_t, channel, UINT)                                                               \
	C(t, uint8_t, what, UINT)    /* enum gprof_nccl_channel */                                 \
	C(t, uint8_t, network, UINT) /* enum gprof_nccl_net */

/*
 * The recorder samples the process's first thread and those that launch work, from their first
 * event on. Both times count from the thread's start. wait_ns: it was ready to run and had no CPU;
 * GPROF_THREAD_CPU_UNKNOWN in streams made of traces of other profilers.
 * The other columns are up to a second older: the CPU on which it ran last and the frequency of
 * that (0: unknown), and how often it moved to another one and waited for a page from storage,
 * since its start. known: bits of enum gprof_thread_known.
 */
#define GPROF_THREAD_CPU_UNKNOWN UINT64_MAX
#define GPROF_COLUMNS_thread_cpu(C, t)                                                             \
	C(t, uint64_t, time, TICK)                                                                 \
	C(t, uint64_t, cpu_ns, ID)                                                                 \
	C(t, uint64_t, wait_ns, ID)                                                                \
	C(t, uint32_t, thread, UINT)                                                               \
	C(t, uint32_t, cpu, UINT)                                                                  \
	C(t, uint32_t, cpu_khz, UINT)                                                              \
	C(t, uint64_t, migrations, ID)                                                             \
	C(t, uint64_t, major_faults, ID)                                                           \
	C(t, uint8_t, known, UINT)

/*
 * Of the process's first thread and of those that launch work, if they run Python. task, name,
 * py_stack: as in cpu_sample. ns: time that it stands for. kind: enum gprof_os_kind. syscall: the
 * kernel's name of the system call; "page fault" outside of one. object: the file or the like that
 * the call waits for, without what tells files of one folder apart; 0: none, or unknown.
 */
#define GPROF_COLUMNS_wait_sample(C, t)                                                            \
	C(t, uint64_t, time, TICK)                                                                 \
	C(t, uint64_t, ns, UINT)                                                                   \
	C(t, uint32_t, task, UINT)                                                                 \
	C(t, uint8_t, kind, UINT)                                                                  \
	C(t, uint32_t, syscall, STRING)                                                            \
	C(t, uint32_t, object, STRING)                                                             \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, uint32_t, py_stack, UINT)                                                             \
	C(t, uint32_t, holder, UINT)                                                               \
	C(t, uint32_t, holder_stack, UINT)

/* The other columns say who holds the lock, as in cpu_sample; task 0: nobody, or unknown. */
#define GPROF_COLUMNS_gil_sample(C, t)                                                             \
	C(t, uint64_t, time, TICK)                                                                 \
	C(t, uint64_t, ns, UINT)                                                                   \
	C(t, uint8_t, is_held, UINT)                                                               \
	C(t, uint32_t, task, UINT)                                                                 \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, uint32_t, py_stack, UINT)

/* task, name: as in cpu_sample. cpu: it runs there, or ran last. switches: enum gprof_thread_switch. */
#define GPROF_COLUMNS_thread_state(C, t)                                                           \
	C(t, uint64_t, begin, TICK)                                                                \
	C(t, uint64_t, dur, SPAN)                                                                  \
	C(t, uint32_t, task, UINT)                                                                 \
	C(t, uint32_t, cpu, UINT)                                                                  \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, uint8_t, state, UINT) /* enum gprof_thread_state */                                   \
	C(t, uint8_t, switches, UINT)

/*
 * At `line` of `file`, which Inductor wrote, is a call of the kernel `name`, or of a library
 * ("extern_kernels.mm"). nodes: of the traced program.
 */
#define GPROF_COLUMNS_compiled_call(C, t)                                                          \
	C(t, uint32_t, file, STRING)                                                               \
	C(t, uint32_t, line, UINT)                                                                 \
	C(t, uint32_t, name, STRING)                                                               \
	C(t, uint32_t, operators, STRING)                                                          \
	C(t, uint32_t, nodes, STRING)

enum gprof_table {
	GPROF_TABLE_NONE = 0,
#define T(id, name, facts, what) GPROF_TABLE_##name = id,
	GPROF_TABLES(T)
#undef T
	GPROF_NR_TABLES = 66, /* one more than the last id */
};

/* Has the table one of these facts? */
static inline int gprof_table_is(unsigned int table, unsigned int facts)
{
	static const uint16_t facts_of[GPROF_NR_TABLES] = {
#define T(id, name, its_facts, what) [id] = (its_facts),
		GPROF_TABLES(T)
#undef T
	};

	return table < GPROF_NR_TABLES && (facts_of[table] & facts);
}

/* The columns that every api_* table of calls, and os_call, begins with. */
#define GPROF_NR_API_COLUMNS 7

/* struct gprof_row_NAME: the row as it is written into rings and handed to the encoder. */
#define GPROF_FIELD(table, type, name, kind) type name;
#define T(id, table, facts, what)                                                                         \
	struct gprof_row_##table {                                                                 \
		struct gprof_row_head head;                                                        \
		GPROF_COLUMNS_##table(GPROF_FIELD, table)                                          \
	} __attribute__((aligned(8)));
GPROF_TABLES(T)
#undef T
#undef GPROF_FIELD

_Static_assert(sizeof(struct gprof_file_header) == 64, "on disk");
_Static_assert(sizeof(struct gprof_block_header) == 56, "on disk");
_Static_assert(sizeof(struct gprof_column_entry) == 16, "on disk");
_Static_assert(sizeof(struct gprof_row_head) == 8, "in ring files");
_Static_assert(sizeof(struct gprof_row_api) == 64, "in ring files");

#endif
