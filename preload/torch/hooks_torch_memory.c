/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's allocators report every allocation and free to functions that libc10 exports, with or
 * without a profiler. The calls go through the PLT, also within libc10, so gprof's functions come
 * first; they write a row and call the real ones.
 *
 *     c10::reportMemoryUsageToProfiler      GPUs' caching allocators, shared memory of loader
 *                                           workers
 *     c10::ProfiledCPUMemoryReporter        the CPU allocator; it passes reports on to the function
 *                                           above only while PyTorch's own profiler wants them
 */
#include <errno.h>

#include "collector/util/config.h"
#include "preload/hook/hook.h"
#include "preload/torch/live_blocks.h"
#include "preload/torch/torch.h"

/* c10::Device: passed by value, in one register. */
struct device {
	int8_t type;
	int8_t index;
};

typedef void report_fn(void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,
	uint64_t nr_reserved_bytes, struct device device);

/* A report inside one of the CPU allocator, which has a row of its own. */
static __thread bool is_in_cpu_report __attribute__((tls_model("initial-exec")));

static inline bool is_wanted(void)
{
	return config_number(CONFIG_TORCH) >= TORCH_OPS;
}

static void write_row(const void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,
	uint64_t nr_reserved_bytes, struct device device)
{
	struct ring_tls *self = &ring_tls;
	struct gprof_row_alloc *row;
	uint64_t time;

	if (!(hook_mode() & COLLECTOR_RECORD) || ring_in_profiler(self)) {
		return;
	}
	time = clock_raw();
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

static void record(const void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,
	uint64_t nr_reserved_bytes, struct device device)
{
	if (hook_mode() & COLLECTOR_COLD) {
		recorder_ensure_started_counting_loss(0); /* the clock's too */
	}
	if (is_wanted()) {
		write_row(address, nr_bytes, nr_allocated_bytes, nr_reserved_bytes, device);
	}
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

/* ---- CPU memory ---- */

/*
 * Unlike reports of GPUs, those of the CPU allocator do not start the recorder: libtorch allocates
 * already while it is loaded. Blocks are followed in closed windows, too, so that the total is that
 * of all blocks.
 */
static bool is_cpu_followed(void)
{
	return !(hook_mode() & COLLECTOR_COLD) && is_wanted();
}

static void record_cpu_new(void *address, uint64_t nr_bytes, struct device device)
{
	uint64_t in_use = live_blocks_add((uintptr_t)address, nr_bytes);

	if (in_use) {
		write_row(address, (int64_t)nr_bytes, in_use, 0, device);
	}
}

static void record_cpu_delete(void *address, struct device device)
{
	uint64_t in_use, nr_bytes = live_blocks_remove((uintptr_t)address, &in_use);

	if (nr_bytes) {
		write_row(address, -(int64_t)nr_bytes, in_use, 0, device);
	}
}

/*
 * Shared memory. A report inside one of the CPU allocator is for PyTorch's profiler and already has
 * a row.
 */
static void report_cpu(void *address, int64_t nr_bytes, struct device device)
{
	if (is_in_cpu_report || !is_cpu_followed()) {
		return;
	}
	if (nr_bytes > 0) {
		record_cpu_new(address, (uint64_t)nr_bytes, device);
	} else {
		record_cpu_delete(address, device);
	}
}

/* ---- all devices ---- */

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
		if (device.type == 0) {                                                            \
			report_cpu(address, nr_bytes, device);                                     \
		} else {                                                                           \
			record(address, nr_bytes, nr_allocated_bytes, nr_reserved_bytes, device);  \
		}                                                                                  \
	}

/* Until 2.1 the totals are signed, which only their names in the library say. */
REPORT(report_signed, _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE)
REPORT(report_unsigned, _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE)

/* ---- the CPU allocator ---- */

#define CPU ((struct device){.type = 0, .index = -1})

typedef void new_fn(void *reporter, void *address, size_t nr_bytes);
typedef void delete_fn(void *reporter, void *address);

HOOK_EXPORT new_fn cpu_new __asm__("_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm");
HOOK_EXPORT delete_fn cpu_delete __asm__("_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv");

void cpu_new(void *reporter, void *address, size_t nr_bytes)
{
	new_fn *function =
		(new_fn *)hook_real(HOOK__ZN3c1025ProfiledCPUMemoryReporter3NewEPvm, HOOK_CALLER);

	if (function) {
		is_in_cpu_report = true;
		function(reporter, address, nr_bytes);
		is_in_cpu_report = false;
	}
	if (address && nr_bytes && is_cpu_followed()) {
		record_cpu_new(address, nr_bytes, CPU);
	}
}

void cpu_delete(void *reporter, void *address)
{
	delete_fn *function = (delete_fn *)hook_real(
		HOOK__ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv, HOOK_CALLER);

	if (function) {
		is_in_cpu_report = true;
		function(reporter, address);
		is_in_cpu_report = false;
	}
	if (address && is_cpu_followed()) {
		record_cpu_delete(address, CPU);
	}
}
