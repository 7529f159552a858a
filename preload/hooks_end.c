/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways to end the process without exit handlers, and the ways into another program. Each leaves
 * a mark; those that end the process also write the last events, in bounded time. Deadly signals
 * are not hooked: that would replace the target's own handlers.
 *
 * A child of vfork or of a bare clone calls these too, with its parent's memory or a copy of it: it
 * goes straight through. A process that records nothing pays a few loads and branches.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/collector.h"
#include "preload/abi/cuda_abi.h"
#include "preload/hook/hook.h"
#include "preload/hooks.h"
#include "preload/paddle/paddle.h"

/* Nothing of the list but its ends. */
#define HOOK(api, need, ret, name, params, args, facts)
#define HOOK_MANUAL(api, need, ret, name, params, args)
#define END(ret, name, params) HOOK_EXPORT ret name params;
#include "preload/hook/hooks.def"

/* Or about to, or it never touched CUDA: then ending_is_ours is false without a system call. */
static inline bool is_recording(void)
{
	const uint32_t is_ours =
		atomic_load_explicit(&collector_page.is_ours, memory_order_relaxed);

	return __builtin_expect(is_ours || hook_mode() & COLLECTOR_COLD, 0);
}

void hooks_end_process(enum gprof_end_kind kind, int code)
{
	int error = errno;

	if (ending_is_ours()) {
		ending_mark(kind, code);
		paddle_stop();
		collector_stop(ending_word(kind));
	}
	errno = error;
}

/* Where the C library has none of that name. */
static void leave_at_once(int status)
{
	syscall(SYS_exit_group, status);
}

/* Exit handlers run first and may still call CUDA; gprof's handler, or its destructor, stops the
 * recorder. */
static void mark_exit(enum gprof_end_kind kind, int code)
{
	if (ending_is_ours()) {
		ending_mark(kind, code);
	}
}

#define LEAVE(name, on_leave, kind, found)            \
	void name(int status)                         \
	{                                             \
		const __typeof__(&name) next = found; \
                                                      \
		if (is_recording()) {                 \
			on_leave(kind, status);       \
		}                                     \
		if (next) {                           \
			next(status);                 \
		}                                     \
		for (;;) {                            \
			leave_at_once(status);        \
		}                                     \
	}

LEAVE(exit, mark_exit, GPROF_END_EXIT, HOOK_NEXT(exit))
LEAVE(_exit, hooks_end_process, GPROF_END_UNDERSCORE_EXIT, HOOK_NEXT(_exit))
LEAVE(_Exit, hooks_end_process, GPROF_END_UNDERSCORE_EXIT, HOOK_NEXT(_Exit))
/* Programs built before glibc 2.24 get one that runs destructors of thread-local objects. */
LEAVE(quick_exit, hooks_end_process, GPROF_END_QUICK_EXIT,
	(__typeof__(&quick_exit))hook_next_for(HOOK_NEXT_quick_exit, HOOK_CALLER))

#define LEAVE_BY_SIGNAL(name)                                        \
	void name(void)                                              \
	{                                                            \
		const __typeof__(&name) next = HOOK_NEXT(name);      \
                                                                     \
		if (is_recording()) {                                \
			hooks_end_process(GPROF_END_ABORT, SIGABRT); \
		}                                                    \
		if (next) {                                          \
			next();                                      \
		}                                                    \
		__builtin_trap();                                    \
	}

LEAVE_BY_SIGNAL(abort)

/* ---- another program in place of this one ---- */

static inline bool begin_exec(void)
{
	bool is_ours = is_recording() && ending_is_ours();

	if (is_ours) {
		ending_mark(GPROF_END_EXEC, 0);
	}
	return is_ours;
}

/* It came back, so it failed. */
static inline int failed_exec(bool is_marked, int result)
{
	if (is_marked) {
		ending_unmark();
	}
	return result;
}

static int missing_exec(void)
{
	errno = ENOSYS;
	return -1;
}

#define EXEC(name, params, args)                                                  \
	int name params                                                           \
	{                                                                         \
		const __typeof__(&name) next = HOOK_NEXT(name);                   \
		bool is_marked = begin_exec();                                    \
                                                                                  \
		return failed_exec(is_marked, next ? next args : missing_exec()); \
	}

EXEC(execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp))
EXEC(execv, (const char *path, char *const argv[]), (path, argv))
EXEC(execvp, (const char *file, char *const argv[]), (file, argv))
EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, envp))
EXEC(fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))

/* The arguments after `arg` up to the NULL, which counts; what they are is not looked at. */
static size_t count_arguments(const char *arg, va_list *args)
{
	size_t n = 1;

	while (arg) {
		arg = va_arg(*args, const char *);
		n++;
	}
	return n;
}

static void fill_arguments(char **argv, const char *arg, va_list *args)
{
	*argv = (char *)(uintptr_t)arg;
	while (*argv) {
		*++argv = va_arg(*args, char *);
	}
}

/*
 * The list becomes an array on the stack, as in the C library: a child of vfork may not allocate.
 * `call` is the exec of that array, and may take one more argument from `args`.
 */
#define EXEC_LIST(name, call)                                                         \
	int name(const char *path, const char *arg, ...)                              \
	{                                                                             \
		va_list args;                                                         \
		char **argv;                                                          \
		int result;                                                           \
                                                                                      \
		va_start(args, arg);                                                  \
		argv = __builtin_alloca(count_arguments(arg, &args) * sizeof(*argv)); \
		va_end(args);                                                         \
		va_start(args, arg);                                                  \
		fill_arguments(argv, arg, &args);                                     \
		result = call;                                                        \
		va_end(args);                                                         \
		return result;                                                        \
	}

EXEC_LIST(execl, execv(path, argv))
EXEC_LIST(execlp, execvp(path, argv))
EXEC_LIST(execle, execve(path, argv, va_arg(args, char *const *)))
