/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads spend time in a row of a table: how many, and which one most. */
#ifndef REPORT_MODEL_OS_THREADS_H
#define REPORT_MODEL_OS_THREADS_H

#include "report/model/model.h"

struct os_thread;

/* Zero-initialized. */
struct os_threads {
	struct os_thread *all; /* by row, process and thread */
};

/* Adds time of a thread, by its number in the stream, to a row. */
void os_threads_add(struct os_threads *threads, uint32_t row, const struct process *process,
	uint32_t thread, uint64_t ns);
void os_threads_fini(struct os_threads *threads);

/* Of a row. */
struct os_row_threads {
	uint64_t nr, most_ns;
	uint32_t most; /* the name of the one with the most time, of string_pool.h; 0: none */
};

/* The same for each of `nr` rows; the caller frees it. */
struct os_row_threads *os_threads_of_rows(const struct os_threads *threads, size_t nr);

#endif
