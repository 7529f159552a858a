/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consistency checks of processes that are reported together: several hosts, missing or repeated
 * ranks, overlapping steps, clocks that jump. Each finding is one sentence.
 */
#ifndef REPORT_COMM_SANITY_H
#define REPORT_COMM_SANITY_H

#include "report/model/model.h"

/* ---- all processes ---- */

/* Adds a sentence to those of sanity_check, once, about data that a view could not use. */
void sanity_add(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool sanity_has_added(void);

/*
 * Calls `warn` with each sentence. is_part: the user selected processes, so missing ranks are fine.
 * Returns true if data are missing or cannot be right. The processes are sorted by rank.
 */
bool sanity_check(struct process *const *processes, size_t nr_processes, bool is_part,
	void (*warn)(const char *sentence));

#endif
