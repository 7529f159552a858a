/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the events of processes for several views: it reads each block once, with only the
 * columns that some view wants.
 */
#ifndef REPORT_MODEL_SCAN_H
#define REPORT_MODEL_SCAN_H

#include "report/model/model.h"

/*
 * The columns of a table that a view needs; those of small_mask as 32-bit values if possible. The
 * table may be SCAN_WITH(facts): all that have one of these facts. Of several wants for a table all
 * columns count.
 */
struct scan_want {
	unsigned int table;
	uint32_t mask;
	uint32_t small_mask;
};

#define SCAN_WITH(facts) ((facts) << 8)

struct gpu_activity;

struct scan_view {
	const struct scan_want *wants;
	size_t nr_wants;
	/* False if the view does not need the table of this process. Called once; may be NULL. */
	bool (*needs)(void *context, struct process *process, unsigned int table);
	/*
	 * Called for each process; begin and end may be NULL. on_batch gets its batches in file
	 * order.
	 */
	void (*begin)(void *context, struct process *process);
	void (*on_batch)(void *context, struct process *process, const struct batch *batch);
	void (*end)(void *context, struct process *process);
	/* The view also gets what is not selected, and uses select.h itself. */
	bool ignores_selection;
	/*
	 * Gets each GPU activity in the order of their begins: gpu_activities.h, which makes one
	 * order for all views of a pass. With has_host_activities also what the host carries out.
	 */
	void (*on_activity)(void *context, const struct gpu_activity *activity);
	bool has_host_activities;
};

struct scan {
	const struct scan_view *view;
	void *context;
};

/*
 * A view gets a batch if none of the columns that it wants is damaged; the batch may have further
 * columns. Shows progress on a terminal if it takes long.
 */
void scan_run(struct process *const *processes, size_t nr_processes, const struct scan *scans,
	size_t nr_scans);

#endif
