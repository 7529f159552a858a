/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/time_axis.h"

#include "report/util/buf.h"

uint64_t *time_axis_create(struct process *const *processes, size_t nr_processes)
{
	uint64_t *base_ns = mem_zeroed(nr_processes, sizeof(*base_ns));
	int64_t first = INT64_MAX;
	bool has_clocks = true;

	for (size_t i = 0; i < nr_processes; i++) {
		const struct process *process = processes[i];
		int64_t start =
			(int64_t)(process->first_ns + (uint64_t)process->realtime_offset_ns);

		has_clocks = has_clocks && process->has_anchors;
		if (process->first_ns <= process->last_ns && start < first) {
			first = start;
		}
	}
	for (size_t i = 0; i < nr_processes; i++) {
		const struct process *process = processes[i];

		if (process->first_ns > process->last_ns) {
			continue;
		}
		base_ns[i] = has_clocks && nr_processes > 1
				     ? (uint64_t)first - (uint64_t)process->realtime_offset_ns
				     : process->first_ns;
	}
	return base_ns;
}
