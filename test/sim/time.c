/* SPDX-License-Identifier: Apache-2.0 */
/* The clock, and how long things take on the modelled device (roughly an H200). */
#include "test/sim/model.h"

#include <time.h>

enum {
	NR_MULTIPROCESSORS = 132,
	BLOCKS_PER_MULTIPROCESSOR = 8,
	COPY_START_NS = 1200,
	KERNEL_START_NS = 1500,
	SLEEP_SLACK_NS = 70000, /* what a sleep may overshoot; the rest is spun */
};

uint64_t sim_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void sim_wait_until(uint64_t time_ns)
{
	for (;;) {
		uint64_t now = sim_now();

		if (now >= time_ns) {
			return;
		}
		if (time_ns - now > SLEEP_SLACK_NS) {
			uint64_t rest = time_ns - now - SLEEP_SLACK_NS;
			struct timespec t = {
				(time_t)(rest / 1000000000u), (long)(rest % 1000000000u)};

			nanosleep(&t, NULL);
		}
	}
}

static uint64_t kernel_ns(const struct sim_op *op)
{
	if (sim_config.kernel_ns >= 0) {
		return (uint64_t)sim_config.kernel_ns;
	}
	uint64_t blocks = (uint64_t)op->grid.x * op->grid.y * op->grid.z;
	uint64_t threads = (uint64_t)op->block.x * op->block.y * op->block.z;
	uint64_t waves = blocks / (NR_MULTIPROCESSORS * BLOCKS_PER_MULTIPROCESSOR) + 1;
	uint64_t wave_ns = 1000 + op->function->hash % 5000;

	return KERNEL_START_NS + waves * wave_ns * (threads + 255) / 256;
}

/* Bytes per microsecond by what is copied to where. */
static uint64_t copy_rate(const struct sim_op *op)
{
	if (op->is_peer) {
		return 200000;
	}
	if (op->src_kind == SIM_PAGEABLE || op->dst_kind == SIM_PAGEABLE) {
		return 10000;
	}
	if (op->src_kind == SIM_PINNED || op->dst_kind == SIM_PINNED) {
		return 50000;
	}
	return 2000000;
}

uint64_t sim_duration(const struct sim_op *op)
{
	uint64_t ns = 0;

	switch (op->kind) {
	case SIM_OP_KERNEL:
		ns = kernel_ns(op);
		break;
	case SIM_OP_COPY:
		ns = COPY_START_NS + op->bytes * 1000 / copy_rate(op);
		break;
	case SIM_OP_SET:
		ns = COPY_START_NS + op->bytes * 1000 / 2000000;
		break;
	default:
		return 0;
	}
	ns = (uint64_t)((double)ns * sim_config.time_scale);
	return ns ? ns : 1;
}
