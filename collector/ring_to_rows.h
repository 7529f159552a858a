/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the rings on their way into batches: names and shapes become ids. The drain thread's. */
#ifndef COLLECTOR_RING_TO_ROWS_H
#define COLLECTOR_RING_TO_ROWS_H

#include "collector/ring/ring.h"

/* Forgets what is known of launches; ids begin anew. */
void ring_to_rows_init(void);

/* For ring_read. The row stays in its ring, where the batch may point to it until ring_release. */
void ring_to_rows_add(void *context, struct ring_thread *thread, const struct gprof_row_head *head);

#endif
