/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA wrappers that do more than record: module registration and the profiler switches. */
#include "preload/hook/hook.h"

#include "collector/ring/ending.h"
#include "preload/hook/kernels.h"
#include "preload/hook/route.h"

/*
 * Run by each module with device code, from its constructor: what was remembered of a module at the
 * same address must not lead it to another runtime.
 */
void **__cudaRegisterFatBinary(void *fat_cubin)
{
	hook_forget_removed();
	return HOOK_REAL(__cudaRegisterFatBinary)(fat_cubin);
}

void __cudaRegisterFunction(void **fat_cubin_handle, const char *host_fun, char *device_fun,
	const char *device_name, int thread_limit, void *tid, void *bid, cudart_dim3 *block_dim,
	cudart_dim3 *grid_dim, int *warp_size)
{
	const __typeof__(&__cudaRegisterFunction) real = HOOK_REAL(__cudaRegisterFunction);

	kernels_add(host_fun, fat_cubin_handle, device_name);
	real(fat_cubin_handle, host_fun, device_fun, device_name, thread_limit, tid, bid, block_dim,
		grid_dim, warp_size);
}

/* At exit, modules unregister their kernels but stay mapped, unless dlclose unmaps them. */
static bool stays_mapped(void)
{
	int status;

	return ending_kind(&status) == GPROF_END_EXIT && !route_is_hidden();
}

/* The module leaves, and the texts of its names with it. */
void __cudaUnregisterFatBinary(void **fat_cubin_handle)
{
	const __typeof__(&__cudaUnregisterFatBinary) real = HOOK_REAL(__cudaUnregisterFatBinary);

	if (!stays_mapped()) {
		kernels_forget_module(fat_cubin_handle);
	}
	real(fat_cubin_handle);
}

/* The program's first call may start a capture, so the recorder may have to start here. */
static void start_capture(void)
{
	if (hook_mode() & COLLECTOR_COLD) {
		recorder_ensure_started();
	}
	collector_capture(true);
}

/* The four switches differ in their names alone; the call itself is recorded like any other. */
#define PROFILER(name, is_on)                                                                  \
	int name(void)                                                                         \
	{                                                                                      \
		const __typeof__(&name) real = HOOK_REAL(name);                                \
		struct ring_tls *self = &ring_tls;                                             \
		struct gprof_row_api row = {.call = HOOK_##name, .source = GPROF_SOURCE_HOOK}; \
		struct ring_mark mark;                                                         \
                                                                                               \
		if (is_on && !ring_in_profiler(self)) {                                        \
			start_capture();                                                       \
		}                                                                              \
		if (!hook_enter(self, &mark, hook_mode(), HOOK_CALLER, RING_STACK)) {          \
			row.result = real();                                                   \
		} else {                                                                       \
			row.begin = clock_raw();                                               \
			ring_call_begin(&self->cuda, hook_name(HOOK_##name), row.begin);       \
			row.result = real();                                                   \
			row.dur = clock_raw();                                                 \
			ring_call_end(&self->cuda, row.dur);                                   \
			if (ring_enter(self)) {                                                \
				row.thread = self->id;                                         \
				row.correlation = self->correlation;                           \
				ring_emit(&row, GPROF_TABLE_api, NULL, 0);                     \
			}                                                                      \
			hook_leave(self, &mark);                                               \
		}                                                                              \
		if (!is_on && !ring_in_profiler(self)) {                                       \
			collector_capture(false);                                              \
		}                                                                              \
		return row.result;                                                             \
	}

PROFILER(cudaProfilerStart, true)
PROFILER(cudaProfilerStop, false)
PROFILER(cuProfilerStart, true)
PROFILER(cuProfilerStop, false)
