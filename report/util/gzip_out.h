/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is packed by gzip while it is written, in pieces by all cores, up to 4. It has one
 * member, as browsers unpack only the first. Memory: 0.6 MB for each piece on its way, two a core.
 */
#ifndef REPORT_UTIL_GZIP_OUT_H
#define REPORT_UTIL_GZIP_OUT_H

#include <stddef.h>

struct gzip_out;

/* Makes the file; returns 0, or -errno and no file. */
int gzip_out_open(struct gzip_out **file, const char *path);

/* A flush of struct buf, the file its context. Returns 0, or -errno of this or an earlier piece. */
int gzip_out_write(void *file, const char *bytes, size_t nr_bytes);

/* Writes the rest. Returns 0 or what failed first, as -errno. */
int gzip_out_close(struct gzip_out *file);

#endif
