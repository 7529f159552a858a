/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware counters of kernels by name: a sample belongs to a kernel if it lies wholly in the time
 * in which the kernel ran. It is of the whole GPU, so kernels that run at once share it. A kernel
 * that no sample lies in is not sampled.
 *
 *	samples   |--a--|--b--|--c--|--d--|--e--|
 *	kernels      [ k1        ]   [k2]           k1 has b; k2 has none
 *
 * Kernels come by their begin and samples by their end, but not at the same time: each waits for
 *the other, at most WAITING_MAX of a device. Kernels beyond that are not sampled.
 */
#ifndef REPORT_GPU_KERNEL_COUNTERS_H
#define REPORT_GPU_KERNEL_COUNTERS_H

#include "report/gpu/gpu_activities.h"
#include "report/stats/keyed_stats.h"

enum kernel_counter {
	COUNTER_SM_ACTIVE,
	COUNTER_OCCUPANCY,
	COUNTER_TENSOR,
	COUNTER_DRAM,
	COUNTER_DRAM_READ,
	COUNTER_DRAM_WRITE,
	NR_COUNTERS
};

/* The kernels of a name. Means are weighted by the length of samples. */
struct kernel_counters_row {
	uint32_t name; /* of string_pool.h */
	uint64_t nr_kernels, kernel_ns;
	uint64_t nr_sampled, nr_samples, sampled_ns; /* kernels with samples; of these */
	double sums[NR_COUNTERS], weights[NR_COUNTERS];
};

struct kernel_counters {
	struct process *process;
	struct keyed_stats names; /* row k is that of rows[k] */
	struct kernel_counters_row *rows;
	size_t capacity;
	struct counter_device *devices; /* of the process, by number */
	size_t nr_devices;
	uint64_t nr_samples; /* of all GPUs and processes */
};

/* Starts with all zeros; it takes samples and activities as utilization.h does. */
void kernel_counters_init(struct kernel_counters *counters);
void kernel_counters_begin(struct kernel_counters *counters, struct process *process);
void kernel_counters_take_samples(struct kernel_counters *counters, const struct batch *batch);
void kernel_counters_take(struct kernel_counters *counters, const struct gpu_activity *work);
void kernel_counters_end(struct kernel_counters *counters);
void kernel_counters_fini(struct kernel_counters *counters);

#endif
