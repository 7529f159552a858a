/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: how long after its call each piece of work began, and three signs of a host that does
 * not keep up, as HolisticTraceAnalysis counts them: work that is shorter than its call, calls that
 * took long, and work that began late. The delay is from the end of the call to the begin of the
 * work, 0 where it began before. Work in a queue waits for what stands before it, which is no fault
 * of the host's; the view `queue` has that.
 */
#include <stdlib.h>
#include <string.h>

#include "report/analysis/gpu_activities.h"
#include "report/analysis/view.h"

#define LONG_CALL_NS  50000u
#define LONG_DELAY_NS 100000u

/* What the call of the last records launched. */
struct pending {
	uint64_t call_begin, call_end;
	uint64_t begin, end; /* of all its records */
	uint32_t correlation, nr_records;
	uint32_t name, call_name;
};

struct launch_extra {
	unsigned __int128 call_ns, work_ns;
	uint64_t nr_short, nr_long_calls, nr_late;
};

struct launch_view {
	struct keyed_stats tally;    /* of the delays */
	struct launch_extra *extras; /* of the rows */
	size_t nr_extras, capacity;
	struct process *process;
	struct pending pending;
	uint64_t nr_without_call;
	struct view_without without;
};

static void *create(const struct view_input *input)
{
	struct launch_view *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	keyed_stats_init(&view->tally);
	return view;
}

static void begin(void *context, struct process *process)
{
	struct launch_view *view = context;

	view->process = process;
	view_without_take(&view->without, process);
}

static struct launch_extra *extra_of(struct launch_view *view, uint32_t row)
{
	while (view->nr_extras <= row) {
		view->extras = array_grow(
			view->extras, view->nr_extras, &view->capacity, sizeof(*view->extras));
		view->extras[view->nr_extras++] = (struct launch_extra){0};
	}
	return &view->extras[row];
}

/* Of several records (a graph) the first tells the delay; they are told by their call. */
static void put_pending(struct launch_view *view)
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

static void take_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct launch_view *view = context;
	struct pending *pending = &view->pending;
	struct clock_map *clock = &view->process->host_clock;

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
		.name = gpu_activity_name(view->process, record),
		.call_name = process_call_name(view->process, call->call, NULL)};
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

enum column {
	CALL_AVG = KEYED_STATS_NR_COLUMNS,
	WORK_AVG,
	SHORT,
	LONG_CALLS,
	LATE,
	NAME,
	NR_COLUMNS,
};

static void fill(struct launch_view *view, size_t i, double total_ns, struct table_cell *cells)
{
	const struct launch_extra *extra = &view->extras[i];
	double count = (double)view->tally.times.groups[i].count;

	keyed_stats_fill(&view->tally, i, total_ns, cells);
	table_set_number(&cells[CALL_AVG], (double)extra->call_ns / count);
	table_set_number(&cells[WORK_AVG], (double)extra->work_ns / count);
	table_set_integer(&cells[SHORT], extra->nr_short);
	table_set_integer(&cells[LONG_CALLS], extra->nr_long_calls);
	table_set_integer(&cells[LATE], extra->nr_late);
	table_set_integer(&cells[NAME], view->tally.rows[i].name);
}

static struct table *make_table(void *context)
{
	static const struct table_column columns[NR_COLUMNS] = {
		KEYED_STATS_COLUMNS("% of delay"),
		{"call_avg_ns", "Call avg", TABLE_MEAN_TIME, false},
		{"work_avg_ns", "Work avg", TABLE_MEAN_TIME, false},
		{"short", "Short", TABLE_COUNT, false},
		{"long_calls", "Long calls", TABLE_COUNT, false},
		{"late", "Late", TABLE_COUNT, false},
		{"name", "Launched", TABLE_NAME, false},
	};
	struct launch_view *view = context;
	struct table *table = table_create("launch", "Launches", columns, NR_COLUMNS);
	double total_ns;

	keyed_stats_finish(&view->tally);
	total_ns = keyed_stats_total_ns(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		fill(view, i, total_ns, table_add_row(table));
	}
	table_sort(table, "total");
	table_note(table,
		"times of the delay, from the end of the call to the begin of the work; short: "
		"work "
		"shorter than its call; long calls: over %u us; late: delay over %u us; a graph "
		"counts once",
		LONG_CALL_NS / 1000, LONG_DELAY_NS / 1000);
	if (view->nr_without_call) {
		table_note(table, "%s; %llu records have no launch in the stream", table->note,
			(unsigned long long)view->nr_without_call);
	}
	view_without_note(&view->without, table, "");
	keyed_stats_note(&view->tally, table);
	return table;
}

static void destroy(void *context)
{
	struct launch_view *view = context;

	keyed_stats_fini(&view->tally);
	free(view->extras);
	free(view);
}

const struct view_class view_launch = {
	.name = "launch",
	.help = "delays from calls to their work; short work, long calls, late begins",
	.is_empty_hidden = true,
	.ops = {.begin = begin, .record = take_record, .end = end},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
