/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU, memory and GPU use: the whole run with a curve, and by buckets of time; and the hardware
 * counters of kernels by name, operator, phase and step.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/gpu/kernel_counters.h"
#include "report/gpu/utilization.h"
#include "report/analysis/view.h"
#include "report/model/time_axis.h"
#include "report/util/rounding.h"

/* A curve has at most this many points. */
#define NR_POINTS 32u

/* nvml.h, nvmlClocksThrottleReason... */
static const struct {
	uint64_t bit;
	const char *name;
} reasons[] = {
	{0x4, "power cap"},
	{0x8, "hardware slowdown"},
	{0x10, "sync boost"},
	{0x20, "temperature (software)"},
	{0x40, "temperature (hardware)"},
	{0x80, "power brake"},
};

struct utilization_view {
	struct utilization usage;
	struct view_input input;
};

static const struct scan_want wants[] = {UTILIZATION_WANTS};

static void begin(void *context, struct process *process)
{
	utilization_begin(context, process);
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	(void)process;
	utilization_take_samples(context, batch);
}

static void on_activity(void *context, const struct gpu_activity *activity)
{
	utilization_take(context, activity);
}

static void end(void *context, struct process *process)
{
	(void)process;
	utilization_end(context);
}

static void fini(void *state)
{
	utilization_fini(state);
}

/* ---- in all ---- */

/* The height of each part of the time, 0 to the largest; as before where there is no sample. */
static void draw(const struct utilization_series *series, char *text)
{
	static const char levels[] = " .:-=+*#%@";
	size_t nr_levels = sizeof(levels) - 1;
	size_t nr_joined = (series->nr_buckets + NR_POINTS - 1) / NR_POINTS, length = 0;
	double last = 0;

	for (size_t i = 0; i < series->nr_buckets; i += nr_joined) {
		double sum = 0, weight = 0, value;
		size_t level = 0;

		for (size_t k = i; k < i + nr_joined; k++) {
			if (utilization_bucket(series, k, &value)) {
				sum += value * series->weights[k];
				weight += series->weights[k];
			}
		}
		last = weight > 0 ? sum / weight : last;
		if (series->max > 0) {
			level = (size_t)(last / series->max * (double)nr_levels);
		}
		text[length++] = levels[level < nr_levels ? level : nr_levels - 1];
	}
	text[length] = '\0';
}

struct series_row {
	struct utilization_series series;
	const char *device, *name, *unit, *curve;
};

static void add_series(const struct utilization_series *series, struct table *table)
{
	const struct utilization_metric *what = &usage_metrics[series->metric];
	char device[24] = "process", curve[NR_POINTS + 1];

	if (series->device == UINT32_MAX) {
		strcpy(device, "GPU (unknown)");
	} else if (series->device != USAGE_NO_DEVICE) {
		snprintf(device, sizeof(device), "GPU %u", series->device);
	} else if (what->meaning == USAGE_PER_ALL) {
		strcpy(device, "host");
	} else if (series->metric == GPROF_METRIC_CGROUP_THROTTLED_NS ||
		   series->metric == GPROF_METRIC_CGROUP_LIMIT_MILLI_CPUS) {
		strcpy(device, "container");
	}
	draw(series, curve);
	table_add(table, &(struct series_row){*series, device, what->name, what->unit, curve});
}

/* Below that, a burst of threads at the start is enough. */
#define MIN_THROTTLED_PCT 5.0

/* The CPU limit of a container, where it slows the process down. */
static void note_limit(const struct utilization *usage, struct table *table)
{
	for (size_t i = 0; i < usage->nr_series; i++) {
		const struct utilization_series *held = &usage->series[i], *limit;

		if (held->metric != GPROF_METRIC_CGROUP_THROTTLED_NS || held->weight <= 0 ||
			held->sum / held->weight < MIN_THROTTLED_PCT) {
			continue;
		}
		limit = utilization_find(usage, held->process, GPROF_METRIC_CGROUP_LIMIT_MILLI_CPUS,
			USAGE_NO_DEVICE);
		table_note(table,
			"The container (cgroup) of process %u may use %.1f CPUs. That limit kept "
			"threads of the container that were ready to run from running, for %.0f %% "
			"of a CPU on average: raise the limit, or use fewer threads "
			"(OMP_NUM_THREADS, num_workers).",
			held->process->pid, limit ? limit->max : NAN, held->sum / held->weight);
	}
}

/* A sample covers the time since the one before it: see the head of utilization.h. */
static void note_energy(const struct utilization *usage, struct table *table)
{
	for (size_t i = 0; i < usage->nr_series; i++) {
		const struct utilization_series *power = &usage->series[i];

		if (power->metric == GPROF_METRIC_GPU_ENERGY_MJ && power->step_weight > 0) {
			double step_ns = (double)power->steps_ns / (double)power->nr_steps;
			double watts = power->step_sum / power->step_weight;

			table_note(table,
				"GPU %u used %.2f J a step of process %u on average, by its energy "
				"counter, which has all that the GPU does. Samples cover %.0f %% "
				"of "
				"the time of the steps that count.",
				power->device, watts * step_ns * 1e-9, power->process->pid,
				100 * power->step_weight / (double)power->steps_ns);
		}
	}
}

static void add_note(const struct utilization *usage, struct table *table)
{
	bool has_samples = false;

	for (size_t i = 0; i < usage->nr_series; i++) {
		has_samples |= usage->series[i].metric != USAGE_GPU_UNION;
	}
	if (!has_samples) {
		table_note(table, "No samples were recorded (GPROF_SAMPLE_MS).");
	}
	note_limit(usage, table);
	note_energy(usage, table);
	for (size_t i = 0; i < usage->nr_series; i++) {
		for (size_t k = 0; k < sizeof(reasons) / sizeof(reasons[0]); k++) {
			if (usage->series[i].bits & reasons[k].bit) {
				table_note(table, "GPU %u was throttled: %s.",
					usage->series[i].device, reasons[k].name);
			}
		}
	}
}

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, VIEW_PID(series_row, series.process)),
	TABLE_COLUMN("device", "Of", TABLE_TEXT,
		.help = "process, its container (cgroup), host or GPU",
		TABLE_MEMBER(series_row, device)),
	TABLE_COLUMN("metric", "Metric", TABLE_TEXT, TABLE_MEMBER(series_row, name)),
	TABLE_COLUMN("samples", "Samples", TABLE_COUNT, .help = "samples, or GPU activities",
		TABLE_MEMBER(series_row, series.nr)),
	TABLE_COLUMN("avg", "Avg", TABLE_NUMBER, .help = "over the recording",
		TABLE_MEAN(series_row, series.sum, series.weight)),
	TABLE_COLUMN("avg_in_steps", "In steps", TABLE_NUMBER,
		.help = "mean over the steps that count, by the samples that lie in them or "
			"cover a part of them",
		TABLE_MEAN(series_row, series.step_sum, series.step_weight)),
	TABLE_COLUMN("max", "Max", TABLE_NUMBER, TABLE_MEMBER(series_row, series.max)),
	TABLE_COLUMN("min", "Min", TABLE_NUMBER, TABLE_MEMBER(series_row, series.min)),
	TABLE_COLUMN("unit", "Unit", TABLE_TEXT, TABLE_MEMBER(series_row, unit)),
	TABLE_COLUMN("curve", "Over time", TABLE_TEXT, .is_wide_only = true,
		.help = "the metric over the run, from 0 to its maximum",
		TABLE_MEMBER(series_row, curve)),
};

static void fill_table(void *state, struct table *table)
{
	struct utilization_view *view = state;
	struct utilization *usage = &view->usage;

	for (size_t i = 0; i < usage->nr_series; i++) {
		if (usage->series[i].weight > 0) {
			add_series(&usage->series[i], table);
		}
	}
	add_note(usage, table);
	view_note_lost(table, &view->input);
}

/* ---- over time ---- */

enum column {
	PID,
	RANK,
	START,
	LENGTH,
	CPU,
	HOST,
	HOST_USER,
	HOST_SYSTEM,
	HOST_IOWAIT,
	RESIDENT,
	GPU,
	GPU_BUSY,
	GPU_SAMPLED,
	GPU_MEMORY,
	GPU_POWER,
	GPU_SM,
	GPU_TENSOR,
	GPU_BANDWIDTH,
};

struct metric_column {
	uint8_t metric, column;
};

static const struct metric_column of_device[] = {
	{USAGE_GPU_UNION, GPU_BUSY},
	{GPROF_METRIC_GPU_BUSY_PERCENT, GPU_SAMPLED},
	{GPROF_METRIC_GPU_MEMORY_BYTES, GPU_MEMORY},
	{GPROF_METRIC_GPU_POWER_MW, GPU_POWER},
	{GPROF_METRIC_GPU_SM_ACTIVE_MILLI_PERCENT, GPU_SM},
	{GPROF_METRIC_GPU_TENSOR_MILLI_PERCENT, GPU_TENSOR},
	{GPROF_METRIC_GPU_DRAM_MILLI_PERCENT, GPU_BANDWIDTH},
};

/* These belong to the process or the host. */
static const struct metric_column of_no_device[] = {
	{GPROF_METRIC_PROCESS_CPU_NS, CPU},
	{GPROF_METRIC_HOST_CPU_BUSY_NS, HOST},
	{GPROF_METRIC_HOST_CPU_USER_NS, HOST_USER},
	{GPROF_METRIC_HOST_CPU_SYSTEM_NS, HOST_SYSTEM},
	{GPROF_METRIC_HOST_CPU_IOWAIT_NS, HOST_IOWAIT},
	{GPROF_METRIC_PROCESS_RSS_BYTES, RESIDENT},
};

static void set_bucket(const struct utilization *usage, const struct utilization_series *of,
	uint8_t metric, uint32_t device, size_t bucket, struct table_cell *cell)
{
	const struct utilization_series *series =
		utilization_find(usage, of->process, metric, device);
	double value;

	if (!series || !utilization_bucket(series, bucket, &value)) {
		return;
	}
	if (usage_metrics[metric].meaning == USAGE_SHOWN &&
		strcmp(usage_metrics[metric].unit, "MB") == 0) {
		table_set_integer(cell, whole_part(value / usage_metrics[metric].factor + 0.5));
	} else {
		table_set_number(cell, value);
	}
}

static void fill_gpu(const struct utilization *usage, const struct utilization_series *of,
	size_t bucket, struct table_cell *cells)
{
	if (of->device != UINT32_MAX) {
		table_set_integer(&cells[GPU], of->device);
	}
	for (size_t i = 0; i < sizeof(of_device) / sizeof(of_device[0]); i++) {
		set_bucket(usage, of, of_device[i].metric, of->device, bucket,
			&cells[of_device[i].column]);
	}
}

static struct table_cell *add_bucket(
	struct table *table, const struct utilization_series *of, size_t bucket)
{
	struct table_cell *cells = table_add_row(table);
	uint64_t begin = time_axis_time(of->process, of->begin);
	uint64_t start = bucket * of->width, span = of->end - of->begin;

	view_fill_process(of->process, &cells[PID]);
	table_set_integer(&cells[START], begin + start);
	table_set_integer(&cells[LENGTH], span - start < of->width ? span - start : of->width);
	return cells;
}

/* One row, with what is known of process and host; and one for each more GPU. `of`: the first
 * series of the process. */
static void add_buckets(const struct utilization *usage, const struct utilization_series *of,
	size_t bucket, struct table *table)
{
	const struct utilization_series *end = usage->series + usage->nr_series;
	struct table_cell *cells = add_bucket(table, of, bucket);
	bool is_first = true;

	for (size_t i = 0; i < sizeof(of_no_device) / sizeof(of_no_device[0]); i++) {
		set_bucket(usage, of, of_no_device[i].metric, USAGE_NO_DEVICE, bucket,
			&cells[of_no_device[i].column]);
	}
	for (const struct utilization_series *at = of; at < end && at->process == of->process;
		at++) {
		const struct utilization_series *before = of;

		while (before < at && before->device != at->device) {
			before++;
		}
		if (before < at || at->device == USAGE_NO_DEVICE) {
			continue;
		}
		fill_gpu(usage, at, bucket, is_first ? cells : add_bucket(table, of, bucket));
		is_first = false;
	}
}

static const struct table_column time_columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID),
	TABLE_COLUMN("rank", "Rank", TABLE_ID, .is_wide_only = true),
	TABLE_COLUMN("start_ns", "Start", TABLE_TIME, .help = "since the start of the recording"),
	TABLE_COLUMN("duration_ns", "Length", TABLE_TIME),
	TABLE_COLUMN("cpu_process_pct", "CPU(Process) %", TABLE_PERCENT,
		.help = "CPU time of the process, as a share of one core"),
	TABLE_COLUMN("cpu_system_pct", "CPU(System) %", TABLE_PERCENT,
		.help = "busy time of all cores, as a share of all"),
	TABLE_COLUMN("cpu_user_pct", "User %", TABLE_PERCENT, .is_minor = true,
		.help = "time of all cores in programs, as a share of all"),
	TABLE_COLUMN("cpu_kernel_pct", "System %", TABLE_PERCENT, .is_minor = true,
		.help = "time of all cores in the operating system, as a share of all"),
	TABLE_COLUMN("cpu_iowait_pct", "iowait %", TABLE_PERCENT, .is_minor = true,
		.help = "idle time of all cores with I/O outstanding, as a share of all"),
	TABLE_COLUMN(
		"resident_bytes", "Resident", TABLE_SIZE, .help = "resident memory of the process"),
	TABLE_COLUMN("device", "GPU", TABLE_ID),
	TABLE_COLUMN("gpu_pct", "GPU busy %", TABLE_PERCENT,
		.help = "union of the kernels, copies and memsets of the process, as a share of "
			"the bucket"),
	TABLE_COLUMN("gpu_sampled_pct", "GPU sampled %", TABLE_PERCENT,
		.help = "utilization that the driver reports"),
	TABLE_COLUMN("gpu_memory_bytes", "GPU memory", TABLE_SIZE),
	TABLE_COLUMN("gpu_power_w", "GPU power W", TABLE_NUMBER),
	TABLE_COLUMN("gpu_sm_pct", "SM active %", TABLE_PERCENT, .is_minor = true,
		.help = "SMs with work, by hardware counters"),
	TABLE_COLUMN("gpu_tensor_pct", "Tensor cores %", TABLE_PERCENT, .is_minor = true,
		.help = "time in which tensor cores worked, by hardware counters"),
	TABLE_COLUMN("gpu_bandwidth_pct", "Bandwidth %", TABLE_PERCENT, .is_minor = true,
		.help = "GPU memory bandwidth in use, of the peak, by hardware counters"),
};

static void fill_time(void *state, struct table *table)
{
	struct utilization_view *view = state;
	struct utilization *usage = &view->usage;

	for (size_t i = 0; i < usage->nr_series; i++) {
		const struct utilization_series *series = &usage->series[i];

		if (i && series[-1].process == series->process) {
			continue;
		}
		for (size_t k = 0; k < series->nr_buckets; k++) {
			add_buckets(usage, series, k, table);
		}
	}
	view_note_lost(table, &view->input);
}

VIEW(utilization, 440) = {
	.name = "utilization",
	.subject = VIEW_ABOUT_RECORDING,
	.help = "utilization of CPU, memory and GPUs, over the whole recording",
	.about =
		"CPU(Process) is a share of one core, CPU(System) of all cores; user and system "
		"are their parts, and iowait is idle time of cores with I/O outstanding. \"busy\" "
		"is the union of the kernels, copies and memsets of the process, as a share of the "
		"recording: from its first event or sample to the last. \"busy, sampled\" is what "
		"the driver reports, of all processes. The maximum and minimum of \"busy\" are of "
		"the buckets in the view utilization-time, those of other metrics of single "
		"samples. The view device has busy time as a share of the span of GPU activities, "
		"the headline that of the steps that count. \"SM active\" to \"NVLink\" are "
		"hardware counters that NVML reads on Hopper and later GPUs, of all processes on "
		"the GPU, each a mean between two samples: SMs with work, resident warps of the "
		"maximum, time in which tensor cores and other units worked, memory bandwidth of "
		"the peak, and traffic. \"power, by energy\" is the energy that the GPU used "
		"between two samples, by that time. \"held back by limit\" is how long the CPU "
		"limit of the container kept threads that were ready from running, in percent of "
		"one core.",
	.counts_launches = true,
	.title = "Utilization",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct utilization_view),
	.scan = {wants, 1, NULL, begin, on_batch, end, true, on_activity},
	.fill = fill_table,
	.fini = fini,
};

VIEW(utilization_time, 450) = {
	.name = "utilization-time",
	.subject = VIEW_ABOUT_RECORDING,
	.help = "utilization of CPU, memory and GPUs over time, by buckets",
	.about = "A bucket is a power of ten of microseconds long; the last one ends with the "
		 "process. CPU(Process) is a share of one core, CPU(System) of all cores. A value "
		 "is n/a if no sample lies in the bucket.",
	.is_empty_hidden = true,
	.counts_launches = true,
	.title = "Utilization over time",
	VIEW_COLUMNS(time_columns),
	.shows = &view_utilization,
	.fill = fill_time,
};

static void add_all(struct counted_kernels *all, const struct counted_kernels *kernels)
{
	uint64_t nr = all->nr + kernels->nr, nr_sampled = all->nr_sampled + kernels->nr_sampled;

	/* As one kernel, whose number does not count. */
	counted_kernels_add(all, kernels->ns, &kernels->samples);
	all->nr = nr;
	all->nr_sampled = nr_sampled;
}

static void fill_notes(const struct kernel_counters *counters, const struct counted_kernels *all,
	const struct view_input *input, struct table *table)
{
	kernel_counters_note(counters, all, table);
	view_note_devices(table, input, "");
}

/* ---- counters of kernels, by name ---- */

struct kernel_counters_view {
	struct kernel_counters counters;
	struct view_input input;
};

static void kernels_init(void *state)
{
	kernel_counters_init(state);
}

static void kernels_fini(void *state)
{
	kernel_counters_fini(state);
}

static const struct table_column kernel_columns[] = {
	COUNTER_COLUMNS(kernel_counters_row, kernels),
	TABLE_COLUMN("name", "Kernel", TABLE_NAME, .is_kernel = true,
		TABLE_MEMBER(kernel_counters_row, name)),
};

static void fill_kernels(void *state, struct table *table)
{
	struct kernel_counters_view *view = state;
	const struct kernel_counters *counters = &view->counters;
	struct counted_kernels all = {0};

	for (size_t i = 0; i < counters->names.nr_rows; i++) {
		add_all(&all, &counters->rows[i].kernels);
		if (counters->nr_samples) {
			table_add(table, &counters->rows[i]);
		}
	}
	fill_notes(counters, &all, &view->input, table);
	table_sort(table, "total");
}

VIEW(utilization_kernels, 460) = {
	.name = "utilization-kernels",
	.subject = VIEW_ABOUT_GPU,
	.help = "hardware counters of kernels, by name",
	.about = "The counters are measured (GPROF_METRICS=pm: every 0.1 ms). A sample is of the "
		 "whole GPU, so it counts for a kernel only if it lies wholly in the time in which "
		 "the kernel ran; kernels that run at once share it. Kernels in which no sample "
		 "lies are not sampled and have n/a. Values are means over the samples, weighted "
		 "by their length.",
	.title = "Hardware counters of kernels",
	VIEW_COLUMNS(kernel_columns),
	VIEW_STATE(struct kernel_counters_view),
	.parts = {{&kernel_counters_scan, NULL, offsetof(struct kernel_counters_view, counters)}},
	.init = kernels_init,
	.fill = fill_kernels,
	.fini = kernels_fini,
};

/* ---- the same by operator, phase and step, which share a walk over operators ---- */

struct group {
	struct process *process; /* only a step has one */
	uint64_t step;
	uint32_t name; /* an operator has it: a number of string_pool.h */
	const char *phase;
	struct counted_kernels kernels;
};

struct groups {
	struct group *items;
	size_t nr, capacity;
};

struct launched_view {
	struct kernel_counters counters;
	struct view_input input;
	struct keyed_stats names; /* row k is that of operators.items[k] */
	struct groups operators, steps;
	struct groups segments; /* of the current process; 0 is for kernels without a segment */
	struct counted_kernels phases[NR_PHASES], all;
	size_t first_step; /* of the current process, in steps */
};

static struct group *find_group(struct groups *groups, size_t place)
{
	if (place >= groups->capacity) {
		size_t nr = 2 * place + 16;

		groups->items = mem_resize(groups->items, nr, sizeof(*groups->items));
		memset(groups->items + groups->capacity, 0,
			(nr - groups->capacity) * sizeof(*groups->items));
		groups->capacity = nr;
	}
	groups->nr = place < groups->nr ? groups->nr : place + 1;
	return &groups->items[place];
}

static void launched_init(void *state)
{
	struct launched_view *view = state;

	kernel_counters_init(&view->counters);
	view->counters.keeps_kernels = true;
	keyed_stats_init(&view->names);
}

static void launched_begin(void *context, struct process *process)
{
	struct launched_view *view = context;

	(void)process;
	view->first_step = view->steps.nr;
	if (view->segments.nr) {
		memset(view->segments.items, 0, view->segments.nr * sizeof(*view->segments.items));
	}
	view->segments.nr = 0;
}

static uint32_t operator_name(
	const struct op_record *record, const struct op_call *call, const struct op *op)
{
	const char *lacks;

	op = op_operator_around(op);
	if (op) {
		return op_row_name(op->name);
	}
	lacks = op_record_lacks_op(record, call != NULL);
	return string_pool_intern(lacks, strlen(lacks));
}

static void launched_record(void *context, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	struct launched_view *view = context;
	struct process *process = view->input.process;
	const struct counter_samples *samples;
	uint32_t name, step = call ? call->step : 0;
	struct group *group;
	uint64_t ns;

	if (record->table != GPROF_TABLE_kernel || !record->is_timed) {
		return;
	}
	ns = record->end_ns - record->begin_ns;
	samples = kernel_counters_of_record(&view->counters, process, record);
	counted_kernels_add(&view->all, ns, samples);
	name = operator_name(record, call, op);
	group = find_group(&view->operators, keyed_stats_find(&view->names, name, name, 0));
	group->name = name;
	counted_kernels_add(&group->kernels, ns, samples);
	/* Segments have names once the walk has ended; 0 is for kernels without one. */
	group = find_group(&view->segments,
		call && call->segment != UINT32_MAX ? 1 + (size_t)call->segment : 0);
	counted_kernels_add(&group->kernels, ns, samples);
	if (step) {
		group = find_group(&view->steps, view->first_step + step - 1);
		group->process = process;
		group->step = process->steps[step - 1].step;
		counted_kernels_add(&group->kernels, ns, samples);
	}
}

static void launched_end(void *context, struct process *process, const struct phases *phases)
{
	struct launched_view *view = context;

	(void)phases;
	for (size_t i = 0; i < view->segments.nr; i++) {
		enum phase phase = i ? phases_of_segment(process, (uint32_t)(i - 1)) : PHASE_OTHERS;

		add_all(&view->phases[phase], &view->segments.items[i].kernels);
	}
}

static void launched_fini(void *state)
{
	struct launched_view *view = state;

	kernel_counters_fini(&view->counters);
	keyed_stats_fini(&view->names);
	free(view->operators.items);
	free(view->steps.items);
	free(view->segments.items);
}

static void fill_groups(
	const struct launched_view *view, const struct groups *groups, struct table *table)
{
	for (size_t i = 0; i < groups->nr && view->counters.nr_samples; i++) {
		if (groups->items[i].kernels.nr) {
			table_add(table, &groups->items[i]);
		}
	}
	fill_notes(&view->counters, &view->all, &view->input, table);
}

static void fill_operators(void *state, struct table *table)
{
	struct launched_view *view = state;

	fill_groups(view, &view->operators, table);
	table_sort(table, "total");
}

static void fill_phases(void *state, struct table *table)
{
	struct launched_view *view = state;
	struct group items[NR_PHASES] = {0};
	struct groups groups = {items, NR_PHASES, NR_PHASES};

	for (unsigned int i = 0; i < NR_PHASES; i++) {
		items[i].phase = phase_names[i];
		items[i].kernels = view->phases[i];
	}
	fill_groups(view, &groups, table);
}

static void fill_steps(void *state, struct table *table)
{
	struct launched_view *view = state;

	fill_groups(view, &view->steps, table);
}

static const struct table_column operator_columns[] = {
	COUNTER_COLUMNS(group, kernels),
	TABLE_COLUMN("name", "Operator", TABLE_NAME, .help = "innermost operator around the launch",
		TABLE_MEMBER(group, name)),
};

static const struct table_column phase_columns[] = {
	TABLE_COLUMN("phase", "Phase", TABLE_TEXT, .help = "in which the kernels were launched",
		TABLE_MEMBER(group, phase)),
	COUNTER_COLUMNS(group, kernels),
};

static const struct table_column step_columns[] = {
	VIEW_PROCESS_COLUMNS(group, process),
	TABLE_COLUMN("step", "Step", TABLE_ID, .help = "in which the kernels were launched",
		TABLE_MEMBER(group, step)),
	COUNTER_COLUMNS(group, kernels),
};

#define ABOUT                                                                                   \
	"The counters are measured, as in the view utilization-kernels: a sample counts for a " \
	"kernel if it lies wholly in its time. "

VIEW(utilization_operators, 461) = {
	.name = "utilization-operators",
	.subject = VIEW_ABOUT_GPU,
	.help = "hardware counters of kernels, by operator",
	.about = ABOUT "A kernel belongs to the innermost operator around its launch; in a CUDA "
		       "graph, around its capture.",
	.title = "Hardware counters of operators",
	VIEW_COLUMNS(operator_columns),
	VIEW_STATE(struct launched_view),
	.ops = {.begin = launched_begin, .record = launched_record, .end = launched_end},
	.parts = {{&kernel_counters_scan, NULL, offsetof(struct launched_view, counters)}},
	.init = launched_init,
	.fill = fill_operators,
	.fini = launched_fini,
};

VIEW(utilization_phases, 462) = {
	.name = "utilization-phases",
	.subject = VIEW_ABOUT_GPU,
	.help = "hardware counters of kernels, by phase",
	.about = ABOUT "A kernel belongs to the phase that launched it, whenever it ran. Others "
		       "also has kernels whose launch or phase is not recorded.",
	.title = "Hardware counters of phases",
	VIEW_COLUMNS(phase_columns),
	.shows = &view_utilization_operators,
	.fill = fill_phases,
};

VIEW(utilization_steps, 463) = {
	.name = "utilization-steps",
	.subject = VIEW_ABOUT_GPU,
	.help = "hardware counters of kernels, by step",
	.about = ABOUT "A kernel belongs to the step that launched it, whenever it ran. Time "
		       "without kernels does not count: the view utilization has means over all "
		       "time of the steps.",
	.title = "Hardware counters of steps",
	VIEW_COLUMNS(step_columns),
	.shows = &view_utilization_operators,
	.fill = fill_steps,
};
