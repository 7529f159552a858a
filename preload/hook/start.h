/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the start of the recorder takes of later folders, which this one does not know. These define
 * both functions. The empty ones of start.c are weak and give way: so no table must be filled
 * first, which a hook that runs before any constructor of ours would find empty.
 */
#ifndef PRELOAD_HOOK_START_H
#define PRELOAD_HOOK_START_H

/* Before the recorder starts, or finds that it has. */
void start_prepare(void);

/* After it. */
void start_report(void);

#endif
