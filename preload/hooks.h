/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the hand-written hooks for entry.c. */
#ifndef PRELOAD_HOOKS_H
#define PRELOAD_HOOKS_H

#include "collector/format/format.h"

/*
 * This process ends in that way: marks it, writes the last events, closes the stream, in bounded
 * time. Any thread, any number of times; nothing happens in a child that only shares our memory.
 */
void hooks_end_process(enum gprof_end_kind kind, int code);

/* The threads of this process that exist because of us: the recorder's, CUPTI's. */
unsigned int hooks_thread_count_ours(void);

#endif
