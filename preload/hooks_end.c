/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways to end the process without exit handlers, and the ways into another program. Each leaves
 * a mark; those that end the process also write the last events, in bounded time. That includes a
 * deadly signal that the process sends itself. Nothing is done about signals from outside: a
 * handler of ours would replace the default action, which the target may ask for.
 *
 * A child of vfork or of a bare clone calls these too, with its parent's memory or a copy of it: it
 * goes straight through. A process that records nothing pays a few loads and branches.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/util/target.h"
#include "preload/abi/cuda_abi.h"
#include "preload/hook/hook.h"
#include "preload/hooks.h"
#include "preload/os/os.h"
#include "preload/paddle/paddle.h"
#include "preload/torch/torch.h"

/* musl has none. */
extern const char *gnu_get_libc_version(void) __attribute__((weak));

#define END(ret, name, params) HOOK_EXPORT ret name params;
#include "preload/hook/hooks.def"

/* Or about to, or it never touched CUDA: then ending_is_ours is false without a system call. */
static inline bool is_recording(void)
{
	const uint32_t is_ours =
		atomic_load_explicit(&collector_page.is_ours, memory_order_relaxed);

	return __builtin_expect(is_ours || hook_mode() & COLLECTOR_COLD, 0);
}

/*
 * This process ends in that way: marks it, writes the last events, closes the stream, in bounded
 * time. Any thread, any number of times; nothing happens in a child that only shares our memory.
 */
static void end_process(enum gprof_end_kind kind, int code)
{
	TARGET_KEEP_ERRNO;

	if (ending_is_ours()) {
		ending_mark(kind, code);
		paddle_stop();
		collector_stop(ending_word(kind));
	}
}

/* Stands for a function that the C library does not have. */
static int missing(void)
{
	errno = ENOSYS;
	return -1;
}

static void leave_at_once(int status)
{
	syscall(SYS_exit_group, status);
}

void hooks_end_soon(enum gprof_end_kind kind, int code)
{
	TARGET_KEEP_ERRNO;

	if (ending_is_ours()) {
		ending_mark(kind, code);
		collector_catch_up(true);
	}
}

/* musl has none. */
extern int __cxa_at_quick_exit(void (*function)(void *unused), void *dso) __attribute__((weak));

static struct end_state {
	bool has_handler, has_quick_handler;
} state COMPAT_AT_START;

static void at_exit_last(int status, void *unused)
{
	(void)unused;
	if (ending_is_ours()) {
		TARGET_KEEP_ERRNO;

		torch_report_missed();
	}
	end_process(GPROF_END_EXIT, status);
}

static void at_quick_exit_last(void *unused)
{
	int status;

	(void)unused;
	if (ending_is_ours() && ending_kind(&status) == GPROF_END_QUICK_EXIT) {
		end_process(GPROF_END_QUICK_EXIT, status);
	}
}

/*
 * The handler that is registered first runs last: this is before main, and also before the C
 * library registers the loader, which runs the destructors of all libraries. Forked children
 * inherit both.
 */
COMPAT_START_CODE void hooks_end_init(void)
{
	state.has_handler = on_exit && !on_exit(at_exit_last, NULL);
	state.has_quick_handler =
		__cxa_at_quick_exit && !__cxa_at_quick_exit(at_quick_exit_last, NULL);
}

/* The exit status is unknown here, if no handler has marked it. */
void hooks_end_fini(void)
{
	TARGET_KEEP_ERRNO;

	if (!state.has_handler && ending_is_ours()) {
		paddle_stop();
		collector_stop(ending_word(GPROF_END_EXIT));
	}
}

/* Its handlers may call CUDA, too. */
static void leave_quickly(enum gprof_end_kind kind, int code)
{
	if (state.has_quick_handler) {
		hooks_end_soon(kind, code);
	} else {
		end_process(kind, code);
	}
}

/* Exit handlers run first and may still call CUDA; gprof's last one stops the recorder. */
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
LEAVE(_exit, end_process, GPROF_END_UNDERSCORE_EXIT, HOOK_NEXT(_exit))
LEAVE(_Exit, end_process, GPROF_END_UNDERSCORE_EXIT, HOOK_NEXT(_Exit))
/* Programs built before glibc 2.24 get one that runs destructors of thread-local objects. */
LEAVE(quick_exit, leave_quickly, GPROF_END_QUICK_EXIT,
	(__typeof__(&quick_exit))hook_next_for(HOOK_NEXT_quick_exit, HOOK_CALLER))

/* ---- by a signal ---- */

static bool has_handler(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO ||
	       (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static bool is_blocked(int number)
{
	sigset_t blocked;

	return !pthread_sigmask || pthread_sigmask(SIG_SETMASK, NULL, &blocked) ||
	       sigismember(&blocked, number);
}

/* Does the default action of the signal end the process? */
static bool is_deadly(int number)
{
	switch (number) {
	case SIGCHLD:
	case SIGCONT:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGURG:
	case SIGWINCH:
		return false;
	default:
		return true;
	}
}

/* Would the signal end the process? The first one of a pid namespace survives those it sends. */
static bool ends_us(int number)
{
	struct sigaction action;

	return is_deadly(number) && !sigaction(number, NULL, &action) && !has_handler(&action) &&
	       action.sa_handler == SIG_DFL && getpid() != 1 && ending_is_ours();
}

/*
 * A blocked signal may end the process later, or never: a program that waits for signals sends them
 * to itself all the time. So only the first one writes the last events; while its mark stands, the
 * next ones only set the mark.
 */
static void before_blocked_signal(int number)
{
	int code;
	bool is_first = ending_kind(&code) != GPROF_END_SIGNAL;

	ending_mark(GPROF_END_SIGNAL, number);
	if (is_first && number != SIGKILL) {
		collector_catch_up(false);
	}
}

/*
 * The process sends itself that signal now, which has no handler: the last events are written. One
 * that is blocked comes later, as a signal that its own handler sends anew, or never. SIGKILL is
 * for those who want no more delay, so it only leaves a mark.
 */
static void before_signal(int number)
{
	TARGET_KEEP_ERRNO;

	if (ends_us(number) && (number == SIGKILL || is_blocked(number))) {
		before_blocked_signal(number);
	} else if (ends_us(number)) {
		end_process(GPROF_END_SIGNAL, number);
	}
}

static bool is_own_group(pid_t group)
{
	return !group || group == getpgrp();
}

static bool is_own(pid_t pid)
{
	return pid > 0 ? pid == getpid() : pid != -1 && is_own_group(-pid);
}

#define SEND(name, params, args, is_to_us, missing)             \
	int name params                                         \
	{                                                       \
		const __typeof__(&name) next = HOOK_NEXT(name); \
                                                                \
		if (is_recording() && (is_to_us)) {             \
			before_signal(number);                  \
		}                                               \
		return next ? next args : (int)syscall missing; \
	}

SEND(raise, (int number), (number), true, (SYS_tgkill, getpid(), (int)syscall(SYS_gettid), number))
SEND(kill, (pid_t pid, int number), (pid, number), is_own(pid), (SYS_kill, pid, number))
SEND(killpg, (pid_t group, int number), (group, number), is_own_group(group),
	(SYS_kill, -group, number))

int sigqueue(pid_t pid, int number, const union sigval value)
{
	const __typeof__(&sigqueue) next = HOOK_NEXT(sigqueue);

	/* sigqueue has no process groups. */
	if (is_recording() && pid == getpid()) {
		before_signal(number);
	}
	return next ? next(pid, number, value) : missing();
}

/* Before glibc 2.27, abort writes out the program's streams before its handler runs. */
static bool is_handler_first(void)
{
	const char *version = gnu_get_libc_version ? gnu_get_libc_version() : "";

	return strncmp(version, "2.", 2) != 0 || strtoull(version + 2, NULL, 10) >= 27;
}

/*
 * A handler of the program may jump out, and the program go on: so it runs first, as it does in
 * abort itself, and recording ends once it has returned. It runs only once.
 */
static bool run_abort_handler(struct sigaction *action)
{
	const __typeof__(&raise) next = HOOK_NEXT(raise);

	if (!next || is_blocked(SIGABRT) || !is_handler_first()) {
		return false;
	}
	next(SIGABRT);
	*action = (struct sigaction){.sa_handler = SIG_DFL};
	sigaction(SIGABRT, action, NULL);
	return true;
}

static void before_abort(void)
{
	struct sigaction action;

	if (!ending_is_ours()) {
		return;
	}
	if (sigaction(SIGABRT, NULL, &action) || !has_handler(&action) ||
		run_abort_handler(&action)) {
		end_process(GPROF_END_ABORT, SIGABRT);
	}
}

void abort(void)
{
	const __typeof__(&abort) next = HOOK_NEXT(abort);

	if (is_recording()) {
		before_abort();
	}
	if (next) {
		next();
	}
	__builtin_trap();
}

/* ---- another program instead of this one ---- */

static inline bool begin_exec(struct os_call *call)
{
	bool is_ours = false;

	if (is_recording()) {
		hooks_os_begin_exec(call);
		is_ours = ending_is_ours();
	}
	if (is_ours) {
		collector_leave_counts();
		ending_mark(GPROF_END_EXEC, 0);
	}
	return is_ours;
}

/* It came back, so it failed. */
static inline int failed_exec(bool is_marked, struct os_call *call, int result)
{
	if (is_marked) {
		ending_unmark();
	}
	hooks_os_fail_exec(call);
	return result;
}

/* What follows says which file it is. */
#define EXEC(name, params, args, ...)                                               \
	int name params                                                             \
	{                                                                           \
		const __typeof__(&name) next = HOOK_NEXT(name);                     \
		struct os_call call = {.call = OS_##name,                           \
			.caller = (uintptr_t)__builtin_return_address(0),           \
			__VA_ARGS__};                                               \
		bool is_marked = begin_exec(&call);                                 \
                                                                                    \
		return failed_exec(is_marked, &call, next ? next args : missing()); \
	}

EXEC(execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp),
	.path = path, .fd = -1)
EXEC(execv, (const char *path, char *const argv[]), (path, argv), .path = path, .fd = -1)
EXEC(execvp, (const char *file, char *const argv[]), (file, argv), .path = file, .fd = -1)
EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, envp),
	.path = file, .fd = -1)
EXEC(fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp), .fd = fd)

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
