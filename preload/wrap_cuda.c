/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA wrappers that do more than record: module registration and the profiler switches. */
#include "preload/hook.h"

#include <string.h>

#include "preload/wrap.h"

/* Run by each module with device code, from its constructor; the moment to notice a new runtime. */
void **__cudaRegisterFatBinary(void *fat_cubin)
{
	const __typeof__(&__cudaRegisterFatBinary) real = HOOK_REAL(__cudaRegisterFatBinary);

	hook_modules_changed();
	return real(fat_cubin);
}

/*
 * Host address to kernel name, for launches in a process whose kernels CUPTI does not name. Modules
 * register before the recorder runs, and tens of thousands of kernels of which few are launched, so
 * the pairs wait here (the texts are the modules' own) until it is known that they are needed.
 */
#define MAX_FUNCTIONS 65536u

static struct functions_state {
	struct {
		const void *address;
		const char *_Atomic name; /* NULL once its module is gone */
		void **module;
	} all[MAX_FUNCTIONS];
	_Atomic uint32_t nr_added;
	atomic_bool is_wanted;
} functions;

static void tell_function(const void *address, const char *name)
{
	struct gprof_row_function row = {.address = (uintptr_t)address};

	collector_emit(&row, GPROF_TABLE_function, name, strlen(name));
}

void wrap_tell_functions(void)
{
	uint32_t n = atomic_load(&functions.nr_added);

	if (atomic_exchange(&functions.is_wanted, true)) {
		return;
	}
	for (uint32_t i = 0; i < n && i < MAX_FUNCTIONS; i++) {
		const char *name = atomic_load(&functions.all[i].name);

		if (name) {
			tell_function(functions.all[i].address, name);
		}
	}
}

void __cudaRegisterFunction(void **fat_cubin_handle, const char *host_fun, char *device_fun,
	const char *device_name, int thread_limit, void *tid, void *bid, cudart_dim3 *block_dim,
	cudart_dim3 *grid_dim, int *warp_size)
{
	const __typeof__(&__cudaRegisterFunction) real = HOOK_REAL(__cudaRegisterFunction);
	uint32_t index = atomic_fetch_add(&functions.nr_added, 1);

	if (atomic_load(&functions.is_wanted)) {
		tell_function(host_fun, device_name);
	} else if (index < MAX_FUNCTIONS) {
		functions.all[index].address = host_fun;
		functions.all[index].module = fat_cubin_handle;
		atomic_store(&functions.all[index].name, device_name);
	}
	real(fat_cubin_handle, host_fun, device_fun, device_name, thread_limit, tid, bid, block_dim,
		grid_dim, warp_size);
}

/* The module leaves, and the texts of its names with it. */
void __cudaUnregisterFatBinary(void **fat_cubin_handle)
{
	const __typeof__(&__cudaUnregisterFatBinary) real = HOOK_REAL(__cudaUnregisterFatBinary);
	uint32_t n = atomic_load(&functions.nr_added);

	for (uint32_t i = 0; i < n && i < MAX_FUNCTIONS; i++) {
		if (functions.all[i].module == fat_cubin_handle) {
			atomic_store(&functions.all[i].name, NULL);
		}
	}
	real(fat_cubin_handle);
}

/* The four switches differ in their names alone; the call itself is recorded like any other. */
#define PROFILER(name, is_on)                                                              \
	int name(void)                                                                     \
	{                                                                                  \
		const __typeof__(&name) real = HOOK_REAL(name);                            \
		struct ring_self *self = &ring_self;                                       \
		struct gprof_row_api row = {.call = HOOK_##name, .door = GPROF_DOOR_HOOK}; \
                                                                                           \
		if (is_on && !ring_is_inside(self)) {                                      \
			collector_capture(true);                                           \
		}                                                                          \
		if (!hook_enter(self, hook_mode())) {                                      \
			row.result = real();                                               \
		} else {                                                                   \
			row.begin = clock_raw();                                           \
			ring_call_begin(&self->cuda, hook_name(HOOK_##name), row.begin);   \
			row.result = real();                                               \
			row.dur = clock_raw();                                             \
			ring_call_end(&self->cuda, row.dur);                               \
			hook_leave(self);                                                  \
			row.thread = self->id;                                             \
			row.correlation = self->correlation;                               \
			collector_emit(&row, GPROF_TABLE_api, NULL, 0);                    \
		}                                                                          \
		if (!is_on && !ring_is_inside(self)) {                                     \
			collector_capture(false);                                          \
		}                                                                          \
		return row.result;                                                         \
	}

PROFILER(cudaProfilerStart, true)
PROFILER(cudaProfilerStop, false)
PROFILER(cuProfilerStart, true)
PROFILER(cuProfilerStop, false)
