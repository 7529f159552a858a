/* SPDX-License-Identifier: Apache-2.0 */
/* Threads as a row of stretches, each in one operator or call: the innermost. For critical.c. */
#ifndef REPORT_ANALYSIS_CRITICAL_HOST_H
#define REPORT_ANALYSIS_CRITICAL_HOST_H

#include "report/analysis/critical.h"

struct critical_stretch {
	uint64_t begin, end;
	const struct critical_item *item;
};

struct critical_thread {
	uint32_t thread;
	size_t first, end; /* of its stretches */
};

struct critical_host {
	struct critical_stretch *stretches; /* by thread, rising */
	size_t nr_stretches, capacity;
	struct critical_thread *threads;
	size_t nr_threads, thread_capacity;
};

/*
 * Of the users' ranges alone, or of all else. Items must be sorted by critical_host_order; they
 * stay the caller's. Starts with all zeros.
 */
void critical_host_make(struct critical_host *host, const struct critical_item *items,
	size_t nr_items, bool is_range);
void critical_host_fini(struct critical_host *host);

/* By thread and begin; what encloses before what lies in it. For qsort. */
int critical_host_order(const void *a, const void *b);

/* The last stretch of a thread that begins before `time`, NULL if there is none. */
const struct critical_stretch *critical_host_find(
	const struct critical_host *host, uint32_t thread, uint64_t time);

/* The same of threads[i]. */
const struct critical_stretch *critical_host_find_at(
	const struct critical_host *host, size_t i, uint64_t time);

#endif
