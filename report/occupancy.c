/* SPDX-License-Identifier: Apache-2.0 */
#include "report/occupancy.h"

/* Registers are given to warps in units of 256 since compute capability 3. */
#define REGISTER_UNIT 256u
/* The driver keeps 1 KB of shared memory a block since compute capability 8. */
#define RESERVED_SHARED_BYTES 1024u

static uint32_t attribute(const struct process *process, uint32_t device, const char *name)
{
	uint64_t value;

	return process_attribute(process, device, name, &value) && value <= UINT32_MAX
		       ? (uint32_t)value
		       : 0;
}

struct occupancy_device occupancy_device(const struct process *process, uint32_t device)
{
	return (struct occupancy_device){
		.multiprocessors = attribute(process, device, "multiprocessors"),
		.warp_threads = attribute(process, device, "warp_threads"),
		.max_warps = attribute(process, device, "max_warps_per_multiprocessor"),
		.max_blocks = attribute(process, device, "max_blocks_per_multiprocessor"),
		.registers = attribute(process, device, "registers_per_multiprocessor"),
		.shared_bytes = attribute(process, device, "shared_bytes_per_multiprocessor"),
		.capability_major = attribute(process, device, "capability_major")};
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void estimate(const struct occupancy_device *device, const struct model_shape *shape,
	uint64_t warps, struct occupancy *occupancy)
{
	bool is_new = device->capability_major >= 8;
	uint64_t shared = (uint64_t)shape->static_shared_bytes + shape->dynamic_shared_bytes;
	uint64_t registers =
		round_up((uint64_t)shape->registers * device->warp_threads, REGISTER_UNIT);
	uint64_t blocks = least(device->max_blocks, device->max_warps / warps);

	shared = round_up(shared + (is_new ? RESERVED_SHARED_BYTES : 0), is_new ? 128 : 256);
	if (registers) {
		/* The four schedulers hold equal shares. */
		uint64_t warps_by_registers = device->registers / registers / 4 * 4;

		blocks = least(blocks, warps_by_registers / warps);
	}
	if (shared) {
		blocks = least(blocks, device->shared_bytes / shared);
	}
	occupancy->has_estimate = true;
	occupancy->active_blocks = (uint32_t)blocks;
	if (occupancy->blocks_per_multiprocessor < (double)blocks) {
		occupancy->percent = (uint32_t)(100 * occupancy->blocks_per_multiprocessor *
							(double)warps / device->max_warps +
						0.5);
	} else {
		occupancy->percent = (uint32_t)((200 * blocks * warps / device->max_warps + 1) / 2);
	}
}

bool occupancy_compute(const struct occupancy_device *device, const struct model_shape *shape,
	struct occupancy *occupancy)
{
	double blocks = (double)shape->grid[0] * shape->grid[1] * shape->grid[2];
	uint64_t threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];
	uint64_t warp_threads = device->warp_threads ? device->warp_threads : 32;
	uint64_t warps = round_up(threads, warp_threads) / warp_threads;

	*occupancy = (struct occupancy){0};
	if (!device->multiprocessors) {
		return false;
	}
	occupancy->blocks_per_multiprocessor = blocks / device->multiprocessors;
	occupancy->warps_per_multiprocessor = occupancy->blocks_per_multiprocessor * (double)warps;
	if (device->max_warps && device->max_blocks && device->registers && device->shared_bytes &&
		warps && warps <= device->max_warps) {
		estimate(device, shape, warps, occupancy);
	}
	return true;
}
