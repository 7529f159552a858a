/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns samples and activities into series of buckets, for the views utilization and stragglers and
 * for SQL. usage_metrics says what each metric of the recorder means: some values count as they
 * are, others rise, and only their slope between two samples counts. A slope holds from one sample
 * to the next, so it is spread over all buckets in between, in proportion.
 *
 *   samples      x          x     x        CPU time, ns
 *   slope        |---40 %---|-90 %|
 *   buckets    |    |    |    |    |       each gets the weighted mean of the slopes in it
 */
#include "report/gpu/utilization.h"

#include <stdlib.h>

#include "report/model/select.h"
#include "report/ops/counted_steps.h"
#include "report/util/buf.h"

const struct utilization_metric usage_metrics[] = {
	[USAGE_GPU_UNION] = {NULL, "busy", "%", USAGE_UNION, 1},
	[GPROF_METRIC_PROCESS_CPU_NS] = {"process_cpu_ns", "CPU(Process)", "%", USAGE_PER_CPU, 1},
	[GPROF_METRIC_PROCESS_RSS_BYTES] = {"process_rss_bytes", "memory, resident", "MB",
		USAGE_SHOWN, 1e-6},
	[GPROF_METRIC_PROCESS_THREADS] = {"process_threads", "threads", "", USAGE_SHOWN, 1},
	[GPROF_METRIC_PROCESS_SWITCHES] = {"process_switches", "waits", "/s", USAGE_PER_S, 1},
	[GPROF_METRIC_PROCESS_PREEMPTIONS] = {"process_preemptions", "preemptions", "/s",
		USAGE_PER_S, 1},
	[GPROF_METRIC_PROCESS_MAJOR_FAULTS] = {"process_major_faults", "pages from disk", "/s",
		USAGE_PER_S, 1},
	[GPROF_METRIC_PROCESS_READ_BYTES] = {"process_read_bytes", "read by calls", "MB/s",
		USAGE_PER_S, 1e-6},
	[GPROF_METRIC_PROCESS_STORAGE_READ_BYTES] = {"process_storage_read_bytes",
		"read from storage", "MB/s", USAGE_PER_S, 1e-6},
	[GPROF_METRIC_PROCESS_NODE_PAGES] = {"process_node_pages", NULL, NULL, USAGE_UNKNOWN, 1},
	[GPROF_METRIC_PROCESS_PINNED_NODE_PAGES] = {"process_pinned_node_pages", NULL, NULL,
		USAGE_UNKNOWN, 1},
	[GPROF_METRIC_PROCESS_ALLOWED_CPUS] = {"process_allowed_cpus", "CPUs allowed", "",
		USAGE_SHOWN, 1},
	[GPROF_METRIC_CGROUP_THROTTLED_NS] = {"cgroup_throttled_ns", "held back by limit", "%",
		USAGE_PER_CPU, 1},
	[GPROF_METRIC_CGROUP_LIMIT_MILLI_CPUS] = {"cgroup_limit_milli_cpus", "CPU limit", "CPUs",
		USAGE_SHOWN, 1e-3},
	[GPROF_METRIC_PROCESS_USER_NS] = {"process_user_ns", "CPU(Process), user", "%",
		USAGE_PER_CPU, 1},
	[GPROF_METRIC_PROCESS_SYSTEM_NS] = {"process_system_ns", "CPU(Process), system", "%",
		USAGE_PER_CPU, 1},
	[GPROF_METRIC_HOST_CPU_BUSY_NS] = {"host_cpu_busy_ns", "CPU(System)", "%", USAGE_PER_ALL,
		1},
	[GPROF_METRIC_HOST_CPU_ALL_NS] = {"host_cpu_all_ns", NULL, NULL, USAGE_ALL, 1},
	[GPROF_METRIC_HOST_CPU_USER_NS] = {"host_cpu_user_ns", "CPU(System), user", "%",
		USAGE_PER_ALL, 1},
	[GPROF_METRIC_HOST_CPU_SYSTEM_NS] = {"host_cpu_system_ns", "CPU(System), system", "%",
		USAGE_PER_ALL, 1},
	[GPROF_METRIC_HOST_CPU_IOWAIT_NS] = {"host_cpu_iowait_ns", "CPU(System), iowait", "%",
		USAGE_PER_ALL, 1},
	[GPROF_METRIC_GPU_BUSY_PERCENT] = {"gpu_busy_percent", "busy, sampled", "%", USAGE_SHOWN,
		1},
	[GPROF_METRIC_GPU_MEMORY_PERCENT] = {"gpu_memory_percent", "memory busy", "%", USAGE_SHOWN,
		1},
	[GPROF_METRIC_GPU_MEMORY_BYTES] = {"gpu_memory_bytes", "memory in use", "MB", USAGE_SHOWN,
		1e-6},
	[GPROF_METRIC_GPU_POWER_MW] = {"gpu_power_mw", "power", "W", USAGE_SHOWN, 1e-3},
	[GPROF_METRIC_GPU_SM_CLOCK_MHZ] = {"gpu_sm_clock_mhz", "SM clock", "MHz", USAGE_SHOWN, 1},
	[GPROF_METRIC_GPU_MEMORY_CLOCK_MHZ] = {"gpu_memory_clock_mhz", "memory clock", "MHz",
		USAGE_SHOWN, 1},
	[GPROF_METRIC_GPU_TEMPERATURE_C] = {"gpu_temperature_c", "temperature", "C", USAGE_SHOWN,
		1},
	[GPROF_METRIC_GPU_THROTTLE_REASONS] = {"gpu_throttle_reasons", "throttled", "%",
		USAGE_REASONS, 100},
	[GPROF_METRIC_GPU_ENERGY_MJ] = {"gpu_energy_mj", "power, by energy", "W", USAGE_PER_S,
		1e-3},
	[GPROF_METRIC_GPU_MEANS_NS] = {"gpu_means_ns", NULL, NULL, USAGE_LENGTH, 1},
	[GPROF_METRIC_GPU_SM_ACTIVE_MILLI_PERCENT] = {"gpu_sm_active_milli_percent", "SM active",
		"%", USAGE_MEAN, 1e-3},
	[GPROF_METRIC_GPU_OCCUPANCY_MILLI_PERCENT] = {"gpu_occupancy_milli_percent", "SM occupancy",
		"%", USAGE_MEAN, 1e-3},
	[GPROF_METRIC_GPU_TENSOR_MILLI_PERCENT] = {"gpu_tensor_milli_percent",
		"tensor cores active", "%", USAGE_MEAN, 1e-3},
	[GPROF_METRIC_GPU_DRAM_MILLI_PERCENT] = {"gpu_dram_milli_percent", "memory bandwidth", "%",
		USAGE_MEAN, 1e-3},
	[GPROF_METRIC_GPU_DRAM_READ_MILLI_PERCENT] = {"gpu_dram_read_milli_percent",
		"memory bandwidth, reads", "%", USAGE_MEAN, 1e-3},
	[GPROF_METRIC_GPU_DRAM_WRITE_MILLI_PERCENT] = {"gpu_dram_write_milli_percent",
		"memory bandwidth, writes", "%", USAGE_MEAN, 1e-3},
	[GPROF_METRIC_GPU_FP64_MILLI_PERCENT] = {"gpu_fp64_milli_percent", "FP64 units active", "%",
		USAGE_MEAN, 1e-3},
	[GPROF_METRIC_GPU_FP32_MILLI_PERCENT] = {"gpu_fp32_milli_percent", "FP32 units active", "%",
		USAGE_MEAN, 1e-3},
	[GPROF_METRIC_GPU_FP16_MILLI_PERCENT] = {"gpu_fp16_milli_percent", "FP16 units active", "%",
		USAGE_MEAN, 1e-3},
	[GPROF_METRIC_GPU_PCIE_TX_BYTES_PER_S] = {"gpu_pcie_tx_bytes_per_s", "PCIe, sent", "GB/s",
		USAGE_MEAN, 1e-9},
	[GPROF_METRIC_GPU_PCIE_RX_BYTES_PER_S] = {"gpu_pcie_rx_bytes_per_s", "PCIe, received",
		"GB/s", USAGE_MEAN, 1e-9},
	[GPROF_METRIC_GPU_NVLINK_TX_BYTES_PER_S] = {"gpu_nvlink_tx_bytes_per_s", "NVLink, sent",
		"GB/s", USAGE_MEAN, 1e-9},
	[GPROF_METRIC_GPU_NVLINK_RX_BYTES_PER_S] = {"gpu_nvlink_rx_bytes_per_s", "NVLink, received",
		"GB/s", USAGE_MEAN, 1e-9},
};

const size_t usage_nr_metrics = sizeof(usage_metrics) / sizeof(usage_metrics[0]);
_Static_assert(
	sizeof(usage_metrics) / sizeof(usage_metrics[0]) <= USAGE_MAX_METRICS, "USAGE_MAX_METRICS");

/* ---- buckets ---- */

/* Cuts the time to what is selected: from its first to its last tick, whatever lies between. */
static void clip_to_choice(struct utilization *usage)
{
	struct process *process = usage->process;
	const struct intervals *spans = process->select ? &process->select->spans : NULL;
	uint64_t end;

	if (!spans || !spans->nr) {
		return;
	}
	end = spans->items[spans->nr - 1].end;
	usage->begin = clock_map_time(&process->host_clock, spans->items[0].begin);
	if (end != UINT64_MAX) { /* a window that is open */
		usage->end = clock_map_time(&process->host_clock, end);
	}
}

/* From the first event or sample to the last. */
static void find_span(struct utilization *usage)
{
	struct process *process = usage->process;
	const struct stream *stream = process->stream;

	usage->begin = process->first_ns;
	usage->end = process->first_ns <= process->last_ns ? process->last_ns : 0;
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		const struct stream_block *block = &stream->blocks[i];

		if (stream_block_table(stream, i) == GPROF_TABLE_sample && block->time_max) {
			uint64_t first = clock_map_time(&process->host_clock, block->time_min);
			uint64_t last = clock_map_time(&process->host_clock, block->time_max);

			usage->begin = first < usage->begin ? first : usage->begin;
			usage->end = last > usage->end ? last : usage->end;
		}
	}
	clip_to_choice(usage);
	usage->begin = usage->begin < usage->end ? usage->begin : usage->end;
}

static void find_buckets(struct utilization *usage)
{
	uint64_t span;

	find_span(usage);
	span = usage->end - usage->begin;
	usage->width = 1000;
	while (span / usage->width >= USAGE_BUCKETS) {
		usage->width *= 10;
	}
	usage->nr_buckets = (size_t)(span / usage->width) + 1;
}

static size_t bucket_of(const struct utilization_series *series, uint64_t ns)
{
	uint64_t after = ns > series->begin ? ns - series->begin : 0;

	return after / series->width < series->nr_buckets ? (size_t)(after / series->width)
							  : series->nr_buckets - 1;
}

static void spread_any(
	struct utilization_series *series, uint64_t begin, uint64_t end, double value)
{
	size_t last;

	last = bucket_of(series, end);
	for (size_t i = bucket_of(series, begin); i <= last; i++) {
		uint64_t from = series->begin + i * series->width, to = from + series->width;
		double part;

		from = begin > from || i == 0 ? begin : from;
		to = end < to || i == series->nr_buckets - 1 ? end : to;
		part = to > from ? (double)(to - from) : 0;
		series->points[i] += value * part;
		series->weights[i] += part;
	}
	series->bucket = last;
	series->bucket_begin = series->begin + last * series->width;
}

/* A value that held from `begin` to `end`: so much of it for each bucket as lies in that. */
static void spread(struct utilization_series *series, uint64_t begin, uint64_t end, double value)
{
	begin = begin > series->begin ? begin : series->begin;
	if (begin < end && begin >= series->bucket_begin &&
		end - series->bucket_begin < series->width) { /* the bucket of the last one */
		double part = (double)(end - begin);

		series->points[series->bucket] += value * part;
		series->weights[series->bucket] += part;
	} else {
		spread_any(series, begin, end, value);
	}
}

static void add_value(struct utilization_series *series, double value, double weight)
{
	series->min = series->weight <= 0 || value < series->min ? value : series->min;
	series->max = series->weight <= 0 || value > series->max ? value : series->max;
	series->sum += value * weight;
	series->weight += weight;
}

/* Adds the part of a sample that lies in steps. One of a moment weighs 1 there, too. */
static void add_in_steps(struct utilization *usage, struct utilization_series *series,
	uint64_t begin, uint64_t end, double value)
{
	double weight;

	intervals_clip(&usage->steps, begin, end > begin ? end : begin + 1, &usage->part);
	weight = (double)intervals_length(&usage->part);
	series->step_sum += value * weight;
	series->step_weight += weight;
}

static void add_sample(
	struct utilization *usage, struct utilization_series *series, uint64_t ns, double value)
{
	size_t bucket = bucket_of(series, ns);

	add_value(series, value, 1);
	add_in_steps(usage, series, ns, ns, value);
	series->points[bucket] += value;
	series->weights[bucket] += 1;
}

static void add_span(struct utilization *usage, struct utilization_series *series, uint64_t begin,
	uint64_t end, double value)
{
	add_value(series, value, (double)(end - begin));
	add_in_steps(usage, series, begin, end, value);
	spread(series, begin, end, value);
}

bool utilization_bucket(const struct utilization_series *series, size_t bucket, double *value)
{
	if (bucket >= series->nr_buckets || series->weights[bucket] <= 0) {
		return false;
	}
	*value = series->points[bucket] / series->weights[bucket];
	return true;
}

/* ---- series ---- */

const struct utilization_series *utilization_find(const struct utilization *usage,
	const struct process *process, uint8_t metric, uint32_t device)
{
	for (size_t i = usage->nr_series; i-- > 0;) {
		const struct utilization_series *series = &usage->series[i];

		if (series->process == process && series->metric == metric &&
			series->device == device) {
			return series;
		}
	}
	return NULL;
}

/* The series of the current process are the last ones. */
static struct utilization_series *find_series(
	struct utilization *usage, uint8_t metric, uint32_t device)
{
	struct utilization_series *series;

	for (size_t i = usage->nr_series; i-- > 0;) {
		series = &usage->series[i];
		if (series->process != usage->process) {
			break;
		}
		if (series->metric == metric && series->device == device) {
			return series;
		}
	}
	usage->series = array_grow(
		usage->series, usage->nr_series, &usage->capacity, sizeof(*usage->series));
	series = &usage->series[usage->nr_series++];
	*series = (struct utilization_series){.process = usage->process,
		.metric = metric,
		.device = device,
		.begin = usage->begin,
		.end = usage->end,
		.width = usage->width,
		.nr_buckets = usage->nr_buckets,
		.bucket_begin = usage->begin,
		.steps_ns = usage->steps_ns,
		.nr_steps = usage->nr_steps,
		.rise_from_ns = UINT64_MAX};
	return series;
}

/* ---- samples ---- */

/*
 * Adds the slope of a rising value since its last sample. A share of all CPUs must wait for that
 * metric, which comes next.
 */
static void add_rise(struct utilization *usage, struct utilization_series *series,
	const struct utilization_series *before)
{
	double passed = (double)(series->ns - before->ns);
	double rise = (double)(series->value - before->value);

	switch (usage_metrics[series->metric].meaning) {
	case USAGE_PER_CPU:
		add_span(usage, series, before->ns, series->ns, 100 * rise / passed);
		break;
	case USAGE_PER_S:
		add_span(usage, series, before->ns, series->ns,
			1e9 * rise / passed * usage_metrics[series->metric].factor);
		break;
	default:
		series->rise = (uint64_t)rise;
		series->rise_from_ns = before->ns;
		break;
	}
}

/* Old recorders read the clock for each value of a look. */
static bool is_same_look(uint64_t ns, uint64_t later_ns)
{
	return later_ns >= ns && later_ns - ns <= USAGE_LOOK_NS;
}

/* Time of all CPUs comes after its parts, all between the same two looks. */
static void add_parts(struct utilization *usage, const struct utilization_series *before,
	const struct utilization_series *all)
{
	uint64_t rise = all->value - before->value;

	for (size_t i = usage->nr_series; i-- > 0;) {
		struct utilization_series *part = &usage->series[i];

		if (part->process != usage->process) {
			break;
		}
		if (usage_metrics[part->metric].meaning != USAGE_PER_ALL ||
			part->rise_from_ns == UINT64_MAX) {
			continue;
		}
		if (is_same_look(part->ns, all->ns) &&
			is_same_look(part->rise_from_ns, before->ns) && rise > 0 &&
			part->rise <= rise) {
			double share = 100 * (double)part->rise / (double)rise;

			add_value(part, share, (double)rise);
			add_in_steps(usage, part, before->ns, all->ns, share);
			spread(part, before->ns, all->ns, share);
		}
		part->rise_from_ns = UINT64_MAX;
	}
}

/* A mean holds from where it began; a sample whose length is unknown stands for its moment. */
static void add_mean(struct utilization *usage, struct utilization_series *series)
{
	const struct utilization_series *length =
		utilization_find(usage, usage->process, GPROF_METRIC_GPU_MEANS_NS, series->device);
	uint64_t from_ns = series->ns;

	if (length) {
		from_ns -= length->value < from_ns - usage->begin ? length->value
								  : from_ns - usage->begin;
	}
	if (from_ns < series->ns) {
		add_span(usage, series, from_ns, series->ns,
			(double)series->value * usage_metrics[series->metric].factor);
	} else {
		add_sample(usage, series, series->ns,
			(double)series->value * usage_metrics[series->metric].factor);
	}
}

/* A value that fell began anew, such as after a restart of a counter: it has no slope. */
static void take_sample(
	struct utilization *usage, uint8_t metric, uint32_t device, uint64_t ns, uint64_t value)
{
	struct utilization_series *series = find_series(usage, metric, device);
	const struct utilization_metric *what = &usage_metrics[metric];
	bool is_inside = ns >= usage->begin && ns <= usage->end;
	bool rises = series->is_sampled && ns > series->ns && value >= series->value;
	struct utilization_series before = *series;

	series->nr += is_inside;
	series->is_sampled = true;
	series->ns = ns;
	series->value = value;
	if (!is_inside) { /* the next one may rise from here */
		return;
	}
	if (what->meaning == USAGE_SHOWN) {
		add_sample(usage, series, ns, (double)value * what->factor);
	} else if (what->meaning == USAGE_MEAN) {
		add_mean(usage, series);
	} else if (what->meaning == USAGE_REASONS) {
		uint64_t bits = value & USAGE_SLOW_REASONS;

		series->bits |= bits;
		add_sample(usage, series, ns, bits ? what->factor : 0);
	} else if (rises && what->meaning == USAGE_ALL) {
		add_parts(usage, &before, series);
	} else if (rises && what->meaning != USAGE_LENGTH) {
		add_rise(usage, series, &before);
	}
}

void utilization_take_samples(struct utilization *usage, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t metric = b->col[COL_sample_metric][i];

		if (metric != USAGE_GPU_UNION && metric < usage_nr_metrics &&
			usage_metrics[metric].meaning != USAGE_UNKNOWN) {
			take_sample(usage, (uint8_t)metric, (uint8_t)b->col[COL_sample_device][i],
				clock_map_time(
					&usage->process->host_clock, b->col[COL_sample_time][i]),
				b->col[COL_sample_value][i]);
		}
	}
}

/* ---- work on devices ---- */

/* Comes by its begin, so what is new of it begins where the union so far ends. */
void utilization_take(struct utilization *usage, const struct gpu_activity *work)
{
	struct utilization_series *series =
		usage->nr_series ? &usage->series[usage->last_union] : NULL;
	uint64_t begin, end = work->end < usage->end ? work->end : usage->end;

	if (end <= usage->begin) {
		return;
	}
	if (!series || series->process != usage->process || series->metric != USAGE_GPU_UNION ||
		series->device != work->device) {
		series = find_series(usage, USAGE_GPU_UNION, work->device);
		usage->last_union = (size_t)(series - usage->series);
	}
	begin = work->begin > series->ns ? work->begin : series->ns;
	series->nr += work->begin <= end;
	if (end > begin) {
		spread(series, begin, end, 100);
		series->ns = end;
	}
}

/*
 * Sets the weights of buckets to their lengths: busy time is a share of all time, also where no
 * activity ran. The last bucket ends with the process.
 */
static void finish_union(struct utilization_series *series)
{
	for (size_t i = 0; i < series->nr_buckets; i++) {
		uint64_t from = series->begin + i * series->width;
		uint64_t length = series->end > from ? series->end - from : 0;
		double part;

		length = length < series->width ? length : series->width;
		series->weights[i] = (double)length;
		if (length) {
			part = series->points[i] / (double)length;
			add_value(series, part < 100 ? part : 100, (double)length);
		}
	}
}

/* ---- of each process ---- */

/* Finds the steps that count, which rows of table step alone say. */
static void find_steps(struct utilization *usage, struct process *process)
{
	struct counted_steps counted;
	struct phases marks;

	usage->steps.nr = 0;
	usage->steps_ns = usage->nr_steps = 0;
	counted_steps_init(&counted, process, false);
	phases_init(&marks, process);
	for (uint32_t step = 1; phases_has_steps(&marks) && step < marks.nr_steps; step++) {
		uint64_t ns, end;

		if (!counted.counts[step]) {
			continue;
		}
		ns = phases_step_ns(&marks, step);
		end = clock_map_time(&process->host_clock, process->steps[step].tick);
		/* From its end: the first one may begin later than its row says. */
		intervals_add(&usage->steps, end - ns, end);
		usage->steps_ns += ns;
		usage->nr_steps++;
	}
	intervals_merge(&usage->steps);
	phases_fini(&marks);
	counted_steps_fini(&counted);
}

void utilization_begin(struct utilization *usage, struct process *process)
{
	usage->process = process;
	find_buckets(usage);
	find_steps(usage, process);
}

void utilization_end(struct utilization *usage)
{
	for (size_t i = usage->nr_series; i-- > 0;) {
		struct utilization_series *series = &usage->series[i];

		if (series->process != usage->process) {
			break;
		}
		if (series->metric == USAGE_GPU_UNION) {
			finish_union(series);
		}
	}
}

void utilization_fini(struct utilization *usage)
{
	free(usage->series);
	intervals_fini(&usage->steps);
	intervals_fini(&usage->part);
	*usage = (struct utilization){0};
}
