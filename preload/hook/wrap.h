/* SPDX-License-Identifier: Apache-2.0 */
/* What the hand-written doors offer to entry.c. */
#ifndef PRELOAD_HOOK_WRAP_H
#define PRELOAD_HOOK_WRAP_H

#include "collector/collector.h"

/*
 * Puts the names of all registered kernels into the stream, now and from now on; for processes
 * where CUPTI will not name them. Any thread, any number of times.
 */
void wrap_write_functions(void);

/*
 * This process ends in that way: marks it, writes the last events, closes the stream, in bounded
 * time. Any thread, any number of times; nothing happens in a child that only shares our memory.
 */
void wrap_end_stop(enum gprof_end_kind kind, int code);

/* The library of another tool that NVTX would have been given to, "" if there is none. */
const char *entry_next_nvtx(void);

#endif
