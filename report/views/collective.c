/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that move data between devices (kernel_class.h), by name, and how much of each ran while
 * some computation ran on its device. Sums over kernels: where two of them run at once both count,
 * unlike in the view `distributed`.
 */
#include <stdlib.h>

#include "report/analysis/view.h"
#include "report/analysis/device_work.h"

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
	struct works works;
	struct collective_device *devices; /* of the process at hand */
	size_t nr_devices, capacity;
	struct tally tally;   /* by name */
	struct stat overlaps; /* of its rows, ns */
	struct view_without without;
};

static void *create(const struct view_input *input)
{
	struct collective_view *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	tally_init(&view->tally);
	stat_init(&view->overlaps);
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
		stat_add(&view->overlaps, kernel->row,
			computed_until(device, kernel->end) - kernel->computed_ns);
	}
	device->nr_running = nr;
}

static void take_work(void *context, const struct work *work)
{
	struct collective_view *view = context;
	struct collective_device *device = find_device(view, work->device);

	finish_until(view, device, work->begin);
	if (work->is_communication) {
		uint32_t row = tally_find(&view->tally, work->name, work->name, 0);

		stat_grow(&view->overlaps, row);
		stat_add(&view->tally.times, row, work->end - work->begin);
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
	works_begin(&view->works, process, take_work, view);
}

static void take(void *context, struct process *process, const struct batch *batch)
{
	struct collective_view *view = context;

	(void)process;
	works_take(&view->works, batch);
}

static void end(void *context, struct process *process)
{
	struct collective_view *view = context;

	(void)process;
	works_end(&view->works);
	for (size_t i = 0; i < view->nr_devices; i++) {
		finish_until(view, &view->devices[i], UINT64_MAX);
		free(view->devices[i].running);
	}
	view->nr_devices = 0;
}

enum column {
	OVERLAP = TALLY_NR_COLUMNS,
	OVERLAP_SHARE,
	NAME,
	NR_COLUMNS,
};

static struct table *make_table(void *context)
{
	static const struct table_column columns[NR_COLUMNS] = {
		TALLY_COLUMNS("% of communication"),
		{"overlap_ns", "Overlapped", TABLE_TIME, false},
		{"overlap_pct", "Overlapped %", TABLE_PERCENT, false},
		{"name", "Kernel", TABLE_NAME, false},
	};
	struct collective_view *view = context;
	struct table *table = table_create("collectives", "Collectives", columns, NR_COLUMNS);
	double total_ns;

	tally_finish(&view->tally);
	stat_finish(&view->overlaps);
	total_ns = tally_total_ns(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		struct table_cell *cells = table_add_row(table);
		uint64_t overlap_ns = stat_sum(&view->overlaps.groups[i]);
		uint64_t row_ns = stat_sum(&view->tally.times.groups[i]);

		tally_fill(&view->tally, i, total_ns, cells);
		table_set_integer(&cells[OVERLAP], overlap_ns);
		table_set_share(&cells[OVERLAP_SHARE], overlap_ns, row_ns);
		table_set_integer(&cells[NAME], view->tally.rows[i].name);
	}
	table_sort(table, "total");
	table_note(table, "sums over kernels; overlapped: some computation ran on the device");
	view_without_note(&view->without, table, "");
	tally_note(&view->tally, table);
	return table;
}

static void destroy(void *context)
{
	struct collective_view *view = context;

	tally_fini(&view->tally);
	stat_fini(&view->overlaps);
	free(view->devices);
	free(view);
}

const struct tally *view_collective_tally(void *context, const struct stat **overlaps)
{
	struct collective_view *view = context;

	*overlaps = &view->overlaps;
	return &view->tally;
}

const struct view_class view_collective = {
	.name = "collectives",
	.help = "kernels that communicate, by name, and how much of them was overlapped",
	.is_empty_hidden = true,
	.scan = {works_wants, WORKS_NR_WANTS, works_needs, begin, take, end},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
