/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the memory in use at each place (memory.h), for the scans of views: as a framework's
 * allocator reports it; for a process without one for GPUs, as the calls of cudaMalloc and its kin
 * add up.
 *
 * Memory: 32 bytes for each call that an earlier one may still follow, which are those of a flush
 * or two; what is in use; 8 bytes for each block of the stream.
 */
#ifndef REPORT_MEMORY_MEMORY_SCAN_H
#define REPORT_MEMORY_MEMORY_SCAN_H

#include "report/memory/memory.h"
#include "report/model/scan.h"

/* The note of tables without a row. */
#define MEMORY_SCAN_NONE "No allocator events and no calls of cudaMalloc are recorded or selected."

/* Starts with all zeros but for `on_change`, `block` and `context` of its memory. */
struct memory_scan {
	struct memory memory;
	/* Calls of the current process that wait until no earlier one can come. */
	struct memory_call *calls;
	size_t nr_calls, call_capacity;
	uint64_t first_tick; /* of these */
	uint64_t *later_min; /* of the calls in the blocks behind each */
};

#define MEMORY_SCAN_NR_WANTS 2u
extern const struct scan_want memory_scan_wants[MEMORY_SCAN_NR_WANTS];

/* For scan_view: the context is the view itself, whose first member must be the scan. */
bool memory_scan_needs(void *context, struct process *process, unsigned int table);
void memory_scan_begin(void *context, struct process *process);
void memory_scan_take(void *context, struct process *process, const struct batch *batch);
void memory_scan_end(void *context, struct process *process);

void memory_scan_fini(struct memory_scan *scan);

#endif
