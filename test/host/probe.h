/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A probe is a small program that does one thing which a preloaded library easily spoils, and
 * prints what came of it. All of them are built into one file twice: `plain` never touches CUDA,
 * `cuda` calls it on the way. What a probe prints must be the same with and without gprof.
 */
#ifndef TEST_HOST_PROBE_H
#define TEST_HOST_PROBE_H

/* Every probe: int NAME(int argc, char **argv), with its name in argv[0]; its result is the status.
 */
#define PROBES(P)         \
	/* files.c */     \
	P(self)           \
	P(close_all)      \
	P(close_range)    \
	P(low_numbers)    \
	P(bad_names)      \
	P(nofile)         \
	P(fsize)          \
	P(fsize_over)     \
	P(as)             \
	P(chroot)         \
	P(chroot_first)   \
	P(gone_dir)       \
	P(drop)           \
	P(drop_first)     \
	P(umask)          \
	/* processes.c */ \
	P(say)            \
	P(exec_empty)     \
	P(exec_unset)     \
	P(fork_many)      \
	P(fork_deep)      \
	P(vfork)          \
	P(spawn)          \
	P(system)         \
	P(clone_fork)     \
	P(clone_vm)       \
	P(libc_fork)      \
	P(daemon)         \
	P(orphan)         \
	/* threads.c */   \
	P(threads)        \
	P(fork_threads)   \
	P(thrd)           \
	P(min_stack)      \
	P(cancelled)      \
	P(names)          \
	P(keys)           \
	P(key_ends)       \
	/* ends.c */      \
	P(thread_exits)   \
	P(main_returns)   \
	P(main_leaves)    \
	P(leave_quick)    \
	P(leave_now)      \
	P(leave_late)     \
	/* signals.c */   \
	P(handlers)       \
	P(alarms)         \
	P(small_stack)    \
	P(dispositions)   \
	P(blocked)        \
	P(terminated)     \
	/* loads.c */     \
	P(namespace)      \
	P(unload)         \
	P(locale)         \
	P(errnos)

#define P(name) int probe_##name(int argc, char **argv);
PROBES(P)
#undef P

/*
 * Makes that many CUDA calls and counts each in memory shared with the test, after it returned.
 * Nothing in `plain`. touch_maybe's calls may be recorded or not: the test knows an upper bound.
 */
void touch(int nr_calls);
void touch_maybe(int nr_calls);

/* Counts calls that a library made. */
void touched(int nr_calls);
void touched_maybe(int nr_calls);

/* The number at argv[index], or `otherwise` where there is none. */
int probe_number(int argc, char **argv, int index, int otherwise);

/* Waits for a child and says how it ended: "NAME: status 3" or "NAME: signal 9". */
void probe_reap(const char *name, int pid);

/* Ends the program with a message where something that must work does not. */
#define MUST(condition)                                               \
	do {                                                          \
		if (!(condition)) {                                   \
			probe_failed(#condition, __FILE__, __LINE__); \
		}                                                     \
	} while (0)

void probe_failed(const char *what, const char *file, int line) __attribute__((noreturn));

#endif
