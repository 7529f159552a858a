/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process whose main thread called pthread_exit ends when its last thread ends; the C library
 * counts our thread too. So that thread must know when it is the last one. Uses no descriptor,
 * since the target may rely on their numbers. Any thread.
 */
#ifndef COLLECTOR_LAST_THREAD_H
#define COLLECTOR_LAST_THREAD_H

#include <stdbool.h>

/* Has the main thread ended while others continue? */
bool last_thread_has_main_left(void);

/*
 * Is the calling thread the last one? UNKNOWN: the main thread has ended, and /proc is unavailable.
 */
enum last_thread { LAST_THREAD_NO, LAST_THREAD_YES, LAST_THREAD_UNKNOWN };
enum last_thread last_thread_look(void);

#endif
