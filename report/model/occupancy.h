/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimated achieved occupancy: the warps of a launch that a multiprocessor holds at once on
 * average, of its maximum. It follows from the launch and the device (rules of CUDA's occupancy
 * calculator); nothing is measured.
 *
 * Dynamic shared memory counts as granted, also above 48 KB. Blocks of clusters are resident as
 * whole clusters only. How many multiprocessors a cluster may use and how many barriers a kernel
 * has is not recorded; both may lower the value.
 */
#ifndef REPORT_MODEL_OCCUPANCY_H
#define REPORT_MODEL_OCCUPANCY_H

#include "report/model/model.h"

/* The resource that keeps more blocks out; several if they set the same limit. */
enum occupancy_limit {
	OCCUPANCY_WARPS = 1,
	OCCUPANCY_REGS = 2,
	OCCUPANCY_SMEM = 4,
	OCCUPANCY_BLOCKS = 8,
	OCCUPANCY_GRID = 16, /* the launch has no more blocks; never with others */
};

/* Per multiprocessor; 0: not recorded. */
struct occupancy_device {
	uint32_t multiprocessors;
	uint32_t warp_threads;
	uint32_t max_warps, max_blocks;
	uint32_t registers, shared_bytes;
	uint32_t reserved_shared_bytes; /* the driver's share of each block */
	uint32_t capability_major;
};

struct occupancy {
	double blocks_per_multiprocessor; /* of the launch, over all multiprocessors */
	double warps_per_multiprocessor;
	/* False: too little is known of the device, or it could not have run this. */
	bool has_estimate;
	uint8_t limits;		/* enum occupancy_limit */
	uint32_t active_blocks; /* resident at once */
	double share_pct;	/* of the maximum of warps */
	uint32_t percent;	/* the same rounded, as PyTorch's profiler has it */
};

/* The mean over launches, weighted by their time. Zero-initialized. */
struct occupancy_mean {
	double blocks, blocks_ns;	     /* sum of blocks * ns, and of those ns */
	double share, percent, percent_ns;   /* of share_pct and percent, where they are known */
	double limit_ns[2 * OCCUPANCY_GRID]; /* by enum occupancy_limit */
};

struct occupancy_device occupancy_device(const struct process *process, uint32_t device);

/* The device of all activities of the process; false if they ran on different ones. */
bool occupancy_only_device(const struct process *process, struct occupancy_device *device);

/*
 * False if the number of multiprocessors is unknown, and the stream is not made of a trace that has
 * an estimate of its own.
 */
bool occupancy_compute(const struct occupancy_device *device, const struct model_shape *shape,
	struct occupancy *occupancy);

/*
 * Does the launch count multiprocessors, with one block for each, or as many as each holds? Such a
 * kernel loops over its work in few warps by design.
 */
bool occupancy_is_persistent(const struct occupancy *occupancy);

void occupancy_mean_add(struct occupancy_mean *mean, const struct occupancy *occupancy, double ns);

/*
 * Blocks per multiprocessor and percent of warps; false if no launch had them. is_whole: of
 * launches in whole percents, as the TensorBoard plugin has them.
 */
bool occupancy_mean_blocks(const struct occupancy_mean *mean, double *blocks);
bool occupancy_mean_percent(const struct occupancy_mean *mean, bool is_whole, double *percent);

/* The limits that applied most of the time; 0 if unknown. */
uint8_t occupancy_mean_limits(const struct occupancy_mean *mean);

/* "REGS|SMEM", "GRID": a number of string_pool.h; 0 for none. */
uint32_t occupancy_limit_name(uint8_t limits);

#endif
