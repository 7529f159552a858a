/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rates of copies and sets: bytes by the time in which at least one of the kind ran on the
 * device, and the rate of each copy by itself. Of kernels, only those of operators whose input
 * shapes tell how much they move at least: by the time of what the operator launched. With --detail
 * over time: the bytes that moved in each of 32 parts of the process's time, with a copy's bytes
 * spread evenly over its time.
 */
#include <math.h>
#include <stdlib.h>

#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/model/gpu_peak.h"
#include "report/ops/op_bytes.h"
#include "report/analysis/view.h"
#include "report/gpu/gpu_activities.h"
#include "report/model/time_axis.h"
#include "report/util/rate.h"
#include "report/util/rounding.h"

#define NR_PARTS 32u
#define NONE	 UINT32_MAX
/* Shapes that say more are nonsense. */
#define MAX_BYTES 1e18

enum row_kind {
	ROW_COPY, /* or a set */
	ROW_OPERATOR,
};

struct bandwidth_row {
	struct process *process;
	enum row_kind kind;
	uint32_t device, copy, name; /* device NONE: unknown */
	uint64_t nr, nr_without_time;
	uint64_t until, busy_ns;
	unsigned __int128 bytes;
	uint64_t parts[NR_PARTS]; /* bytes */
	/* For the table. */
	uint64_t total_bytes;
	double rate, of_link, of_memory, rate_median, rate_min, rate_max;
	const char *what;
};

struct bandwidth_view {
	struct view_input input;
	struct bandwidth_row *rows;
	size_t nr_rows, capacity;
	size_t first;		/* of the current process */
	struct histogram rates; /* of the rows, bytes a second */
	struct idmap operators; /* size_t, 1 + the row, by name; of the current process */
	uint32_t *devices;	/* by process, 1 + the one with work: 0 none, NONE several */
};

static void init(void *state)
{
	struct bandwidth_view *view = state;

	histogram_init(&view->rates);
	view->devices = mem_zeroed(view->input.nr_processes, sizeof(*view->devices));
}

static size_t add_row(struct bandwidth_view *view, struct bandwidth_row row)
{
	view->rows = array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
	view->rows[view->nr_rows] = row;
	histogram_grow(&view->rates, (uint32_t)view->nr_rows);
	return view->nr_rows++;
}

static size_t find_row(struct bandwidth_view *view, const struct gpu_activity *work)
{
	for (size_t i = view->first; i < view->nr_rows; i++) {
		if (view->rows[i].device == work->device && view->rows[i].copy == work->copy) {
			return i;
		}
	}
	return add_row(view, (struct bandwidth_row){.process = view->input.process,
				     .device = work->device,
				     .copy = work->copy,
				     .name = work->name});
}

/* When part `i` begins. */
static uint64_t part_begin(const struct process *process, unsigned int i)
{
	uint64_t span =
		process->last_ns > process->first_ns ? process->last_ns - process->first_ns : 0;

	return process->first_ns + (uint64_t)((unsigned __int128)span * i / NR_PARTS);
}

/* Returns the bytes that were moved until `time`. */
static uint64_t bytes_until(const struct gpu_activity *work, uint64_t time)
{
	if (time <= work->begin) {
		return 0;
	}
	return time >= work->end ? work->bytes
				 : (uint64_t)((unsigned __int128)work->bytes *
					      (time - work->begin) / (work->end - work->begin));
}

static void add_parts(struct bandwidth_row *row, const struct gpu_activity *work)
{
	uint64_t before = 0;

	for (unsigned int i = 0; i < NR_PARTS; i++) {
		uint64_t until = i + 1 == NR_PARTS
					 ? work->bytes
					 : bytes_until(work, part_begin(row->process, i + 1));

		row->parts[i] += until - before;
		before = until;
	}
}

static void on_activity(void *context, const struct gpu_activity *work)
{
	struct bandwidth_view *view = context;
	uint32_t *device = &view->devices[view->input.number];
	struct bandwidth_row *row;
	uint64_t from;
	size_t i;

	*device = !*device || *device == work->device + 1 ? work->device + 1 : NONE;
	if (!gprof_table_is(work->table, GPROF_IS_COPYING)) {
		return;
	}
	i = find_row(view, work);
	row = &view->rows[i];
	from = work->begin > row->until ? work->begin : row->until;
	row->nr++;
	row->bytes += work->bytes;
	row->busy_ns += work->end > from ? work->end - from : 0;
	row->until = work->end > row->until ? work->end : row->until;
	if (view->input.is_detailed) {
		add_parts(row, work);
	}
	if (work->end > work->begin) {
		histogram_add(&view->rates, (uint32_t)i,
			whole_part(rate_of((double)work->bytes, work->end - work->begin)));
	} else {
		row->nr_without_time++;
	}
}

static void begin(void *context, struct process *process)
{
	struct bandwidth_view *view = context;

	(void)process;
	view->first = view->nr_rows;
}

/* ---- operators ---- */

static void begin_operators(void *context, struct process *process)
{
	struct bandwidth_view *view = context;

	(void)process;
	idmap_init(&view->operators, sizeof(size_t));
}

static void on_op(void *context, const struct op *op)
{
	struct bandwidth_view *view = context;
	struct bandwidth_row *row;
	uint32_t device = view->devices[view->input.number];
	size_t *number;
	double bytes;

	if (view->input.is_detailed || !op->gpu_self_ns || !op->shape ||
		!op_bytes(op->name, op->shape, op->positions, &bytes) || bytes > MAX_BYTES) {
		return;
	}
	number = idmap_put(&view->operators, op->name);
	if (!*number) {
		*number = 1 + add_row(view, (struct bandwidth_row){.process = view->input.process,
						    .kind = ROW_OPERATOR,
						    .device = device && device != NONE ? device - 1
										       : NONE,
						    .name = op->name});
	}
	row = &view->rows[*number - 1];
	row->nr++;
	row->bytes += (unsigned __int128)bytes;
	row->busy_ns += op->gpu_self_ns;
	histogram_add(
		&view->rates, (uint32_t)(*number - 1), whole_part(rate_of(bytes, op->gpu_self_ns)));
}

static void end_operators(void *context, struct process *process, const struct phases *phases)
{
	struct bandwidth_view *view = context;

	(void)process;
	(void)phases;
	idmap_fini(&view->operators);
}

/* ---- the table ---- */

static uint64_t clip(unsigned __int128 value)
{
	return value < UINT64_MAX ? (uint64_t)value : UINT64_MAX;
}

/*
 * What the lanes to the host carry one way, in bytes a second: transfers a second of a lane,
 * without the bits that its code adds (8 to 10, from generation 3 on 128 to 130, from 6 on 242 of
 * 256 bytes). 0 unknown.
 */
static double link_rate(const struct process *process, uint32_t device)
{
	static const double lane_rates[] = {0, 2.5e9 * 8 / 10, 5e9 * 8 / 10, 8e9 * 128 / 130,
		16e9 * 128 / 130, 32e9 * 128 / 130, 64e9 * 242 / 256};
	uint64_t generation, lanes;

	if (!process_attribute(process, device, "pcie_generation", &generation) ||
		!process_attribute(process, device, "pcie_lanes", &lanes) ||
		generation >= sizeof(lane_rates) / sizeof(lane_rates[0])) {
		return 0;
	}
	return lane_rates[generation] / 8 * (double)lanes;
}

static void finish_row(struct bandwidth_row *row, const struct histogram_group *rates)
{
	bool is_set = row->kind == ROW_COPY && (row->copy & COPY_IS_SET);
	uint32_t kind = row->kind == ROW_COPY && !is_set ? copy_kind_of(row->copy) : 0;
	struct gpu_peak peak = row->device == NONE ? gpu_peak_common(row->process)
						   : gpu_peak_of(row->process, row->device);

	row->total_bytes = clip(row->bytes);
	row->what = row->kind == ROW_OPERATOR ? "operator" : is_set ? "memset" : "copy";
	row->rate = row->busy_ns ? rate_of((double)row->bytes, row->busy_ns) : NAN;
	row->of_link = kind == API_COPY_HTOD || kind == API_COPY_DTOH
			       ? table_share(row->rate, link_rate(row->process, row->device))
			       : NAN;
	/* A copy is read and written. */
	row->of_memory = kind == API_COPY_DTOD || is_set || row->kind == ROW_OPERATOR
				 ? table_share(kind == API_COPY_DTOD ? 2 * row->rate : row->rate,
					   peak.memory_bytes_per_s)
				 : NAN;
	row->rate_median = rates->count ? histogram_median(rates) : NAN;
	row->rate_min = rates->count ? (double)rates->min : NAN;
	row->rate_max = rates->count ? (double)rates->max : NAN;
}

static const struct table_column columns[] = {
	VIEW_DEVICE_COLUMNS(bandwidth_row, process, device),
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(bandwidth_row, nr)),
	TABLE_COLUMN("total_bytes", "Size", TABLE_SIZE, TABLE_MEMBER(bandwidth_row, total_bytes)),
	TABLE_COLUMN("busy_ns", "Busy", TABLE_TIME,
		.help = "time in which at least one operation of the kind ran",
		TABLE_MEMBER(bandwidth_row, busy_ns)),
	TABLE_COLUMN("rate_bytes_per_s", "Rate", TABLE_RATE, .help = "size divided by busy time",
		TABLE_MEMBER(bandwidth_row, rate)),
	TABLE_COLUMN("link_pct", "% of PCIe", TABLE_PERCENT,
		.help = "rate, as a share of what the PCIe lanes between host and GPU carry one "
			"way, packet headers included",
		TABLE_MEMBER(bandwidth_row, of_link)),
	TABLE_COLUMN("memory_pct", "% of memory", TABLE_PERCENT,
		.help = "bytes read and written per second, as a share of the peak bandwidth of "
			"device memory",
		TABLE_MEMBER(bandwidth_row, of_memory)),
	TABLE_COLUMN("rate_median_bytes_per_s", "Med", TABLE_RATE, .is_minor = true,
		.help = "median rate of single operations",
		TABLE_MEMBER(bandwidth_row, rate_median)),
	TABLE_COLUMN("rate_min_bytes_per_s", "Min", TABLE_RATE, .is_minor = true,
		.help = "lowest rate of a single operation", TABLE_MEMBER(bandwidth_row, rate_min)),
	TABLE_COLUMN("rate_max_bytes_per_s", "Max", TABLE_RATE, .is_minor = true,
		.help = "highest rate of a single operation",
		TABLE_MEMBER(bandwidth_row, rate_max)),
	TABLE_COLUMN("untimed", "Untimed", TABLE_COUNT, .is_wide_only = true,
		.help = "operations without a recorded time",
		TABLE_MEMBER(bandwidth_row, nr_without_time)),
	TABLE_COLUMN("kind", "Kind", TABLE_TEXT, .is_wide_only = true,
		.help = "copy, memset, or operator, whose kernels move the bytes",
		TABLE_MEMBER(bandwidth_row, what)),
	TABLE_COLUMN("name", "Operation", TABLE_NAME, TABLE_MEMBER(bandwidth_row, name)),
};

static void fill_totals(struct bandwidth_view *view, struct table *table)
{
	histogram_finish(&view->rates);
	for (size_t i = 0; i < view->nr_rows; i++) {
		finish_row(&view->rows[i], &view->rates.groups[i]);
		table_add(table, &view->rows[i]);
	}
	table_sort(table, "total_bytes");
}

struct part_row {
	const struct process *process;
	uint32_t device, name;
	uint64_t start_ns, ns, bytes;
	double rate;
};

static const struct table_column time_columns[] = {
	VIEW_DEVICE_COLUMNS(part_row, process, device),
	TABLE_COLUMN("start_ns", "Start", TABLE_TIME, .help = "since the start of the recording",
		TABLE_MEMBER(part_row, start_ns)),
	TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME, TABLE_MEMBER(part_row, ns)),
	TABLE_COLUMN("bytes", "Size", TABLE_SIZE, TABLE_MEMBER(part_row, bytes)),
	TABLE_COLUMN("rate_bytes_per_s", "Rate", TABLE_RATE, .help = "size divided by busy time",
		TABLE_MEMBER(part_row, rate)),
	TABLE_COLUMN("name", "Operation", TABLE_NAME, TABLE_MEMBER(part_row, name)),
};

static void fill_over_time(const struct bandwidth_view *view, struct table *table)
{
	table_set_title(table, "Copy and memset bandwidth over time");
	table_set_columns(table, time_columns, sizeof(time_columns) / sizeof(time_columns[0]));
	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct bandwidth_row *row = &view->rows[i];

		for (unsigned int k = 0; k < NR_PARTS; k++) {
			uint64_t start = part_begin(row->process, k);
			struct part_row part = {.process = row->process,
				.device = row->device,
				.name = row->name,
				.start_ns = time_axis_time(row->process, start),
				.ns = part_begin(row->process, k + 1) - start,
				.bytes = row->parts[k]};

			part.rate = part.ns ? rate_of((double)part.bytes, part.ns) : NAN;
			table_add(table, &part);
		}
	}
}

static void fill_table(void *state, struct table *table)
{
	struct bandwidth_view *view = state;

	if (view->input.is_detailed) {
		fill_over_time(view, table);
	} else {
		fill_totals(view, table);
	}
	view_note_devices(table, &view->input, "");
}

static void fini(void *state)
{
	struct bandwidth_view *view = state;

	histogram_fini(&view->rates);
	free(view->devices);
	free(view->rows);
}

VIEW(bandwidth, 220) = {
	.name = "bandwidth",
	.subject = VIEW_ABOUT_GPU,
	.help = "achieved bandwidth of copies, memsets and operators against the peak",
	.about =
		"The rate is the size divided by the time in which at least one operation of the "
		"kind ran. The median, minimum and maximum are of single operations. The share of "
		"PCIe can exceed 100 % where the GPU has a faster path. A copy within device "
		"memory reads and writes it, so its share of memory bandwidth counts the size "
		"twice. The size of an operator with known input shapes (GPROF_TORCH=shapes) is "
		"what it reads and writes at least, and its time that of the kernels that it "
		"launched. Its share can exceed 100 % with expanded inputs, and with data in the "
		"GPU's caches. With --detail, each row is one of 32 equal parts of the time of the "
		"process, and operators are left out.",
	.is_empty_hidden = true,
	.title = "Memory bandwidth",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct bandwidth_view),
	.scan = {.begin = begin, .on_activity = on_activity},
	.ops = {.op_is = OP_IS_OPERATOR,
		.begin = begin_operators,
		.op = on_op,
		.replay = on_op,
		.end = end_operators},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
