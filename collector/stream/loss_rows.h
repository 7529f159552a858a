/* SPDX-License-Identifier: Apache-2.0 */
/* Writes losses and notices as rows of the stream. For the drain thread. */
#ifndef COLLECTOR_STREAM_LOSS_ROWS_H
#define COLLECTOR_STREAM_LOSS_ROWS_H

#include <stdint.h>

/* Adds rows for the losses and notices since the last call. Returns how many events were lost. */
uint64_t loss_add_rows(void);

#endif
