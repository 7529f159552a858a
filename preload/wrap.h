/* SPDX-License-Identifier: Apache-2.0 */
/* What the hand-written doors offer to entry.c. */
#ifndef PRELOAD_WRAP_H
#define PRELOAD_WRAP_H

/*
 * Puts the names of all registered kernels into the stream, now and from now on; for processes
 * where CUPTI will not name them. Any thread, any number of times.
 */
void wrap_tell_functions(void);

#endif
