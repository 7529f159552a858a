/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that move data between devices (kernel_class.h), by name, and how much of each ran while
 * some computation ran on its device. Sums over kernels: where two of them run at once both count,
 * unlike in the view `distributed`.
 */
#include <stdlib.h>

#include "report/analysis/view.h"
#include "report/analysis/gpu_activities.h"

/* A kernel that runs. */
struct running {
	uint64_t begin, end;
	uint64_t computed_ns; /* of the device, before it began */
	uint32_t row;	      /* of the tally */
};

struct collective_device {
	uint32_t device;
	uint64_t computed_ns; /* union of the computation that has begun; it goes on until then */
	uint64_t until;
	struct running *running;
	size_t nr_running, capacity;
};

struct collective_view {
	struct gpu_activities works;
	struct collective_device *devices; /* of the process at hand */
	size_t nr_devices, capacity;
	struct keyed_stats tally;  /* by name */
	struct histogram overlaps; /* of its rows, ns */
	struct view_without without;
};

static void *create(const struct view_input *input)
{
	struct collective_view *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	keyed_stats_init(&view->tally);
	histogram_init(&view->overlaps);
	return view;
}

static struct collective_device *find_device(struct collective_view *view, uint32_t device)
{
	for (size_t i = 0; i < view->nr_devices; i++) {
		if (view->devices[i].device == device) {
			return &view->devices[i];
		}
	}
	view->devices = array_grow(
		view->devices, view->nr_devices, &view->capacity, sizeof(*view->devices));
	view->devices[view->nr_devices] = (struct collective_device){.device = device};
	return &view->devices[view->nr_devices++];
}

/* How long some computation ran until `time`; none that began later has come so far. */
static uint64_t computed_until(const struct collective_device *device, uint64_t time)
{
	return device->computed_ns - (device->until > time ? device->until - time : 0);
}

/* No work that begins before `time` will come: what ended until then is done. */
static void finish_until(
	struct collective_view *view, struct collective_device *device, uint64_t time)
{
	size_t nr = 0;

	for (size_t i = 0; i < device->nr_running; i++) {
		const struct running *kernel = &device->running[i];

		if (kernel->end > time) {
			device->running[nr++] = *kernel;
			continue;
		}
		histogram_add(&view->overlaps, kernel->row,
			computed_until(device, kernel->end) - kernel->computed_ns);
	}
	device->nr_running = nr;
}

static void take_work(void *context, const struct gpu_activity *work)
{
	struct collective_view *view = context;
	struct collective_device *device = find_device(view, work->device);

	finish_until(view, device, work->begin);
	if (work->is_communication) {
		uint32_t row = keyed_stats_find(&view->tally, work->name, work->name, 0);

		histogram_grow(&view->overlaps, row);
		histogram_add(&view->tally.times, row, work->end - work->begin);
		device->running = array_grow(device->running, device->nr_running, &device->capacity,
			sizeof(*device->running));
		device->running[device->nr_running++] = (struct running){
			work->begin, work->end, computed_until(device, work->begin), row};
	} else if (work->table == GPROF_TABLE_kernel || work->table == GPROF_TABLE_graph) {
		uint64_t from = work->begin > device->until ? work->begin : device->until;

		device->computed_ns += work->end > from ? work->end - from : 0;
		device->until = work->end > device->until ? work->end : device->until;
	}
}

static void begin(void *context, struct process *process)
{
	struct collective_view *view = context;

	view_without_take(&view->without, process);
	gpu_activities_begin(&view->works, process, take_work, view);
}

static void take(void *context, struct process *process, const struct batch *batch)
{
	struct collective_view *view = context;

	(void)process;
	gpu_activities_take(&view->works, batch);
}

static void end(void *context, struct process *process)
{
	struct collective_view *view = context;

	(void)process;
	gpu_activities_end(&view->works);
	for (size_t i = 0; i < view->nr_devices; i++) {
		finish_until(view, &view->devices[i], UINT64_MAX);
		free(view->devices[i].running);
	}
	view->nr_devices = 0;
}

enum column {
	OVERLAP = KEYED_STATS_NR_COLUMNS,
	OVERLAP_SHARE,
	NAME,
	NR_COLUMNS,
};

static struct table *make_table(void *context)
{
	static const struct table_column columns[NR_COLUMNS] = {
		KEYED_STATS_COLUMNS("% of communication"),
		{"overlap_ns", "Overlapped", TABLE_TIME, false},
		{"overlap_pct", "Overlapped %", TABLE_PERCENT, false},
		{"name", "Kernel", TABLE_NAME, false},
	};
	struct collective_view *view = context;
	struct table *table = table_create("collectives", "Collectives", columns, NR_COLUMNS);
	double total_ns;

	keyed_stats_finish(&view->tally);
	histogram_finish(&view->overlaps);
	total_ns = keyed_stats_total_ns(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		struct table_cell *cells = table_add_row(table);
		uint64_t overlap_ns = histogram_sum(&view->overlaps.groups[i]);
		uint64_t row_ns = histogram_sum(&view->tally.times.groups[i]);

		keyed_stats_fill(&view->tally, i, total_ns, cells);
		table_set_integer(&cells[OVERLAP], overlap_ns);
		table_set_share(&cells[OVERLAP_SHARE], overlap_ns, row_ns);
		table_set_integer(&cells[NAME], view->tally.rows[i].name);
	}
	table_sort(table, "total");
	table_note(table, "sums over kernels; overlapped: some computation ran on the device");
	view_without_note(&view->without, table, "");
	keyed_stats_note(&view->tally, table);
	return table;
}

static void destroy(void *context)
{
	struct collective_view *view = context;

	keyed_stats_fini(&view->tally);
	histogram_fini(&view->overlaps);
	free(view->devices);
	free(view);
}

const struct keyed_stats *view_collective_tally(void *context, const struct histogram **overlaps)
{
	struct collective_view *view = context;

	*overlaps = &view->overlaps;
	return &view->tally;
}

const struct view_class view_collective = {
	.name = "collectives",
	.help = "kernels that communicate, by name, and how much of them was overlapped",
	.is_empty_hidden = true,
	.scan = {works_wants, GPU_ACTIVITIES_NR_WANTS, gpu_activities_needs, begin, take, end},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
