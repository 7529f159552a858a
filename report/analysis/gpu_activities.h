/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ran on the devices of a process, in the order of its begins: for views that ask what ran at
 * the same time. Records come out of the stream a run for each stream of the device, buffer by
 * buffer; each is held until no earlier one can come, by the times in the headers of the blocks.
 * What waits is in bounded memory (gpu_activity_runs.h).
 */
#ifndef REPORT_ANALYSIS_GPU_ACTIVITIES_H
#define REPORT_ANALYSIS_GPU_ACTIVITIES_H

#include "report/ops/op_launch.h"
#include "report/model/scan.h"
#include "report/table/table.h"
#include "report/analysis/gpu_activity_runs.h"

struct gpu_activity {
	uint64_t begin, end; /* CLOCK_MONOTONIC ns */
	uint64_t bytes;	     /* of a copy or set */
	uint32_t name;	     /* of names.h: the kernel, or what copy_name says */
	uint32_t copy;	     /* of a copy or set: copy_pack() */
	uint32_t correlation;
	uint32_t place; /* an id of the stream */
	uint32_t device;
	uint8_t table; /* GPROF_TABLE_kernel, _memcpy, _memset, _graph; _op: of the host */
	bool is_communication;
	bool is_not_chosen; /* of the host: it begins in no step that is chosen (select.h) */
};

struct gpu_activities {
	struct process *process;
	struct gpu_activity_runs runs; /* what waits */
	uint64_t *later_min; /* by block: the earliest begin in later blocks, CLOCK_MONOTONIC ns */
	bool has_host;	     /* what the host carries out comes, too */
	bool has_operators;  /* and what it computes: the process has no work of devices */
	void (*take)(void *context, const struct gpu_activity *work);
	void *context;
};

/* What a view's scan must want; the macro is for those that want more beside it. */
#define GPU_ACTIVITIES_COLUMNS                                                             \
	(COL_BIT(COL_kernel_begin) | COL_BIT(COL_kernel_dur) | COL_BIT(COL_kernel_place) | \
		COL_BIT(COL_kernel_correlation))
#define GPU_ACTIVITIES_WANTS                                                                   \
	{GPROF_TABLE_kernel, GPU_ACTIVITIES_COLUMNS | COL_BIT(COL_kernel_shape), 0},           \
		{GPROF_TABLE_memcpy,                                                           \
			GPU_ACTIVITIES_COLUMNS | COL_BIT(COL_memcpy_bytes) |                   \
				COL_BIT(COL_memcpy_copy_kind) | COL_BIT(COL_memcpy_src_kind) | \
				COL_BIT(COL_memcpy_dst_kind) | COL_BIT(COL_memcpy_flags),      \
			0},                                                                    \
		{GPROF_TABLE_memset,                                                           \
			GPU_ACTIVITIES_COLUMNS | COL_BIT(COL_memset_bytes) |                   \
				COL_BIT(COL_memset_memory_kind) | COL_BIT(COL_memset_flags),   \
			0},                                                                    \
	{                                                                                      \
		GPROF_TABLE_graph, GPU_ACTIVITIES_COLUMNS | COL_BIT(COL_graph_graph), 0        \
	}
#define GPU_ACTIVITIES_NR_WANTS 4u
extern const struct scan_want gpu_activities_wants[GPU_ACTIVITIES_NR_WANTS];

/* Is it one of these tables? */
bool gpu_activity_is_table(unsigned int table);

/* For scan_view.needs: nothing is read of a process that has no work. */
bool gpu_activities_needs(void *context, struct process *process, unsigned int table);

/* `take` gets each record that has times; those with the same begin by their correlation ids. */
void gpu_activities_begin(struct gpu_activities *works, struct process *process,
	void (*take)(void *context, const struct gpu_activity *work), void *context);

/*
 * Instead, where batches of table op come, too (HOST_COLLECTIVE_MASK): calls that the host carries
 * out are works of device UINT32_MAX and place 0 among the others; of a process that has such calls
 * and no work of devices also the operators that compute.
 */
void gpu_activities_begin_host(struct gpu_activities *works, struct process *process,
	void (*take)(void *context, const struct gpu_activity *work), void *context);

/* Takes a batch of one of those tables. */
void gpu_activities_take(struct gpu_activities *works, const struct batch *batch);

/* Hands out the rest, and frees everything. */
void gpu_activities_end(struct gpu_activities *works);

/* The kernel, or what the copy, set or graph is called; a number of names.h. */
uint32_t gpu_activity_name(const struct process *process, const struct op_record *record);

#endif
