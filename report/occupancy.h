/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a multiprocessor the blocks of a kernel can fill: the theoretical occupancy, from the
 * launch and from what the device says of itself. Dynamic shared memory counts as it was granted,
 * also above 48 KB.
 */
#ifndef REPORT_OCCUPANCY_H
#define REPORT_OCCUPANCY_H

#include "report/model.h"

/* Per multiprocessor; 0: the stream does not tell. */
struct occupancy_device {
	uint32_t multiprocessors;
	uint32_t warp_threads;
	uint32_t max_warps, max_blocks;
	uint32_t registers, shared_bytes;
	uint32_t capability_major;
};

struct occupancy {
	double blocks_per_multiprocessor; /* of the launch, over all multiprocessors */
	double warps_per_multiprocessor;
	bool has_estimate;
	uint32_t active_blocks; /* that fit at once */
	uint32_t percent;	/* of the warps that could be there */
};

struct occupancy_device occupancy_device(const struct process *process, uint32_t device);

/* False if the number of multiprocessors is not known. */
bool occupancy_compute(const struct occupancy_device *device, const struct model_shape *shape,
	struct occupancy *occupancy);

#endif
