/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress on stderr, such as "gprof-report: reading, 42 %". It appears only on a terminal that is
 * not dumb, after one second of work.
 */
#ifndef REPORT_UTIL_PROGRESS_H
#define REPORT_UTIL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* The caller keeps `what` until progress_stop. */
void progress_start(const char *what, uint64_t total);
void progress_add(uint64_t done);

/* Clears the line. */
void progress_stop(void);

/* ---- one line for several processes ---- */

#define PROGRESS_MAX_WORKERS 15u

/*
 * One line for what this process and its workers do in so many passes, each from progress_start to
 * progress_stop, until progress_stop_all. The caller keeps `what`.
 */
void progress_start_all(const char *what, unsigned int nr_passes);
void progress_stop_all(void);

/* The number of one more worker, for progress_be_worker after the fork. */
unsigned int progress_add_worker(void);
void progress_be_worker(unsigned int worker);

/* Is there such a line? Then who waits for a worker calls progress_show from time to time. */
bool progress_is_of_all(void);
void progress_show(void);

#endif
