/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the steps of a side that are compared (side.c): those of which the first screen gives the
 * median, by the code of the first screen (headline.h), so that both always mean the same steps.
 * Calls and activities, which take most of its time, only divide steps and do not change how long
 * they are: they are not read here.
 */
#include <stdlib.h>

#include "report/diff/diff.h"
#include "report/ops/op_walk.h"

/*
 * Keeps the processes that the first screen counts, whose order in the headline is that of the
 * array.
 */
static size_t keep_main(
	const struct headline *headline, struct process **processes, size_t nr_processes)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_processes; i++) {
		if (headline->processes[i].is_main) {
			processes[nr++] = processes[i];
		}
	}
	return nr;
}

size_t diff_steps_find(struct diff_steps *steps, struct process **processes, size_t nr_processes)
{
	struct headline headline = {0};
	struct headline_figures figures;

	headline_read_steps(&headline, &figures, processes, nr_processes);
	steps->steps = headline_job_steps(&headline, &figures, &steps->nr);
	steps->nr_warm_up = figures.series.nr_warm_up;
	steps->nr_outliers = figures.series.nr_outliers;
	steps->numbers = idset_create();
	for (size_t i = 0; i < steps->nr; i++) {
		idset_add(steps->numbers, steps->steps[i].number);
	}
	nr_processes = keep_main(&headline, processes, nr_processes);
	headline_fini(&headline);
	return nr_processes;
}

void diff_steps_fini(struct diff_steps *steps)
{
	if (steps->numbers) {
		idset_destroy(steps->numbers);
	}
	free(steps->steps);
}
