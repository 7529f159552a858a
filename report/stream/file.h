/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of streams. A job may have more than a process may open, so at most STREAM_FILES are
 * open. If half of its limit is less, that counts instead.
 *
 * Beyond that it closes the least recently read file and opens it again when needed. If another
 * file has taken its name, reading fails. Any thread may read.
 */
#ifndef REPORT_STREAM_FILE_H
#define REPORT_STREAM_FILE_H

#include "report/stream/types.h"

#define STREAM_FILES 256u

/*
 * Takes over the open stream->fd if the name still refers to that file; else the file stays open as
 * long as the stream.
 */
void stream_file_share(struct stream *stream);

/* Closes the file, shared or not. */
void stream_file_close(struct stream *stream);

/* Reads exactly nr_bytes. Returns 0 or -errno. */
int stream_file_read(const struct stream *stream, uint64_t offset, void *bytes, size_t nr_bytes);

#endif
