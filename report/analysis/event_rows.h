/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of nested operators as a view makes them: of all threads together or of each, and with
 * --detail=all once more by their position in the step. The views framework and operator (--detail)
 * use them; memory is bounded as event_tree.h says.
 */
#ifndef REPORT_ANALYSIS_EVENT_ROWS_H
#define REPORT_ANALYSIS_EVENT_ROWS_H

#include "report/ops/event_tree.h"
#include "report/analysis/view.h"

struct event_rows {
	struct view_input input;
	struct event_tree tree;
	struct op_places places;
	struct process *process; /* the current one */
	uint32_t process_number; /* counts from 1 */
};

/* Starts with all zeros; must stay where it is until event_rows_fini. */
void event_rows_init(struct event_rows *rows, const struct view_input *input);
void event_rows_fini(struct event_rows *rows);

/* Before the first operator of a process, and after the last one. */
void event_rows_begin(struct event_rows *rows, struct process *process);
void event_rows_end(struct event_rows *rows);

/* The number of the row in the row `outer`, 0 in none; a new one if there is none. */
uint32_t event_rows_find(struct event_rows *rows, uint32_t outer, enum event_kind kind,
	uint32_t name, uint32_t thread);

/*
 * Counts one more call in the row `number`; UINT64_MAX: that time is unknown. With --detail=all
 * also at the position in the step of `outermost`, whose row is `top`; NULL: it lies in none that
 * has a position.
 */
void event_rows_add(struct event_rows *rows, const struct op *outermost, uint32_t top,
	uint32_t number, uint64_t cpu_ns, uint64_t gpu_ns);

#endif
