/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the events of some processes for several views at once: each block is read once,
 * with just the columns that some view wants.
 */
#ifndef REPORT_MODEL_SCAN_H
#define REPORT_MODEL_SCAN_H

#include "report/model/model.h"

/* The columns that a view needs of a table; the small ones it takes as 32-bit values if possible.
 */
struct scan_want {
	unsigned int table;
	uint32_t mask;
	uint32_t small_mask;
};

/* Every table of calls, with the same columns. */
#define SCAN_CALLS(columns)                                                            \
	{GPROF_TABLE_api, columns, 0}, {GPROF_TABLE_api_launch, columns, 0},           \
		{GPROF_TABLE_api_copy, columns, 0}, {GPROF_TABLE_api_set, columns, 0}, \
		{GPROF_TABLE_api_alloc, columns, 0},                                   \
	{                                                                              \
		GPROF_TABLE_api_sync, columns, 0                                       \
	}

struct scan_view {
	const struct scan_want *wants;
	size_t nr_wants;
	/* May be NULL: false if the view does not need the table of this process. Asked once. */
	bool (*needs)(void *context, struct process *process, unsigned int table);
	/* begin and end may be NULL. For each process; on_batch gets its batches in file order. */
	void (*begin)(void *context, struct process *process);
	void (*on_batch)(void *context, struct process *process, const struct batch *batch);
	void (*end)(void *context, struct process *process);
	/* What is not chosen (select.h) comes, too: the view goes by select.h itself. */
	bool ignores_selection;
};

struct scan {
	const struct scan_view *view;
	void *context;
};

/*
 * A batch is handed to a view if none of the columns that the view wants of it is damaged; a view
 * may find others beside them. Shows progress on stderr if that is a terminal and it takes long.
 */
void scan_run(struct process *const *processes, size_t nr_processes, const struct scan *scans,
	size_t nr_scans);

#endif
