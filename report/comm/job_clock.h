/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the processes of a job on one clock. Processes of several hosts have clocks of their own,
 * and so do traces, which do not name their host.
 *
 * Matching NCCL operations give offset and drift of each clock (nccl_match.h). Both go into the
 * processes' clock maps, so that all times read later are on one clock. Durations by
 * clock_map_duration() and of activities stay as measured.
 *
 * Nothing is read if all processes are of one host.
 */
#ifndef REPORT_COMM_JOB_CLOCK_H
#define REPORT_COMM_JOB_CLOCK_H

#include "report/util/buf.h"
#include "report/model/model.h"

/* Call it once, after the processes are read and before anything uses their times. */
void job_clock_align(struct process *const *processes, size_t nr_processes);

/*
 * Appends how exact times of different processes compare, or that hosts are compared by their wall
 * clocks; nothing if there is one clock.
 *
 * job_clock_print_fit appends only the error of aligned clocks, and returns true if there are any;
 * job_clock_print_unaligned only the processes that are placed by wall clocks.
 */
bool job_clock_print_fit(
	struct process *const *processes, size_t nr_processes, const char *before, struct buf *out);
void job_clock_print_unaligned(
	struct process *const *processes, size_t nr_processes, const char *before, struct buf *out);
void job_clock_print(
	struct process *const *processes, size_t nr_processes, const char *before, struct buf *out);

/* Appends how exact the clock of one process is, if it was aligned. */
void job_clock_print_one(const struct process *process, const char *before, struct buf *out);

/*
 * foreign_rank.c: sets `is_foreign` of ranks of another job: processes without any communicator of
 * the others here, although one of the others would have to share it. The stream belongs to another
 * job, or the ranks were recorded at different times. The processes are sorted by rank.
 */
void foreign_rank_mark(struct process *const *processes, size_t nr_processes);

#endif
