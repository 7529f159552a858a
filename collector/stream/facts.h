/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about the process as rows of table info: identity, place, rank, launcher, settings. For the
 * drain thread, except facts_look and facts_set_worker.
 */
#ifndef COLLECTOR_STREAM_FACTS_H
#define COLLECTOR_STREAM_FACTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Copies the rank variables of the environment. Runs on the starting thread at the first use of
 * CUDA: launchers may set them inside the process, and later other threads of the target run.
 */
void facts_look(void);

/* The path of the parent's stream, for a forked child; its name goes into the stream. "" if none.
 */
void facts_set_parent(const char *path);

/* Adds what is known before the first event: process, launcher, host and settings. */
void facts_add_start(void);

/*
 * Adds loader.worker and loader.workers once they are known: the process is that worker (from 0) of
 * so many; 0 workers: it is none. Any thread may set them; they survive a fork until they are set
 * again.
 */
void facts_set_worker(uint32_t number, uint32_t nr_workers);
void facts_add_worker(void);

/* Adds the facts of the end: `how` in one word, and the marked exit code (ending.h). */
void facts_add_end(const char *how);

/* One row: any key, any value. */
void facts_add(const char *key, const char *value);
void facts_add_number(const char *key, uint64_t value);

#endif
