/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one stream: the index of its blocks, its damage and losses, and columns on demand.
 *
 * The file is read in pieces, never mapped, because a mapped file that shrinks would kill the
 * reporter. So memory does not grow with the file. If the rings of an unfinished stream lie beside
 * it, their rows are appended as batches like those of blocks.
 *
 * A batch is up to GPROF_BLOCK_ROWS rows of one table with the wanted columns.
 */
#ifndef REPORT_STREAM_STREAM_H
#define REPORT_STREAM_STREAM_H

#include "report/stream/types.h"

/*
 * Opens a stream and finds its blocks. Returns 0, or a negative code with err_set if nothing can be
 * read (no stream, empty, newer major version, no permission). Damage is no error, see `damages`.
 * It does not read the rings.
 * importers: those of other formats, to try in this order, ending with NULL; NULL: none.
 */
int stream_open(struct stream **stream, const char *path, stream_importer *const *importers);

/* Opens another process of a trace of several; `first` is what stream_open has opened. */
int stream_open_part(struct stream **stream, const struct stream *first, size_t part);
void stream_close(struct stream *stream);

/*
 * Decodes the columns of `mask` (COL_BIT); those of `small_mask` as 32-bit values if possible.
 *
 * Returns the mask of damaged columns, and counts the rows of such a block once. The batch is valid
 * until the next call for any stream. Only one thread may call.
 */
uint32_t stream_load(struct stream *stream, size_t block, uint32_t mask, uint32_t small_mask,
	struct batch *batch);

/*
 * Returns a number that no value of a column of numbers exceeds, by the directory of the block
 * alone; UINT64_MAX if it does not say. It may be far above the largest one. The last batch is not
 * valid any more.
 */
uint64_t stream_most(struct stream *stream, size_t block, unsigned int column);

/*
 * Announces the next loads in order, so that other threads decode ahead. The requests are copied
 * and replace earlier ones; closing a stream drops all. Other loads work as well, only slower.
 */
void stream_expect(const struct stream_request *requests, size_t nr_requests);

/* Ends these threads until the next stream_expect. Batches are not valid any more. */
void stream_end_threads(void);

/* Our number for the stream's table number, 0 if there is none. */
unsigned int stream_known(const struct stream *stream, uint64_t number);

/*
 * Decodes every column of a block, known or not, for `check`. Calls bad() for each damaged one and
 * returns how many there are.
 */
unsigned int stream_verify(struct stream *stream, size_t block,
	void (*bad)(void *context, const char *column, uint64_t offset, enum decode_status status),
	void *context);

/*
 * True if rows, blocks or bytes are missing or damaged. Losses that the recorder reported do not
 * count.
 */
bool stream_is_damaged(const struct stream *stream);

/* Has one of these tables a row? */
bool stream_has_rows(const struct stream *stream, table_set tables);

/*
 * By block: no row of these tables in a later block begins before that; UINT64_MAX if there is
 * none. Times are those of the tables' clock. The caller frees it.
 */
uint64_t *stream_later_begins(const struct stream *stream, table_set tables);

/* Counts the blocks, rows and bytes of each table again, after blocks were added or left out. */
void stream_count_tables(struct stream *stream);

#endif
