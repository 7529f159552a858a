/* SPDX-License-Identifier: Apache-2.0 */
/* For stream_in.c: finds the blocks of a file. */
#ifndef REPORT_STREAM_INDEX_H
#define REPORT_STREAM_INDEX_H

#include "report/stream/stream.h"

/* Opens stream->path, checks the header, fills blocks and damages. 0, or negative with err_set. */
int stream_index_open(struct stream *stream);

/*
 * For a stream that is still written: first follow, which takes the last block back if it is not
 * whole yet, then grow for each new size: the blocks so far are forgotten, those that were written
 * since are found. What is not whole is left for the next time.
 */
void stream_index_follow(struct stream *stream);
void stream_index_grow(struct stream *stream, uint64_t size);

#endif
