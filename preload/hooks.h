/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the hand-written hooks for entry.c. */
#ifndef PRELOAD_HOOKS_H
#define PRELOAD_HOOKS_H

#include "collector/format/format.h"

/* musl has none; the destructor is there too. */
extern int on_exit(void (*function)(int status, void *unused), void *unused) __attribute__((weak));

/* The threads of this process that exist because of us: the recorder's, CUPTI's. */
unsigned int hooks_thread_count_ours(void);

/*
 * Exit handlers run, and may still call CUDA: marks the end, and takes what the driver's teardown
 * would take away. Recording goes on.
 */
void hooks_end_soon(enum gprof_end_kind kind, int code);

/*
 * For the constructor: asks to be called when the process exits, after all handlers and destructors
 * of others. Recording ends then.
 */
void hooks_end_init(void);

/* For the destructor: recording ends here, unless that is still to come. */
void hooks_end_fini(void);

/* Calls of the C library: is libgprof-os.so there; and in a forked child, what files were known. */
void hooks_os_init(void);
struct os_call;

/* An exec begins, or has failed and returned -1. They keep errno. */
void hooks_os_begin_exec(struct os_call *call);
void hooks_os_fail_exec(struct os_call *call);
void hooks_os_forget(void);

#endif
