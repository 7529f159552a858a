/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run is what one launch starts: its ranks, their workers and children. Of several recordings,
 * these are of one run:
 *
 *     ID        with the same GPROF_RUN, which gprof-record sets
 *     launch    with the same outermost process under the preload
 *     kin       a process and those that it forked, started, or became by exec
 *     restarts  workers of torchrun with the same parent, at any time
 *     ranks     different ranks of worlds of one size, at the same time, or with the same parent
 *               within ten seconds: first those with the same parent, its parent and so on, then
 * those of the same job of a scheduler, last those with the same address and port of their master.
 * Where these are not recorded, as in older streams, the ranks and the time are enough; the clocks
 * of hosts may be some seconds apart. A run has each rank once.
 *
 * Recordings without a parent, as other programs make them, are of one run if they overlap in time.
 * What is imported is of no run.
 */
#ifndef REPORT_SESSION_RUNS_H
#define REPORT_SESSION_RUNS_H

#include "report/model/model.h"

/*
 * The facts of a process that tell to which run it belongs; texts are numbers of string_pool.h, 0:
 * none.
 */
struct runs_process {
	uint32_t path, name; /* of the stream; the name without .part */
	uint32_t id, first, ancestors, forker;
	uint32_t job, job_step, master, port; /* as launchers have them */
	uint32_t boot, pid_namespace, ancestor_namespace;
	uint32_t pid;
	int64_t start_ticks, rank, world; /* -1: unknown */
	uint64_t begin_ns, end_ns;	  /* since 1970; of one that runs UINT64_MAX */
	bool is_open;	   /* nobody saw its end: it may have lived on after end_ns */
	bool is_restarted; /* torchrun counts how often */
	bool is_trace;	   /* imported */
	size_t run;	   /* from 1 on, the oldest; 0: of none */
};

/* Takes it from what a stream says of its process. */
struct runs_process runs_describe(const struct process *process);

/* Finds the run of each process. Returns how many runs there are. */
size_t runs_group(struct runs_process *processes, size_t nr_processes);

#endif
