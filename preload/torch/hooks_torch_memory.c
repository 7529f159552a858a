/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's caching allocator reports every allocation and free to
 * c10::reportMemoryUsageToProfiler, with or without a profiler. libc10_cuda calls it in libc10, so
 * gprof's comes first; it writes a row and calls the real one.
 */
#include <errno.h>

#include "collector/util/config.h"
#include "preload/hook/hook.h"
#include "preload/torch/torch.h"

/* c10::Device: passed by value, in one register. */
struct device {
	int8_t type;
	int8_t index;
};

typedef void report_fn(void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,
	uint64_t nr_reserved_bytes, struct device device);

static void record(const void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,
	uint64_t nr_reserved_bytes, struct device device)
{
	struct ring_tls *self = &ring_tls;
	struct gprof_row_alloc *row;
	uint32_t mode = hook_mode();
	uint64_t time;

	if (mode & COLLECTOR_COLD) {
		mode = recorder_ensure_started_counting_loss(0); /* the clock's too */
	}
	time = clock_raw();
	if (!(mode & COLLECTOR_RECORD) || ring_in_profiler(self) ||
		config_number(CONFIG_TORCH) < TORCH_OPS) {
		return;
	}
	row = (struct gprof_row_alloc *)ring_reserve(self, sizeof(*row));
	if (!row) {
		return;
	}
	*row = (struct gprof_row_alloc){.head = {.bytes = sizeof(*row), .table = GPROF_TABLE_alloc},
		.time = time,
		.address = (uintptr_t)address,
		.bytes = nr_bytes,
		.allocated_bytes = nr_allocated_bytes,
		.reserved_bytes = nr_reserved_bytes,
		.thread = self->id,
		.device_type = (uint8_t)device.type,
		.device = (uint8_t)device.index,
		.framework = GPROF_FRAMEWORK_TORCH};
	ring_commit(self, row, sizeof(*row));
}

/* The first report may come before the first operator, as a sign of PyTorch. */
static report_fn *real(enum hook_id id, uintptr_t caller)
{
	const struct hook_route *route = hook_route(id, caller);
	report_fn *function;

	if (!route) {
		torch_look();
	}
	*(void **)&function = route ? route->function : hook_resolve(id, caller);
	return function;
}

#define REPORT(name, symbol)                                                                       \
	HOOK_EXPORT report_fn name __asm__(#symbol);                                               \
	void name(void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,                    \
		uint64_t nr_reserved_bytes, struct device device)                                  \
	{                                                                                          \
		report_fn *function = real(HOOK_##symbol, HOOK_CALLER);                            \
                                                                                                   \
		if (function) {                                                                    \
			function(                                                                  \
				address, nr_bytes, nr_allocated_bytes, nr_reserved_bytes, device); \
		}                                                                                  \
		record(address, nr_bytes, nr_allocated_bytes, nr_reserved_bytes, device);          \
	}

/* Until 2.1 the totals are signed, which only their names in the library say. */
REPORT(report_signed, _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE)
REPORT(report_unsigned, _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE)
