/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stream says about its process, as rows of table info: who, where, which rank, how it was
 * started, with which settings. The drain thread's own, but for facts_look and facts_set_worker.
 */
#ifndef COLLECTOR_STREAM_FACTS_H
#define COLLECTOR_STREAM_FACTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Copies the environment's rank variables; on the starting thread, when the process first uses
 * CUDA (launchers may set them inside the process, and later the host's other threads run).
 */
void facts_look(void);

/* The path of the parent's stream, for a forked child; its name goes into the stream. "" if none.
 */
void facts_set_parent(const char *path);

/* Adds what is known before the first event: who the process is, its launcher, host and settings.
 */
void facts_add_start(void);

/*
 * loader.worker and loader.workers, once they are known: the process is that worker, from 0 on, of
 * so many; of 0: it is none. They are set on any thread, and outlive a fork until they are set
 * anew.
 */
void facts_set_worker(uint32_t number, uint32_t nr_workers);
void facts_add_worker(void);

/* Those of the end: `how` in one word, and the code that was marked (ending.h). */
void facts_add_end(const char *how);

/* One row: any key, any value. */
void facts_add(const char *key, const char *value);
void facts_add_number(const char *key, uint64_t value);

#endif
