/* SPDX-License-Identifier: Apache-2.0 */
/* Writes losses and notices as rows of the stream. For the drain thread. */
#ifndef COLLECTOR_STREAM_LOSS_ROWS_H
#define COLLECTOR_STREAM_LOSS_ROWS_H

#include <stdint.h>

/* Adds rows for the losses and notices since the last call. Returns how many events were lost. */
uint64_t loss_add_rows(void);

/*
 * Adds the rows for notices, and defines the causes of losses: what follows may be taken back. Then
 * so many events that were called lost since are not, until the next call of loss_add_rows.
 */
void loss_begin_tail(void);
uint64_t loss_take_back_tail(void);

#endif
