/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates occupancy as CUDA's calculator does, from the shape of a launch and the attributes of
 * its device. The kernel views and the advice call it for each shape, then weight the results by
 * kernel time. Each resource of a multiprocessor allows a number of blocks; the smallest number is
 * how many are resident. Traces of other profilers have an estimate of their own and no device,
 * which is then passed on as it is.
 */
#include "report/model/occupancy.h"

#include <string.h>

#include "report/util/buf.h"

/* Warps get registers in units of 256 since compute capability 3. */
#define REGISTER_UNIT 256u
/* The driver takes 1 KB of shared memory a block since compute capability 8. */
#define RESERVED_SHARED_BYTES 1024u

static uint32_t attribute(const struct process *process, uint32_t device, const char *name)
{
	uint64_t value;

	return process_attribute(process, device, name, &value) && value <= UINT32_MAX
		       ? (uint32_t)value
		       : 0;
}

/* By compute capability, from CUDA's programming guide, if the device does not say. */
static uint32_t usual_blocks(uint32_t major, uint32_t minor)
{
	switch (major * 16 + minor) {
	case 0x75:
	case 0x86:
	case 0x87:
		return 16;
	case 0x89:
	case 0xc0:
	case 0xc1:
		return 24;
	default:
		return major == 3 ? 16 : major >= 5 ? 32 : 0;
	}
}

/* Attributes that older recorders or drivers lack have fallbacks; 0 stays where there is none. */
struct occupancy_device occupancy_device(const struct process *process, uint32_t device)
{
	struct occupancy_device result = {
		.multiprocessors = attribute(process, device, "multiprocessors"),
		.warp_threads = attribute(process, device, "warp_threads"),
		.max_warps = attribute(process, device, "max_warps_per_multiprocessor"),
		.max_blocks = attribute(process, device, "max_blocks_per_multiprocessor"),
		.registers = attribute(process, device, "registers_per_multiprocessor"),
		.shared_bytes = attribute(process, device, "shared_bytes_per_multiprocessor"),
		.reserved_shared_bytes =
			attribute(process, device, "reserved_shared_bytes_per_block"),
		.capability_major = attribute(process, device, "capability_major")};

	if (!result.max_warps && result.warp_threads) {
		result.max_warps = attribute(process, device, "max_threads_per_multiprocessor") /
				   result.warp_threads;
	}
	if (!result.max_blocks) {
		result.max_blocks = usual_blocks(
			result.capability_major, attribute(process, device, "capability_minor"));
	}
	if (!result.reserved_shared_bytes && result.capability_major >= 8) {
		result.reserved_shared_bytes = RESERVED_SHARED_BYTES;
	}
	return result;
}

bool occupancy_only_device(const struct process *process, struct occupancy_device *device)
{
	bool is_first = true;

	for (size_t i = 0; i < process->places.nr; i++) {
		const struct model_place *place = idmap_at(&process->places, i);
		struct occupancy_device found = occupancy_device(process, place->device);

		if (place->device == UINT32_MAX) {
			continue; /* of waits, which have no device; no kernel ran there */
		}
		if (is_first) {
			*device = found;
			is_first = false;
		} else if (memcmp(device, &found, sizeof(found)) != 0) {
			return false;
		}
	}
	return !is_first;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/*
 * Returns how many blocks of so many warps fit on a multiprocessor, and sets *limits to the
 * resources that stop more.
 */
static uint64_t fitting_blocks(const struct occupancy_device *device,
	const struct model_shape *shape, uint64_t warps, uint8_t *limits)
{
	uint64_t shared = (uint64_t)shape->static_shared_bytes + shape->dynamic_shared_bytes;
	uint64_t registers =
		round_up((uint64_t)shape->registers * device->warp_threads, REGISTER_UNIT);
	struct {
		uint64_t blocks;
		uint8_t limit;
	} bounds[] = {{device->max_warps / warps, OCCUPANCY_WARPS}, {UINT64_MAX, OCCUPANCY_REGS},
		{UINT64_MAX, OCCUPANCY_SMEM}, {device->max_blocks, OCCUPANCY_BLOCKS}};
	uint64_t blocks = UINT64_MAX;

	shared = round_up(
		shared + device->reserved_shared_bytes, device->capability_major >= 8 ? 128 : 256);
	if (registers) {
		/* The four schedulers have equal shares. */
		bounds[1].blocks = device->registers / 4 / registers * 4 / warps;
	}
	if (shared) {
		bounds[2].blocks = device->shared_bytes / shared;
	}
	*limits = 0;
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		if (bounds[i].blocks < blocks) {
			blocks = bounds[i].blocks;
			*limits = 0;
		}
		*limits |= bounds[i].blocks == blocks ? bounds[i].limit : 0;
	}
	return blocks;
}

/*
 * Blocks of a cluster are resident together, so a rest that is smaller than a cluster stays empty.
 * With fewer blocks than fit, the grid is the limit and not a resource.
 */
static void estimate(const struct occupancy_device *device, const struct model_shape *shape,
	uint64_t warps, struct occupancy *occupancy)
{
	uint64_t cluster = (uint64_t)shape->cluster[0] * shape->cluster[1];
	uint64_t blocks = fitting_blocks(device, shape, warps, &occupancy->limits);
	uint64_t resident = blocks * device->multiprocessors; /* on the whole device */
	double filled;

	cluster = shape->cluster[2] && cluster <= UINT32_MAX ? cluster * shape->cluster[2] : 0;
	resident -= cluster ? resident % cluster : 0;
	if (!resident) {
		return; /* it ran, so what the stream says of the device is wrong */
	}
	filled = (double)resident / device->multiprocessors;
	if (occupancy->blocks_per_multiprocessor < filled) {
		filled = occupancy->blocks_per_multiprocessor;
		occupancy->limits = OCCUPANCY_GRID;
	}
	occupancy->has_estimate = true;
	occupancy->active_blocks = (uint32_t)blocks;
	occupancy->share_pct = 100 * filled * (double)warps / device->max_warps;
	occupancy->percent = (uint32_t)(occupancy->share_pct + 0.5);
}

/* Takes the estimate of the trace, which does not describe the device. */
static bool take_estimate(
	const struct model_shape *shape, uint64_t warps, struct occupancy *occupancy)
{
	occupancy->blocks_per_multiprocessor = shape->blocks_per_sm_milli / 1e3;
	occupancy->warps_per_multiprocessor = occupancy->blocks_per_multiprocessor * (double)warps;
	occupancy->has_estimate = shape->has_estimate && shape->occupancy_pct <= 100;
	occupancy->percent = occupancy->has_estimate ? shape->occupancy_pct : 0;
	occupancy->share_pct = occupancy->percent;
	return shape->has_estimate;
}

/*
 * Products of a hostile shape may be huge, so blocks and threads are doubles until they are
 * checked.
 */
bool occupancy_compute(const struct occupancy_device *device, const struct model_shape *shape,
	struct occupancy *occupancy)
{
	double blocks = (double)shape->grid[0] * shape->grid[1] * shape->grid[2];
	double threads = (double)shape->block[0] * shape->block[1] * shape->block[2];
	uint64_t warp_threads = device->warp_threads ? device->warp_threads : 32;
	uint64_t warps = 0;

	*occupancy = (struct occupancy){0};
	if (threads <= UINT32_MAX) {
		warps = round_up((uint64_t)threads, warp_threads) / warp_threads;
	}
	if (!device->multiprocessors) {
		return take_estimate(shape, warps, occupancy);
	}
	occupancy->blocks_per_multiprocessor = blocks / device->multiprocessors;
	occupancy->warps_per_multiprocessor = occupancy->blocks_per_multiprocessor * (double)warps;
	if (device->max_warps && device->max_blocks && device->registers && device->shared_bytes &&
		warps && warps <= device->max_warps) {
		estimate(device, shape, warps, occupancy);
	}
	return true;
}

bool occupancy_is_persistent(const struct occupancy *occupancy)
{
	double blocks = occupancy->blocks_per_multiprocessor;

	return blocks == 1 || (blocks > 1 && blocks == occupancy->active_blocks);
}

uint32_t occupancy_limit_name(uint8_t limits)
{
	static const char *const names[] = {"WARPS", "REGS", "SMEM", "BLOCKS", "GRID"};
	char text[64] = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (limits & 1u << i) {
			strcat(text, *text ? "|" : "");
			strcat(text, names[i]);
		}
	}
	return string_pool_intern(text, strlen(text));
}

/* ---- the mean over launches ---- */

void occupancy_mean_add(struct occupancy_mean *mean, const struct occupancy *occupancy, double ns)
{
	mean->blocks += occupancy->blocks_per_multiprocessor * ns;
	mean->blocks_ns += ns;
	if (occupancy->has_estimate) {
		mean->share += occupancy->share_pct * ns;
		mean->percent += occupancy->percent * ns;
		mean->percent_ns += ns;
		mean->limit_ns[occupancy->limits] += ns;
	}
}

bool occupancy_mean_blocks(const struct occupancy_mean *mean, double *blocks)
{
	*blocks = mean->blocks_ns > 0 ? mean->blocks / mean->blocks_ns : 0;
	return mean->blocks_ns > 0;
}

bool occupancy_mean_percent(const struct occupancy_mean *mean, bool is_whole, double *percent)
{
	double sum = is_whole ? mean->percent : mean->share;

	*percent = mean->percent_ns > 0 ? sum / mean->percent_ns : 0;
	return mean->percent_ns > 0;
}

uint8_t occupancy_mean_limits(const struct occupancy_mean *mean)
{
	uint8_t most = 0;

	for (uint8_t i = 1; i < sizeof(mean->limit_ns) / sizeof(mean->limit_ns[0]); i++) {
		most = mean->limit_ns[i] > mean->limit_ns[most] ? i : most;
	}
	return most;
}
