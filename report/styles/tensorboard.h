/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of PyTorch's TensorBoard plugin, made of the views of one process: each function below
 * prints the tables of a page. They are columns of a view's table under the names that they have
 * there (_tables), or rows of figures that no view of ours shows: op_average.h, op_memory.h
 * (_rows). The views are the style's, which makes and destroys them.
 */
#ifndef REPORT_STYLES_TENSORBOARD_H
#define REPORT_STYLES_TENSORBOARD_H

#include "report/session/summary.h"

enum tensorboard_page {
	TENSORBOARD_PAGE_OVERVIEW,
	TENSORBOARD_PAGE_OPERATOR,
	TENSORBOARD_PAGE_KERNEL,
	TENSORBOARD_PAGE_MEMORY,
	TENSORBOARD_PAGE_MODULE,
	TENSORBOARD_PAGE_DISTRIBUTED,
	NR_TENSORBOARD_PAGES,
};

/* What pages are made of. */
enum tensorboard_source {
	TENSORBOARD_STEPS,
	TENSORBOARD_GPUS,
	TENSORBOARD_AVERAGES,
	TENSORBOARD_KERNELS,
	TENSORBOARD_KERNELS_BY_OPERATOR,
	TENSORBOARD_MEMORY,
	TENSORBOARD_MODULES,
	TENSORBOARD_OVERLAP,
	NR_TENSORBOARD_SOURCES,
};

extern const struct view_class *const tensorboard_sources[NR_TENSORBOARD_SOURCES];

struct tensorboard {
	const struct summary *summary;
	bool is_wanted[NR_TENSORBOARD_PAGES];
	void *views[NR_TENSORBOARD_SOURCES]; /* of the process at hand; NULL where no page wants
						them */
	struct buf *out;
	bool is_sorted; /* some table has the column that the user sorts by */
};

/* Prints a table as the user wants it, times in us, and destroys it. */
void tensorboard_print(struct tensorboard *pages, struct table *table);

/* "yes" as "Yes": how the plugin writes answers about tensor cores. */
void tensorboard_set_answer(struct table_cell *cell, const char *text);

/* tensorboard_tables.c */
void tensorboard_overview(struct tensorboard *pages);
void tensorboard_kernels(struct tensorboard *pages);
void tensorboard_modules(struct tensorboard *pages);
void tensorboard_distributed(struct tensorboard *pages); /* ends with the collectives */

/* tensorboard_rows.c */
void tensorboard_operators(struct tensorboard *pages);
void tensorboard_memory(struct tensorboard *pages);
void tensorboard_collectives(struct tensorboard *pages);

#endif
