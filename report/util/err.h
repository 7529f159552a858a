/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of the current error. The function that fails sets it; its callers put the path or the
 * position in front. Only main.c and cmd_*.c print it. There is one error at a time, and it belongs
 * to one thread.
 */
#ifndef REPORT_UTIL_ERR_H
#define REPORT_UTIL_ERR_H

/*
 * Sets the text and returns `code`, which is negative. The text is in lower case, has no full stop,
 * and is cut at about 1,000 bytes.
 */
int err_set(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The text, "" if there is none. It is valid until the next err_set. */
const char *err_text(void);

#endif
