/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of the work in a process of its own, so that several cores work on it although the code is
 * for one thread. The worker starts with all that this process knows; what it writes comes back,
 * and nothing else does.
 */
#ifndef REPORT_UTIL_WORKER_H
#define REPORT_UTIL_WORKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "report/util/buf.h"

struct worker {
	pid_t pid; /* 0: none */
	int fd;	   /* a temporary file for what it writes */
};

/*
 * Runs `run`, which returns false if the result is of no use. The caller has no other threads.
 * False if there is no room for one more process or file.
 */
bool worker_start(
	struct worker *worker, bool (*run)(void *context, struct buf *out), void *context);

/* Waits for it and adds what it wrote. False, and adds nothing, if it failed or was not started. */
bool worker_end(struct worker *worker, struct buf *out);

#endif
