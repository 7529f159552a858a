/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings the steps of all devices of a job together for straggler.c. The view stragglers calls it
 * at the end of each process, when overlap.c has the device's times and utilization.c its clock,
 * and again with the phases of the walk; the comparison comes when all processes are done. Times
 * become signed and are clipped, since differences between ranks may be negative.
 */
#include "report/gpu/straggler_steps.h"

#include <stdlib.h>

#include "report/model/select.h"
#include "report/model/time_axis.h"
#include "report/util/buf.h"
#include "report/util/rounding.h"

static void set_figures(
	struct straggler_step *step, const struct overlap_times *times, uint64_t length_ns)
{
	int64_t computation_ns = straggler_clip(overlap_any(times, OVERLAP_COMPUTATION));
	int64_t waiting_ns =
		straggler_clip(overlap_any(times, OVERLAP_COMMUNICATION) -
			       overlap_all(times, OVERLAP_COMPUTATION | OVERLAP_COMMUNICATION));
	int64_t copies_ns = straggler_clip(times->ns[OVERLAP_MEMORY]);

	step->length_ns = straggler_clip(length_ns);
	step->ns[STRAGGLER_WAITING] = waiting_ns;
	step->ns[STRAGGLER_COMPUTATION] = computation_ns;
	step->ns[STRAGGLER_COPIES] = copies_ns;
	step->ns[STRAGGLER_IDLE] = step->length_ns - waiting_ns - computation_ns - copies_ns;
}

/* Steps that have an end. A device may have done nothing any more in the last of them. */
static void add_steps(struct straggler *straggler, const struct overlap_device *device)
{
	static const struct overlap_times none = {{0}};
	struct process *process = device->process;

	for (size_t i = 0; i + 1 < process->nr_steps; i++) {
		const struct model_step *step = &process->steps[i];
		uint64_t begin_ns = clock_map_time(&process->host_clock, step->tick);
		uint64_t end_ns = clock_map_time(&process->host_clock, step[1].tick);

		if (model_step_is_gap(step) || !select_has_step(process, i) || end_ns <= begin_ns) {
			continue;
		}
		straggler->steps = array_grow(straggler->steps, straggler->nr_steps,
			&straggler->capacity, sizeof(*straggler->steps));
		straggler->steps[straggler->nr_steps] = (struct straggler_step){.step = step->step};
		straggler->steps[straggler->nr_steps].ns[STRAGGLER_BEGIN] =
			straggler_clip(time_axis_time(process, begin_ns));
		set_figures(&straggler->steps[straggler->nr_steps++],
			i + 1 < device->nr_steps ? &device->steps[i + 1] : &none,
			end_ns - begin_ns);
	}
}

void straggler_steps_add(struct straggler_steps *steps, const struct overlap *overlap,
	const struct utilization *usage)
{
	while (steps->nr < overlap->nr_devices) {
		const struct overlap_device *device = &overlap->devices[steps->nr];
		const struct utilization_series *clock = utilization_find(
			usage, device->process, GPROF_METRIC_GPU_SM_CLOCK_MHZ, device->device);
		struct straggler *straggler;

		steps->stragglers = array_grow(
			steps->stragglers, steps->nr, &steps->capacity, sizeof(*steps->stragglers));
		straggler = &steps->stragglers[steps->nr++];
		*straggler = (struct straggler){.is_host = device->is_host};
		if (clock && clock->weight > 0) {
			straggler->clock_mhz = whole_part(clock->sum / clock->weight);
		}
		add_steps(straggler, device);
	}
}

/* place: the step's index in process.steps. */
static void add_phases(struct straggler_step *step, const struct process *process,
	const struct phases *phases, size_t place)
{
	int64_t rest_ns = step->length_ns;

	for (unsigned int i = 0; i < PHASE_OTHERS; i++) {
		int64_t ns = straggler_clip(clock_map_duration(
			&process->host_clock, phases->steps[place + 1].ticks[i]));

		step->ns[STRAGGLER_PHASES + i] = ns;
		rest_ns -= ns;
	}
	step->ns[STRAGGLER_PHASES + PHASE_OTHERS] = rest_ns;
}

/* Returns whether there is any. */
static bool add_launched(struct straggler_step *step, const struct phase_step *phases)
{
	bool is_any = false;

	for (unsigned int i = 0; i < NR_PHASES; i++) {
		uint64_t ns = phases->gpu_ns[i] - phases->communication_ns[i];

		step->ns[STRAGGLER_LAUNCHED + i] = straggler_clip(ns);
		is_any |= ns != 0;
	}
	return is_any;
}

/*
 * The steps of a straggler are a part of the process's, in the same order, so both are walked
 * together.
 */
void straggler_steps_add_phases(struct straggler_steps *steps, const struct overlap *overlap,
	const struct process *process, const struct phases *phases)
{
	for (size_t i = 0; phases->nr_segments && i < steps->nr; i++) {
		struct straggler *straggler = &steps->stragglers[i];
		size_t nr = 0;

		if (overlap->devices[i].process != process) {
			continue;
		}
		straggler->has_phases = true;
		for (size_t k = 0; k + 1 < process->nr_steps && nr < straggler->nr_steps; k++) {
			if (straggler->steps[nr].step != process->steps[k].step) {
				continue;
			}
			straggler->has_launched |=
				add_launched(&straggler->steps[nr], &phases->steps[k + 1]);
			add_phases(&straggler->steps[nr++], process, phases, k);
		}
	}
}

/* Compares begins of steps only where all ranks are on one clock. */
void straggler_steps_compare(
	struct straggler_steps *steps, struct process *const *processes, size_t nr_processes)
{
	bool has_begins = true;

	for (size_t i = 0; i < nr_processes; i++) {
		has_begins = has_begins && processes[i]->has_anchors;
	}
	for (size_t i = 0; i < steps->nr; i++) {
		steps->stragglers[i].has_begins = has_begins;
	}
	stragglers_find(steps->stragglers, steps->nr);
}

void straggler_steps_fini(struct straggler_steps *steps)
{
	for (size_t i = 0; i < steps->nr; i++) {
		free(steps->stragglers[i].steps);
	}
	free(steps->stragglers);
	*steps = (struct straggler_steps){0};
}
