/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each device did with its time, as the temporal breakdown of HolisticTraceAnalysis. All
 * time of the span counts once, as the first that applies of computation, communication, memcpys
 * and memsets, idle. So the shares add up to 100 %, but where launches lack their activities:
 * there idle time is unknown.
 */
#include <stdlib.h>

#include "report/gpu/overlap.h"
#include "report/analysis/view.h"

struct time_breakdown_view {
	struct view_input input;
	struct overlap overlap;
};

static void begin(void *context, struct process *process)
{
	struct time_breakdown_view *view = context;

	overlap_begin(&view->overlap, process);
}

static void on_activity(void *context, const struct gpu_activity *activity)
{
	overlap_take(&((struct time_breakdown_view *)context)->overlap, activity);
}

static void end(void *context, struct process *process)
{
	struct time_breakdown_view *view = context;

	(void)process;
	overlap_end(&view->overlap);
}

struct device_row {
	const struct process *process;
	uint32_t device;
	uint64_t span_ns, idle_ns, computation_ns, communication_ns, memory_ns;
};

static void add_device(const struct overlap_device *device, bool has_lost, struct table *table)
{
	const struct overlap_times *times = &device->all;
	uint64_t computation_ns = overlap_any(times, OVERLAP_COMPUTATION);

	table_add(table,
		&(struct device_row){.process = device->process,
			.device = device->device,
			.span_ns = overlap_all(times, 0),
			.idle_ns = has_lost ? UINT64_MAX : times->ns[0],
			.computation_ns = computation_ns,
			.communication_ns =
				overlap_any(times, OVERLAP_COMPUTATION | OVERLAP_COMMUNICATION) -
				computation_ns,
			.memory_ns = times->ns[OVERLAP_MEMORY]});
}

static const struct table_column columns[] = {
	VIEW_DEVICE_COLUMNS(device_row, process, device),
	TABLE_COLUMN("span_ns", "Span", TABLE_TIME,
		.help = "from the first GPU activity to the last",
		TABLE_MEMBER(device_row, span_ns)),
	TABLE_COLUMN("idle_ns", "Idle", TABLE_TIME, .is_minor = true,
		.help = "nothing ran on this GPU; also before, between and after steps",
		TABLE_MEMBER(device_row, idle_ns)),
	TABLE_COLUMN("computation_ns", "Computation", TABLE_TIME, .is_minor = true,
		.help = "at least one computing kernel ran on this GPU",
		TABLE_MEMBER(device_row, computation_ns)),
	TABLE_COLUMN("communication_kernels_alone_ns", "Communication alone", TABLE_TIME,
		.is_minor = true,
		.help = "a communication kernel ran, and no computing one; copies may run",
		TABLE_MEMBER(device_row, communication_ns)),
	TABLE_COLUMN("memory_alone_ns", "Copies alone", TABLE_TIME, .is_minor = true,
		.help = "copies or memsets ran, and no kernel",
		TABLE_MEMBER(device_row, memory_ns)),
	TABLE_COLUMN("idle_pct", "Idle % of span", TABLE_PERCENT,
		TABLE_SHARE(device_row, idle_ns, span_ns)),
	TABLE_COLUMN("computation_pct", "Comp. % of span", TABLE_PERCENT,
		TABLE_SHARE(device_row, computation_ns, span_ns)),
	TABLE_COLUMN("communication_kernels_alone_pct", "Comm. % of span", TABLE_PERCENT,
		TABLE_SHARE(device_row, communication_ns, span_ns)),
	TABLE_COLUMN("memory_alone_pct", "Copies % of span", TABLE_PERCENT,
		TABLE_SHARE(device_row, memory_ns, span_ns)),
};

static void fill_table(void *state, struct table *table)
{
	struct time_breakdown_view *view = state;

	for (size_t i = 0; i < view->overlap.nr_devices; i++) {
		const struct overlap_device *device = &view->overlap.devices[i];

		add_device(device, view_has_lost(&view->input, device->process), table);
	}
	view_note_devices(table, &view->input, "");
	view_note_lost(table, &view->input);
}

static void fini(void *state)
{
	struct time_breakdown_view *view = state;

	overlap_fini(&view->overlap);
}

VIEW(time_breakdown, 90) = {
	.name = "time-breakdown",
	.subject = VIEW_ABOUT_GPU,
	.help = "share of GPU time: idle, computation, communication, copies",
	.about = "Shares are of the span, from the first activity of the GPU to the last. "
		 "A category \"alone\" excludes time in which one of the columns before it ran. "
		 "This is the layout of HolisticTraceAnalysis: each GPU by itself, with warm-up, "
		 "outliers and the time between steps. Of the steps that count, and of a process "
		 "with all its GPUs, the view budget tells the same.",
	.is_empty_hidden = true,
	.counts_launches = true,
	.title = "GPU time breakdown",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct time_breakdown_view),
	.scan = {.begin = begin, .end = end, .on_activity = on_activity},
	.fill = fill_table,
	.fini = fini,
};
