/* SPDX-License-Identifier: Apache-2.0 */
/* "gprof-report: reading, 42 %" on stderr, if that is a terminal (and no dumb one) and the work
 * takes over a second.
 */
#ifndef REPORT_UTIL_PROGRESS_H
#define REPORT_UTIL_PROGRESS_H

#include <stdint.h>

/* `what` must stay. */
void progress_start(const char *what, uint64_t total);
void progress_add(uint64_t done);

/* Wipes the line. */
void progress_stop(void);

#endif
