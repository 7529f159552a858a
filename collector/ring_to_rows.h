/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves rows from the rings into batches, and replaces names and shapes by ids. For the drain
 * thread.
 */
#ifndef COLLECTOR_RING_TO_ROWS_H
#define COLLECTOR_RING_TO_ROWS_H

#include "collector/ring/ring.h"

/* Forgets all launches; ids start again. */
void ring_to_rows_init(void);

/* For ring_read. The row stays in its ring, where the batch may point to it until ring_release. */
void ring_to_rows_add(void *context, struct ring_thread *thread, const struct gprof_row_head *head);

#endif
