/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each device did with its time: the temporal breakdown of HolisticTraceAnalysis. Every moment
 * of the span counts once, for the first that fits of computation, communication, copies and sets,
 * and none of them; so the shares add up to 100 %.
 */
#include <stdlib.h>

#include "report/analysis/overlap.h"
#include "report/analysis/view.h"

struct temporal_view {
	struct overlap sweep;
	struct view_without without;
};

static void *create(const struct view_input *input)
{
	(void)input;
	return mem_zeroed(1, sizeof(struct temporal_view));
}

static void begin(void *context, struct process *process)
{
	struct temporal_view *view = context;

	view_without_take(&view->without, process);
	overlap_begin(&view->sweep, process);
}

static void take(void *context, struct process *process, const struct batch *batch)
{
	struct temporal_view *view = context;

	(void)process;
	overlap_take(&view->sweep, batch);
}

static void end(void *context, struct process *process)
{
	struct temporal_view *view = context;

	(void)process;
	overlap_end(&view->sweep);
}

enum column {
	SPAN = GPU_ACTIVITIES_NR_DEVICE_COLUMNS,
	IDLE,
	COMPUTATION,
	COMMUNICATION,
	MEMORY,
	NR_TIMES = MEMORY + 1 - IDLE,
	SHARES = MEMORY + 1,
	NR_COLUMNS = SHARES + NR_TIMES,
};

static void fill(const struct overlap_device *device, struct table_cell *cells)
{
	const struct overlap_times *times = &device->all;
	uint64_t span_ns = overlap_all(times, 0);
	uint64_t ns[NR_TIMES] = {times->ns[0], overlap_any(times, OVERLAP_COMPUTATION)};

	ns[COMMUNICATION - IDLE] = overlap_any(times, OVERLAP_COMPUTATION | OVERLAP_COMMUNICATION) -
				   ns[COMPUTATION - IDLE];
	ns[MEMORY - IDLE] = times->ns[OVERLAP_MEMORY];
	gpu_activities_fill_device(device->process, device->device, cells);
	table_set_integer(&cells[SPAN], span_ns);
	for (unsigned int i = 0; i < NR_TIMES; i++) {
		table_set_integer(&cells[IDLE + i], ns[i]);
		table_set_share(&cells[SHARES + i], ns[i], span_ns);
	}
}

static struct table *make_table(void *context)
{
	static const struct table_column columns[NR_COLUMNS] = {
		GPU_ACTIVITIES_DEVICE_COLUMNS,
		{"span_ns", "Span", TABLE_TIME, false},
		{"idle_ns", "Idle", TABLE_TIME, false},
		{"computation_ns", "Computation", TABLE_TIME, false},
		{"communication_alone_ns", "Communication alone", TABLE_TIME, false},
		{"memory_alone_ns", "Copies alone", TABLE_TIME, false},
		{"idle_pct", "Idle %", TABLE_PERCENT, false},
		{"computation_pct", "Comp. %", TABLE_PERCENT, false},
		{"communication_alone_pct", "Comm. %", TABLE_PERCENT, false},
		{"memory_alone_pct", "Copies %", TABLE_PERCENT, false},
	};
	struct temporal_view *view = context;
	struct table *table =
		table_create("temporal", "What the GPUs did with their time", columns, NR_COLUMNS);

	for (size_t i = 0; i < view->sweep.nr_devices; i++) {
		fill(&view->sweep.devices[i], table_add_row(table));
	}
	table_note(table, "of the span from the first record to the last; alone: while nothing "
			  "that stands before it ran");
	view_without_note(&view->without, table, "");
	return table;
}

static void destroy(void *context)
{
	struct temporal_view *view = context;

	overlap_fini(&view->sweep);
	free(view);
}

const struct view_class view_temporal = {
	.name = "temporal",
	.help = "shares of the GPUs' time: idle, computation, communication, copies",
	.is_empty_hidden = true,
	.scan = {works_wants, GPU_ACTIVITIES_NR_WANTS, gpu_activities_needs, begin, take, end},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
