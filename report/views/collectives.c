/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication kernels by name, and how much of each ran while its device computed. Two kernels
 * that run at once both count, unlike in the view `distributed`.
 */
#include <stdlib.h>

#include "report/analysis/view.h"
#include "report/gpu/gpu_activities.h"

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
	struct view_input input;
	struct collective_device *devices; /* of the current process */
	size_t nr_devices, capacity;
	struct keyed_stats tally;  /* by name */
	struct histogram overlaps; /* of its rows, ns */
};

static void init(void *state)
{
	struct collective_view *view = state;

	histogram_init(&view->overlaps);
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

static void on_activity(void *context, const struct gpu_activity *work)
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
	} else if (gprof_table_is(work->table, GPROF_IS_COMPUTING)) {
		uint64_t from = work->begin > device->until ? work->begin : device->until;

		device->computed_ns += work->end > from ? work->end - from : 0;
		device->until = work->end > device->until ? work->end : device->until;
	}
}

static void end(void *context, struct process *process)
{
	struct collective_view *view = context;

	(void)process;
	for (size_t i = 0; i < view->nr_devices; i++) {
		finish_until(view, &view->devices[i], UINT64_MAX);
		free(view->devices[i].running);
	}
	view->nr_devices = 0;
}

static uint64_t overlap_ns(const struct collective_view *view, size_t row)
{
	return histogram_sum(&view->overlaps.groups[row]);
}

static void get_sums(const void *state, uint64_t (*sums)[VIEW_MERGE_SUMS])
{
	const struct collective_view *view = state;

	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		sums[i][0] = overlap_ns(view, i);
	}
}

struct collective_row {
	struct keyed_stats_row row;
	uint64_t overlap_ns, ns;
};

static const struct table_column columns[] = {
	KEYED_STATS_COLUMNS("% of communication"),
	TABLE_COLUMN("overlap_ns", "Overlapped", TABLE_TIME,
		.help = "time in which computation ran on the same GPU",
		TABLE_MEMBER(collective_row, overlap_ns)),
	TABLE_COLUMN("overlap_pct", "Overlapped %", TABLE_PERCENT,
		.help = "overlapped time, as a share of the total",
		TABLE_SHARE(collective_row, overlap_ns, ns)),
	TABLE_COLUMN("name", "Kernel", TABLE_NAME, .is_kernel = true,
		TABLE_MEMBER(keyed_stats_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct collective_view *view = state;
	double total_ns;

	keyed_stats_finish(&view->tally);
	histogram_finish(&view->overlaps);
	total_ns = keyed_stats_total_ns(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		struct collective_row row = {view->tally.rows[i], overlap_ns(view, i),
			histogram_sum(&view->tally.times.groups[i])};

		keyed_stats_add(&view->tally, i, total_ns, &row, table);
	}
	table_sort(table, "total");
	view_note_devices(table, &view->input, "");
	keyed_stats_note(&view->tally, table);
}

static void fini(void *state)
{
	struct collective_view *view = state;

	histogram_fini(&view->overlaps);
	free(view->devices);
}

VIEW(collectives, 140) = {
	.name = "collectives",
	.subject = VIEW_ABOUT_DISTRIBUTED,
	.help = "communication kernels by name, and how much computation overlaps them",
	.about = "Times are sums over kernels. A kernel is overlapped while some computation runs "
		 "on its GPU.",
	.is_empty_hidden = true,
	.title = "Communication kernels",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct collective_view, tally),
	.merge = {.sums = {"overlap_ns"}, .keys = {"name"}, .get_sums = get_sums},
	.scan = {.end = end, .on_activity = on_activity},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
