/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of streams, of which there may be more than a process may have open: beyond
 * STREAM_FILES, or half of what the process may open if that is less, the one that was read longest
 * ago is closed, and opened again when it is needed. It must be the same file then: another one
 * under its name is an error of reading. For stream_in.c; any thread may read.
 */
#ifndef REPORT_STREAM_FILE_H
#define REPORT_STREAM_FILE_H

#include "report/stream/types.h"

#define STREAM_FILES 256u

/*
 * Takes stream->fd, which is open, if it is the file of that name; else it stays open as long as
 * the stream.
 */
void stream_file_share(struct stream *stream);

/* Closes it, shared or not. */
void stream_file_close(struct stream *stream);

/* As pread of all nr_bytes: 0 or -errno. */
int stream_file_read(const struct stream *stream, uint64_t offset, void *bytes, size_t nr_bytes);

/* How many that are shared are open now. For tests. */
size_t stream_file_nr_open(void);

#endif
