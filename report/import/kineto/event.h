/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one event of a trace. Names of keys are those of https:
 *
 * github.com/pytorch/kineto (output_json.cpp, MetadataFieldCatalog.h). Older versions wrote other
 * categories ("Operator", "Runtime", "Kernel"), in any case.
 */
#ifndef REPORT_IMPORT_KINETO_EVENT_H
#define REPORT_IMPORT_KINETO_EVENT_H

#include "report/import/kineto/json.h"
#include "collector/format/intern.h"
#include "report/import/out.h"

enum kineto_category {
	KINETO_NONE, /* missing or unknown */
	KINETO_OP,
	KINETO_RANGE,
	KINETO_RUNTIME,
	KINETO_DRIVER,
	KINETO_LIBRARY, /* calls of other libraries, in our own timelines */
	KINETO_KERNEL,
	KINETO_MEMCPY,
	KINETO_MEMSET,
	KINETO_GPU_RANGE,
	KINETO_SYNC,
	KINETO_OVERHEAD,
	KINETO_PYTHON,
	KINETO_INSTANT,
	KINETO_TRACE, /* how long the profiler was on */
	KINETO_NCCL,  /* calls of NCCL in our own timelines, beside their kernels */
	KINETO_STATE, /* what threads do on CPUs, in our own timelines */
	KINETO_FLOW,
	KINETO_LINK, /* a flow that relates an operator to a GPU activity: see linked.h */
};

/* Numbers in `args`, with pid and tid. kineto_event.has has a bit for each. */
enum kineto_number {
	KINETO_pid,
	KINETO_tid,
	KINETO_correlation,
	KINETO_device,
	KINETO_context,
	KINETO_stream,
	KINETO_bytes,
	KINETO_registers,
	KINETO_shared,
	KINETO_blocks_milli,
	KINETO_occupancy,
	KINETO_graph,
	KINETO_graph_node,
	KINETO_channel,
	KINETO_external,
	KINETO_sequence,
	KINETO_forward_thread,
	KINETO_device_type,
	KINETO_address,
	KINETO_allocated,
	KINETO_reserved,
	KINETO_python_id,
	KINETO_python_parent,
	KINETO_from_device,
	KINETO_to_device,
	KINETO_from_context,
	KINETO_to_context,
	/* of kernels of collectives: elements, ranks, and the number in the group */
	KINETO_elements_in,
	KINETO_elements_out,
	KINETO_group_size,
	KINETO_collective_number,
	KINETO_source_rank,
	KINETO_target_rank,
	KINETO_connection, /* of Ascend's tasks, with their calls and collectives */
	/* of Python's collections in our own timelines: objects, and the thread that collects */
	KINETO_collected,
	KINETO_uncollectable,
	KINETO_thread,
	KINETO_NR_NUMBERS,
};

struct kineto_event {
	char phase; /* of Chrome's format: X, B, E, i, M ... */
	uint8_t category;
	bool has_begin, has_dur;
	uint64_t begin, dur; /* ns of the trace's clock */
	uint64_t has;
	uint64_t numbers[KINETO_NR_NUMBERS];
	int64_t size;	   /* "Bytes", which may be negative */
	int64_t device_id; /* "Device Id": -1 for the host's memory */
	uint32_t grid[3], block[3];
	/* tokens, 0: none */
	int name, kind, pid, tid, dims, types, concrete, label, stack;
	int collective, element, group_name, group_words, group_ranks;
	int id, task_type; /* of a flow; of Ascend's tasks */
};

static inline bool kineto_has(const struct kineto_event *event, enum kineto_number number)
{
	return (event->has >> number & 1) != 0;
}

/* Is it a flow, with its phase first? Flows are most of a trace, and are not parsed. */
bool kineto_event_is_flow(const char *bytes, size_t nr_bytes);

/* False: it is no object, or has no phase. */
bool kineto_event_read(const struct kineto_json *json, struct kineto_event *event);

/* ---- shapes ---- */

/*
 * Converts Kineto's "Input Dims" and "Input type" to the recorder's text: "float32[64,3,32,32],
 * int64[64], scalar", up to the last tensor. Lists of tensors count as scalars, as in the recorder.
 * From "Concrete Inputs" come lists of convolutions: of integers, as the recorder has them, and of
 * truth values.
 */

/* Tokens; 0: none, but for dims. */
struct kineto_inputs {
	int dims, types, lists;
};

struct kineto_shapes {
	struct intern known; /* by the three texts of the trace */
	uint32_t *ids;	     /* of op_shape, by the number in `known` */
	size_t capacity;
	uint32_t nr_ids;
	struct buf key, text;
};

void kineto_shapes_init(struct kineto_shapes *shapes);
void kineto_shapes_fini(struct kineto_shapes *shapes);

/* The id of an op_shape row for these, 0 if there is no tensor. */
uint32_t kineto_shapes_id(struct kineto_shapes *shapes, const struct kineto_json *json,
	const struct kineto_inputs *inputs, struct import_out *out);

/* Returns Kineto's name for an element type of the recorder; NULL if it has none. */
const char *kineto_shape_type(const char *name, size_t nr_bytes);

#endif
