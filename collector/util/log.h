/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages outside the stream: at most one line on the target's stderr (log_line), and an optional
 * log file. Fixed buffers, no stdio, no allocation, keeps errno; usable from every thread.
 */
#ifndef COLLECTOR_UTIL_LOG_H
#define COLLECTOR_UTIL_LOG_H

#include <stdarg.h>
#include <stddef.h>

enum log_level { LOG_OFF, LOG_WARN, LOG_INFO, LOG_DEBUG };

/*
 * Remembers which file stderr is, when the library is loaded. If its number later stands for
 * another file or none, or was closed before, nothing is written there.
 */
void log_remember_stderr(void);

/*
 * level: the most verbose level to write. path: the log file, "" for stderr (warnings only). quiet:
 * log_line writes nothing.
 */
void log_init(enum log_level level, const char *path, int quiet);

/*
 * One message, with the pid in front and a newline at its end. printable_copy filters the text of
 * %s, since settings and paths may contain control characters.
 */
void log_message(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The line on stderr; only the first call of a process prints, later ones go to the log file. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * snprintf without stdio, locale or allocation: %s %.Ns %.*s %d %u %lu %zu %llu %x %lx %c %%.
 * Returns the bytes written without the 0; always ends in 0; cuts what does not fit.
 */
size_t log_format(char *out, size_t out_bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
size_t log_vformat(char *out, size_t out_bytes, const char *format, va_list args);

#endif
