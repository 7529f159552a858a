/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress on stderr, such as "gprof-report: reading, 42 %". It appears only on a terminal that is
 * not dumb, after one second of work.
 */
#ifndef REPORT_UTIL_PROGRESS_H
#define REPORT_UTIL_PROGRESS_H

#include <stdint.h>

/* The caller keeps `what` until progress_stop. */
void progress_start(const char *what, uint64_t total);
void progress_add(uint64_t done);

/* Clears the line. */
void progress_stop(void);

/* Nothing appears from now on. */
void progress_disable(void);

#endif
