/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks, WAIT_SAMPLE_HZ times a second, at what some threads wait for in the kernel: rows of table
 * wait_sample. CPU samples show what a thread runs; a loop that sleeps, reads files or waits
 * for another thread has none of that time. The kernel says in which system call a thread is
 * (/proc/self/task/TID/syscall), and its frames do not change while it is there. The target runs no
 * instruction for it. For the drain thread.
 */
#ifndef COLLECTOR_SAMPLE_WAIT_SAMPLE_H
#define COLLECTOR_SAMPLE_WAIT_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/ring/python_frames.h"
#include "collector/util/clock.h"

#define WAIT_SAMPLE_HZ	    50u
#define WAIT_SAMPLE_SLOW_HZ 10u

/*
 * After the threads were looked for, which are between the two: those that launch work, and the
 * process's first one if it runs Python, are looked at from now on. python: the state of a thread
 * of Python, else 0. name: of the thread.
 */
void wait_sample_begin_threads(void);
void wait_sample_thread(uint32_t tid, uintptr_t python, const char *name);
void wait_sample_end_threads(const struct clock_anchor *now);

/* Returns whether any thread is looked at. */
bool wait_sample_has_threads(void);

/*
 * Looks at them; python: NULL if there is none. A row stands for the time since the last look, so
 * the first one, and one after a look that was not wanted, only begins. Returns the time in ns
 * until the next look: longer if all have been in the same wait for a second or more.
 */
uint64_t wait_sample_look(
	const struct python_sampler *python, const struct clock_anchor *now, bool is_wanted);

/* At the end, and in a forked child: closes all files. */
void wait_sample_forget(void);

/* ---- pure, for the tests ---- */

/* A system call in which a thread waits; nr -1: none, but a page fault. */
struct wait_call {
	long nr;
	uint64_t arguments[2];
};

/* Reads /proc/PID/syscall. False: the thread runs, or the text is malformed. */
bool wait_call_read(const char *text, struct wait_call *call);

/*
 * Makes, in place, the name of a descriptor (not ended by a 0) one that many share: of a file its
 * folder and its ending ("/data/0001.jpg" -> "/data/" "*.jpg"), of what has no path its kind
 * ("pipe:[4711]" -> "pipe"). Returns its length. `room`: the bytes of name.
 */
size_t wait_shared_name(char *name, size_t nr_bytes, size_t room);

#endif
