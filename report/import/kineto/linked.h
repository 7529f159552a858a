/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU activities of traces without calls that launch them. Flow events relate each activity to the
 * operator that launched it: the begin of a flow has thread and time of the operator, its end those
 * of the activity. Two profilers write such traces:
 *
 *     PyTorch's before Kineto ("cpu_to_cuda"): times of operators, between two CUDA events
 *     Ascend's ("async_npu"): tasks of an NPU, and collectives of HCCL
 *
 * Flows may come before or after what they relate, so all of it is joined at the end of the trace.
 */
#ifndef REPORT_IMPORT_KINETO_LINKED_H
#define REPORT_IMPORT_KINETO_LINKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/idmap.h"

struct kineto_activity {
	uint64_t where;	     /* kineto_linked_key of its begin */
	uint64_t begin, end; /* ns of the trace */
	uint64_t connection; /* of Ascend's tasks and collectives; 0: none */
	uint32_t place, name;
	uint32_t op_thread; /* of the flow; 0: no flow leads here */
	uint32_t op_name;
	uint64_t op_begin;
	bool is_copy;
	uint8_t copy_kind;  /* of api.h */
	bool is_collective; /* covers the tasks of its connection */
	bool is_left_out;
};

struct kineto_linked { /* zero-initialized */
	struct kineto_activity *activities;
	size_t nr, capacity;
	struct idmap flows; /* by the ID in the trace */
	bool has_flows;
};

void kineto_linked_fini(struct kineto_linked *linked);

/* Returns the key that an activity and the end of its flow share. */
uint64_t kineto_linked_key(uint64_t pid, uint64_t tid, uint64_t begin);

/* Adds an activity; the pointer is valid until the next. */
struct kineto_activity *kineto_linked_add(struct kineto_linked *linked);

/* The begin of a flow, and its end. */
void kineto_linked_from(
	struct kineto_linked *linked, uint64_t id, uint32_t thread, uint32_t name, uint64_t begin);
void kineto_linked_to(struct kineto_linked *linked, uint64_t id, uint64_t where);

/*
 * Joins flows and activities, and marks what is left out: tasks of a collective, and times of
 * operators that contain those of inner ones.
 */
void kineto_linked_join(struct kineto_linked *linked);

#endif
