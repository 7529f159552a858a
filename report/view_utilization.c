/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the samplers saw over time: CPU of process and host, memory, switches, and of GPUs what NVML
 * tells. CPU(Process) is the CPU time of the process in the time that passed, so 100 % is one core;
 * CPU(System) is busy in busy and idle time of all CPUs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/view.h"

#define NR_POINTS 32u

/* How samples become what is shown. */
enum meaning {
	UNKNOWN, /* of a newer recorder */
	SHOWN,	 /* times factor */
	PER_CPU, /* rises in ns: its share of the time that passed, % */
	PER_S,	 /* rises: so many a second */
	PER_ALL, /* host's busy time, in that of the metric after it, % */
	ALL,	 /* that metric, not shown itself */
	REASONS, /* bits: % of samples that have some */
};

static const struct metric {
	const char *name, *unit;
	enum meaning meaning;
	double factor;
} metrics[] = {
	[GPROF_METRIC_PROCESS_CPU_NS] = {"CPU(Process)", "%", PER_CPU, 1},
	[GPROF_METRIC_PROCESS_RSS_BYTES] = {"memory, resident", "MB", SHOWN, 1e-6},
	[GPROF_METRIC_PROCESS_THREADS] = {"threads", "", SHOWN, 1},
	[GPROF_METRIC_PROCESS_SWITCHES] = {"waits", "/s", PER_S, 1},
	[GPROF_METRIC_PROCESS_PREEMPTIONS] = {"preemptions", "/s", PER_S, 1},
	[GPROF_METRIC_HOST_CPU_BUSY_NS] = {"CPU(System)", "%", PER_ALL, 1},
	[GPROF_METRIC_HOST_CPU_ALL_NS] = {NULL, NULL, ALL, 1},
	[GPROF_METRIC_GPU_BUSY_PERCENT] = {"busy", "%", SHOWN, 1},
	[GPROF_METRIC_GPU_MEMORY_PERCENT] = {"memory busy", "%", SHOWN, 1},
	[GPROF_METRIC_GPU_MEMORY_BYTES] = {"memory in use", "MB", SHOWN, 1e-6},
	[GPROF_METRIC_GPU_POWER_MW] = {"power", "W", SHOWN, 1e-3},
	[GPROF_METRIC_GPU_SM_CLOCK_MHZ] = {"SM clock", "MHz", SHOWN, 1},
	[GPROF_METRIC_GPU_MEMORY_CLOCK_MHZ] = {"memory clock", "MHz", SHOWN, 1},
	[GPROF_METRIC_GPU_TEMPERATURE_C] = {"temperature", "C", SHOWN, 1},
	[GPROF_METRIC_GPU_THROTTLE_REASONS] = {"slowed down", "%", REASONS, 100},
};

#define NR_METRICS (sizeof(metrics) / sizeof(metrics[0]))

/* nvml.h, nvmlClocksThrottleReason...: not those that nobody minds, idle and set clocks. */
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

/* One metric of a device of a process. */
struct series {
	struct process *process;
	uint8_t metric, device;
	uint64_t nr;
	uint64_t ns, value; /* of the last sample */
	double sum, min, max, weight;
	double points[NR_POINTS], weights[NR_POINTS];
	uint64_t bits;
};

struct utilization_view {
	struct series *series;
	size_t nr_series, capacity;
	uint64_t first_ns, last_ns; /* of the samples of the process at hand */
	uint64_t busy_ns, busy_at;  /* host: of the last interval, and when it ended */
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_sample, COL_ALL(NR_COL_sample), 0},
};

static void *create(const struct view_input *input)
{
	(void)input;
	return mem_zeroed(1, sizeof(struct utilization_view));
}

static void begin(void *context, struct process *process)
{
	struct utilization_view *view = context;
	const struct stream_in *stream = process->stream;

	view->first_ns = UINT64_MAX;
	view->last_ns = 0;
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		const struct stream_block *block = &stream->blocks[i];

		if (stream_in_block_table(stream, i) == GPROF_TABLE_sample && block->time_max) {
			uint64_t first = clock_map_time(&process->host_clock, block->time_min);
			uint64_t last = clock_map_time(&process->host_clock, block->time_max);

			view->first_ns = first < view->first_ns ? first : view->first_ns;
			view->last_ns = last > view->last_ns ? last : view->last_ns;
		}
	}
}

static struct series *find_series(
	struct utilization_view *view, struct process *process, uint8_t metric, uint8_t device)
{
	for (size_t i = view->nr_series; i-- > 0 && view->series[i].process == process;) {
		if (view->series[i].metric == metric && view->series[i].device == device) {
			return &view->series[i];
		}
	}
	view->series =
		array_grow(view->series, view->nr_series, &view->capacity, sizeof(*view->series));
	view->series[view->nr_series] =
		(struct series){.process = process, .metric = metric, .device = device};
	return &view->series[view->nr_series++];
}

/* A value that held for so long, until `ns`. */
static void add(const struct utilization_view *view, struct series *series, uint64_t ns,
	double value, double weight)
{
	uint64_t span = view->last_ns > view->first_ns ? view->last_ns - view->first_ns : 1;
	uint64_t after = ns > view->first_ns ? ns - view->first_ns : 0;
	size_t point = (size_t)((double)after / (double)span * NR_POINTS);

	point = point < NR_POINTS ? point : NR_POINTS - 1;
	series->min = series->weight <= 0 || value < series->min ? value : series->min;
	series->max = series->weight <= 0 || value > series->max ? value : series->max;
	series->sum += value * weight;
	series->weight += weight;
	series->points[point] += value * weight;
	series->weights[point] += weight;
}

/* What rises: by how much since the last sample. */
static void add_rise(
	struct utilization_view *view, struct series *series, const struct series *before)
{
	double passed = (double)(series->ns - before->ns);
	double rise = (double)(series->value - before->value);

	switch (metrics[series->metric].meaning) {
	case PER_CPU:
		add(view, series, series->ns, 100 * rise / passed, passed);
		break;
	case PER_S:
		add(view, series, series->ns, 1e9 * rise / passed, passed);
		break;
	default:
		view->busy_ns = (uint64_t)rise;
		view->busy_at = series->ns;
		break;
	}
}

/* The host's time, which comes after its busy time, of the same moment. */
static void add_host(
	struct utilization_view *view, const struct series *all, uint64_t ns, uint64_t value)
{
	struct process *process = all->process;
	double rise = (double)(value - all->value), busy = (double)view->busy_ns;
	uint8_t device = all->device;

	if (view->busy_at == ns && rise > 0 && busy <= rise) {
		add(view, find_series(view, process, GPROF_METRIC_HOST_CPU_BUSY_NS, device), ns,
			100 * busy / rise, rise);
	}
}

static void take_sample(struct utilization_view *view, struct process *process, uint8_t metric,
	uint8_t device, uint64_t ns, uint64_t value)
{
	struct series *series = find_series(view, process, metric, device);
	const struct metric *what = &metrics[metric];
	bool rises = series->nr && ns > series->ns && value >= series->value;
	struct series before = *series;

	series->nr++;
	series->ns = ns;
	series->value = value;
	if (what->meaning == SHOWN) {
		add(view, series, ns, (double)value * what->factor, 1);
	} else if (what->meaning == REASONS) {
		uint64_t bits = 0;

		for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
			bits |= value & reasons[i].bit;
		}
		series->bits |= bits;
		add(view, series, ns, bits ? what->factor : 0, 1);
	} else if (rises && what->meaning == ALL) {
		add_host(view, &before, ns, value);
	} else if (rises) {
		add_rise(view, series, &before);
	}
}

static void take(void *context, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t metric = b->col[COL_sample_metric][i];

		if (metric < NR_METRICS && metrics[metric].meaning != UNKNOWN) {
			take_sample(context, process, (uint8_t)metric,
				(uint8_t)b->col[COL_sample_device][i],
				clock_map_time(&process->host_clock, b->col[COL_sample_time][i]),
				b->col[COL_sample_value][i]);
		}
	}
}

/* ---- the table ---- */

/* The height of each part of the time, 0 to the largest. */
static void draw(const struct series *series, char *text)
{
	static const char levels[] = " .:-=+*#%@";
	size_t nr_levels = sizeof(levels) - 1;
	double last = 0;

	for (size_t i = 0; i < NR_POINTS; i++) {
		last = series->weights[i] > 0 ? series->points[i] / series->weights[i] : last;
		text[i] = levels[0];
		if (series->max > 0) {
			size_t level = (size_t)(last / series->max * (double)nr_levels);

			text[i] = levels[level < nr_levels ? level : nr_levels - 1];
		}
	}
	text[NR_POINTS] = '\0';
}

static void fill(const struct series *series, struct table_cell *cells)
{
	const struct metric *what = &metrics[series->metric];
	char device[16] = "process", curve[NR_POINTS + 1];

	if (series->device != 255) {
		snprintf(device, sizeof(device), "GPU %u", series->device);
	} else if (what->meaning == PER_ALL) {
		strcpy(device, "host");
	}
	draw(series, curve);
	table_set_integer(&cells[0], series->process->pid);
	table_set_text(&cells[1], device, strlen(device));
	table_set_text(&cells[2], what->name, strlen(what->name));
	table_set_integer(&cells[3], series->nr);
	table_set_number(&cells[4], series->sum / series->weight);
	table_set_number(&cells[5], series->max);
	table_set_number(&cells[6], series->min);
	table_set_text(&cells[7], what->unit, strlen(what->unit));
	table_set_text(&cells[8], curve, strlen(curve));
}

static void add_note(const struct utilization_view *view, struct table *table)
{
	table_note(table,
		"CPU(Process) of one core, CPU(System) of all; over time: from 0 to the largest%s",
		view->nr_series ? "" : "; there are no samples (GPROF_SAMPLE_MS)");
	for (size_t i = 0; i < view->nr_series; i++) {
		for (size_t k = 0; k < sizeof(reasons) / sizeof(reasons[0]); k++) {
			if (view->series[i].bits & reasons[k].bit) {
				table_note(table, "%s; GPU %u slowed down: %s", table->note,
					view->series[i].device, reasons[k].name);
			}
		}
	}
}

static struct table *make_table(void *context)
{
	static const struct table_column columns[] = {
		{"pid", "PID", TABLE_ID, false},
		{"device", "Of", TABLE_TEXT, false},
		{"metric", "What", TABLE_TEXT, false},
		{"samples", "Samples", TABLE_COUNT, false},
		{"avg", "Avg", TABLE_NUMBER, false},
		{"max", "Max", TABLE_NUMBER, false},
		{"min", "Min", TABLE_NUMBER, false},
		{"unit", "Unit", TABLE_TEXT, false},
		{"curve", "Over time", TABLE_TEXT, false},
	};
	struct utilization_view *view = context;
	struct table *table = table_create("utilization", "Utilization", columns, 9);

	for (size_t i = 0; i < view->nr_series; i++) {
		if (view->series[i].weight > 0) {
			fill(&view->series[i], table_add_row(table));
		}
	}
	add_note(view, table);
	return table;
}

static void destroy(void *context)
{
	struct utilization_view *view = context;

	free(view->series);
	free(view);
}

const struct view_class view_utilization = {
	.name = "utilization",
	.help = "CPU, memory and GPUs as sampled over time",
	.is_default = false,
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, take, NULL},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
