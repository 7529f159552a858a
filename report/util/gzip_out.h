/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a gzip file, compressed in pieces on up to 4 cores. The file has a single member, because
 * browsers unpack only the first. Memory: 0.6 MB for each piece in progress, two pieces a core.
 */
#ifndef REPORT_UTIL_GZIP_OUT_H
#define REPORT_UTIL_GZIP_OUT_H

#include <stddef.h>

struct gzip_out;

/* Creates the file. Returns 0, or -errno; then there is no file. */
int gzip_out_open(struct gzip_out **file, const char *path);

/*
 * A `flush` for struct buf, with the file as context. Returns 0, or -errno of this or an earlier
 * piece.
 */
int gzip_out_write(void *file, const char *bytes, size_t nr_bytes);

/* Writes the rest and frees. Returns 0 or the first error as -errno. */
int gzip_out_close(struct gzip_out *file);

#endif
