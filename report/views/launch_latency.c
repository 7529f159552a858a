/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The delay from each launch to the begin of its activity, and three signs of a host that does not
 * keep up, as HolisticTraceAnalysis counts them: activities shorter than their call, long calls,
 * and late activities. The delay is from the end of the call, 0 where the activity began before.
 * An activity also waits for what is queued before it; the view `queue` shows that.
 */
#include <stdlib.h>
#include <string.h>

#include "report/gpu/gpu_activities.h"
#include "report/analysis/view.h"
#include "report/util/text.h"

#define LONG_CALL_NS  50000u
#define LONG_DELAY_NS 100000u

/* The work that the call of the last records launched. */
struct pending {
	uint64_t call_begin, call_end;
	uint64_t begin, end; /* of all its records */
	uint64_t correlation;
	uint32_t nr_records;
	uint32_t name, call_name;
};

struct launch_extra {
	unsigned __int128 call_ns, work_ns;
	uint64_t nr_short, nr_long_calls, nr_late;
};

struct launch_latency_view {
	struct view_input input;
	struct keyed_stats tally;    /* of the delays */
	struct launch_extra *extras; /* of the rows */
	size_t nr_extras, capacity;
	struct pending pending;
	uint64_t nr_without_call;
};

static struct launch_extra *extra_of(struct launch_latency_view *view, uint32_t row)
{
	while (view->nr_extras <= row) {
		view->extras = array_grow(
			view->extras, view->nr_extras, &view->capacity, sizeof(*view->extras));
		view->extras[view->nr_extras++] = (struct launch_extra){0};
	}
	return &view->extras[row];
}

/* The first of several records (a graph) gives the delay. Their row is that of the call. */
static void put_pending(struct launch_latency_view *view)
{
	const struct pending *pending = &view->pending;
	uint32_t name = pending->nr_records > 1 ? pending->call_name : pending->name;
	uint64_t call_ns = pending->call_end - pending->call_begin;
	uint64_t delay_ns =
		pending->begin > pending->call_end ? pending->begin - pending->call_end : 0;
	struct launch_extra *extra;
	uint32_t row;

	if (!pending->nr_records) {
		return;
	}
	row = keyed_stats_find(&view->tally, name, name, 0);
	histogram_add(&view->tally.times, row, delay_ns);
	extra = extra_of(view, row);
	extra->call_ns += call_ns;
	extra->work_ns += pending->end - pending->begin;
	extra->nr_short += pending->end - pending->begin < call_ns;
	extra->nr_long_calls += call_ns > LONG_CALL_NS;
	extra->nr_late += delay_ns > LONG_DELAY_NS;
	view->pending.nr_records = 0;
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct launch_latency_view *view = context;
	struct pending *pending = &view->pending;
	struct clock_map *clock = &view->input.process->host_clock;

	(void)op;
	if (!call || !record->is_timed) {
		view->nr_without_call += !call;
		return;
	}
	if (pending->nr_records && pending->correlation == record->correlation) {
		pending->begin =
			record->begin_ns < pending->begin ? record->begin_ns : pending->begin;
		pending->end = record->end_ns > pending->end ? record->end_ns : pending->end;
		pending->nr_records++;
		return;
	}
	put_pending(view);
	*pending = (struct pending){.call_begin = clock_map_time(clock, call->begin),
		.call_end = clock_map_time(clock, call->end),
		.begin = record->begin_ns,
		.end = record->end_ns,
		.correlation = record->correlation,
		.nr_records = 1,
		.name = op_record_name(view->input.process, record),
		.call_name = process_call_name(view->input.process, call->call, NULL)};
	if (pending->call_end < pending->call_begin) {
		pending->call_end = pending->call_begin;
	}
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	(void)process;
	(void)phases;
	put_pending(context);
}

struct latency_row {
	struct keyed_stats_row row;
	struct launch_extra extra;
	uint64_t nr;
};

static const struct table_column columns[] = {
	KEYED_STATS_COLUMNS("% of delay"),
	TABLE_COLUMN("call_avg_ns", "Call avg", TABLE_MEAN_TIME,
		.help = "mean time of the launching call",
		TABLE_MEAN(latency_row, extra.call_ns, nr)),
	TABLE_COLUMN("activity_avg_ns", "Activity avg", TABLE_MEAN_TIME,
		.help = "mean time of what it launched",
		TABLE_MEAN(latency_row, extra.work_ns, nr)),
	TABLE_COLUMN("short", "Short", TABLE_COUNT,
		.help = "activities that are shorter than their call",
		TABLE_MEMBER(latency_row, extra.nr_short)),
	TABLE_COLUMN("long_calls", "Long calls", TABLE_COUNT, .help = "calls longer than 50 us",
		TABLE_MEMBER(latency_row, extra.nr_long_calls)),
	TABLE_COLUMN("late", "Late", TABLE_COUNT, .help = "delays longer than 100 us",
		TABLE_MEMBER(latency_row, extra.nr_late)),
	TABLE_COLUMN("name", "Launched", TABLE_NAME, .is_kernel = true,
		.help = "kernel, copy, memset or graph", TABLE_MEMBER(keyed_stats_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct launch_latency_view *view = state;
	double total_ns;

	keyed_stats_finish(&view->tally);
	total_ns = keyed_stats_total_ns(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		struct latency_row row = {
			view->tally.rows[i], view->extras[i], view->tally.times.groups[i].count};

		keyed_stats_add(&view->tally, i, total_ns, &row, table);
	}
	table_sort(table, "total");
	if (view->nr_without_call) {
		table_note(table, "%llu GPU %s no recorded launch.",
			(unsigned long long)view->nr_without_call,
			text_many(view->nr_without_call, "activity has", "activities have"));
	}
	view_note_devices(table, &view->input, "");
	keyed_stats_note(&view->tally, table);
}

static void fini(void *state)
{
	struct launch_latency_view *view = state;

	free(view->extras);
}

VIEW(launch_latency, 200) = {
	.name = "launch-latency",
	.subject = VIEW_ABOUT_GPU,
	.help = "delays from launch calls to GPU activities; short activities, long calls, late "
		"starts",
	.about = "Times are delays from the end of the launching call to the start of the GPU "
		 "activity. A CUDA graph counts once.",
	.is_empty_hidden = true,
	.title = "Launch latency",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct launch_latency_view, tally),
	.ops = {.record = on_record, .end = end},
	.fill = fill_table,
	.fini = fini,
};
