/* SPDX-License-Identifier: Apache-2.0 */
/* The use that kernels made of the devices of a process in stretches of time. */
#ifndef REPORT_BUDGET_DEVICE_UTILIZATION_H
#define REPORT_BUDGET_DEVICE_UTILIZATION_H

#include "report/model/kernel_class.h"
#include "report/model/occupancy.h"
#include "report/ops/op_launch.h"

/*
 * The use of a device in a stretch of time: how long any kernel ran, how much of the
 * multiprocessors had blocks (the sum of blocks per multiprocessor of what ran at one time, at most
 * 1: an upper bound), how many of their warps by the estimated occupancy, and how long kernels ran
 * that use tensor cores. What reaches beyond the stretch is cut.
 */

struct device_utilization {
	uint32_t device;
	uint64_t busy_ns;		/* union of kernels */
	double sm_ns;			/* integral of the share of multiprocessors with blocks */
	bool is_sm_known;		/* of all kernels */
	double occupancy, occupancy_ns; /* sum of percent * ns, of those ns */
	uint64_t tensor_ns[NR_TENSOR_USES]; /* sums of times, not unions */
};

struct device_kernel {
	uint64_t begin, end; /* ns */
	uint32_t device;
	float blocks;	 /* per multiprocessor, below 0: unknown */
	int16_t percent; /* occupancy, below 0: unknown */
	uint8_t tensor;	 /* enum tensor_use */
};

/* Kernels that no stretch has covered yet. */
struct device_work {
	struct device_kernel *kernels;
	size_t nr_kernels, capacity;
	/* what the shapes of the process say, by their ids */
	struct process *process;
	struct idmap known;   /* struct device_kernel with all but the times */
	struct idmap devices; /* struct occupancy_device */
};

void device_work_init(struct device_work *work, struct process *process);
void device_work_fini(struct device_work *work);

/* A timed record of a kernel, or of a graph as a whole. */
void device_work_add(struct device_work *work, const struct op_record *record, uint64_t end_ns);

/* A kernel with those times; the caller sets the rest. */
struct device_kernel *device_work_add_times(
	struct device_work *work, uint64_t begin_ns, uint64_t end_ns);

/*
 * Sums up the stretch [begin, end) by device, in *nr rows to be freed, and forgets what is not
 * before it.
 */
struct device_utilization *device_work_take(
	struct device_work *work, uint64_t begin, uint64_t end, size_t *nr);

/* Adds another stretch of the same device. */
void device_utilization_add(struct device_utilization *sum, const struct device_utilization *more);

#endif
