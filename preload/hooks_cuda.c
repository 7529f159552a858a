/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA wrappers that do more than record: module registration and the profiler switches. */
#include "preload/hook/hook.h"

#include <string.h>

#include "collector/ring/safe_read.h"
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
 * Names of kernels by the address of the CPU function that launches them: CUPTI names only those
 * that have ended. Modules register before the recorder runs, and register tens of thousands of
 * kernels of which few are launched. So the pairs wait here (the modules own the texts) until one is
 * launched.
 */
#define MAX_FUNCTIONS 65536u
#define NR_INDEX      (2 * MAX_FUNCTIONS)
#define NR_HANDLES    MAX_FUNCTIONS
#define HANDLE_TRIES  16u
#define PIECE_BYTES   256u
#define PAGE_BYTES    4096u

struct function {
	const void *_Atomic address; /* written last; NULL: not yet */
	const char *_Atomic name;    /* NULL: its module is gone */
	void **module;
};

/* A program may ask for a kernel's handle, and launch by that. */
struct handle {
	const void *_Atomic handle; /* NULL: free */
	const void *_Atomic function;
};

static struct functions_state {
	struct function all[MAX_FUNCTIONS];
	struct handle handles[NR_HANDLES];
	/* Of the drain thread: by a hash of the address the newest function, plus 1; 0: none. */
	uint32_t index[NR_INDEX];
	uint32_t nr_indexed;
	_Atomic uint32_t nr_added;
	pid_t unnamed_in; /* the process that has said that names are missing; the drain thread */
} functions;

static bool can_peek(void)
{
	bool is_there = true, is_read = false;

	return safe_read(&is_read, (uintptr_t)&is_there, sizeof(is_there)) && is_read;
}

/*
 * Another thread may unmap the name during the copy. It removes the name from the list first: a
 * name that is still listed after the copy was mapped during it.
 */
static size_t copy_name(char *text, size_t nr_bytes, struct function *function)
{
	const char *name = atomic_load(&function->name);
	size_t at = 0;

	while (name && at < nr_bytes) {
		uintptr_t from = (uintptr_t)name + at;
		size_t piece = PAGE_BYTES - from % PAGE_BYTES;
		const char *end;

		piece = piece < PIECE_BYTES ? piece : PIECE_BYTES;
		piece = piece < nr_bytes - at ? piece : nr_bytes - at;
		if (!safe_read(text + at, from, (uint32_t)piece)) {
			return 0;
		}
		end = memchr(text + at, 0, piece);
		if (end) {
			return atomic_load(&function->name) == name ? (size_t)(end - text) : 0;
		}
		at += piece;
	}
	return 0;
}

static void report_unnamed(uint32_t nr_added)
{
	if (functions.unnamed_in == getpid() || (nr_added <= MAX_FUNCTIONS && can_peek())) {
		return;
	}
	functions.unnamed_in = getpid();
	notice_add("kernel names", 0,
		nr_added > MAX_FUNCTIONS
			? "the program registers more than 65,536 kernels; the others have names "
			  "only from CUPTI"
			: "the operating system refuses process_vm_readv, so kernels have names "
			  "only from CUPTI; allow it to get them");
}

static uint32_t hash_address(const void *address)
{
	return (uint32_t)(((uintptr_t)address * 0x9e3779b97f4a7c15u) >> 32);
}

static struct handle *handle_slot(const void *handle, uint32_t nr_tries)
{
	return &functions.handles[(hash_address(handle) + nr_tries) % NR_HANDLES];
}

/* What a launch is given is a host address or a handle. */
static const void *launching_function(const void *address)
{
	for (uint32_t i = 0; i < HANDLE_TRIES; i++) {
		const struct handle *at = handle_slot(address, i);

		if (atomic_load(&at->handle) == address) {
			return atomic_load(&at->function);
		}
	}
	return address;
}

/* Where the index has that address, or will have it: it is never full. */
static uint32_t *index_slot(const void *address)
{
	uint32_t slot = hash_address(address) % NR_INDEX;

	while (functions.index[slot] &&
		atomic_load(&functions.all[functions.index[slot] - 1].address) != address) {
		slot = (slot + 1) % NR_INDEX;
	}
	return &functions.index[slot];
}

/* The newest of that address: an earlier module in its place is gone. NULL: none. */
static struct function *find_function(const void *address)
{
	uint32_t nr_added = atomic_load(&functions.nr_added);
	uint32_t nr = nr_added < MAX_FUNCTIONS ? nr_added : MAX_FUNCTIONS;
	const void *new_address;
	uint32_t slot;

	while (functions.nr_indexed < nr) {
		new_address = atomic_load(&functions.all[functions.nr_indexed].address);
		if (!new_address) {
			break;
		}
		*index_slot(new_address) = functions.nr_indexed + 1;
		functions.nr_indexed++;
	}
	slot = *index_slot(address);
	return slot ? &functions.all[slot - 1] : NULL;
}

size_t hooks_kernel_name(uint64_t address, char *name, size_t nr_bytes)
{
	struct function *function =
		find_function(launching_function((const void *)(uintptr_t)address));
	size_t length = function ? copy_name(name, nr_bytes, function) : 0;
	uint32_t nr_added = atomic_load(&functions.nr_added);

	if (!length && nr_added) {
		report_unnamed(nr_added);
	}
	return length;
}

static void add_function(const void *address, void **module, const char *name)
{
	uint32_t index = atomic_fetch_add(&functions.nr_added, 1);

	if (index < MAX_FUNCTIONS) {
		functions.all[index].module = module;
		atomic_store(&functions.all[index].name, name);
		atomic_store(&functions.all[index].address, address);
	}
}

void hooks_add_kernel(const void *handle, const void *function)
{
	for (uint32_t i = 0; handle && i < HANDLE_TRIES; i++) {
		struct handle *at = handle_slot(handle, i);
		const void *there = NULL;

		if (atomic_compare_exchange_strong(&at->handle, &there, handle) || there == handle) {
			atomic_store(&at->function, function);
			return;
		}
	}
}

void __cudaRegisterFunction(void **fat_cubin_handle, const char *host_fun, char *device_fun,
	const char *device_name, int thread_limit, void *tid, void *bid, cudart_dim3 *block_dim,
	cudart_dim3 *grid_dim, int *warp_size)
{
	const __typeof__(&__cudaRegisterFunction) real = HOOK_REAL(__cudaRegisterFunction);

	add_function(host_fun, fat_cubin_handle, device_name);
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
