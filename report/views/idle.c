/* SPDX-License-Identifier: Apache-2.0 */
/* Why devices were idle: the gaps of each by their cause, see idle.h. */
#include <stdlib.h>
#include <string.h>

#include "report/analysis/idle.h"
#include "report/analysis/view.h"

struct idle_device {
	struct process *process;
	uint32_t device;
	uint64_t before_call_ns[NR_IDLE_CAUSES];
};

struct idle_view {
	struct view_input input;
	struct idle idle;
	struct idle_device *devices;
	size_t nr_devices, capacity;
	struct keyed_stats tally; /* by device and cause */
};

static size_t find_device(struct idle_view *view, const struct idle_gap *gap)
{
	size_t i = view->nr_devices;

	while (i > 0 && view->devices[i - 1].process == gap->process) {
		if (view->devices[--i].device == gap->device) {
			return i;
		}
	}
	view->devices = array_grow(
		view->devices, view->nr_devices, &view->capacity, sizeof(*view->devices));
	view->devices[view->nr_devices] =
		(struct idle_device){.process = gap->process, .device = gap->device};
	return view->nr_devices++;
}

static void on_gap(void *context, const struct idle_gap *gap)
{
	struct idle_view *view = context;
	size_t device = find_device(view, gap);
	uint32_t row = keyed_stats_find(
		&view->tally, device * NR_IDLE_CAUSES + gap->cause, 0, (uint32_t)device);

	histogram_add(&view->tally.times, row, gap->end - gap->begin);
	if (gap->cause != IDLE_UNKNOWN && gap->call_begin > gap->begin) {
		uint64_t until = gap->call_begin < gap->end ? gap->call_begin : gap->end;

		view->devices[device].before_call_ns[gap->cause] += until - gap->begin;
	}
}

static void begin(void *context, struct process *process)
{
	struct idle_view *view = context;

	idle_begin(&view->idle, process, on_gap, view);
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct idle_view *view = context;

	(void)process;
	idle_take_calls(&view->idle, batch);
}

static void on_activity(void *context, const struct gpu_activity *activity)
{
	idle_take(&((struct idle_view *)context)->idle, activity);
}

static void end(void *context, struct process *process)
{
	struct idle_view *view = context;

	(void)process;
	idle_end(&view->idle);
}

enum column {
	TALLY = VIEW_NR_DEVICE_COLUMNS,
	BEFORE_CALL = TALLY + KEYED_STATS_NR_COLUMNS,
	CAUSE,
};

static void fill(struct idle_view *view, size_t row, const double *total_ns, struct table *table)
{
	const struct keyed_stats_row *found = &view->tally.rows[row];
	const struct idle_device *device = &view->devices[found->kind];
	unsigned int cause = (unsigned int)(found->key % NR_IDLE_CAUSES);
	struct table_cell *cells = table_add_row(table);

	view_fill_device(device->process, device->device, cells);
	keyed_stats_fill(&view->tally, row, total_ns[found->kind], &cells[TALLY]);
	if (cause != IDLE_UNKNOWN) {
		table_set_integer(&cells[BEFORE_CALL], device->before_call_ns[cause]);
	}
	table_set_string(&cells[CAUSE], idle_cause_names[cause]);
}

static const struct table_column columns[] = {
	VIEW_DEVICE_COLUMNS,
	TABLE_COLUMN("share_pct", "% of idle time", TABLE_PERCENT,
		.help = "share of the idle time of the GPU"), /* as keyed_stats_fill has them */
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME),
	TABLE_COLUMN("gaps", "Gaps", TABLE_COUNT, .help = "idle gaps"),
	TABLE_COLUMN("avg_ns", "Avg", TABLE_MEAN_TIME),
	TABLE_COLUMN("median_ns", "Med", TABLE_MEAN_TIME, .is_minor = true),
	TABLE_COLUMN("p99_ns", "p99", TABLE_TIME, .is_minor = true),
	TABLE_COLUMN("min_ns", "Min", TABLE_TIME, .is_minor = true),
	TABLE_COLUMN("max_ns", "Max", TABLE_TIME, .is_minor = true),
	TABLE_COLUMN("stddev_ns", "StdDev", TABLE_MEAN_TIME, .is_wide_only = true),
	TABLE_COLUMN("before_call_ns", "Before the call", TABLE_TIME,
		.help = "time in these gaps before the launching call"),
	TABLE_COLUMN("cause", "Cause", TABLE_TEXT,
		.help = "host: launched within the gap; launch: launched before it; dependency: "
			"waited longer than a launch takes"),
};

static void fill_table(void *state, struct table *table)
{
	struct idle_view *view = state;
	double *total_ns = mem_zeroed(view->nr_devices + 1, sizeof(*total_ns));

	keyed_stats_finish(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		total_ns[view->tally.rows[i].kind] += (double)view->tally.times.groups[i].sum;
	}
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		fill(view, i, total_ns, table);
	}
	free(total_ns);
	table_sort(table, "total");
	view_note_devices(table, &view->input, "");
	keyed_stats_note(&view->tally, table);
}

static void fini(void *state)
{
	struct idle_view *view = state;

	free(view->devices);
}

VIEW(idle, 180) = {
	.name = "idle",
	.help = "GPU idle time by cause: host, launch, dependency",
	.about = "A gap is a time in which no stream of the GPU runs a kernel, copy or memset. Its "
		 "cause follows from the launch of the activity that ends it. Dependency: the "
		 "gap lasted longer after the launch than before it, and more than 10 us. Host: "
		 "otherwise, if the launch began within the gap. Launch: otherwise.",
	.is_empty_hidden = true,
	.title = "GPU idle time by cause",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct idle_view, tally),
	.scan = {idle_wants, IDLE_NR_WANTS, gpu_activities_needs, begin, on_batch, end,
		.on_activity = on_activity},
	.fill = fill_table,
	.fini = fini,
};
