/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts all processes on one axis of time: the last of the steps that align clocks, after
 * job_clock.c and device_clock.c. Each process counts on its own CLOCK_MONOTONIC. An offset to
 * CLOCK_REALTIME makes them comparable; the earliest event of all becomes time 0.
 */
#include "report/model/time_axis.h"

#include <stdlib.h>

#include "report/util/buf.h"

/*
 * From CLOCK_MONOTONIC to CLOCK_REALTIME. Processes on one clock use the same reading of
 * CLOCK_REALTIME, which may have jumped between two readings.
 */
static uint64_t offset_of(struct process *const *processes, size_t nr_processes, size_t k)
{
	uint32_t clock = process_clock(processes[k]);

	for (size_t i = 0; clock && i < nr_processes; i++) {
		if (processes[i]->has_anchors && process_clock(processes[i]) == clock) {
			return (uint64_t)processes[i]->realtime_offset_ns;
		}
	}
	return (uint64_t)processes[k]->realtime_offset_ns;
}

/* Offsets and times of a damaged stream may be anything, so all sums wrap. */
uint64_t time_axis_set(struct process *const *processes, size_t nr_processes)
{
	uint64_t *offsets = mem_zeroed(nr_processes + 1, sizeof(*offsets));
	bool has_clocks = true;
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < nr_processes; i++) {
		const struct process *process = processes[i];
		int64_t begin;

		offsets[i] = offset_of(processes, nr_processes, i);
		begin = (int64_t)(process->origin_ns + offsets[i]);
		has_clocks = has_clocks && (process->has_anchors || nr_processes == 1);
		if (process->origin_ns != MODEL_NO_ORIGIN && begin < first) {
			first = begin;
		}
	}
	first = first == INT64_MAX ? 0 : first;
	for (size_t i = 0; i < nr_processes && has_clocks; i++) {
		processes[i]->origin_ns = (uint64_t)first - offsets[i];
	}
	free(offsets);
	return (uint64_t)first;
}
