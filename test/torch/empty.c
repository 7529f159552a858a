/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that an observer of operators costs: a callback of PyTorch's that does nothing. What is
 * beyond it is ours, the rest is PyTorch's own way to a callback. Loaded by bench.py.
 *
 * Preloaded before libgprof.so, it also decides whether reports of the CPU allocator pass gprof.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* at::RecordFunctionCallback */
struct callback {
	void **(*begin)(void **context, const void *fn);
	void (*end)(const void *fn, void *context);
	double sampling_probability;
	bool scopes[10];
	bool needs_inputs, needs_outputs, needs_ids;
};

static void **begin(void **context, const void *fn)
{
	(void)fn;
	*context = NULL;
	return context;
}

static void end(const void *fn, void *context)
{
	(void)fn;
	(void)context;
}

/* add: at::addGlobalCallback */
uint64_t empty_add(uint64_t (*add)(struct callback callback))
{
	struct callback callback = {.begin = begin, .end = end, .sampling_probability = 1.0};

	memset(callback.scopes, 1, sizeof(callback.scopes));
	return add(callback);
}

typedef void new_fn(void *reporter, void *address, size_t nr_bytes);
typedef void delete_fn(void *reporter, void *address);

#define NEW    "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm"
#define DELETE "_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv"

new_fn memory_new __asm__(NEW);
delete_fn memory_delete __asm__(DELETE);

static new_fn *next_new;
static delete_fn *next_delete;

static __attribute__((constructor)) void find_gprof(void)
{
	*(void **)&next_new = dlsym(RTLD_NEXT, NEW);
	*(void **)&next_delete = dlsym(RTLD_NEXT, DELETE);
}

/* Jumps, so that the next function sees libc10 as its caller. */
void memory_new(void *reporter, void *address, size_t nr_bytes)
{
	next_new(reporter, address, nr_bytes);
}

void memory_delete(void *reporter, void *address)
{
	next_delete(reporter, address);
}

/* From now on reports go to gprof first, or (NULL) to that library at once. */
void memory_pass_by(void *libc10)
{
	*(void **)&next_new = libc10 ? dlsym(libc10, NEW) : NULL;
	*(void **)&next_delete = libc10 ? dlsym(libc10, DELETE) : NULL;
	if (!libc10) {
		find_gprof();
	}
}
