/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up which kinds of work overlapped. The views of overlap, distributed jobs, stragglers and
 * pipelines feed it activities in the order of their begins. For each device it keeps only until
 * when each of three kinds runs; between two begins nothing else can change.
 *
 *   computation    |=====|      |====|
 *   communication     |=====|
 *   sets of bits   |1 |3 |2 |0  |1   |       each piece is added to step->ns[bits]
 */
#include "report/gpu/overlap.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/model/select.h"

uint64_t overlap_any(const struct overlap_times *times, unsigned int bits)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < OVERLAP_SETS; i++) {
		ns += i & bits ? times->ns[i] : 0;
	}
	return ns;
}

uint64_t overlap_all(const struct overlap_times *times, unsigned int bits)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < OVERLAP_SETS; i++) {
		ns += (i & bits) == bits ? times->ns[i] : 0;
	}
	return ns;
}

/* ---- one device ---- */

/*
 * Returns the times of the step that `now` lies in; *end is moved to where that step ends. Steps
 * rise with `now`, so it looks from the last one on.
 */
static struct overlap_times *times_now(
	const struct overlap *overlap, struct overlap_device *device, uint64_t *end)
{
	size_t at = device->nr_steps - 1;

	while (at < overlap->nr_bounds && overlap->bounds[at] <= device->now) {
		at++;
	}
	if (at >= device->nr_steps) {
		device->steps = mem_resize(device->steps, at + 1, sizeof(*device->steps));
		for (; device->nr_steps <= at; device->nr_steps++) {
			device->steps[device->nr_steps] = (struct overlap_times){{0}};
		}
	}
	if (at < overlap->nr_bounds && overlap->bounds[at] < *end) {
		*end = overlap->bounds[at];
	}
	return &device->steps[at];
}

/* Goes to the next time at which a kind ends or a step does, until `to`. */
static void advance(const struct overlap *overlap, struct overlap_device *device, uint64_t to)
{
	while (device->now < to) {
		uint64_t end = to;
		struct overlap_times *step = times_now(overlap, device, &end);
		unsigned int bits = 0;

		for (unsigned int i = 0; i < 3; i++) {
			if (device->until[i] > device->now) {
				bits |= 1u << i;
				end = device->until[i] < end ? device->until[i] : end;
			}
		}
		step->ns[bits] += end - device->now;
		device->all.ns[bits] += end - device->now;
		device->now = end;
	}
}

static struct overlap_device *find_device(
	struct overlap *overlap, const struct gpu_activity *work, struct process *process)
{
	struct overlap_device *device;

	for (size_t i = overlap->first; i < overlap->nr_devices; i++) {
		if (overlap->devices[i].device == work->device) {
			return &overlap->devices[i];
		}
	}
	overlap->devices = array_grow(overlap->devices, overlap->nr_devices, &overlap->capacity,
		sizeof(*overlap->devices));
	device = &overlap->devices[overlap->nr_devices++];
	*device = (struct overlap_device){.process = process,
		.device = work->device,
		.is_host = work->table == GPROF_TABLE_op,
		.first = work->begin,
		.last = overlap->host_until,
		.now = work->begin,
		.until = {[1] = overlap->host_until},
		.nr_steps = 1};
	device->steps = mem_zeroed(1, sizeof(*device->steps));
	return device;
}

static bool is_chosen(const struct overlap *overlap, const struct gpu_activity *work)
{
	const struct select *select = overlap->process->select;

	if (!overlap->is_chosen_alone || !select) {
		return true;
	}
	return work->table == GPROF_TABLE_op ? !work->is_not_chosen
					     : idset_has(select->launched, work->correlation);
}

static void add_work(const struct overlap *overlap, struct overlap_device *device,
	const struct gpu_activity *work)
{
	unsigned int kind = work->is_communication;
	uint64_t *until;

	if (gprof_table_is(work->table, GPROF_IS_COPYING)) {
		kind = 2;
	}
	until = &device->until[kind];
	advance(overlap, device, work->begin);
	*until = work->end > *until ? work->end : *until;
	device->last = work->end > device->last ? work->end : device->last;
	device->nr_activities++;
}

/*
 * The communication of the host counts on all devices of the process, also on those that come later
 * (host_until).
 */
void overlap_take(struct overlap *overlap, const struct gpu_activity *work)
{
	if (!is_chosen(overlap, work)) {
		return;
	}
	if (work->table != GPROF_TABLE_op || overlap->has_operators) {
		add_work(overlap, find_device(overlap, work, overlap->process), work);
		return;
	}
	overlap->host_until = work->end > overlap->host_until ? work->end : overlap->host_until;
	for (size_t i = overlap->first; i < overlap->nr_devices; i++) {
		add_work(overlap, &overlap->devices[i], work);
	}
}

/* ---- processes ---- */

void overlap_begin(struct overlap *overlap, struct process *process)
{
	uint64_t last = 0;

	overlap->process = process;
	overlap->has_operators = false;
	overlap->first = overlap->nr_devices;
	overlap->host_until = 0;
	overlap->nr_bounds = process->nr_steps;
	overlap->bounds =
		mem_resize(overlap->bounds, overlap->nr_bounds + 1, sizeof(*overlap->bounds));
	for (size_t i = 0; i < process->nr_steps; i++) {
		uint64_t bound = clock_map_time(&process->host_clock, process->steps[i].tick);

		last = bound > last ? bound : last; /* clocks that jump make empty steps */
		overlap->bounds[i] = last;
	}
}

void overlap_begin_host(struct overlap *overlap, struct process *process)
{
	overlap_begin(overlap, process);
	overlap->has_operators = gpu_activities_has_operators(process);
}

void overlap_set_bounds(struct overlap *overlap, const uint64_t *bounds, size_t nr)
{
	overlap->nr_bounds = nr;
	overlap->bounds = mem_resize(overlap->bounds, nr + 1, sizeof(*overlap->bounds));
	for (size_t i = 0; i < nr; i++) {
		overlap->bounds[i] = bounds[i];
	}
}

void overlap_end(struct overlap *overlap)
{
	for (size_t i = overlap->first; i < overlap->nr_devices; i++) {
		advance(overlap, &overlap->devices[i], overlap->devices[i].last);
	}
}

void overlap_fini(struct overlap *overlap)
{
	for (size_t i = 0; i < overlap->nr_devices; i++) {
		free(overlap->devices[i].steps);
	}
	free(overlap->devices);
	free(overlap->bounds);
	*overlap = (struct overlap){0};
}
