/* SPDX-License-Identifier: Apache-2.0 */
#include "report/advice/total.h"

#include <stdlib.h>

#include "report/table/samples.h"
#include "report/util/intervals.h"
#include "report/util/string_pool.h"
#include "report/model/select.h"

/* nsys calls a device idle after 500 ms, which hardly a step is long enough for: a part of one. */
#define GAP_LIMIT_NS	  500000000u
#define GAP_LIMIT_PERCENT 10u

/* Of a bucket, for nsys' rule. */
#define LOW_PERCENT 50.0

static void take_steps(struct advice_facts *facts, const struct phases *phases)
{
	const struct clock_map *clock = &facts->process->host_clock;
	struct samples steps = {0};
	bool has_first = false;

	for (uint32_t i = 1; phases_has_steps(phases) && i < phases->nr_steps; i++) {
		if (phases_is_whole(phases, i)) {
			uint64_t ns = clock_map_duration(clock, phases_step_ticks(phases, i));

			samples_add(&steps, ns);
			facts->first_ns = i == 1 ? ns : facts->first_ns;
			has_first |= i == 1;
			facts->loader_ns +=
				clock_map_duration(clock, phases->steps[i].ticks[PHASE_DATALOADER]);
		}
	}
	facts->nr_steps = steps.nr;
	facts->base_ns = samples_sum(&steps);
	facts->median_step_ns = (uint64_t)samples_median(&steps);
	facts->base_mask = (has_first ? 1u << ADVICE_FIRST : 0) | 1u << ADVICE_LATER;
	facts->later_mask = 1u << ADVICE_LATER;
	facts->has_loader = phases->has_loader;
	samples_fini(&steps);
}

/* No whole step: all that was recorded. */
static void take_recording(struct advice_facts *facts, const struct phases *phases)
{
	const struct process *process = facts->process;

	facts->base_ns =
		process->first_ns < process->last_ns ? process->last_ns - process->first_ns : 0;
	facts->base_mask = facts->later_mask = (1u << NR_ADVICE_WHENS) - 1;
	for (size_t i = 0; i < phases->nr_segments; i++) {
		if (phases->segments[i].phase == PHASE_DATALOADER) {
			facts->loader_ns += clock_map_duration(&process->host_clock,
				phases->segments[i].end - phases->segments[i].begin);
		}
	}
}

static void add_times(struct overlap_times *sum, const struct overlap_times *times)
{
	for (unsigned int i = 0; i < OVERLAP_SETS; i++) {
		sum->ns[i] += times->ns[i];
	}
}

static void take_devices(
	struct advice_facts *facts, const struct phases *phases, const struct overlap *sweep)
{
	uint64_t nr_devices = 0;

	for (size_t i = 0; i < sweep->nr_devices; i++) {
		const struct overlap_device *device = &sweep->devices[i];

		if (device->process != facts->process) {
			continue;
		}
		nr_devices++;
		facts->kernel_union_ns +=
			overlap_any(&device->all, OVERLAP_COMPUTATION | OVERLAP_COMMUNICATION);
		for (uint32_t k = 1; facts->nr_steps && k < device->nr_steps; k++) {
			if (k < phases->nr_steps && phases_is_whole(phases, k)) {
				add_times(&facts->times, &device->steps[k]);
			}
		}
		if (!facts->nr_steps) {
			add_times(&facts->times, &device->all);
		}
	}
	if (__builtin_mul_overflow(facts->base_ns, nr_devices, &facts->device_ns)) {
		facts->device_ns = UINT64_MAX;
	}
}

static uint64_t common(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
	from = from > begin ? from : begin;
	to = to < end ? to : end;
	return from < to ? to - from : 0;
}

/* Devices do nothing before their first record and after their last, and no gap says so. */
static void starve_outside(struct advice_facts *facts, uint32_t step, uint64_t begin, uint64_t end)
{
	enum advice_when when = step == 1 ? ADVICE_FIRST : ADVICE_LATER;
	uint64_t ns = 0;

	for (size_t i = 0; i < facts->gaps.nr_devices; i++) {
		ns += common(begin, end, 0, facts->gaps.devices[i].first);
		ns += common(begin, end, facts->gaps.devices[i].until, UINT64_MAX);
	}
	if (facts->process->nr_steps && !facts->is_recorded[step]) {
		when = ADVICE_OUTSIDE;
	}
	if (ns) {
		advice_sites_add(&facts->sites, ADVICE_STARVED, when, ns,
			string_pool_intern("(no work before or after)", 25), 0, 0);
	}
}

static bool is_chosen(const struct phases *phases, uint32_t step)
{
	return !phases->process->select || phases_is_whole(phases, step);
}

/* Where the loop waits for its loader. */
static void take_waits(
	struct advice_facts *facts, const struct phases *phases, struct intervals *waits)
{
	struct clock_map *clock = &facts->process->host_clock;

	for (size_t i = 0; i < phases->nr_segments; i++) {
		const struct phase_segment *segment = &phases->segments[i];

		if (segment->phase == PHASE_DATALOADER && is_chosen(phases, segment->step)) {
			uint64_t begin = clock_map_time(clock, segment->begin);
			uint64_t end = clock_map_time(clock, segment->end);

			intervals_add(waits, begin, end);
			starve_outside(facts, segment->step, begin, end);
		}
	}
	intervals_merge(waits);
}

/* Whatever is the cause of a gap, what ended it tells where to look. */
static void take_gap_end(struct advice_facts *facts, const struct advice_gap *end, uint64_t ns)
{
	static const char no_call[] = "(work whose call is not known)";
	uint32_t what =
		end->is_known ? end->what : string_pool_intern(no_call, sizeof(no_call) - 1);

	advice_sites_add(&facts->sites, ADVICE_GAP, end->when, ns, what, end->op, end->py_stack);
	if (ns > facts->gap_limit_ns) {
		advice_sites_add(&facts->sites, ADVICE_LONG_GAP, end->when, ns, what, end->op,
			end->py_stack);
	}
}

/* A gap counts for the loader as far as the loop waited for it, else for what came to end it. */
static void take_gaps(struct advice_facts *facts, const struct phases *phases)
{
	struct intervals waits = {0};

	take_waits(facts, phases, &waits);
	facts->gap_limit_ns =
		facts->nr_steps ? facts->median_step_ns / 100 * GAP_LIMIT_PERCENT : GAP_LIMIT_NS;
	for (size_t i = 0; i < facts->gaps.nr; i++) {
		const struct gap *gap = &facts->gaps.items[i];
		const struct advice_gap *end = &facts->gap_ends[i];
		uint64_t ns = gap->end - gap->begin;
		uint64_t wait_ns = intervals_length_in(&waits, gap->begin, gap->end);

		if (facts->process->select && !end->is_known) {
			continue; /* it is of the step of what ended it */
		}
		facts->longest_gap_ns = ns > facts->longest_gap_ns ? ns : facts->longest_gap_ns;
		take_gap_end(facts, end, ns);
		if (wait_ns) {
			advice_sites_add(&facts->sites, ADVICE_STARVED, end->when, wait_ns,
				end->what, end->op, end->py_stack);
		}
		if (end->has_wait && ns > wait_ns) {
			advice_sites_add(&facts->sites, ADVICE_DRAINED, end->when, ns - wait_ns,
				end->wait, end->wait_op, end->wait_stack);
		}
		if (end->is_host && ns > wait_ns) {
			advice_sites_add(&facts->sites, ADVICE_HOST_BOUND, end->when, ns - wait_ns,
				end->what, end->op, end->py_stack);
		}
	}
	intervals_fini(&waits);
}

static void take_launches(struct advice_facts *facts)
{
	for (size_t i = 0; i < facts->kernels.nr; i++) {
		const struct advice_launch *launch = idmap_at(&facts->kernels, i);

		if (launch->ns > ADVICE_SLOW_LAUNCH_NS) {
			advice_sites_add(&facts->sites, ADVICE_LOADING, launch->when, launch->ns,
				launch->name, launch->op, launch->py_stack);
		}
	}
}

static void take_memory(struct advice_facts *facts, const struct utilization *usage)
{
	for (uint32_t i = 0; i < ADVICE_MOST_DEVICES; i++) {
		const struct utilization_series *series =
			utilization_find(usage, facts->process, GPROF_METRIC_GPU_MEMORY_BYTES, i);

		process_attribute(facts->process, i, "memory_bytes", &facts->memory[i].total_bytes);
		if (series && i != USAGE_NO_DEVICE) {
			facts->memory[i].sampled_bytes = (uint64_t)(series->max * 1e6);
		}
	}
}

/* Of a bucket what lies in the recording: samples may lie around it. */
static uint64_t recorded_ns(
	const struct process *process, const struct utilization_series *series, size_t bucket)
{
	uint64_t begin = series->begin + bucket * series->width;
	uint64_t end = begin + (uint64_t)series->weights[bucket];

	begin = begin > process->first_ns ? begin : process->first_ns;
	end = end < process->last_ns ? end : process->last_ns;
	return end > begin ? end - begin : 0;
}

static void take_buckets(struct advice_facts *facts, const struct utilization *usage)
{
	for (size_t i = 0; !facts->process->select && i < usage->nr_series; i++) {
		const struct utilization_series *series = &usage->series[i];

		if (series->process != facts->process || series->metric != USAGE_GPU_UNION) {
			continue;
		}
		for (size_t k = 0; k < series->nr_buckets; k++) {
			uint64_t ns = recorded_ns(facts->process, series, k);
			double percent, busy_ns;

			if (!ns || !utilization_bucket(series, k, &percent)) {
				continue;
			}
			busy_ns = percent / 100 * series->weights[k];
			facts->nr_buckets++;
			if (busy_ns * 100 < (double)ns * LOW_PERCENT) {
				facts->nr_low_buckets++;
				facts->low_idle_ns += ns - (uint64_t)(busy_ns + 0.5);
			}
		}
	}
}

static void take_capability(struct advice_facts *facts)
{
	for (size_t i = 0; i < facts->gaps.nr_devices; i++) {
		uint64_t major = 0;

		if (!process_attribute(facts->process, facts->gaps.devices[i].device,
			    "capability_major", &major) ||
			major > UINT32_MAX) {
			facts->capability_major = 0;
			return;
		}
		if (!facts->capability_major || major < facts->capability_major) {
			facts->capability_major = (uint32_t)major;
		}
	}
}

void advice_total(struct advice_facts *facts, const struct phases *phases,
	const struct overlap *sweep, const struct utilization *usage)
{
	take_steps(facts, phases);
	if (!facts->nr_steps) {
		take_recording(facts, phases);
	}
	take_devices(facts, phases, sweep);
	take_gaps(facts, phases);
	take_launches(facts);
	take_memory(facts, usage);
	take_buckets(facts, usage);
	take_capability(facts);
}
