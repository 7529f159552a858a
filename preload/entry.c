/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions by which the process lets us in and out: constructor and destructor, and the
 * driver's injection call. The constructor makes no file, no thread and no output; that waits until
 * the process touches CUDA or NVTX, or calls a function of inside.c.
 */
#include "preload/entry.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "collector/ring/kernel_names.h"
#include "collector/util/config.h"
#include "collector/util/loaded_objects.h"
#include "collector/util/memory.h"
#include "collector/util/target.h"
#include "preload/base/modules.h"
#include "preload/hook/hook.h"
#include "preload/hook/kernels.h"
#include "preload/hook/start.h"
#include "preload/hooks.h"
#include "preload/nccl/nccl_plugin_next.h"
#include "preload/nccl/nccl_profiler.h"
#include "preload/nvtx/nvtx_next.h"
#include "preload/nvtx/nvtx_record.h"
#include "preload/paddle/paddle.h"
#include "preload/python/op_name.h"
#include "preload/python/op_stack.h"
#include "preload/python/python_start.h"
#include "preload/python/python_thread.h"
#include "preload/torch/torch.h"

#define CUDA_INJECTION "CUDA_INJECTION64_PATH"
#define NVTX_INJECTION "NVTX_INJECTION64_PATH"
#define NCCL_PLUGIN    "NCCL_PROFILER_PLUGIN"
/* The tools that had them before us; our children find us in the variables themselves. */
#define NEXT_CUDA "GPROF_NEXT_CUDA_INJECTION"
#define NEXT_NVTX "GPROF_NEXT_NVTX_INJECTION"
#define NEXT_NCCL "GPROF_NEXT_NCCL_PLUGIN"
/*
 * The most lines of an environment that is copied without malloc; most have fewer than
 * MAX_LINES_ON_STACK.
 */
#define MAX_LINES	   1024u
#define MAX_LINES_ON_STACK 128u
#define MAX_BYTES	   512u

static struct entry_state {
	pid_t pid; /* that ran the constructor */
	atomic_bool is_injected;
	atomic_bool has_handler, has_late_handler;
	const char *path; /* of this library; NULL: unknown */
	/* Our environment, where it is no larger than that. */
	char *lines[MAX_LINES_ON_STACK];
	char text[MAX_BYTES];
	size_t text_bytes;
} entry COMPAT_AT_START;

/*
 * The path of another tool that wants the driver's injection call; "" if there is none. A path that
 * is cut here is too long for the loader all the same.
 */
static char next_cuda[PATH_MAX + 1];

/* The frameworks' callbacks stay registered in a forked child; names and ids begin anew. */
static void forget(void)
{
	op_name_forget();
	op_stack_forget();
	python_start_forget();
	nvtx_forget();
	paddle_forget();
	nccl_profiler_forget();
	hooks_os_forget();
}

/* While nothing is recorded, PyTorch's operators and NCCL's events cost nothing. */
static bool set_enabled(bool is_wanted)
{
	nccl_profiler_set_enabled(is_wanted);
	return torch_set_enabled(is_wanted);
}

static const struct collector_source source = {.find_clock = elf_kernel_clock,
	.set_enabled = set_enabled,
	.before_fork = torch_change_before_fork,
	.after_fork = torch_after_fork,
	.forget = forget};

COMPAT_START_CODE static int look_for_copy(struct dl_phdr_info *info, size_t size, void *is_second)
{
	struct module module = {0};

	(void)size;
	if (loaded_objects_contains(info, (uintptr_t)&recorder_ensure_started)) {
		return 1;
	}
	module.has_symbols = elf_open(&module.elf, info);
	*(bool *)is_second = module_is_gprof(&module);
	return *(bool *)is_second;
}

/* If a process loads two installations, only the first in the loader's list records. */
COMPAT_START_CODE static bool is_alone(void)
{
	static atomic_int state COMPAT_AT_START; /* 0: not known */
	bool is_second = false;

	if (!atomic_load(&state)) {
		dl_iterate_phdr(look_for_copy, &is_second);
		atomic_store(&state, is_second ? 2 : 1);
	}
	return atomic_load(&state) == 1;
}

COMPAT_START_CODE static void init(void)
{
	/* See compat.h: where nobody has libdl there is no CUDA. */
	if (!dlsym || !is_alone()) {
		atomic_store(&collector_mode, 0);
		return;
	}
	collector_init(hook_names, hook_calls, HOOK_NR_CALLS - 1);
	collector_set_source(&source);
	hooks_os_init();
	atomic_store_explicit(&kernel_name_read, kernels_name, memory_order_release);
}

/* For a process that records; most of those that load this library do not. */
static void init_recorder(void)
{
	init(); /* a hook may run before the constructor */
	python_thread_init();
}

static void at_exit(int status, void *unused)
{
	(void)unused;
	hooks_end_soon(GPROF_END_EXIT, status);
}

static void ask_for_exit(atomic_bool *is_asked)
{
	if (on_exit && !atomic_exchange(is_asked, true)) {
		on_exit(at_exit, NULL);
	}
}

void start_prepare(void)
{
	init_recorder();
	/*
	 * Not in a forked child: another thread of its parent may have held the C library's lock
	 * for this. There, handlers of the parent's are inherited.
	 */
	if (entry.pid == getpid()) {
		ask_for_exit(&entry.has_handler);
	}
}

void start_report(void)
{
	python_start_report();
}

COMPAT_START_CODE static int look_for_path(struct dl_phdr_info *info, size_t size, void *unused)
{
	static char real[PATH_MAX];

	(void)size;
	(void)unused;
	if (!loaded_objects_contains(info, (uintptr_t)&recorder_ensure_started)) {
		return 0;
	}
	/* Make the path absolute: the target may change its directory before the driver reads it.
	 */
	if (info->dlpi_name[0] == '/' && strlen(info->dlpi_name) < PATH_MAX) {
		entry.path = info->dlpi_name; /* valid as long as we are mapped */
	} else {
		entry.path = realpath(info->dlpi_name, real);
	}
	return 1;
}

/* Memory for a line of the environment; NULL if there is none. */
COMPAT_START_CODE static char *line_memory(size_t nr_bytes)
{
	static char large[6][PATH_MAX + 32];
	static unsigned int nr_large;
	char *line = entry.text + entry.text_bytes;

	if (nr_bytes <= sizeof(entry.text) - entry.text_bytes) {
		entry.text_bytes += nr_bytes;
		return line;
	}
	return nr_bytes <= sizeof(large[0]) && nr_large < 6 ? large[nr_large++] : NULL;
}

/* The pointers to all lines, with room for one more; NULL if there are too many. */
COMPAT_START_CODE static char **copy_lines(size_t nr)
{
	static char *many[MAX_LINES];
	char **lines = nr + 2 <= MAX_LINES_ON_STACK ? entry.lines : many;

	if (nr + 2 > MAX_LINES) {
		return NULL;
	}
	if (environ && environ != lines) {
		memcpy(lines, environ, nr * sizeof(*lines));
	}
	return lines;
}

/*
 * Instead of setenv, which would call the target's malloc before its main: our lines, and the
 * pointers to all others, are in our own memory. A later setenv copies what it finds.
 */
COMPAT_START_CODE static void set_variable(const char *name, const char *value)
{
	size_t name_bytes = strlen(name), value_bytes = strlen(value) + 1, nr = 0;
	char *line = NULL, **lines = NULL;

	while (environ && environ[nr]) {
		nr++;
	}
	if (!getenv(name)) {
		lines = copy_lines(nr);
		line = lines ? line_memory(name_bytes + 1 + value_bytes) : NULL;
	}
	if (!line) {
		setenv(name, value, 1);
		return;
	}
	memcpy(line, name, name_bytes);
	line[name_bytes] = '=';
	memcpy(line + name_bytes + 1, value, value_bytes);
	lines[nr] = line;
	lines[nr + 1] = NULL;
	environ = lines;
}

/* Puts us into a variable of the loaders, and remembers who was there. */
COMPAT_START_CODE static void take_variable(
	const char *name, const char *next_name, char next[PATH_MAX + 1], bool is_taken)
{
	const char *now = getenv(name);
	bool is_ours = now && !strcmp(now, entry.path);
	const char *other = is_ours ? getenv(next_name) : now;
	bool has_other = other && *other && strcmp(other, entry.path);

	if (has_other) {
		strncpy(next, other, PATH_MAX);
	}
	if (is_taken && !is_ours) {
		if (has_other || getenv(next_name)) {
			set_variable(next_name, has_other ? next : "");
		}
		set_variable(name, entry.path);
	}
}

/*
 * NCCL opens one plugin. A program that wants none gets none, and its own plugin gets its turn. A
 * parent's variable may name us where this process is not recorded.
 */
COMPAT_START_CODE static void take_plugin(bool is_taken)
{
	const char *own = getenv(NCCL_PLUGIN);
	bool is_off = config_is_asked(CONFIG_NCCL) && config_early(CONFIG_NCCL) == NCCL_OFF;

	if (own && !strcasecmp(own, "none")) {
		return;
	}
	if (is_taken && !is_off && is_alone()) {
		take_variable(NCCL_PLUGIN, NEXT_NCCL, nccl_plugin_next_path, true);
		nccl_plugin_role = NCCL_PLUGIN_OURS;
	} else if (own && !strcmp(own, entry.path)) {
		take_variable(NCCL_PLUGIN, NEXT_NCCL, nccl_plugin_next_path, false);
		nccl_plugin_role = NCCL_PLUGIN_PASSES;
	}
}

/*
 * The driver, and each NVTX loader, will open us by this path; children inherit it. Where we are
 * switched off, but were opened that way, another tool still gets its turn.
 */
COMPAT_START_CODE static void ask_for_injection(void)
{
	bool is_taken = config_flag(CONFIG_ENABLE);

	dl_iterate_phdr(look_for_path, NULL);
	if (!entry.path) {
		return;
	}
	take_variable(CUDA_INJECTION, NEXT_CUDA, next_cuda, is_taken);
	take_variable(NVTX_INJECTION, NEXT_NVTX, nvtx_next_path, is_taken);
	take_plugin(is_taken);
}

/* NCCL, or the program, has loaded us into a process that is not recorded. */
COMPAT_START_CODE static void pass_plugin_on(void)
{
	dl_iterate_phdr(look_for_path, NULL);
	if (entry.path) {
		take_plugin(false);
	}
}

/* Stops at what the loader mapped first: this library, or the C library. */
COMPAT_START_CODE static int look_for_first(struct dl_phdr_info *info, size_t size, void *is_late)
{
	(void)size;
	*(bool *)is_late =
		loaded_objects_begins(info->dlpi_name ? info->dlpi_name : "", "libc.so.");
	return *(bool *)is_late ||
	       loaded_objects_contains(info, (uintptr_t)&recorder_ensure_started);
}

COMPAT_START_CODE bool entry_is_late(void)
{
	bool is_late = false;

	dl_iterate_phdr(look_for_first, &is_late);
	return is_late;
}

/* Has the program loaded us itself, and not a loader's variable? Then it says when to record. */
COMPAT_START_CODE static bool is_for_program(void)
{
	return entry_is_late() && !getenv(CUDA_INJECTION) && !getenv(NVTX_INJECTION);
}

__attribute__((constructor)) static void begin(void)
{
	TARGET_KEEP_ERRNO;

	memory_keep_variables_small();
	entry.pid = getpid();
	init();
	hook_find_nexts();
	if (config_flag(CONFIG_ENABLE)) {
		hooks_end_init();
		python_start_init();
	}
	if (is_for_program()) {
		pass_plugin_on();
		return;
	}
	if (config_flag(CONFIG_ENABLE) || getenv(NEXT_CUDA) || getenv(NEXT_NVTX) ||
		getenv(NCCL_PLUGIN)) {
		ask_for_injection();
	}
	if (config_flag(CONFIG_ENABLE)) {
		torch_look_first();
	}
}

__attribute__((destructor)) static void end(void)
{
	hooks_end_fini();
}

static void call_next(void)
{
	void *handle = *next_cuda ? dlopen(next_cuda, RTLD_LAZY | RTLD_LOCAL) : NULL;
	int (*inject)(void) = NULL;

	if (handle) {
		*(void **)&inject = dlsym(handle, "InitializeInjection");
	}
	if (inject) {
		inject();
	} else if (*next_cuda) {
		notice_add("another tool", 0,
			CUDA_INJECTION " named %.200s, which %s; that library does not run",
			next_cuda, handle ? "has no InitializeInjection" : "cannot be loaded");
	}
}

/*
 * Nsight Compute's library takes the driver's tools for itself, from its constructor, and ends the
 * process if another one was faster.
 */
static const char *find_holder(void)
{
	return modules_find(NULL, "nvInjectionVersion") ? "Nsight Compute" : NULL;
}

/* The driver is initialised, so CUPTI can be used. */
static void attach(void)
{
	/*
	 * Registered later than the driver's own handler, it runs earlier: CUPTI still works. Also
	 * in a forked child, where the driver just took the C library's lock for its own.
	 */
	ask_for_exit(&entry.has_late_handler);
	collector_attach(find_holder());
	torch_look();
}

/* Has somebody initialised the driver, so that it makes no injection call any more? */
static bool is_driver_ready(void)
{
	enum { SUCCESS = 0, INVALID_CONTEXT = 201 };
	void *context = NULL;
	int (*get)(void **context) = NULL;
	struct ring_mark mark;
	int rc;

	ring_enter_profiler(&ring_tls, &mark); /* the call is not the program's */
	*(void **)&get = modules_find(NULL, "cuCtxGetCurrent");
	rc = get ? get(&context) : -1;
	ring_leave_profiler(&ring_tls, &mark);
	return rc == SUCCESS || rc == INVALID_CONTEXT;
}

HOOK_EXPORT int InitializeInjection(void);

/* The driver calls this at the end of cuInit, on the thread that called it. */
int InitializeInjection(void)
{
	TARGET_KEEP_ERRNO;

	if (atomic_exchange(&entry.is_injected, true) || !is_alone()) {
		return 1;
	}
	init_recorder();
	call_next();
	/* The call that this is part of has no hook, which would have started the recorder. */
	if (collector_start() && hook_mode() & COLLECTOR_COLD) {
		loss_add(LOSS_START, 1);
	}
	attach();
	return 1;
}

bool entry_is_usable(void)
{
	return dlsym && is_alone() && config_flag(CONFIG_ENABLE);
}

void entry_begin_inside(void)
{
	ask_for_injection();
	recorder_ensure_started();
	if (!atomic_load(&entry.is_injected) && is_driver_ready() &&
		!atomic_exchange(&entry.is_injected, true)) {
		attach();
	}
	torch_look();
}
