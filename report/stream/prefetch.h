/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes batches ahead on other threads, one for each further core (at most PREFETCH_THREADS), in
 * the order in which they are announced.
 *
 * The caller helps while it waits. Memory: two readers a thread, 30 MB a core for the widest
 * tables. With one core it decodes on demand, in one reader.
 */
#ifndef REPORT_STREAM_PREFETCH_H
#define REPORT_STREAM_PREFETCH_H

#include "report/stream/reader.h"

#define PREFETCH_THREADS 7u

struct prefetch;

struct prefetch *prefetch_create(void);
void prefetch_destroy(struct prefetch *prefetch);

/* Replaces the announced requests. Waits until no thread works on an old one. */
void prefetch_expect(
	struct prefetch *prefetch, const struct stream_request *requests, size_t nr_requests);

/* Loads a batch, valid until the next call. Returns the mask of damaged columns. */
uint32_t prefetch_load(
	struct prefetch *prefetch, const struct stream_request *request, struct batch *batch);

/* The caller's own reader. Its content is valid until the next prefetch_load. */
struct reader *prefetch_reader(struct prefetch *prefetch);

/*
 * Sets how many threads decode, the caller included; 0 chooses by the machine. For tests and
 * benchmarks, before anything is announced.
 */
void prefetch_set_threads(unsigned int nr_threads);

/* Returns how many threads would decode. */
unsigned int prefetch_nr_threads(void);

#endif
