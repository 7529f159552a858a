/* SPDX-License-Identifier: Apache-2.0 */
/* How a child ended that could not say so itself: its parent knows the signal. */
#ifndef COLLECTOR_RING_ENDING_CHILD_H
#define COLLECTOR_RING_ENDING_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The child with that pid, which the caller has just waited for, was ended by that signal. If it
 * left rings in /dev/shm without a mark, marks them. is_reaped: another process may have the number
 * by now; if one has, there is no mark. Any thread, and signal handlers; keeps errno.
 */
void ending_mark_child(pid_t pid, int number, bool is_reaped);

#endif
