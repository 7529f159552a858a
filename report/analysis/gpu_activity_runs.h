/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For works.c: what waits until no earlier work can come, in the order of its begins. It comes in
 * runs, one for each batch, which are merged as they are taken out.
 *
 * Memory: GPU_ACTIVITIES_RUNS_MOST works and once more while they are put together, 32 MB. What is
 * more (a stream of the device that was written long before another one) lies sorted in a file
 * without a name, in $TMPDIR or /tmp, but for GPU_ACTIVITIES_RUNS_READ works, 64 KB, of each such
 * part; where there is no room for that file all stay in memory.
 */
#ifndef REPORT_ANALYSIS_GPU_ACTIVITY_RUNS_H
#define REPORT_ANALYSIS_GPU_ACTIVITY_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Takes over a batch's works, from mem_zeroed and in any order. */
void gpu_activity_runs_add(struct gpu_activity_runs *runs, struct gpu_activity *items, size_t nr);

/* The one that begins first, those with the same begin by their correlation ids; NULL: none. */
const struct gpu_activity *gpu_activity_runs_first(const struct gpu_activity_runs *runs);

/* Takes that one out. */
void gpu_activity_runs_drop(struct gpu_activity_runs *runs);

#endif
