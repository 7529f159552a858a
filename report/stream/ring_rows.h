/* SPDX-License-Identifier: Apache-2.0 */
/* For ring_in.c: rows as they stand in a ring, one after the other, to batches of columns. */
#ifndef REPORT_STREAM_RING_ROWS_H
#define REPORT_STREAM_RING_ROWS_H

#include "report/stream/types.h"

/* Ids that the reader gives to texts and shapes found in rings; streams count from 1. */
#define RINGS_FIRST_ID 0x80000000u

struct ring_batch;

void ring_batch_destroy(struct ring_batch *batch);

/* Sets the columns of `mask` in the batch. They live as long as the ring batch. */
void ring_batch_load(const struct ring_batch *ring, uint32_t mask, struct batch *batch);

struct ring_rows;

/* The batches are appended to the stream as they fill. */
struct ring_rows *ring_rows_create(struct stream *stream);

/* Takes the row at `bytes`. Returns the bytes it has, 0 if that is no row (left_bytes are there).
 */
uint32_t ring_rows_add(struct ring_rows *rows, const char *bytes, uint32_t left_bytes);

/* Appends the last batches and frees. */
void ring_rows_finish(struct ring_rows *rows);

#endif
