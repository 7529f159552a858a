/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows on their way into the stream, one batch per table. The drain thread's own. Rows of rings are
 * only pointed at (they stay in their chunk until the checkpoint); others are copied in. Whenever a
 * batch is written, the batches of definitions (strings, calls, shapes, places ...) go first, so
 * that the stream defines every id before it uses it.
 */
#ifndef COLLECTOR_BATCH_H
#define COLLECTOR_BATCH_H

#include "collector/format.h"

/* Makes the batches; memory is touched as it is used. Returns 0 or -ENOMEM. */
int batch_init(void);

/* Drops everything that waits; for a forked child. */
void batch_forget(void);

/* Adds a row that stays valid until batch_write_all. */
void batch_point(unsigned int table, const void *row);

/*
 * A zeroed row of `table` to fill in; it is written with its batch. The pointer is good until the
 * next call for the same table. Its TEXT fields must point to bytes that stay.
 */
void *batch_add(unsigned int table);

/* The same with whatever the row held before; for those that fill in every column. */
void *batch_slot(unsigned int table);

/* Keeps a copy of bytes for a TEXT field, until the batches are written. */
struct gprof_text batch_text(const char *bytes, uint64_t nr_bytes);

/* Writes everything that waits. */
void batch_write_all(void);

/* Counts the events that wait as lost to the size limit, and keeps the definitions and facts. */
void batch_drop_all(void);

/* Events (not definitions or facts) added since the start. */
uint64_t batch_nr_events(void);

#endif
