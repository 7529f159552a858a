/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and texts as a sequence of bytes: numbers as LEB128, texts after their length.
 *
 * Reading trusts nothing: if bytes are missing or a value is too long, it marks the input bad and
 * returns 0 or "".
 */
#ifndef REPORT_UTIL_PACK_H
#define REPORT_UTIL_PACK_H

#include "report/util/buf.h"

void pack_uint(struct buf *out, uint64_t value);
void pack_int(struct buf *out, int64_t value); /* zigzag: small numbers of either sign are short */
void pack_wide(struct buf *out, unsigned __int128 value);
void pack_text(struct buf *out, const char *bytes, size_t nr_bytes);

struct unpack {
	const unsigned char *at, *end;
	bool is_bad;
};

uint64_t unpack_uint(struct unpack *from);
int64_t unpack_int(struct unpack *from);
unsigned __int128 unpack_wide(struct unpack *from);
const char *unpack_text(struct unpack *from, size_t *nr_bytes); /* points into the input */

/* A number of items of at least one byte each; bad if fewer bytes are left. */
size_t unpack_count(struct unpack *from);

#endif
