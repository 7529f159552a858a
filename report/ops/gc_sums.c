/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collections come from the last to the first, so that those of a step follow each other: a step
 * has one if it is not the step of the collection before.
 */
#include "report/ops/gc_sums.h"

#include <stdlib.h>

#include "report/util/buf.h"

void gc_sums_begin(struct gc_sums *sums, struct process *process)
{
	bool *is_whole = phases_whole_rows(process);
	struct counted_steps counted;

	*sums = (struct gc_sums){
		.process = process, .counts = mem_zeroed(process->nr_steps + 1, sizeof(bool))};
	counted_steps_init(&counted, process, false);
	for (uint32_t step = 1; step < process->nr_steps; step++) {
		sums->counts[step] =
			is_whole[step - 1] &&
			(counted.counts[step] || counted_steps_is_outlier(&counted, step));
	}
	counted_steps_fini(&counted);
	free(is_whole);
}

void gc_sums_add(struct gc_sums *sums, const struct op_collection *collection)
{
	struct gc_sum *sum = &sums->generations[collection->generation];
	uint64_t ns = clock_map_duration(
		&sums->process->host_clock, collection->op.end - collection->op.begin);

	sum->nr++;
	sum->ns += ns;
	sum->longest_ns = ns > sum->longest_ns ? ns : sum->longest_ns;
	sum->collected += collection->collected;
	sum->uncollectable += collection->uncollectable;
	if (sums->counts[collection->step]) {
		sum->nr_in_steps++;
		sum->ns_in_steps += ns;
		sum->nr_steps += collection->step != sum->last_step;
		sum->last_step = collection->step;
	}
}

void gc_sum_add(struct gc_sum *sum, const struct gc_sum *other)
{
	sum->nr += other->nr;
	sum->ns += other->ns;
	sum->longest_ns = other->longest_ns > sum->longest_ns ? other->longest_ns : sum->longest_ns;
	sum->collected += other->collected;
	sum->uncollectable += other->uncollectable;
	sum->nr_in_steps += other->nr_in_steps;
	sum->ns_in_steps += other->ns_in_steps;
	sum->nr_steps += other->nr_steps;
}

void gc_sums_end(struct gc_sums *sums, const struct phases *phases)
{
	for (uint32_t step = 1; step < sums->process->nr_steps; step++) {
		if (sums->counts[step]) {
			sums->nr_steps++;
			sums->steps_ns += phases_step_ns(phases, step);
		}
	}
	free(sums->counts);
	sums->counts = NULL;
}
