/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves rings that killed processes left in /dev/shm beside their streams, if these are in our
 * directory. That frees the memory, and the events survive a reboot. The reader does the same
 * (report/stream/rings.c).
 */
#ifndef COLLECTOR_STREAM_LEFTOVER_H
#define COLLECTOR_STREAM_LEFTOVER_H

#include <stdbool.h>

/* Before, while the program waits: files that are opened later take low numbers of its. */
void leftover_begin(void);

/*
 * Once, on the drain thread, with the stream open. When is_over returns true, only those are moved
 * that this process has left itself, before it called exec.
 */
void leftover_move(bool (*is_over)(void));

#endif
