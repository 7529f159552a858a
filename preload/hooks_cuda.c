/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA wrappers that do more than record: module registration and the profiler switches. */
#include "preload/hook/hook.h"

#include <string.h>
#include <sys/mman.h>

#include "collector/ring/safe_read.h"
#include "collector/util/memory.h"
#include "preload/hooks.h"

/*
 * Run by each module with device code, from its constructor: what was remembered of a module that
 * lay in its place must not lead it to another runtime.
 */
void **__cudaRegisterFatBinary(void *fat_cubin)
{
	__typeof__(&__cudaRegisterFatBinary) real;

	*(void **)&real = hook_resolve_anew(HOOK___cudaRegisterFatBinary, HOOK_CALLER);
	return real(fat_cubin);
}

/*
 * Address of the launching CPU function to kernel name, for processes whose kernels CUPTI does not
 * name. Modules register before the recorder runs, and register tens of thousands of kernels of
 * which few are launched. So the pairs wait here (the modules own the texts) until they are needed.
 */
#define MAX_FUNCTIONS 65536u
#define PAGE_BYTES    4096u
#define PIECE_BYTES   256u

struct function {
	const void *address;
	const char *_Atomic name; /* NULL: not written yet, or its module is gone */
	void **module;
	atomic_bool is_written; /* to the stream */
};

static struct functions_state {
	struct function all[MAX_FUNCTIONS];
	_Atomic uint32_t nr_added;
	atomic_bool is_wanted;
} functions;

static void write_function(struct function *function, const char *name)
{
	struct gprof_row_function row = {.address = (uintptr_t)function->address};

	if (!atomic_exchange(&function->is_written, true)) {
		ring_emit(&row, GPROF_TABLE_function, name, strnlen(name, GPROF_TEXT_BYTES + 1));
	}
}

/*
 * Another thread may unmap the name during the copy. It removes the name from the list first: a
 * name that is still listed after the copy was mapped during it.
 */
static bool copy_name(char text[PAGE_BYTES], struct function *function)
{
	const char *name = atomic_load(&function->name);
	uint32_t nr_bytes = 0;

	while (name && nr_bytes < PAGE_BYTES) {
		uintptr_t from = (uintptr_t)name + nr_bytes;
		uint32_t piece = PAGE_BYTES - from % PAGE_BYTES;

		piece = piece < PIECE_BYTES ? piece : PIECE_BYTES;
		piece = piece < PAGE_BYTES - nr_bytes ? piece : PAGE_BYTES - nr_bytes;
		if (!safe_read(text + nr_bytes, from, piece)) {
			return false;
		}
		if (memchr(text + nr_bytes, 0, piece)) {
			break;
		}
		nr_bytes += piece;
	}
	return name && nr_bytes < PAGE_BYTES && atomic_load(&function->name) == name;
}

static bool can_peek(void)
{
	bool is_there = true, is_read = false;

	return safe_read(&is_read, (uintptr_t)&is_there, sizeof(is_there)) && is_read;
}

void hooks_write_kernel_names(void)
{
	char *text;
	uint32_t n;

	/* First this: a function that is registered later is written by its own thread. */
	if (atomic_exchange(&functions.is_wanted, true)) {
		return;
	}
	n = atomic_load(&functions.nr_added);
	text = n && can_peek() ? memory_map(PAGE_BYTES) : NULL;
	if ((n && !text) || n > MAX_FUNCTIONS) {
		notice_add("kernel names", 0,
			n > MAX_FUNCTIONS ? "the program registers more than 65,536 kernels; the "
					    "others have names only from CUPTI"
					  : "the names of kernels registered so far cannot be "
					    "read: the operating system refuses process_vm_readv; "
					    "allow it to get them");
	}
	for (uint32_t i = 0; text && i < n && i < MAX_FUNCTIONS; i++) {
		if (copy_name(text, &functions.all[i])) {
			write_function(&functions.all[i], text);
		}
	}
	if (text) {
		munmap(text, PAGE_BYTES);
	}
}

void __cudaRegisterFunction(void **fat_cubin_handle, const char *host_fun, char *device_fun,
	const char *device_name, int thread_limit, void *tid, void *bid, cudart_dim3 *block_dim,
	cudart_dim3 *grid_dim, int *warp_size)
{
	const __typeof__(&__cudaRegisterFunction) real = HOOK_REAL(__cudaRegisterFunction);
	uint32_t index = atomic_fetch_add(&functions.nr_added, 1);
	struct function late = {.address = host_fun};
	struct function *function = index < MAX_FUNCTIONS ? &functions.all[index] : &late;

	function->address = host_fun;
	function->module = fat_cubin_handle;
	atomic_store(&function->name, device_name);
	if (atomic_load(&functions.is_wanted)) {
		write_function(function, device_name);
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
#define PROFILER(name, is_on)                                                                  \
	int name(void)                                                                         \
	{                                                                                      \
		const __typeof__(&name) real = HOOK_REAL(name);                                \
		struct ring_tls *self = &ring_tls;                                             \
		struct gprof_row_api row = {.call = HOOK_##name, .source = GPROF_SOURCE_HOOK}; \
		struct ring_mark mark;                                                         \
                                                                                               \
		if (is_on && !ring_in_profiler(self)) {                                        \
			collector_capture(true);                                               \
		}                                                                              \
		if (!hook_enter(self, &mark, hook_mode(), HOOK_CALLER)) {                      \
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
