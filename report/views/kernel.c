/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by name: times on the device, or of the launches where there are no device records. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/activity.h"
#include "report/model/api.h"
#include "report/model/kernel_class.h"
#include "report/model/occupancy.h"
#include "report/analysis/view.h"
#include "report/gpu/kernel_counters.h"

#define NONE UINT32_MAX

struct kernel_view {
	struct view_input input;
	struct keyed_stats kernels;
	struct keyed_stats launches; /* of processes without device records */
	struct kernel_counters counters;
	uint32_t *group_of; /* by the id of a shape, of the current process */
	uint64_t *shape_ns; /* so long ran what had that shape */
	size_t nr_group_of;
	struct occupancy_mean *means; /* of groups */
	size_t nr_means;
	uint32_t *groups; /* scratch, of one batch */
	bool is_mixed;	  /* some process used devices that differ */
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_kernel, COLS(kernel, dur, shape), COLS(kernel, dur, shape)},
	{GPROF_TABLE_graph, COLS(graph, dur, graph), 0},
	{GPROF_TABLE_untimed, COLS(untimed, table, shape), 0},
	{GPROF_TABLE_api_launch, COLS(api_launch, dur, result, shape), 0},
};

static void init(void *state)
{
	struct kernel_view *view = state;

	keyed_stats_init(&view->launches);
	kernel_counters_init(&view->counters);
	kernel_counters_look(&view->counters, view->input.processes, view->input.nr_processes);
	view->groups = mem_zeroed(GPROF_BLOCK_ROWS, sizeof(*view->groups));
}

static bool needs(void *context, struct process *process, unsigned int table)
{
	(void)context;
	return table != GPROF_TABLE_api_launch || !process_has_device_records(process, NULL);
}

static void begin(void *context, struct process *process)
{
	struct kernel_view *view = context;

	view->nr_group_of = process->shapes.nr_near;
	view->group_of = mem_resize(view->group_of, view->nr_group_of, sizeof(*view->group_of));
	memset(view->group_of, 0xff, view->nr_group_of * sizeof(*view->group_of));
	view->shape_ns = mem_resize(view->shape_ns, view->nr_group_of, sizeof(*view->shape_ns));
	memset(view->shape_ns, 0, view->nr_group_of * sizeof(*view->shape_ns));
}

static uint32_t find_group(struct kernel_view *view, struct keyed_stats *tally, uint64_t shape)
{
	uint32_t name = process_shape_name(view->input.process, shape);
	uint32_t group = keyed_stats_find(tally, name, name, 0);

	if (shape < view->nr_group_of) {
		view->group_of[shape] = group;
	}
	return group;
}

static inline uint32_t group_of(struct kernel_view *view, struct keyed_stats *tally, uint64_t shape)
{
	if (__builtin_expect(shape < view->nr_group_of && view->group_of[shape] != NONE, 1)) {
		return view->group_of[shape];
	}
	return find_group(view, tally, shape);
}

static void find_groups(struct kernel_view *view, struct keyed_stats *tally,
	const struct batch *batch, unsigned int column)
{
	const uint32_t *small = batch->small[column];
	const uint64_t *wide = batch->col[column];
	const uint32_t *known = view->group_of;
	const size_t nr_known = view->nr_group_of;
	uint32_t missing = 0;

	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t shape = small ? small[i] : wide[i];
		uint32_t group = shape < nr_known ? known[shape] : NONE;

		view->groups[i] = group;
		missing |= group == NONE;
	}
	for (uint32_t i = 0; missing && i < batch->nr_rows; i++) {
		view->groups[i] = group_of(view, tally, small ? small[i] : wide[i]);
	}
}

/* Shapes out of line (see idmap.h) are left out of the means. */
static void add_shape_ns(struct kernel_view *view, const struct batch *batch)
{
	const uint32_t *ns = batch->small[COL_kernel_dur];
	const uint32_t *shapes = batch->small[COL_kernel_shape];
	const size_t nr = view->nr_group_of;
	uint64_t *sums = view->shape_ns;

	if (ns && shapes) {
		for (uint32_t i = 0; i < batch->nr_rows; i++) {
			if (__builtin_expect(shapes[i] < nr, 1)) {
				sums[shapes[i]] += ns[i];
			}
		}
		return;
	}
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t shape = shapes ? shapes[i] : batch->col[COL_kernel_shape][i];

		if (shape < nr) {
			sums[shape] += ns ? ns[i] : batch->col[COL_kernel_dur][i];
		}
	}
}

static void take_kernels(struct kernel_view *view, const struct batch *batch)
{
	const uint32_t *small = batch->small[COL_kernel_dur];

	find_groups(view, &view->kernels, batch, COL_kernel_shape);
	add_shape_ns(view, batch);
	if (small) {
		histogram_add_small(&view->kernels.times, view->groups, small, batch->nr_rows);
	} else {
		histogram_add_many(&view->kernels.times, view->groups, batch->col[COL_kernel_dur],
			batch->nr_rows);
	}
}

static void take_graphs(struct kernel_view *view, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint32_t name = activity_name(
			view->input.process, batch->table, 0, 0, batch->col[COL_graph_graph][i]);

		histogram_add(&view->kernels.times, keyed_stats_find(&view->kernels, name, name, 0),
			batch->col[COL_graph_dur][i]);
	}
}

static void take_untimed(struct kernel_view *view, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		if (stream_known(view->input.process->stream, batch->col[COL_untimed_table][i]) ==
			GPROF_TABLE_kernel) {
			uint32_t group =
				group_of(view, &view->kernels, batch->col[COL_untimed_shape][i]);

			view->kernels.rows[group].untimed++;
		}
	}
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct kernel_view *view = context;

	(void)process;
	switch (batch->table) {
	case GPROF_TABLE_kernel:
		take_kernels(view, batch);
		break;
	case GPROF_TABLE_graph:
		take_graphs(view, batch);
		break;
	case GPROF_TABLE_untimed:
		take_untimed(view, batch);
		break;
	default:
		for (uint32_t i = 0; i < batch->nr_rows; i++) {
			uint64_t shape = batch->col[COL_api_launch_shape][i];
			uint64_t ticks = batch->col[COL_api_launch_dur][i];

			if (shape && !api_is_failure(batch->col[COL_api_launch_result][i])) {
				histogram_add(&view->launches.times,
					group_of(view, &view->launches, shape),
					clock_map_duration(&process->host_clock, ticks));
			}
		}
		break;
	}
}

static struct occupancy_mean *make_mean(struct kernel_view *view, uint32_t group)
{
	if (group >= view->nr_means) {
		size_t nr = 2 * (size_t)group + 16;

		view->means = mem_resize(view->means, nr, sizeof(*view->means));
		memset(view->means + view->nr_means, 0,
			(nr - view->nr_means) * sizeof(*view->means));
		view->nr_means = nr;
	}
	return &view->means[group];
}

/* Sets the occupancy of the current process's launches, once its device is known. */
static void end(void *context, struct process *process)
{
	struct kernel_view *view = context;
	struct occupancy_device device;

	if (!occupancy_only_device(process, &device)) {
		view->is_mixed |= process->places.nr > 0;
		return;
	}
	for (size_t i = 0; i < view->nr_group_of; i++) {
		const struct model_shape *shape = idmap_get(&process->shapes, (uint32_t)i);
		struct occupancy occupancy;

		if (shape && view->shape_ns[i] && occupancy_compute(&device, shape, &occupancy)) {
			occupancy_mean_add(make_mean(view, view->group_of[i]), &occupancy,
				(double)view->shape_ns[i]);
		}
	}
}

static const struct occupancy_mean *mean_of(const struct kernel_view *view, size_t group)
{
	static const struct occupancy_mean none;

	return group < view->nr_means ? &view->means[group] : &none;
}

struct kernel_row {
	struct keyed_stats_row row;
	double blocks, occupancy_pct;
	uint32_t limit;
	const char *tensor;
	struct counted_kernels measured;
};

static struct kernel_row kernel_row(struct kernel_view *view, size_t group)
{
	const struct occupancy_mean *mean = mean_of(view, group);
	uint8_t limits = occupancy_mean_limits(mean);
	struct kernel_row row = {.row = view->kernels.rows[group],
		.limit = limits ? occupancy_limit_name(limits) : UINT32_MAX,
		.tensor = tensor_use_names[tensor_use_of(view->kernels.rows[group].name)]};

	if (view->counters.has_sampled) {
		row.measured = *kernel_counters_of_name(&view->counters, row.row.name);
	}

	if (!occupancy_mean_blocks(mean, &row.blocks)) {
		row.blocks = NAN;
	}
	if (!occupancy_mean_percent(mean, view->input.is_of_plugin, &row.occupancy_pct)) {
		row.occupancy_pct = NAN;
	}
	return row;
}

static const struct table_column columns[] = {
	KEYED_STATS_COLUMNS("% of kernel time"),
	TABLE_COLUMN("untimed", "Untimed", TABLE_COUNT, .is_wide_only = true,
		.help = "launches without a recorded time", TABLE_MEMBER(keyed_stats_row, untimed)),
	TABLE_COLUMN("blocks_per_sm", "Blocks per SM", TABLE_NUMBER, .is_wide_only = true,
		.help = "mean blocks of the grid per multiprocessor",
		TABLE_MEMBER(kernel_row, blocks)),
	TABLE_COLUMN("occupancy_pct", "Est. achieved occupancy %", TABLE_PERCENT,
		.help = "estimated achieved occupancy, mean weighted by time",
		TABLE_MEMBER(kernel_row, occupancy_pct)),
	TABLE_COLUMN("limit", "Limit", TABLE_NAME, .is_wide_only = true,
		.help = "what limits the occupancy", TABLE_MEMBER(kernel_row, limit)),
	TABLE_COLUMN("tensor_cores", "Tensor cores", TABLE_TEXT, .is_wide_only = true,
		.help = "whether the name is that of a tensor core kernel",
		TABLE_MEMBER(kernel_row, tensor)),
	COUNTER_MEASURED_OCCUPANCY(kernel_row, measured, kernel_view, counters),
	COUNTER_MEASURED_TENSOR(kernel_row, measured, kernel_view, counters),
	COUNTER_MEASURED_SHARE(kernel_row, measured, kernel_view, counters),
	TABLE_COLUMN("name", "Kernel", TABLE_NAME, .is_kernel = true,
		TABLE_MEMBER(keyed_stats_row, name)),
};

static void fill_kernels(struct kernel_view *view, struct table *table)
{
	const struct keyed_stats *tally = &view->kernels;
	double total_ns = keyed_stats_total_ns(tally);
	bool has_occupancy = false;

	for (size_t i = 0; i < tally->nr_rows; i++) {
		struct kernel_row row = kernel_row(view, i);

		has_occupancy |= !isnan(row.occupancy_pct);
		keyed_stats_add(tally, i, total_ns, &row, table);
	}
	table_set_wide(table, "occupancy", !has_occupancy);
}

/* Where no process has device records. */
static const struct table_column launch_columns[] = {
	KEYED_STATS_COLUMNS("% of launch time"),
	TABLE_COLUMN("name", "Kernel (times of launch calls)", TABLE_NAME, .is_kernel = true,
		TABLE_MEMBER(keyed_stats_row, name)),
};

static void fill_launches(const struct kernel_view *view, struct table *table)
{
	const struct keyed_stats *tally = &view->launches;
	double total_ns = keyed_stats_total_ns(tally);

	table_set_columns(table, launch_columns, KEYED_STATS_NR_COLUMNS + 1);
	for (size_t i = 0; i < tally->nr_rows; i++) {
		keyed_stats_add(tally, i, total_ns, NULL, table);
	}
}

static void fill_table(void *state, struct table *table)
{
	struct kernel_view *view = state;
	bool is_host = !view->kernels.nr_rows && view_without_devices(&view->input, NULL);

	keyed_stats_finish(&view->kernels);
	keyed_stats_finish(&view->launches);
	if (is_host) {
		fill_launches(view, table);
	} else {
		fill_kernels(view, table);
	}
	view_note_devices(table, &view->input,
		is_host && table->nr_rows ? "Times are those of the launch calls on the host."
					  : "");
	keyed_stats_note(is_host ? &view->launches : &view->kernels, table);
	if (!is_host && view->nr_means) {
		if (view->is_mixed) {
			table_note(
				table, "Occupancy is unknown where a process used different GPUs.");
		}
	}
	table_sort(table, "total");
}

static void fini(void *state)
{
	struct kernel_view *view = state;

	keyed_stats_fini(&view->launches);
	kernel_counters_fini(&view->counters);
	free(view->group_of);
	free(view->shape_ns);
	free(view->means);
	free(view->groups);
}

VIEW(kernel, 240) = {
	.name = "kernel",
	.subject = VIEW_ABOUT_GPU,
	.help = "kernels by name",
	.about = "The achieved occupancy is an estimate, not a measurement: the warps of a launch "
		 "that a multiprocessor holds at once on average, as a share of its maximum. It "
		 "follows from the launch configuration of the kernel. Measured columns are from "
		 "hardware counters (GPROF_METRICS=pm), as in the view utilization-kernels.",
	.is_default = true,
	.title = "Kernels",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct kernel_view, kernels),
	.merge = {.keys = {"name"}},
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), needs, begin, on_batch, end},
	.parts = {{.scan = &kernel_counters_scan,
		.offset = offsetof(struct kernel_view, counters),
		.needs_scan = kernel_counters_needs_scan,
		.is_scan_rare = true}},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
