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
#include <unistd.h>

#include "collector/config.h"
#include "preload/hook.h"
#include "preload/wrap.h"

#define CUDA_INJECTION "CUDA_INJECTION64_PATH"
#define NVTX_INJECTION "NVTX_INJECTION64_PATH"

static struct entry_state {
	char path[PATH_MAX]; /* of this library */
	char next[PATH_MAX]; /* another tool that wanted the driver's injection call */
	atomic_bool is_injected;
	pid_t pid; /* that ran the constructor */
	atomic_bool has_handler, has_late_handler;
} entry;

/* musl has none; the destructor is there too. */
extern int on_exit(void (*function)(int status, void *unused), void *unused) __attribute__((weak));

static void init(void)
{
	collector_init(hook_calls, HOOK_NR_CALLS - 1);
}

static void at_exit(int status, void *unused)
{
	(void)unused;
	wrap_end_stop(GPROF_END_EXIT, status);
}

/*
 * Not in a forked child: another thread of its parent may have held the C library's lock for this.
 * There, handlers of the parent's are inherited, or else the destructor ends the stream.
 */
static void ask_for_exit(atomic_bool *is_asked)
{
	if (on_exit && entry.pid == getpid() && !atomic_exchange(is_asked, true)) {
		on_exit(at_exit, NULL);
	}
}

uint32_t hook_start_slow(void)
{
	init(); /* a hook may run before the constructor */
	ask_for_exit(&entry.has_handler);
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
	wrap_end_init();
	if (config_flag(CONFIG_ENABLE)) {
		find_own_path();
		if (entry.path[0]) {
			ask_for_injection();
		}
	}
	errno = error;
}

/* The exit status is not to be had here; handlers before this one had it. */
__attribute__((destructor)) static void end(void)
{
	int error = errno;

	if (ending_is_ours()) {
		collector_stop(ending_word(GPROF_END_EXIT));
	}
	errno = error;
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
	/* Registered later than the driver's own handler, it runs earlier: CUPTI still works. */
	ask_for_exit(&entry.has_late_handler);
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
