/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices for the user, on their way from any thread to the drain, which writes them into the
 * stream. No lock.
 */
#ifndef COLLECTOR_UTIL_NOTICE_H
#define COLLECTOR_UTIL_NOTICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct notice {
	uint64_t raw; /* clock_raw */
	int32_t code;
	char cause[64];
	char text[512];
};

/*
 * Adds a notice: what happened, the code of the API that failed (0: none), and the remedy. The
 * first 64 are kept, the others counted as LOSS_NOTICE. Any thread.
 */
void notice_add(const char *cause, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Returns true if this is the first time that a notice is wanted in this recording; a forked
 * child's recording is another one. told_in: the caller's, one for each notice, 0 at first. Any
 * thread.
 */
bool notice_is_first(atomic_uint *told_in);

/*
 * Adds a notice that `what` is not recorded for lack of memory, once for each `told_in`. Any
 * thread.
 */
void notice_no_memory(atomic_uint *told_in, const char *what);

/* Fetches the next notice; returns false if there is none. For the drain thread. */
bool notice_take(struct notice *notice);

/* In a forked child: drops the parent's notices. */
void notice_forget(void);

#endif
