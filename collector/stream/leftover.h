/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings in /dev/shm that killed processes have left there, whose streams are in our directory: they
 * are moved beside their streams, so that memory is free again and nothing depends on the machine
 * staying up. A reader does the same (report/stream/rings.c).
 */
#ifndef COLLECTOR_STREAM_LEFTOVER_H
#define COLLECTOR_STREAM_LEFTOVER_H

#include <stdbool.h>

/* Once, on the drain thread, with the stream open. Ends early when is_over says so. */
void leftover_move(bool (*is_over)(void));

#endif
