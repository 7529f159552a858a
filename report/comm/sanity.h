/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is odd about processes that are reported together: several hosts, ranks that are missing or
 * there more than once, steps that overlap, clocks that jump. A sentence each.
 */
#ifndef REPORT_COMM_SANITY_H
#define REPORT_COMM_SANITY_H

#include "report/model/model.h"

/* ---- all processes ---- */

/* Has sanity_check warn that sentence, too, once: of data that a view could not make use of. */
void sanity_add(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Calls `warn` with each sentence. is_part: the user chose some of the processes, so others are not
 * missed. Returns true if data are missing or cannot be right. The processes are by rank, rising.
 */
bool sanity_check(struct process *const *processes, size_t nr_processes, bool is_part,
	void (*warn)(const char *sentence));

#endif
