/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that grows: `mem_*` for arrays, and a byte buffer for output. If memory runs out, the
 * reporter exits with status 1. This code never runs in the target.
 */
#ifndef REPORT_UTIL_BUF_H
#define REPORT_UTIL_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* calloc and realloc that never return NULL. The size is nr * bytes, checked for overflow. */
void *mem_zeroed(size_t nr, size_t bytes);
void *mem_resize(void *memory, size_t nr, size_t bytes);
char *mem_text(const char *text);

/* Used by the inline function: doubles the room of an array. */
void *array_double(void *array, size_t *capacity, size_t bytes);

/* Makes room for one more element in an array that has room for *capacity and holds nr. */
static inline void *array_grow(void *array, size_t nr, size_t *capacity, size_t bytes)
{
	return nr < *capacity ? array : array_double(array, capacity, bytes);
}

/*
 * An output buffer. With `flush` it empties itself when it is full; without, it holds everything.
 * If `is_manual` is set, it empties itself only in buf_flush and buf_flush_if_large.
 */
struct buf {
	char *bytes;
	size_t nr_bytes;
	size_t capacity;
	int (*flush)(void *context, const char *bytes, size_t nr_bytes); /* returns 0 or -errno */
	void *context;
	bool is_manual;	     /* flushed by buf_flush and buf_flush_if_large only */
	uint64_t nr_flushed; /* bytes given to flush, or dropped after an error */
	int error;	     /* the first error of flush; output after it is dropped */
};

void buf_init(struct buf *buf, int (*flush)(void *, const char *, size_t), void *context);
void buf_fini(struct buf *buf);

/* Gives all bytes to flush. Returns 0 or the first error. */
int buf_flush(struct buf *buf);

/* Does the same if the buffer holds much. Call it at the end of each row of a long table. */
void buf_flush_if_large(struct buf *buf);

/* Makes room for nr_bytes more, by flushing or by growing. */
void buf_reserve(struct buf *buf, size_t nr_bytes);

static inline void buf_add(struct buf *buf, const void *bytes, size_t nr_bytes)
{
	if (__builtin_expect(buf->capacity - buf->nr_bytes < nr_bytes, 0)) {
		buf_reserve(buf, nr_bytes);
	}
	if (nr_bytes) {
		memcpy(buf->bytes + buf->nr_bytes, bytes, nr_bytes);
		buf->nr_bytes += nr_bytes;
	}
}

/* Inline, so that the compiler knows the length of constant texts. */
static inline void buf_text(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

static inline void buf_char(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_pad(struct buf *buf, char c, size_t nr);
void buf_printf(struct buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3), nonnull(2)));
void buf_uint(struct buf *buf, uint64_t value);

#endif
