/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one clock of a job: processes of several hosts, and traces, which do not tell their host,
 * have clocks of their own. What their ranks did together with NCCL tells offset and drift
 * (nccl_clock.h), and their maps of clocks are bent by these, so that all that reads times has them
 * on one clock. Lengths by clock_map_duration() and of device work stay as they were measured.
 *
 * Nothing is read where all processes are of one host.
 */
#ifndef REPORT_COMM_JOB_CLOCK_H
#define REPORT_COMM_JOB_CLOCK_H

#include "report/util/buf.h"
#include "report/model/model.h"

/* Once, after the processes are read and before anything looks at their times. */
void job_clock_align(struct process *const *processes, size_t nr_processes);

/*
 * Appends what is to be said about times of several processes beside each other: how exact they
 * are, or that those of different hosts are compared by their wall clocks. Nothing if they have one
 * clock. The first says only how exact, for what is not compared by wall clocks; true if there was
 * something to say.
 */
bool job_clock_print_fit(
	struct process *const *processes, size_t nr_processes, const char *before, struct buf *out);
void job_clock_print(
	struct process *const *processes, size_t nr_processes, const char *before, struct buf *out);

/* How exact the clock of one process is, if it was aligned; else nothing. */
void job_clock_print_one(const struct process *process, const char *before, struct buf *out);

#endif
