/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process whose main thread left by pthread_exit ends when its last thread does; the C library
 * sees to that, and counts our thread too. So that must know when it is alone. No descriptor is
 * used, since the host counts on its numbers. Any thread.
 */
#ifndef COLLECTOR_LAST_THREAD_H
#define COLLECTOR_LAST_THREAD_H

#include <stdbool.h>

/* Has the main thread left, and others go on? */
bool last_thread_has_main_left(void);

/* Is the calling thread the only one left? UNKNOWN: main has left, and /proc cannot be asked. */
enum last_thread { LAST_THREAD_NO, LAST_THREAD_YES, LAST_THREAD_UNKNOWN };
enum last_thread last_thread_look(void);

#endif
