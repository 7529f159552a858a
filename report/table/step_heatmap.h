/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks and steps as a field: a line for each rank, a cell for each step by how it compares with
 * the median of all. Where steps are more than fit on a line, a cell is the longest of several.
 */
#ifndef REPORT_TABLE_STEP_HEATMAP_H
#define REPORT_TABLE_STEP_HEATMAP_H

#include <stddef.h>
#include <stdint.h>

struct step_heatmap {
	uint64_t rank, step, duration_ns;
	uint32_t pid;
};

/*
 * Lines of signs, to be freed; NULL where fewer than two ranks have steps. Sorts the steps. Of more
 * than 32 ranks those with the longest times in all are shown, and that is said.
 */
char *step_heatmap_draw(struct step_heatmap *steps, size_t nr_steps);

/* The same as numbers in JSON, for the page: of up to 64 ranks with up to 128 cells. */
char *step_heatmap_json(struct step_heatmap *steps, size_t nr_steps);

#endif
