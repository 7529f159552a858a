/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For stream_in.c: batches decoded prefetch by other threads, one for each further core (at most
 * PREFETCH_THREADS), and handed out in the order in which they were announced. The caller helps
 * while it waits. Memory: two readers a thread, so 30 MB for each core at the widest tables. One
 * core decodes when asked to, in one reader.
 */
#ifndef REPORT_STREAM_PREFETCH_H
#define REPORT_STREAM_PREFETCH_H

#include "report/stream/reader.h"

#define PREFETCH_THREADS 7u

struct prefetch;

struct prefetch *prefetch_create(void);
void prefetch_destroy(struct prefetch *prefetch);

/* Forgets what was expected; ends when no thread works on it any more. Then expects these. */
void prefetch_expect(
	struct prefetch *prefetch, const struct stream_request *requests, size_t nr_requests);

/* Loads a batch, valid until the next call; returns the columns that are damaged. */
uint32_t prefetch_load(
	struct prefetch *prefetch, const struct stream_request *request, struct batch *batch);

/* The caller's own reader; what it holds ends with the next prefetch_load. */
struct reader *prefetch_reader(struct prefetch *prefetch);

/* Threads to decode with, the caller's own included; 0 goes by the machine. For tests and benches,
 * before anything is expected. */
void prefetch_set_threads(unsigned int nr_threads);

/* How many there would be. */
unsigned int prefetch_nr_threads(void);

#endif
