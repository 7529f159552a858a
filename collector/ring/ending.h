/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records how the process ends: its own last calls leave a mark in the header of the ring file,
 * which outlives the process, and the facts of a closed stream repeat it. For a child that a signal
 * has ended, its parent leaves the mark (ending_child.c). Callable from any thread and from signal
 * handlers; no lock, no allocation, but for a child no system call but getpid; keeps errno.
 */
#ifndef COLLECTOR_RING_ENDING_H
#define COLLECTOR_RING_ENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/format/format.h"

/* The calling process begins to record. */
void ending_begin(void);

/* It has rings now, with this header; what was marked before goes there. */
void ending_set_header(struct gprof_rings_header *header);

/* In a forked child: drops the state of the parent. */
void ending_forget(void);

/*
 * Was it begun by this very process? Not in a child that shares memory with it (vfork) or has a
 * copy (a bare clone), which must neither mark nor stop the recorder.
 */
bool ending_is_ours(void);

/* The process ends now, or so it believes: a later mark replaces this one. */
void ending_mark(enum gprof_end_kind kind, int code);

/* The exec failed, and the process continues. */
void ending_unmark(void);

/*
 * For the drain, at each of its regular flushes: a signal that was sent some flushes ago has not
 * ended the process, so its mark goes.
 */
void ending_look(void);

/* The mark so far; GPROF_END_UNKNOWN if there is none. */
enum gprof_end_kind ending_kind(int *code);

/* The word that `end.how` holds. */
const char *ending_word(enum gprof_end_kind kind);

/*
 * The child with that pid, which the caller has just waited for, was ended by that signal. If it
 * left rings in /dev/shm without a mark, marks them. is_reaped: another process may have the number
 * by now; if one has, there is no mark. Any thread, and signal handlers; keeps errno.
 */
void ending_mark_child(pid_t pid, int number, bool is_reaped);

/* Returns how long the target may be delayed until its last events are written, in ns. */
uint64_t ending_patience_ns(void);

#endif
