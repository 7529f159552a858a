/* SPDX-License-Identifier: Apache-2.0 */
/* For stream_in.c: finds the blocks of a file. */
#ifndef REPORT_STREAM_INDEX_H
#define REPORT_STREAM_INDEX_H

#include "report/stream/types.h"

/* Opens stream->path, checks the header, fills blocks and damages. 0, or negative with err_set. */
int stream_index_open(struct stream *stream);

/*
 * For a stream that is still written: first follow, which takes the last block back if it is not
 * whole yet, then grow for each new size: the blocks so far are forgotten, those that were written
 * since are found. What is not whole is left for the next time.
 */
void stream_index_follow(struct stream *stream);
void stream_index_grow(struct stream *stream, uint64_t size);

/* Appends a block of zeros, which the caller fills in. Pointers to blocks are invalid then. */
struct stream_block *stream_add_block(struct stream *stream);

/* The table with the stream's number; a new one if there is none. */
struct stream_table *stream_table_numbered(struct stream *stream, unsigned int number);

/* Records damage at an offset of the file; `what` is a static text. */
void stream_add_damage(struct stream *stream, uint64_t offset, uint64_t nr_bytes, const char *what);

/*
 * Reads a file of another format: if the file of stream->fd is one, replaces fd and size by those
 * of a stream that holds the same data, and sets is_trace. If not, changes nothing. Returns 0, or
 * a negative code with err_set if the file is of that format and cannot be read.
 */
typedef int stream_importer(struct stream *stream);

/* Tried in this order, the last one NULL. The program defines it (kineto/kineto.c). */
extern stream_importer *const stream_importers[];

#endif
