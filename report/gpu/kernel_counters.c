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

#define WAITING_MAX (1u << 20)
#define MAX_DEVICES 256u

struct sample {
	uint64_t begin, end;
	float values[NR_COUNTERS]; /* NAN: not there */
};

struct waiting_kernel {
	uint64_t begin, end;
	uint32_t row;
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

static void add_sample(struct kernel_counters_row *row, const struct sample *sample)
{
	double ns = (double)(sample->end - sample->begin);

	row->nr_samples++;
	row->sampled_ns += sample->end - sample->begin;
	for (int i = 0; i < NR_COUNTERS; i++) {
		if (!isnan(sample->values[i])) {
			row->sums[i] += (double)sample->values[i] * ns;
			row->weights[i] += ns;
		}
	}
}

static void settle_kernel(struct kernel_counters *counters, struct counter_device *device)
{
	const struct waiting_kernel *kernel = &device->kernels[device->first_kernel++];
	struct kernel_counters_row *row = &counters->rows[kernel->row];
	uint64_t nr_before = row->nr_samples;

	while (device->first < device->nr && device->samples[device->first].begin < kernel->begin) {
		device->first++;
	}
	for (size_t i = device->first; i < device->nr && device->samples[i].end <= kernel->end;
		i++) {
		add_sample(row, &device->samples[i]);
	}
	row->nr_sampled += row->nr_samples > nr_before;
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

void kernel_counters_take_samples(struct kernel_counters *counters, const struct batch *b)
{
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
				clock_map_time(
					&counters->process->host_clock, b->col[COL_sample_time][i]),
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

void kernel_counters_take(struct kernel_counters *counters, const struct gpu_activity *work)
{
	struct counter_device *device;
	uint32_t row;

	if (work->table != GPROF_TABLE_kernel) {
		return;
	}
	row = find_row(counters, work->name);
	counters->rows[row].nr_kernels++;
	counters->rows[row].kernel_ns += work->end - work->begin;
	if (work->device >= MAX_DEVICES) {
		return;
	}
	device = find_device(counters, work->device);
	device->kernels = array_grow(device->kernels, device->nr_kernels, &device->kernel_capacity,
		sizeof(*device->kernels));
	device->kernels[device->nr_kernels++] =
		(struct waiting_kernel){work->begin, work->end, row};
	if (device->nr_kernels % 4096 == 0) {
		settle(counters, device, false);
	}
}

/* ---- start and end ---- */

void kernel_counters_init(struct kernel_counters *counters)
{
	keyed_stats_init(&counters->names);
}

void kernel_counters_begin(struct kernel_counters *counters, struct process *process)
{
	counters->process = process;
}

/* Another process has other queues. */
void kernel_counters_end(struct kernel_counters *counters)
{
	for (size_t i = 0; i < counters->nr_devices; i++) {
		settle(counters, &counters->devices[i], true);
		free(counters->devices[i].samples);
		free(counters->devices[i].kernels);
	}
	free(counters->devices);
	counters->devices = NULL;
	counters->nr_devices = 0;
}

void kernel_counters_fini(struct kernel_counters *counters)
{
	kernel_counters_end(counters);
	free(counters->rows);
	keyed_stats_fini(&counters->names);
}
