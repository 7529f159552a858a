/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the blocks of a file, and the importers for files of other formats. */
#ifndef REPORT_STREAM_BLOCK_INDEX_H
#define REPORT_STREAM_BLOCK_INDEX_H

#include "report/stream/types.h"

/*
 * Opens stream->path, checks the header and fills blocks and damages. Returns 0, or negative with
 * err_set.
 */
int stream_index_open(struct stream *stream);

/*
 * For a stream that is still being written. Call stream_index_follow once: it drops a last block
 * that is not whole yet. Then call stream_index_grow for each new size: it forgets the blocks so
 * far and finds those written since. Incomplete blocks wait for the next call.
 */
void stream_index_follow(struct stream *stream);
void stream_index_grow(struct stream *stream, uint64_t size);

/* Appends a zeroed block for the caller to fill in. Invalidates pointers to blocks. */
struct stream_block *stream_add_block(struct stream *stream);

/* The table with the stream's number, created if there is none. */
struct stream_table *stream_table_numbered(struct stream *stream, unsigned int number);

/* Records damage at an offset of the file. `what` is a static text. */
void stream_add_damage(struct stream *stream, uint64_t offset, uint64_t nr_bytes, const char *what);

#endif
