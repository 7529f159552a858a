/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/idle.h"

const char *const idle_cause_names[NR_IDLE_CAUSES] = {
	[IDLE_HOST] = "host",
	[IDLE_LAUNCH] = "launch",
	[IDLE_DEPENDENCY] = "dependency",
	[IDLE_UNKNOWN] = "unknown",
};

#define CALL_COLUMNS (COL_BIT(COL_api_begin) | COL_BIT(COL_api_dur) | COL_BIT(COL_api_correlation))

const struct scan_want idle_wants[IDLE_NR_WANTS] = {
	{GPROF_TABLE_api, CALL_COLUMNS, 0},
	{GPROF_TABLE_api_launch, CALL_COLUMNS, 0},
	{GPROF_TABLE_api_copy, CALL_COLUMNS, 0},
	{GPROF_TABLE_api_set, CALL_COLUMNS, 0},
};

static enum idle_cause cause_of(
	const struct recent_calls_item *gap, const struct recent_calls_item *call)
{
	uint64_t ready = call->end > gap->begin ? call->end : gap->begin;
	uint64_t before_ns = call->begin > gap->begin ? call->begin - gap->begin : 0;
	uint64_t after_ns = gap->end > ready ? gap->end - ready : 0;

	if (after_ns > IDLE_LAUNCH_NS && after_ns > before_ns) {
		return IDLE_DEPENDENCY;
	}
	return before_ns ? IDLE_HOST : IDLE_LAUNCH;
}

/* call: NULL if there is none. */
static void report(struct idle *idle, const struct recent_calls_item *gap,
	const struct recent_calls_item *call)
{
	struct idle_gap found = {.process = idle->process,
		.begin = gap->begin,
		.end = gap->end,
		.device = gap->number,
		.correlation = gap->correlation,
		.cause = IDLE_UNKNOWN};

	if (call) {
		found.call_begin = call->begin;
		found.cause = (uint8_t)cause_of(gap, call);
	}
	idle->take(idle->context, &found);
}

/* Its call may come later, or never. */
static void take_gap(struct idle *idle, const struct recent_calls_item *gap)
{
	struct recent_calls_item call, old;

	if (recent_calls_get(&idle->calls, gap->correlation, &call)) {
		report(idle, gap, &call);
		return;
	}
	if (!gap->correlation) {
		report(idle, gap, NULL);
		return;
	}
	/* Two gaps may end with nodes of one graph. */
	if (recent_calls_remove(&idle->gaps, gap->correlation, &old)) {
		report(idle, &old, NULL);
	}
	if (recent_calls_put(&idle->gaps, gap, &old)) {
		report(idle, &old, NULL);
	}
}

void idle_take(struct idle *idle, const struct gpu_activity *work)
{
	uint64_t *until = idmap_get(&idle->until, work->device);
	struct recent_calls_item gap = {.correlation = work->correlation, .number = work->device};

	if (!until) {
		until = idmap_put(&idle->until, work->device);
	} else if (work->begin > *until) {
		gap.begin = *until;
		gap.end = work->begin;
		take_gap(idle, &gap);
	}
	*until = work->end > *until ? work->end : *until;
}

void idle_take_calls(struct idle *idle, const struct batch *b)
{
	struct clock_map *clock = &idle->process->host_clock;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct recent_calls_item call = {.correlation = b->col[COL_api_correlation][i]};
		uint64_t begin = b->col[COL_api_begin][i], dur = b->col[COL_api_dur][i];
		struct recent_calls_item gap, old;

		call.begin = clock_map_time(clock, begin);
		call.end = clock_map_time(clock, begin + dur < begin ? UINT64_MAX : begin + dur);
		if (recent_calls_remove(&idle->gaps, call.correlation, &gap)) {
			report(idle, &gap, &call);
		}
		recent_calls_put(&idle->calls, &call, &old);
	}
}

void idle_begin(struct idle *idle, struct process *process,
	void (*take)(void *context, const struct idle_gap *gap), void *context)
{
	*idle = (struct idle){.process = process, .take = take, .context = context};
	idmap_init(&idle->until, sizeof(uint64_t));
}

void idle_end(struct idle *idle)
{
	for (size_t i = 0; i < idle->gaps.nr_slots; i++) {
		struct recent_calls_item gap;

		if (recent_calls_remove(&idle->gaps, idle->gaps.slots[i].correlation, &gap)) {
			report(idle, &gap, NULL);
		}
	}
	recent_calls_fini(&idle->calls);
	recent_calls_fini(&idle->gaps);
	idmap_fini(&idle->until);
}
