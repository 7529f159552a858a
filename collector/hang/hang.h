/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hang watchdog (GPROF_HANG_TIMEOUT_S): if the process makes no progress, writes where its
 * threads are and what was done last, as rows of table hang: once for each hang, and once more when
 * it ends. It runs nothing on the target's threads: ring_tls holds their calls, and the rest passes
 * by on its way to the stream. For the drain thread.
 */
#ifndef COLLECTOR_HANG_HANG_H
#define COLLECTOR_HANG_HANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/format/format.h"

/* Reads GPROF_HANG_TIMEOUT_S. After step_init. */
void hang_init(void);

/*
 * Checks the progress of the process, after a flush, which has counted it. Returns true if there
 * are rows to write at once: hung processes are often killed.
 */
bool hang_look(void);

/* ---- for hang.c: rows like `head`, with more filled in ---- */

/* The call that a thread has been in for longest; name NULL: none is open. */
struct hang_call {
	const char *name;
	uint64_t since; /* by clock_raw */
	uint32_t tid;
};

/* Is any thread in a call since then, or longer? */
bool hang_thread_is_in_call(uint64_t raw);

/* A row for each call that is open, for each other thread one. */
struct hang_call hang_thread_add_rows(const struct gprof_row_hang *head);

/* Rows of streams, places and communicators. */
void hang_work_add_rows(const struct gprof_row_hang *head);

/* ---- what passes by ---- */

extern bool hang_is_on __attribute__((visibility("hidden")));

void hang_work_init(void);
void hang_work_launched(const struct gprof_row_api_launch *row);
void hang_work_called(const struct gprof_row_nccl *row);
/* Work that ended; table: of format.h; shape: 0 for none; end_ns: by CUPTI's clock. */
void hang_work_ended(
	unsigned int table, uint32_t place, uint32_t correlation, uint32_t shape, uint64_t end_ns);

#endif
