/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ran on the devices of a process, in the order of its begins: for views that ask what ran at
 * the same time. Records come out of the stream a run for each stream of the device, buffer by
 * buffer; each is held until no earlier one can come, by the times in the headers of the blocks.
 * What waits is in bounded memory (struct gpu_activity_runs).
 */
#ifndef REPORT_ANALYSIS_GPU_ACTIVITIES_H
#define REPORT_ANALYSIS_GPU_ACTIVITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/scan.h"
#include "report/ops/op_launch.h"
#include "report/table/table.h"

/*
 * What waits until no earlier work can come, in the order of its begins. It comes in
 * runs, one for each batch, which are merged as they are taken out.
 *
 * Memory: GPU_ACTIVITIES_RUNS_MOST works and once more while they are put together, 32 MB. What is
 * more (a stream of the device that was written long before another one) lies sorted in a file
 * without a name, in $TMPDIR or /tmp, but for GPU_ACTIVITIES_RUNS_READ works, 64 KB, of each such
 * part; where there is no room for that file all stay in memory.
 */

#define GPU_ACTIVITIES_RUNS_MOST (1u << 18)
#define GPU_ACTIVITIES_RUNS_READ 1024u

struct gpu_activity;

/* Sorted; those behind `nr` are in the file. */
struct gpu_activity_run {
	struct gpu_activity *items;
	size_t at, nr;
	uint64_t file_at, file_end; /* by works, not bytes; both 0: it never was in the file */
};

/* Starts with all zeros. */
struct gpu_activity_runs {
	struct gpu_activity_run *runs; /* a heap, by the begin of their next */
	size_t nr_runs, capacity;
	size_t most;	     /* works that wait in memory, 0 for GPU_ACTIVITIES_RUNS_MOST; tests */
	size_t nr_kept;	     /* memory, in works, of runs that never were in the file */
	uint64_t nr_written; /* to the file */
	size_t nr_filed;     /* runs that were written to it */
	int file;	     /* 1 + its descriptor, 0 none */
	bool is_full;	     /* no more can be written to it */
};

void gpu_activity_runs_fini(struct gpu_activity_runs *runs);

/* Takes over a batch's works, in memory of their own and in any order. */
void gpu_activity_runs_add(struct gpu_activity_runs *runs, struct gpu_activity *items, size_t nr);

/* The one that begins first, those with the same begin by their correlation IDs; NULL: none. */
const struct gpu_activity *gpu_activity_runs_first(const struct gpu_activity_runs *runs);

/* Takes that one out. */
void gpu_activity_runs_drop(struct gpu_activity_runs *runs);

struct gpu_activity {
	uint64_t begin, end; /* CLOCK_MONOTONIC ns */
	uint64_t bytes;	     /* of a copy or set */
	uint32_t name;	     /* of string_pool.h: the kernel, or what copy_name says */
	uint32_t copy;	     /* of a copy or set: copy_pack() */
	uint64_t correlation;
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

/* What a scan must want to take the activities itself. */
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

/* Is it one of these tables? */
bool gpu_activity_is_table(unsigned int table);

/* For scan_view.needs: nothing is read of a process that has no work. */
bool gpu_activities_needs(void *context, struct process *process, unsigned int table);

/* `take` gets each record that has times; those with the same begin by their correlation IDs. */
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

/* Do operators that compute come from gpu_activities_begin_host? */
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
	const struct scan **readers; /* those that want the order of the process at hand */
	size_t nr_readers;
	struct gpu_activities works;
};

/* The scan of an order. */
struct scan gpu_activities_order_scan(struct gpu_activities_order *order);

/* The kernel, or what the copy, set or graph is called; a number of string_pool.h. */
uint32_t gpu_activity_name(const struct process *process, const struct op_record *record);

#endif
