/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which steps of a process count: see counted_steps.h. Views ask before their pass over
 * events, so it uses rows of table step alone, by way of phases_init().
 */
#include "report/ops/counted_steps.h"

#include <stdlib.h>

#include "report/stats/step_series.h"
#include "report/util/buf.h"

bool counted_steps_is_one(const struct phases *phases, uint32_t step)
{
	return phases_is_whole(phases, step) && (!step || phases_step_ticks(phases, step));
}

/* step_series sees only whole steps, without gaps, so `nr` numbers them apart from `step`. */
static void find_counted(struct counted_steps *counted, const struct phases *phases, bool is_all)
{
	uint64_t *ns = mem_zeroed(phases->nr_steps + 1, sizeof(*ns));
	struct step_series series = STEP_SERIES_ALL;
	size_t nr = 0;

	counted->counts = mem_zeroed(phases->nr_steps + 1, sizeof(*counted->counts));
	counted->counts[0] = !phases_has_steps(phases);
	for (uint32_t step = 1; step < phases->nr_steps; step++) {
		if (counted_steps_is_one(phases, step)) {
			ns[nr++] = phases_step_ns(phases, step);
		}
	}
	if (!phases->process->select && !is_all) {
		series = step_series_of(ns, nr);
	}
	nr = 0;
	for (uint32_t step = 1; step < phases->nr_steps; step++) {
		if (!counted_steps_is_one(phases, step)) {
			continue;
		}
		counted->counts[step] = step_series_counts(&series, nr, ns[nr]);
		counted->first = nr == series.nr_warm_up ? step : counted->first;
		nr++;
	}
	counted->nr_warm_up = series.nr_warm_up;
	counted->nr_outliers = series.nr_outliers;
	free(ns);
}

void counted_steps_init(struct counted_steps *counted, struct process *process, bool is_all)
{
	struct phases marks;

	*counted = (struct counted_steps){0};
	phases_init(&marks, process);
	find_counted(counted, &marks, is_all);
	phases_fini(&marks);
}

uint64_t counted_steps_sum(
	const struct counted_steps *counted, const struct phases *phases, uint64_t *ns)
{
	uint64_t nr = 0;

	*ns = 0;
	for (uint32_t step = 1; phases_has_steps(phases) && step < phases->nr_steps; step++) {
		if (counted->counts[step]) {
			*ns += phases_step_ns(phases, step);
			nr++;
		}
	}
	return nr;
}

void counted_steps_fini(struct counted_steps *counted)
{
	free(counted->counts);
}

void counted_steps_note(size_t nr_warm_up, size_t nr_outliers, struct table *table)
{
	if (nr_warm_up) {
		table_note(table, "%zu step%s that warm%s up %s excluded; see `help headline`.",
			nr_warm_up, nr_warm_up == 1 ? "" : "s", nr_warm_up == 1 ? "s" : "",
			nr_warm_up == 1 ? "is" : "are");
	}
	if (nr_outliers) {
		table_note(table,
			"%zu outlier%s excluded, of more than twice the median; see `help "
			"headline`.",
			nr_outliers, nr_outliers == 1 ? " is" : "s are");
	}
}
