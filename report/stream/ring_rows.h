/* SPDX-License-Identifier: Apache-2.0 */
/* Converts rows from a ring into batches of columns. */
#ifndef REPORT_STREAM_RING_ROWS_H
#define REPORT_STREAM_RING_ROWS_H

#include "report/stream/types.h"

/* First id for texts and shapes found in rings; ids of streams count from 1. */
#define RINGS_FIRST_ID 0x80000000u

struct ring_batch;

void ring_batch_destroy(struct ring_batch *batch);

/* Sets the columns of `mask` in the batch. They live as long as the ring batch. */
void ring_batch_load(const struct ring_batch *ring, uint32_t mask, struct batch *batch);

struct ring_rows;

/*
 * Appends full batches to the stream. newest_correlation: the newest ID that the stream already
 * has; 0 if it has none, or if that is unknown.
 */
struct ring_rows *ring_rows_create(struct stream *stream, uint64_t newest_correlation);

/*
 * Adds the row at `bytes`, of which left_bytes can be read. Returns its size in bytes, 0 if it is
 * invalid.
 */
uint32_t ring_rows_add(struct ring_rows *rows, const char *bytes, uint32_t left_bytes);

/* Appends the last batches and frees. */
void ring_rows_finish(struct ring_rows *rows);

#endif
