/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stream, read: where its blocks are, what is damaged or lost, and the columns of a block on
 * demand. The file is read piece by piece (never mapped: a file that shrinks must not kill us), so
 * memory does not grow with it. If the rings of its process lie beside an unfinished stream, their
 * rows are appended as batches like those of blocks.
 *
 * A batch is up to GPROF_BLOCK_ROWS rows of one table with the columns that were asked for.
 */
#ifndef REPORT_STREAM_STREAM_H
#define REPORT_STREAM_STREAM_H

#include "report/stream/types.h"

/*
 * Opens a stream and finds its blocks. Returns 0, or a negative code with err_set: nothing can be
 * read (no stream, empty, newer major version, no permission). Damage is no error, see `damages`.
 * The rings are not read yet.
 */
int stream_open(struct stream **stream, const char *path);
void stream_close(struct stream *stream);

/*
 * Decodes the columns of `mask` (COL_BIT) of a batch; those of `small_mask` as 32-bit values where
 * that is possible. The batch is valid until the next call, for whichever stream; one thread alone
 * may call. Returns the mask of wanted columns that are damaged; the rows of a block with any are
 * counted once.
 */
uint32_t stream_load(struct stream *stream, size_t block, uint32_t mask, uint32_t small_mask,
	struct batch *batch);

/*
 * Says which loads come next, in this order, so that other threads may decode ahead; they are
 * copied. What was expected before and has not come is forgotten; so is all of it by a stream's
 * end. Loads that come out of order, or that nobody announced, are as good and only slower.
 */
void stream_expect(const struct stream_request *requests, size_t nr_requests);

/* Our number for the stream's table number, 0 if there is none. */
unsigned int stream_known(const struct stream *stream, uint64_t number);

/*
 * Decodes every column of a block, known or not; calls bad() for each that does not. Returns the
 * number of those. For `check`.
 */
unsigned int stream_verify(struct stream *stream, size_t block,
	void (*bad)(void *context, const char *column, uint64_t offset, enum decode_status status),
	void *context);

/* True if a row, a block or a byte of it is known to be missing or bad (not: losses it tells of).
 */
bool stream_is_damaged(const struct stream *stream);

/* Counts the blocks, rows and bytes of each table again, after blocks were added or left out. */
void stream_count_tables(struct stream *stream);

#endif
