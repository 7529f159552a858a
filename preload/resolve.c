/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the function that a caller would have reached without us. Usually that is the next one in
 * the loader's order; but a Python extension's CUDA runtime is often RTLD_LOCAL, and one process
 * may hold several runtimes, so then the caller's own dependencies decide.
 */
#include "preload/hook.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_ROUTES   8192u
#define MAX_RUNTIMES 8u
#define PATH_BYTES   1024u

/* One pass over the mapped objects. Too large for the least stack that a thread may have. */
struct modules {
	uintptr_t caller;
	uintptr_t low, high; /* of the object that the caller lies in, 0 if unknown */
	char caller_path[PATH_BYTES];
	char runtimes[MAX_RUNTIMES][PATH_BYTES]; /* libcudart*, libcuda*, libcupti* or libnccl* */
	unsigned int nr_runtimes;
	const char *wanted; /* start of the runtimes' base name */
};

static struct resolve_state {
	_Atomic uint32_t nr_routes;
	_Atomic uint32_t nr_runtimes; /* CUDA runtimes seen so far */
	struct hook_route routes[MAX_ROUTES];
} state;

static int missing_cuda(void)
{
	return CUDA_CODE_NOT_FOUND;
}

static int missing_cupti(void)
{
	return CUPTI_NOT_SUPPORTED;
}

static int missing_nccl(void)
{
	return NCCL_SYSTEM_ERROR;
}

static int missing_thread(void)
{
	return EAGAIN;
}

static void look_at_segments(struct modules *modules, const struct dl_phdr_info *info)
{
	uintptr_t low = UINTPTR_MAX;
	uintptr_t high = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD) {
			low = start < low ? start : low;
			high = start + segment->p_memsz > high ? start + segment->p_memsz : high;
		}
	}
	if (modules->caller >= low && modules->caller < high) {
		modules->low = low;
		modules->high = high;
		strncpy(modules->caller_path, info->dlpi_name ? info->dlpi_name : "",
			PATH_BYTES - 1);
	}
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct modules *modules = data;
	const char *path = info->dlpi_name ? info->dlpi_name : "";
	const char *base = strrchr(path, '/');

	(void)size;
	look_at_segments(modules, info);
	base = base ? base + 1 : path;
	if (!strncmp(base, modules->wanted, strlen(modules->wanted)) &&
		modules->nr_runtimes < MAX_RUNTIMES) {
		strncpy(modules->runtimes[modules->nr_runtimes++], path, PATH_BYTES - 1);
	}
	return 0;
}

/* NULL if there is no memory; else for munmap. */
static struct modules *look_at_modules(uintptr_t caller, uint8_t api)
{
	struct modules *modules = mmap(
		NULL, sizeof(*modules), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (modules == MAP_FAILED) {
		return NULL;
	}
	modules->caller = caller;
	modules->wanted = api == GPROF_API_DRIVER ? "libcuda.so"
			  : api == HOOK_API_CUPTI ? "libcupti.so"
			  : api == GPROF_API_NCCL ? "libnccl.so"
						  : "libcudart";
	dl_iterate_phdr(look_at_object, modules);
	return modules;
}

static bool is_ours(const void *function)
{
	Dl_info ours, info;

	return dladdr((void *)&hook_resolve, &ours) && dladdr(function, &info) &&
	       ours.dli_fbase == info.dli_fbase;
}

/* The symbol in an object that is mapped already, or in what that depends on. */
static void *look_in(const char *path, const char *name)
{
	void *handle = *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *function;

	if (!handle) {
		return NULL;
	}
	function = dlsym(handle, name);
	dlclose(handle); /* only our own count: NOLOAD means that it was there before */
	return function && !is_ours(function) ? function : NULL;
}

static void *find(const struct modules *modules, const char *name)
{
	void *function = NULL;

	/* With several runtimes the loader's order may lead to the wrong one. */
	if (modules->nr_runtimes > 1) {
		function = look_in(modules->caller_path, name);
	}
	function = function ? function : dlsym(RTLD_NEXT, name);
	function = function ? function : look_in(modules->caller_path, name);
	for (unsigned int i = 0; !function && i < modules->nr_runtimes; i++) {
		function = look_in(modules->runtimes[i], name);
	}
	return function;
}

static const struct hook_route *find_route(enum hook_id id, uintptr_t caller)
{
	const struct hook_route *route = atomic_load(&hook_routes[id]);

	while (route && caller - route->low >= route->span) {
		route = route->next;
	}
	return route;
}

/* For callers from `low` on, in so many bytes. */
static void add_route(enum hook_id id, uintptr_t low, uintptr_t span, void *function)
{
	uint32_t index = atomic_fetch_add(&state.nr_routes, 1);
	const struct hook_route *next = NULL;
	struct hook_route *route;

	if (index >= MAX_ROUTES) {
		atomic_store(&state.nr_routes, MAX_ROUTES);
		return; /* still right, only slow */
	}
	route = &state.routes[index];
	route->low = low;
	route->span = span;
	route->function = function;
	do {
		route->next = next;
	} while (!atomic_compare_exchange_weak(&hook_routes[id], &next, route));
}

/* A plugin may close its CUDA and open it again, elsewhere; the routes to it must stay right. */
static void keep(const void *function)
{
	Dl_info info;

	if (dladdr(function, &info) && info.dli_fname && *info.dli_fname) {
		dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	}
}

static void *missing(uint8_t api)
{
	/* Not remembered: the library may still be loaded. */
	return api == GPROF_API_THREAD ? (void *)missing_thread
	       : api == HOOK_API_CUPTI ? (void *)missing_cupti
	       : api == GPROF_API_NCCL ? (void *)missing_nccl
				       : (void *)missing_cuda;
}

/* The C library's own, for the case that nothing has libdl; gone since 2.34, which needs none. */
extern void *__libc_dlopen_mode(const char *path, int mode) __attribute__((weak));
extern void *__libc_dlsym(void *handle, const char *name) __attribute__((weak));

static void *(*find_dlsym(void))(void *, const char *)
{
	void *(*function)(void *, const char *) = dlsym;
	void *libdl = NULL;

	if (!function && __libc_dlopen_mode && __libc_dlsym) {
		libdl = __libc_dlopen_mode("libdl.so.2", (int)0x80000000u | RTLD_NOW);
	}
	if (libdl) {
		*(void **)&function = __libc_dlsym(libdl, "dlsym");
	}
	return function;
}

void *hook_find_next(const char *name)
{
	static void *(*_Atomic function)(void *, const char *)COMPAT_AT_START;
	void *(*now)(void *, const char *) = atomic_load(&function);

	if (!now) {
		now = find_dlsym();
		atomic_store(&function, now);
	}
	return now ? now(RTLD_NEXT, name) : NULL;
}

/* One C library, and interposers behind us in their order: the same for every caller. */
static void *resolve_thread(enum hook_id id)
{
	void *function = hook_find_next(hook_name(id));

	if (function) {
		add_route(id, 0, UINTPTR_MAX, function);
	}
	return function;
}

static void *resolve_library(enum hook_id id, uintptr_t caller)
{
	const struct collector_call *call = &hook_calls[id - 1];
	struct modules *modules = look_at_modules(caller, call->api);
	void *function;

	if (!modules) {
		return dlsym(RTLD_NEXT, hook_name(id));
	}
	function = find(modules, hook_name(id));
	if (function) {
		keep(function);
		/* All callers share one runtime: any may use it. Else only the caller's module. */
		if (modules->nr_runtimes <= 1 || !modules->low) {
			add_route(id, 0, UINTPTR_MAX, function);
		} else {
			add_route(id, modules->low, modules->high - modules->low, function);
		}
	}
	munmap(modules, sizeof(*modules));
	return function;
}

void *hook_resolve(enum hook_id id, uintptr_t caller)
{
	const struct hook_route *route = find_route(id, caller);
	uint8_t api = hook_calls[id - 1].api;
	int error = errno;
	void *function;

	if (route) {
		return route->function;
	}
	ring_self.depth += RING_INSIDE;
	function = api == GPROF_API_THREAD ? resolve_thread(id) : resolve_library(id, caller);
	ring_self.depth -= RING_INSIDE;
	errno = error;
	return function ? function : missing(api);
}

void hook_resolve_threads(void)
{
#define API_RT	GPROF_API_RUNTIME
#define API_DRV GPROF_API_DRIVER
#define API_THR GPROF_API_THREAD
#define HOOK(api, need, ret, name, params, args, facts)
#define CUSTOM(api, need, ret, name, params, args) \
	if (API_##api == GPROF_API_THREAD) {       \
		resolve_thread(HOOK_##name);       \
	}
	int error = errno;

	/* Without a look at what is known, which would cost every process a page more. */
	ring_self.depth += RING_INSIDE;
#include "preload/hooks.def"
	ring_self.depth -= RING_INSIDE;
	errno = error;
}

void hook_modules_changed(void)
{
	struct modules *modules = look_at_modules(0, GPROF_API_RUNTIME);
	uint32_t nr_runtimes = modules ? modules->nr_runtimes : 0;

	if (modules) {
		munmap(modules, sizeof(*modules));
	}
	if (nr_runtimes <= 1 || atomic_exchange(&state.nr_runtimes, nr_runtimes) == nr_runtimes) {
		return;
	}
	/* Routes for everybody, from when there was one runtime, may be wrong for somebody now. */
	for (unsigned int id = 1; id < HOOK_NR; id++) {
		if (hook_calls[id - 1].api == GPROF_API_RUNTIME) {
			atomic_store(&hook_routes[id], NULL);
		}
	}
}
