/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells how much of what a loop, or its loader's workers, read did not lie in memory (the page
 * cache), so that storage had to deliver it. The kernel counts it for each process: of a loop, what
 * it read in its steps counts, of workers all.
 */
#ifndef REPORT_VERDICT_STORAGE_READS_H
#define REPORT_VERDICT_STORAGE_READS_H

#include "report/analysis/headline.h"

struct storage_reads {
	uint64_t bytes; /* by calls, of all of these processes; 0: unknown */
	uint64_t storage_bytes;
	uint64_t ns; /* of the process that was seen for the longest time */
};

/* Adds what a process reads. */
void storage_reads_add(struct storage_reads *reads, struct process *process);

/* Sums up the processes of the loops. */
struct storage_reads storage_reads_of_loops(const struct headline *headline);

/*
 * Does storage deliver most of it? Of file systems whose reads the kernel does not count, nothing
 * is known, so a low number does not show that all of it lay in memory.
 */
bool storage_reads_miss(const struct storage_reads *reads);

/*
 * If so, appends that as "storage delivers 2.9 GB (38.2 MB/s) of the 3.1 GB that the workers read".
 */
void storage_reads_add_text(const struct storage_reads *reads, const char *who, struct buf *out);

#endif
