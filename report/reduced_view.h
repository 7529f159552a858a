/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that can be made of what `reduce` keeps; named as those of `summary`, where they show
 * the same. */
#ifndef REPORT_REDUCED_VIEW_H
#define REPORT_REDUCED_VIEW_H

#include "report/reduced.h"
#include "report/table.h"

struct reduced_view_class {
	const char *name;
	struct table *(*table)(struct reduced *reduced, unsigned int argument);
	unsigned int argument;
};

/* In the order in which they are shown; ends with one without a name. */
extern const struct reduced_view_class reduced_views[];

/* NULL if there is none. */
const struct reduced_view_class *reduced_view_find(const char *name);

/* Those below are for reduced_views. Rows of all processes together; argument: enum reduced_view.
 */
struct table *reduced_rows_table(struct reduced *reduced, unsigned int argument);

/* Steps over all processes; sums of steps of each process; each step of each process. */
struct table *reduced_steps_table(struct reduced *reduced, unsigned int argument);
struct table *reduced_distributed_table(struct reduced *reduced, unsigned int argument);
struct table *reduced_every_step_table(struct reduced *reduced, unsigned int argument);

/* Who was profiled. The sequence must be that of ranks (reduced_sort). */
struct table *reduced_processes_table(const struct reduced *reduced);

/* "3", or "host:pid" where there is no rank. */
void reduced_who_cell(struct table_cell *cell, const struct reduced_who *who);

#endif
