/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gprof says outside its stream: at most one line on the host's stderr (log_line), and a log
 * file on request. Fixed buffers, no stdio, no allocation, errno kept; usable from every thread.
 */
#ifndef COLLECTOR_UTIL_LOG_H
#define COLLECTOR_UTIL_LOG_H

#include <stdarg.h>
#include <stddef.h>

enum log_level { LOG_OFF, LOG_WARN, LOG_INFO, LOG_DEBUG };

/*
 * level: the most talkative one that is written. path: the file, "" for stderr (then warnings
 * only). quiet: log_line says nothing.
 */
void log_init(enum log_level level, const char *path, int quiet);

/*
 * One message, with the pid in front and its end of line behind. What stands for %s is shown as
 * printable_copy does, since settings and paths may hold what a terminal would obey.
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
