/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the process lets us in and out: constructor and destructor, the driver's injection call,
 * and the one function that a program may call itself. The constructor makes no file, no thread and
 * no output; that waits until the process touches CUDA or NVTX.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "collector/config.h"
#include "preload/hook.h"
#include "preload/wrap.h"

#define CUDA_INJECTION "CUDA_INJECTION64_PATH"
#define NVTX_INJECTION "NVTX_INJECTION64_PATH"

static struct entry_state {
	char path[PATH_MAX]; /* of this library */
	char next[PATH_MAX]; /* another tool that wanted the driver's injection call */
	atomic_bool is_injected;
	atomic_bool has_atexit;
} entry;

static void init(void)
{
	collector_init(hook_calls, HOOK_NR - 1);
}

uint32_t hook_start_slow(void)
{
	init(); /* a hook may run before the constructor */
	collector_start();
	return hook_mode();
}

static void find_own_path(void)
{
	Dl_info info;

	/* Absolute, since the host may change its directory before the driver reads it. */
	if (!dladdr((void *)&hook_start_slow, &info) || !info.dli_fname ||
		!realpath(info.dli_fname, entry.path)) {
		entry.path[0] = 0;
	}
}

/* The driver, and each NVTX loader, will open us by this path; children inherit it. */
static void ask_for_injection(void)
{
	const char *cuda = getenv(CUDA_INJECTION);
	const char *nvtx = getenv(NVTX_INJECTION);

	if (cuda && *cuda && strcmp(cuda, entry.path) && strlen(cuda) < sizeof(entry.next)) {
		memcpy(entry.next, cuda, strlen(cuda) + 1);
	}
	setenv(CUDA_INJECTION, entry.path, 1);
	if (!nvtx || !*nvtx) {
		setenv(NVTX_INJECTION, entry.path, 1);
	}
}

__attribute__((constructor)) static void begin(void)
{
	int error = errno;

	init();
	hook_resolve_threads();
	if (config_flag(CONFIG_ENABLE)) {
		find_own_path();
		if (entry.path[0]) {
			ask_for_injection();
		}
	}
	errno = error;
}

__attribute__((destructor)) static void end(void)
{
	collector_stop("exit");
}

/* Runs before the driver's own handler, which was registered earlier: CUPTI still works. */
static void at_exit(void)
{
	collector_stop("exit");
}

static void call_next(void)
{
	void *handle = *entry.next ? dlopen(entry.next, RTLD_LAZY | RTLD_LOCAL) : NULL;
	int (*inject)(void) = NULL;

	if (handle) {
		*(void **)&inject = dlsym(handle, "InitializeInjection");
	}
	if (inject) {
		inject();
	}
}

HOOK_EXPORT int InitializeInjection(void);

/* The driver calls this at the end of cuInit, on the thread that called it. */
int InitializeInjection(void)
{
	int error = errno;

	if (atomic_exchange(&entry.is_injected, true)) {
		return 1;
	}
	init();
	call_next();
	collector_start();
	if (!atomic_exchange(&entry.has_atexit, true)) {
		atexit(at_exit);
	}
	collector_attach();
	if (!collector_has_cupti()) {
		wrap_tell_functions();
	}
	errno = error;
	return 1;
}

HOOK_EXPORT void gprof_step(void);

/* For programs that look it up by dlsym: ends a step where GPROF_STEP is auto. */
void gprof_step(void)
{
	if (hook_mode() & COLLECTOR_COLD) {
		hook_start_slow();
	}
	collector_step(GPROF_STEP_CALL);
}
