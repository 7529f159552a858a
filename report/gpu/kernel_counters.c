/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each device has a queue of samples and one of kernels. A kernel is settled once a sample that
 * ends after it has come. Samples that begin before the kernel are dropped then: no later kernel
 * has them.
 */
#include "report/gpu/kernel_counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/gpu/utilization.h"
#include "report/util/buf.h"
#include "report/util/sort.h"

#define WAITING_MAX (1u << 20)
#define MAX_DEVICES 256u
#define KEPT_MAX    (1u << 21)

struct sample {
	uint64_t begin, end;
	float values[NR_COUNTERS]; /* NAN: not there */
};

struct waiting_kernel {
	uint64_t begin, end, correlation;
	uint32_t row, place;
};

struct kept_kernel {
	uint64_t begin, correlation;
	uint32_t place;
	struct counter_samples samples;
};

struct counter_device {
	struct sample *samples;
	size_t first, nr, capacity; /* those before `first` are done */
	struct waiting_kernel *kernels;
	size_t first_kernel, nr_kernels, kernel_capacity;
	uint64_t length_ns; /* of the samples that follow */
};

static int counter_of(uint64_t metric)
{
	switch (metric) {
	case GPROF_METRIC_GPU_SM_ACTIVE_MILLI_PERCENT:
		return COUNTER_SM_ACTIVE;
	case GPROF_METRIC_GPU_OCCUPANCY_MILLI_PERCENT:
		return COUNTER_OCCUPANCY;
	case GPROF_METRIC_GPU_TENSOR_MILLI_PERCENT:
		return COUNTER_TENSOR;
	case GPROF_METRIC_GPU_DRAM_MILLI_PERCENT:
		return COUNTER_DRAM;
	case GPROF_METRIC_GPU_DRAM_READ_MILLI_PERCENT:
		return COUNTER_DRAM_READ;
	case GPROF_METRIC_GPU_DRAM_WRITE_MILLI_PERCENT:
		return COUNTER_DRAM_WRITE;
	default:
		return -1;
	}
}

static struct counter_device *find_device(struct kernel_counters *counters, uint64_t number)
{
	size_t nr = (size_t)number + 1;

	if (nr > counters->nr_devices) {
		counters->devices = mem_resize(counters->devices, nr, sizeof(*counters->devices));
		memset(counters->devices + counters->nr_devices, 0,
			(nr - counters->nr_devices) * sizeof(*counters->devices));
		counters->nr_devices = nr;
	}
	return &counters->devices[number];
}

/* ---- kernels meet samples ---- */

static void add_sample(struct counter_samples *samples, const struct sample *sample)
{
	double ns = (double)(sample->end - sample->begin);

	samples->nr++;
	samples->ns += sample->end - sample->begin;
	for (int i = 0; i < NR_COUNTERS; i++) {
		if (!isnan(sample->values[i])) {
			samples->sums[i] += (double)sample->values[i] * ns;
			samples->weights[i] += ns;
		}
	}
}

void counted_kernels_add(
	struct counted_kernels *kernels, uint64_t ns, const struct counter_samples *samples)
{
	kernels->nr++;
	kernels->ns += ns;
	if (!samples) {
		return;
	}
	kernels->nr_sampled++;
	kernels->samples.nr += samples->nr;
	kernels->samples.ns += samples->ns;
	for (int i = 0; i < NR_COUNTERS; i++) {
		kernels->samples.sums[i] += samples->sums[i];
		kernels->samples.weights[i] += samples->weights[i];
	}
}

static void keep_kernel(struct kernel_counters *counters, const struct waiting_kernel *kernel,
	const struct counter_samples *samples)
{
	struct kept_kernels *kept = &counters->kept[counters->nr_kept - 1];

	if (kept->nr == KEPT_MAX) {
		kept->nr_dropped++;
		return;
	}
	kept->items = array_grow(kept->items, kept->nr, &kept->capacity, sizeof(*kept->items));
	kept->items[kept->nr++] =
		(struct kept_kernel){kernel->begin, kernel->correlation, kernel->place, *samples};
}

static void settle_kernel(struct kernel_counters *counters, struct counter_device *device)
{
	const struct waiting_kernel *kernel = &device->kernels[device->first_kernel++];
	struct counter_samples samples = {0};

	while (device->first < device->nr && device->samples[device->first].begin < kernel->begin) {
		device->first++;
	}
	for (size_t i = device->first; i < device->nr && device->samples[i].end <= kernel->end;
		i++) {
		add_sample(&samples, &device->samples[i]);
	}
	counted_kernels_add(&counters->rows[kernel->row].kernels, kernel->end - kernel->begin,
		samples.nr ? &samples : NULL);
	counters->has_sampled |= samples.nr > 0;
	if (samples.nr && counters->keeps_kernels) {
		keep_kernel(counters, kernel, &samples);
	}
}

static void settle(struct kernel_counters *counters, struct counter_device *device, bool is_last)
{
	uint64_t until = device->nr ? device->samples[device->nr - 1].end : 0;

	while (device->first_kernel < device->nr_kernels &&
		(is_last || device->nr_kernels - device->first_kernel > WAITING_MAX ||
			device->kernels[device->first_kernel].end <= until)) {
		settle_kernel(counters, device);
	}
	if (device->nr - device->first > WAITING_MAX) {
		device->first = device->nr - WAITING_MAX;
	}
	/* The one that a look still fills stays. */
	if (device->first > device->nr / 2) {
		device->nr -= device->first;
		memmove(device->samples, device->samples + device->first,
			device->nr * sizeof(*device->samples));
		device->first = 0;
	}
	if (device->first_kernel > device->nr_kernels / 2) {
		device->nr_kernels -= device->first_kernel;
		memmove(device->kernels, device->kernels + device->first_kernel,
			device->nr_kernels * sizeof(*device->kernels));
		device->first_kernel = 0;
	}
}

/* ---- what comes ---- */

static void take_value(
	struct counter_device *device, uint64_t end, unsigned int counter, float value)
{
	struct sample *sample = device->nr ? &device->samples[device->nr - 1] : NULL;

	if (!device->length_ns || (sample && end < sample->end)) {
		return;
	}
	if (!sample || sample->end != end) {
		device->samples = array_grow(
			device->samples, device->nr, &device->capacity, sizeof(*device->samples));
		sample = &device->samples[device->nr++];
		sample->begin = end > device->length_ns ? end - device->length_ns : 0;
		sample->end = end;
		for (int i = 0; i < NR_COUNTERS; i++) {
			sample->values[i] = NAN;
		}
	}
	sample->values[counter] = value;
}

static void take_samples(void *context, struct process *process, const struct batch *b)
{
	struct kernel_counters *counters = context;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t metric = b->col[COL_sample_metric][i];
		uint64_t number = b->col[COL_sample_device][i];
		int counter = counter_of(metric);

		if (number >= MAX_DEVICES) {
			continue;
		}
		if (metric == GPROF_METRIC_GPU_MEANS_NS) {
			find_device(counters, number)->length_ns = b->col[COL_sample_value][i];
			counters->nr_samples++;
		} else if (counter >= 0) {
			take_value(find_device(counters, number),
				clock_map_time(&process->host_clock, b->col[COL_sample_time][i]),
				(unsigned int)counter,
				(float)((double)b->col[COL_sample_value][i] *
					usage_metrics[metric].factor));
		}
	}
	for (size_t i = 0; i < counters->nr_devices; i++) {
		settle(counters, &counters->devices[i], false);
	}
}

static uint32_t find_row(struct kernel_counters *counters, uint32_t name)
{
	uint32_t row = keyed_stats_find(&counters->names, name, name, 0);

	if (row >= counters->capacity) {
		size_t nr = 2 * (size_t)row + 16;

		counters->rows = mem_resize(counters->rows, nr, sizeof(*counters->rows));
		memset(counters->rows + counters->capacity, 0,
			(nr - counters->capacity) * sizeof(*counters->rows));
		counters->capacity = nr;
	}
	counters->rows[row].name = name;
	return row;
}

static void take_activity(void *context, const struct gpu_activity *work)
{
	struct kernel_counters *counters = context;
	struct counter_device *device;
	uint32_t row;

	if (work->table != GPROF_TABLE_kernel) {
		return;
	}
	row = find_row(counters, work->name);
	if (work->device >= MAX_DEVICES) {
		counted_kernels_add(&counters->rows[row].kernels, work->end - work->begin, NULL);
		return;
	}
	device = find_device(counters, work->device);
	device->kernels = array_grow(device->kernels, device->nr_kernels, &device->kernel_capacity,
		sizeof(*device->kernels));
	device->kernels[device->nr_kernels++] = (struct waiting_kernel){
		work->begin, work->end, work->correlation, row, work->place};
	if (device->nr_kernels % 4096 == 0) {
		settle(counters, device, false);
	}
}

/* ---- start and end ---- */

void kernel_counters_init(struct kernel_counters *counters)
{
	keyed_stats_init(&counters->names);
}

static void begin_process(void *context, struct process *process)
{
	struct kernel_counters *counters = context;

	counters->kept = array_grow(counters->kept, counters->nr_kept, &counters->kept_capacity,
		sizeof(*counters->kept));
	counters->kept[counters->nr_kept++] = (struct kept_kernels){.process = process};
}

static int compare_ids(
	const struct kept_kernel *kernel, uint64_t begin, uint64_t correlation, uint32_t place)
{
	return ORDER(COMPARE(kernel->begin, begin), COMPARE(kernel->correlation, correlation),
		COMPARE(kernel->place, place));
}

static int compare_kept(const void *a, const void *b)
{
	const struct kept_kernel *kernel = b;

	return compare_ids(a, kernel->begin, kernel->correlation, kernel->place);
}

static int compare_record(const void *record, const void *kept)
{
	const struct op_record *wanted = record;

	return -compare_ids(kept, wanted->begin_ns, wanted->correlation, wanted->place);
}

/* Another process has other queues. */
static void free_devices(struct kernel_counters *counters)
{
	for (size_t i = 0; i < counters->nr_devices; i++) {
		free(counters->devices[i].samples);
		free(counters->devices[i].kernels);
	}
	free(counters->devices);
	counters->devices = NULL;
	counters->nr_devices = 0;
}

static void end_process(void *context, struct process *process)
{
	struct kernel_counters *counters = context;
	struct kept_kernels *kept = &counters->kept[counters->nr_kept - 1];

	(void)process;
	for (size_t i = 0; i < counters->nr_devices; i++) {
		settle(counters, &counters->devices[i], true);
	}
	free_devices(counters);
	if (kept->nr) {
		qsort(kept->items, kept->nr, sizeof(*kept->items), compare_kept);
	}
}

void kernel_counters_fini(struct kernel_counters *counters)
{
	free_devices(counters);
	for (size_t i = 0; i < counters->nr_kept; i++) {
		free(counters->kept[i].items);
	}
	free(counters->kept);
	free(counters->rows);
	keyed_stats_fini(&counters->names);
}

/* ---- answers ---- */

const struct counted_kernels *kernel_counters_of_name(
	struct kernel_counters *counters, uint32_t name)
{
	return &counters->rows[find_row(counters, name)].kernels;
}

/* Walks ask for the kernels of one process after the other. */
static const struct kept_kernels *find_kept(
	struct kernel_counters *counters, const struct process *process)
{
	for (size_t i = 0; i < counters->nr_kept; i++) {
		size_t at = (counters->last_found + i) % counters->nr_kept;

		if (counters->kept[at].process == process) {
			counters->last_found = at;
			return &counters->kept[at];
		}
	}
	return NULL;
}

const struct counter_samples *kernel_counters_of_record(struct kernel_counters *counters,
	const struct process *process, const struct op_record *record)
{
	const struct kept_kernels *kept = find_kept(counters, process);
	const struct kept_kernel *found = kept && kept->nr
						  ? bsearch(record, kept->items, kept->nr,
							    sizeof(*kept->items), compare_record)
						  : NULL;

	return found ? &found->samples : NULL;
}

static bool has_means(const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		if (b->col[COL_sample_metric][i] == GPROF_METRIC_GPU_MEANS_NS) {
			return true;
		}
	}
	return false;
}

void kernel_counters_look(
	struct kernel_counters *counters, struct process *const *processes, size_t nr_processes)
{
	struct batch batch;

	for (size_t i = 0; i < nr_processes; i++) {
		struct stream *stream = processes[i]->stream;

		for (size_t k = 0; k < stream->nr_blocks && !counters->has_counters; k++) {
			counters->has_counters =
				stream_block_table(stream, k) == GPROF_TABLE_sample &&
				!stream_load(stream, k, COLS(sample, metric), 0, &batch) &&
				has_means(&batch);
		}
	}
}

bool kernel_counters_needs_scan(const void *counters)
{
	return ((const struct kernel_counters *)counters)->has_counters;
}

void kernel_counters_note(const struct kernel_counters *counters,
	const struct counted_kernels *kernels, struct table *table)
{
	uint64_t nr_dropped = 0;

	if (!counters->nr_samples) {
		table_note(table,
			"No hardware counters were recorded (GPROF_METRICS=pm; it needs CUPTI of "
			"CUDA 12.6 and the driver's permission).");
		return;
	}
	if (kernels->nr > kernels->nr_sampled) {
		table_note(table,
			"%llu of %llu kernels are not sampled: no sample lies wholly in their "
			"time. Samples cover %.1f %% of the time of all kernels.",
			(unsigned long long)(kernels->nr - kernels->nr_sampled),
			(unsigned long long)kernels->nr,
			100 * (double)kernels->samples.ns /
				(double)(kernels->ns ? kernels->ns : 1));
	}
	for (size_t i = 0; i < counters->nr_kept; i++) {
		nr_dropped += counters->kept[i].nr_dropped;
	}
	if (nr_dropped) {
		table_note(table,
			"%llu of these kernels have samples, which gprof-report did not keep: it "
			"keeps %u kernels a process. --steps selects fewer.",
			(unsigned long long)nr_dropped, KEPT_MAX);
	}
}

/* ---- a part of a view ---- */

static const struct scan_want scan_wants[] = {UTILIZATION_WANTS};

const struct scan_view kernel_counters_scan = {
	.wants = scan_wants,
	.nr_wants = 1,
	.begin = begin_process,
	.on_batch = take_samples,
	.end = end_process,
	.on_activity = take_activity,
};
