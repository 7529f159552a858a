/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heat map of step times: a line for each rank, a cell for each step, colored by its ratio to the
 * median of all. If there are more steps than cells, a cell shows the longest of several.
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
 * Returns lines of text that the caller frees, NULL if fewer than two ranks have steps. Sorts the
 * steps. Of more than 32 ranks it draws those with the longest total time, and says so.
 */
char *step_heatmap_draw(struct step_heatmap *steps, size_t nr_steps);

/*
 * Returns the same as JSON numbers for the page, of up to 1,024 ranks with up to 128 cells, and for
 * each cell the quantiles of all ranks.
 */
char *step_heatmap_json(struct step_heatmap *steps, size_t nr_steps);

#endif
