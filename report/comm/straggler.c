/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges stragglers from the figures of steps that gpu/straggler_steps.c brings. First each
 * figure becomes its difference to the median of the other devices in the same step. A device is
 * late in a step if it waits less than the others. Then the late steps of a device decide since
 * when it is a straggler, and the figure that is larger by most of the delay is the cause.
 */
#include "report/comm/straggler.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

#define LATE_PARTS	   20 /* a delay below a 20th of the step does not count */
#define SLOW_CLOCK_PERCENT 95
#define MAX_LATE_PERCENT   75

const char *const straggler_causes[NR_STRAGGLER_CAUSES] = {
	[STRAGGLER_UNKNOWN] = "unknown",
	[STRAGGLER_LOADER] = "data loader",
	[STRAGGLER_HOST] = "host",
	[STRAGGLER_KERNELS] = "slow kernels",
	[STRAGGLER_CLOCK] = "GPU clock",
	[STRAGGLER_COPIED] = "slow copies",
	[STRAGGLER_NETWORK] = "network",
	[STRAGGLER_OPERATORS] = "slow operators",
	[STRAGGLER_LATE] = "late begin",
};

/* ---- comparison with others ---- */

/* A step of one of them. */
struct member {
	uint64_t step;
	struct straggler_step *of;
};

static int by_step(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return COMPARE(x->step, y->step);
}

/* Takes the index of `own` out of the sorted values, rather than copying the rest. */
int64_t straggler_median_of_others(const int64_t *sorted, size_t nr, int64_t own)
{
	const int64_t *place = bsearch(&own, sorted, nr, sizeof(*sorted), by_i64);
	size_t at = (size_t)(place - sorted), left = (nr - 2) / 2, right = (nr - 1) / 2;

	left += left >= at;
	right += right >= at;
	return sorted[left] + (sorted[right] - sorted[left]) / 2;
}

/* The same step of several devices: how far each is from the others. */
static void compare(struct member *members, size_t nr)
{
	int64_t *values = mem_zeroed(nr, sizeof(*values));

	for (unsigned int figure = 0; figure < NR_STRAGGLER_FIGURES; figure++) {
		for (size_t i = 0; i < nr; i++) {
			values[i] = members[i].of->ns[figure];
		}
		qsort(values, nr, sizeof(*values), by_i64);
		for (size_t i = 0; i < nr; i++) {
			struct straggler_step *step = members[i].of;

			step->ns[figure] -=
				straggler_median_of_others(values, nr, step->ns[figure]);
			step->is_compared = true;
		}
	}
	free(values);
}

/*
 * Steps are the same if their numbers are: all devices' steps are sorted by number, and each run of
 * equal numbers is compared.
 */
static void compare_all(struct straggler *stragglers, size_t nr)
{
	struct member *members;
	size_t nr_members = 0;

	for (size_t i = 0; i < nr; i++) {
		nr_members += stragglers[i].nr_steps;
	}
	members = mem_zeroed(nr_members + 1, sizeof(*members));
	nr_members = 0;
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < stragglers[i].nr_steps; k++) {
			struct straggler_step *step = &stragglers[i].steps[k];

			members[nr_members++] = (struct member){step->step, step};
		}
	}
	qsort(members, nr_members, sizeof(*members), by_step);
	for (size_t at = 0, end; at < nr_members; at = end) {
		end = at + 1;
		while (end < nr_members && members[end].step == members[at].step) {
			end++;
		}
		if (end - at > 1) {
			compare(&members[at], end - at);
		}
	}
	free(members);
}

/* ---- one rank ---- */

static bool is_late(const struct straggler_step *step)
{
	return step->is_compared && -step->ns[STRAGGLER_WAITING] > step->length_ns / LATE_PARTS;
}

static int compare_steps(const void *a, const void *b)
{
	const struct straggler_step *x = a, *y = b;

	return COMPARE(x->step, y->step);
}

/* The first late step from which on most are late; nr_steps if there is none. */
static size_t find_since(const struct straggler *straggler)
{
	size_t nr_late = 0, nr = 0, since = straggler->nr_steps;

	for (size_t i = straggler->nr_steps; i-- > 0;) {
		nr += straggler->steps[i].is_compared;
		if (is_late(&straggler->steps[i])) {
			nr_late++;
			since = nr_late * 100 >= nr * MAX_LATE_PERCENT ? i : since;
		}
	}
	return since;
}

/*
 * Is the rank late as a rule since then, or does the recording end with late steps by chance? Most
 * of its late steps must be among those, and one step is enough only where it is the only one.
 */
static bool is_steady(const struct straggler *straggler, size_t since)
{
	size_t nr_late = 0, least = straggler->nr_compared > 1 ? 2 : 1;

	for (size_t i = since; i < straggler->nr_steps; i++) {
		nr_late += is_late(&straggler->steps[i]);
	}
	return nr_late >= least && nr_late * 100 >= straggler->nr_late * MAX_LATE_PERCENT;
}

static void add_up(struct straggler *straggler, size_t since)
{
	straggler->since = straggler->steps[since].step;
	for (size_t i = since; i < straggler->nr_steps; i++) {
		const struct straggler_step *step = &straggler->steps[i];

		if (is_late(step)) {
			straggler->nr_delayed++;
			straggler->delayed_ns += (uint64_t)step->length_ns;
			straggler->delay_ns += (uint64_t)-step->ns[STRAGGLER_WAITING];
			for (unsigned int k = 0; k < NR_STRAGGLER_FIGURES; k++) {
				straggler->mean_ns[k] += (double)step->ns[k];
			}
		}
	}
	for (unsigned int k = 0; k < NR_STRAGGLER_FIGURES; k++) {
		straggler->mean_ns[k] /= (double)straggler->nr_delayed;
	}
}

void straggler_sum(struct straggler *straggler)
{
	size_t since;

	if (straggler->nr_steps) {
		qsort(straggler->steps, straggler->nr_steps, sizeof(*straggler->steps),
			compare_steps);
	}
	for (size_t i = 0; i < straggler->nr_steps; i++) {
		straggler->nr_compared += straggler->steps[i].is_compared;
		straggler->nr_late += is_late(&straggler->steps[i]);
	}
	since = find_since(straggler);
	if (since < straggler->nr_steps && is_steady(straggler, since)) {
		add_up(straggler, since);
	}
}

/* ---- causes ---- */

static bool has_slow_clock(
	const struct straggler *straggler, const struct straggler *all, size_t nr)
{
	int64_t *clocks = mem_zeroed(nr, sizeof(*clocks));
	size_t nr_known = 0;
	bool is_slow = false;

	for (size_t i = 0; i < nr; i++) {
		if (all[i].clock_mhz) {
			clocks[nr_known++] = (int64_t)all[i].clock_mhz;
		}
	}
	if (straggler->clock_mhz && nr_known > 1) {
		int64_t own = (int64_t)straggler->clock_mhz;

		qsort(clocks, nr_known, sizeof(*clocks), by_i64);
		is_slow = own * 100 <
			  straggler_median_of_others(clocks, nr_known, own) * SLOW_CLOCK_PERCENT;
	}
	free(clocks);
	return is_slow;
}

/* Does it explain most of the delay? */
static bool is_enough(const struct straggler *straggler, double ns)
{
	return 2 * ns >= -straggler->mean_ns[STRAGGLER_WAITING];
}

/* The phase with the largest of the figures from that one on, -1 if it explains too little. */
static int find_most(const struct straggler *straggler, enum straggler_figure first)
{
	const double *phases = &straggler->mean_ns[first];
	int most = 0;

	for (int i = 1; i < NR_PHASES; i++) {
		most = phases[i] > phases[most] ? i : most;
	}
	return is_enough(straggler, phases[most]) ? most : -1;
}

/* The host notices longer GPU time later, if at all, so the phase that launched it counts. */
static void find_phase(struct straggler *straggler)
{
	bool is_device = straggler->cause == STRAGGLER_KERNELS ||
			 straggler->cause == STRAGGLER_CLOCK ||
			 straggler->cause == STRAGGLER_COPIED;

	if (is_device && straggler->has_launched) {
		straggler->phase = find_most(straggler, STRAGGLER_LAUNCHED);
	}
	if (straggler->phase < 0 && straggler->has_phases) {
		straggler->phase = find_most(straggler, STRAGGLER_PHASES);
	}
}

/*
 * The order matters: a long loader also shows as idle time of the device, and a late begin counts
 * only if nothing that the device did explains the delay.
 */
static void find_cause(struct straggler *straggler, const struct straggler *all, size_t nr)
{
	const double *mean = straggler->mean_ns;

	if (straggler->has_phases &&
		is_enough(straggler, mean[STRAGGLER_PHASES + PHASE_DATALOADER])) {
		straggler->cause = STRAGGLER_LOADER;
	} else if (!straggler->has_lost && is_enough(straggler, mean[STRAGGLER_IDLE])) {
		straggler->cause = STRAGGLER_HOST;
	} else if (is_enough(straggler, mean[STRAGGLER_COPIES])) {
		straggler->cause = STRAGGLER_COPIED;
	} else if (is_enough(straggler, mean[STRAGGLER_COMPUTATION])) {
		straggler->cause = straggler->is_host			? STRAGGLER_OPERATORS
				   : has_slow_clock(straggler, all, nr) ? STRAGGLER_CLOCK
									: STRAGGLER_KERNELS;
	} else if (straggler->has_begins && is_enough(straggler, mean[STRAGGLER_BEGIN])) {
		straggler->cause = STRAGGLER_LATE;
	} else {
		straggler->cause = STRAGGLER_UNKNOWN;
	}
}

/* Compares phases only if all ranks have them; else missing phases would count as time 0. */
static void agree_on_phases(struct straggler *stragglers, size_t nr)
{
	bool has_phases = true, has_launched = true;

	for (size_t i = 0; i < nr; i++) {
		has_phases = has_phases && stragglers[i].has_phases;
		has_launched = has_launched && stragglers[i].has_launched;
	}
	for (size_t i = 0; i < nr; i++) {
		stragglers[i].has_phases = has_phases;
		stragglers[i].has_launched = has_launched;
	}
}

void stragglers_find(struct straggler *stragglers, size_t nr)
{
	agree_on_phases(stragglers, nr);
	compare_all(stragglers, nr);
	for (size_t i = 0; i < nr; i++) {
		struct straggler *straggler = &stragglers[i];

		straggler->phase = -1;
		straggler_sum(straggler);
		if (straggler->nr_delayed) {
			find_cause(straggler, stragglers, nr);
			find_phase(straggler);
		}
	}
}
