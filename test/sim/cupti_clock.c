/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of records. A client may put its own in the place of CLOCK_REALTIME, once: as with the
 * real one, each time that it does so again, one more kernel at the head comes in the old clock.
 */
#include "test/sim/cupti.h"

/* How long the client's clock is looked at to learn its rate. */
enum { LOOK_NS = 2000000 };

static struct {
	uint64_t (*_Atomic read)(void);
	double rate; /* of the client's clock, per ns */
	_Atomic int nr_registered;
	_Atomic int nr_stale; /* kernels that will come in the old clock */
} clock_state;

uint64_t cupti_sim_clock_now(void)
{
	uint64_t (*read)(void) = atomic_load(&clock_state.read);

	return read ? read() : cupti_sim_core()->now();
}

void cupti_sim_clock_end(void)
{
	atomic_store(&clock_state.read, NULL);
}

/* By a look at both clocks: the times of a record must not differ by how long that takes. */
static uint64_t theirs(uint64_t time_ns, uint64_t now_ns, uint64_t now)
{
	return now + (uint64_t)(int64_t)((double)(int64_t)(time_ns - now_ns) * clock_state.rate);
}

bool cupti_sim_clock_is_past(uint64_t record_ns, uint64_t now_ns)
{
	uint64_t (*read)(void) = atomic_load(&clock_state.read);
	uint64_t now = read ? theirs(now_ns, cupti_sim_core()->now(), read()) : now_ns;
	uint64_t far = record_ns > now ? record_ns - now : now - record_ns;
	uint64_t far_old = record_ns > now_ns ? record_ns - now_ns : now_ns - record_ns;

	return record_ns <= (far <= far_old ? now : now_ns);
}

/* Where a record of each kind has its times: the first one's offset, and how many follow. */
static const struct {
	uint8_t offset, nr;
} times[CUPTI_KIND_END] = {
	[CUPTI_KIND_KERNEL] = {16, 2},
	[CUPTI_KIND_CONCURRENT_KERNEL] = {16, 2},
	[CUPTI_KIND_MEMCPY] = {16, 2},
	[CUPTI_KIND_MEMCPY2] = {16, 2},
	[CUPTI_KIND_MEMSET] = {16, 2},
	[CUPTI_KIND_DRIVER] = {8, 2},
	[CUPTI_KIND_RUNTIME] = {8, 2},
	[CUPTI_KIND_SYNCHRONIZATION] = {8, 2},
	[CUPTI_KIND_GRAPH_TRACE] = {8, 2},
	[CUPTI_KIND_OVERHEAD] = {24, 2},
	[CUPTI_KIND_MEMORY2] = {32, 1},
};

void cupti_sim_clock_convert(void *record, uint32_t kind)
{
	uint64_t (*read)(void) = atomic_load(&clock_state.read);

	if (!read) {
		return;
	}
	if (kind == CUPTI_KIND_CONCURRENT_KERNEL && atomic_load(&clock_state.nr_stale) > 0 &&
		atomic_fetch_sub(&clock_state.nr_stale, 1) > 0) {
		return;
	}
	uint64_t now_ns = cupti_sim_core()->now(), now = read();

	for (uint8_t i = 0; i < times[kind].nr; i++) {
		uint64_t *at = (uint64_t *)((char *)record + times[kind].offset) + i;

		*at = *at ? theirs(*at, now_ns, now) : 0;
	}
}

struct reading {
	uint64_t ours, theirs;
};

/* The quickest of a few readings: in the others the thread may have waited for a CPU. */
static struct reading read_both(uint64_t (*clock)(void))
{
	struct reading best = {0};
	uint64_t best_ns = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		uint64_t before = cupti_sim_core()->now(), their = clock();
		uint64_t apart_ns = cupti_sim_core()->now() - before;

		if (apart_ns < best_ns) {
			best_ns = apart_ns;
			best = (struct reading){before + apart_ns / 2, their};
		}
	}
	return best;
}

CUPTI_SIM_EXPORT(cuptiActivityRegisterTimestampCallback, (uint64_t(*clock)(void)))
{
	CUPTI_SIM_CHECK();
	if (cupti_sim_level() < 11060) {
		return CUPTI_NOT_SUPPORTED;
	}
	for (uint32_t kind = 1; kind < CUPTI_KIND_END; kind++) {
		if (cupti_sim_is_on(kind)) {
			return CUPTI_INVALID_OPERATION;
		}
	}
	if (!clock) {
		return CUPTI_INVALID_PARAMETER;
	}
	struct reading first = read_both(clock), second = first;

	while (second.ours - first.ours < LOOK_NS) {
		second = read_both(clock);
	}
	clock_state.rate =
		(double)(second.theirs - first.theirs) / (double)(second.ours - first.ours);
	atomic_store(&clock_state.nr_stale, atomic_fetch_add(&clock_state.nr_registered, 1));
	atomic_store(&clock_state.read, clock);
	return CUPTI_OK;
}
