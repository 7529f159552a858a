/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of missing events and notices on their way from any thread to the drain, without locks. */
#ifndef COLLECTOR_STREAM_NOTICE_H
#define COLLECTOR_STREAM_NOTICE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

struct notice {
	uint64_t raw; /* host clock */
	int32_t code;
	char cause[64];
	char text[512];
};

/* Counts n more lost for the cause of that number. Any thread. */
void notice_lose(unsigned int cause, uint64_t n);

/* Adds a notice; false if there were too many. Any thread. */
bool notice_add(const char *cause, int code, const char *format, va_list args);

/* The drain's: the losses since the last call, and the next notice if there is one. */
uint64_t notice_take_lost(unsigned int cause);
bool notice_take(struct notice *notice);

/* In a forked child: what was the parent's is not its own. */
void notice_forget(void);

#endif
