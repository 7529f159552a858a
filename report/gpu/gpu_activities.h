/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activities of the devices of a process, in the order of their begins, for views that ask what ran
 * at the same time. The stream has them as one run for each stream of the device, buffer by buffer.
 * Each is held until no earlier one can come, by the times in the headers of the blocks.
 */
#ifndef REPORT_GPU_GPU_ACTIVITIES_H
#define REPORT_GPU_GPU_ACTIVITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/scan.h"
#include "report/ops/op_launch.h"
#include "report/table/table.h"
#include "report/util/external_sort.h"

/*
 * Memory: so many bytes of activities that wait, and 48 more for each while they are sorted.
 * Further ones (a stream of the device that was written long before another one) lie sorted in a
 * file (external_sort.h).
 */
#define GPU_ACTIVITIES_WAIT_BYTES (16u << 20)

struct gpu_activity {
	union {
		struct external_sort_head head;
		struct {
			uint64_t begin; /* CLOCK_MONOTONIC ns */
			uint64_t correlation;
		};
	};
	uint64_t end;
	uint64_t bytes; /* of a copy or set */
	uint32_t name;	/* of string_pool.h: the kernel, or what copy_name says */
	uint32_t copy;	/* of a copy or set: copy_pack() */
	uint32_t place; /* an id of the stream */
	uint32_t device;
	uint8_t table; /* GPROF_TABLE_kernel, _memcpy, _memset, _graph; _op: of the host */
	bool is_communication;
	bool is_not_chosen; /* of the host: it begins in no step that is chosen (select.h) */
};

struct gpu_activities {
	struct process *process;
	struct external_sort *waiting;
	uint64_t *later_min; /* by block: the earliest begin in later blocks, CLOCK_MONOTONIC ns */
	bool has_host;	     /* what the host carries out comes, too */
	bool has_operators;  /* and what it computes: the process has no work of devices */
	void (*take)(void *context, const struct gpu_activity *work);
	void *context;
};

/* The columns that a scan must want to take the activities itself. */
#define GPU_ACTIVITIES_WANTS                                                                    \
	{SCAN_WITH(GPROF_IS_ACTIVITY), COLS(kernel, begin, dur, place, correlation), 0},        \
		{GPROF_TABLE_kernel, COLS(kernel, shape), 0},                                   \
		{GPROF_TABLE_memcpy, COLS(memcpy, bytes, copy_kind, src_kind, dst_kind, flags), \
			0},                                                                     \
		{GPROF_TABLE_memset, COLS(memset, bytes, memory_kind, flags), 0},               \
	{                                                                                       \
		GPROF_TABLE_graph, COLS(graph, graph), 0                                        \
	}

/* For scan_view.needs: nothing is read of a process that has no work. */
bool gpu_activities_needs(void *context, struct process *process, unsigned int table);

/* `take` gets each record that has times; those with the same begin by their correlation IDs. */
void gpu_activities_begin(struct gpu_activities *activities, struct process *process,
	void (*take)(void *context, const struct gpu_activity *work), void *context);

/* Takes a batch of one of those tables. */
void gpu_activities_take(struct gpu_activities *activities, const struct batch *batch);

/* Hands out the rest, and frees everything. */
void gpu_activities_end(struct gpu_activities *activities);

/* Do operators that compute come with the activities of the host? */
bool gpu_activities_has_operators(const struct process *process);

/*
 * One order for all views of a pass that have on_activity. Such a scan comes before theirs, so that
 * they have all activities by their `end`. Of a choice of steps, those that ignore it need an order
 * of their own.
 */
struct gpu_activities_order {
	const struct scan *scans; /* of the pass */
	size_t nr_scans;
	bool ignores_selection;	     /* of whom it is the order */
	const struct scan **readers; /* those that want the order of the current process */
	size_t nr_readers;
	struct gpu_activities activities;
};

/* The scan of an order. */
struct scan gpu_activities_order_scan(struct gpu_activities_order *order);

#endif
