/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the start of the recorder calls and that later folders define. start.c has weak,
 * empty ones, which the linker replaces. A table of pointers would not do: a hook may run before
 * any constructor could fill it.
 */
#ifndef PRELOAD_HOOK_START_H
#define PRELOAD_HOOK_START_H

/* Before the recorder starts, or finds that it has. */
void start_prepare(void);

/* After it. */
void start_report(void);

#endif
