/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reason of a failure, as a sentence that grows from the inside out: whoever finds the error
 * sets it, callers put where it happened in front. Only main.c and cmd_*.c print it. One error at a
 * time; the reporter has one thread.
 */
#ifndef REPORT_UTIL_ERR_H
#define REPORT_UTIL_ERR_H

/* Sets the text (lower case, no full stop, cut at about 1,000 bytes) and returns `code`, negative.
 */
int err_set(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "<formatted>: " in front of the text. */
void err_add(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The text, "" if nothing was set; valid until the next err_set or err_add. */
const char *err_text(void);

#endif
