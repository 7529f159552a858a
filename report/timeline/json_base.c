/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/timeline.h"

#include <string.h>

/*
 * All files of a job must have the same base: tools that compare ranks ignore it. About 26 days,
 * and small enough for times to stay exact in a double.
 */
#define BASE_STEP_NS (1ull << 51)

int64_t timeline_offset(struct process *const *processes, size_t nr_processes, size_t k)
{
	for (size_t i = 0; i < nr_processes; i++) {
		if (processes[i]->has_anchors &&
			strcmp(process_host(processes[i]), process_host(processes[k])) == 0) {
			return processes[i]->realtime_offset_ns;
		}
	}
	return 0;
}

void timeline_find_base(struct timeline *timeline, struct process *const *processes,
	size_t nr_processes, uint64_t before_ns)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	for (size_t i = 0; i < nr_processes; i++) {
		const struct process *process = processes[i];
		uint64_t offset_ns = (uint64_t)timeline_offset(processes, nr_processes, i);

		timeline->nr_all += process->nr_events;
		if (process->first_ns <= process->last_ns) {
			uint64_t first = process->first_ns + offset_ns;
			uint64_t last = process->last_ns + offset_ns;

			first_ns = first < first_ns ? first : first_ns;
			last_ns = last > last_ns ? last : last_ns;
		}
	}
	first_ns = first_ns == UINT64_MAX ? 0 : first_ns;
	timeline->base_ns = first_ns / BASE_STEP_NS * BASE_STEP_NS;
	if (before_ns) {
		timeline->base_ns = first_ns > before_ns ? first_ns - before_ns : 0;
	}
	timeline->all_first_ns = first_ns - timeline->base_ns;
	timeline->all_last_ns = last_ns > timeline->base_ns ? last_ns - timeline->base_ns : 0;
}
