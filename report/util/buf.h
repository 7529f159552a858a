/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing memory: `mem_*` for arrays and a byte buffer for output. Running out of memory ends the
 * reporter with status 1; nothing here is shared with the profiled process.
 */
#ifndef REPORT_UTIL_BUF_H
#define REPORT_UTIL_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* calloc and realloc that do not return NULL. The size is nr * bytes, checked for overflow. */
void *mem_zeroed(size_t nr, size_t bytes);
void *mem_resize(void *memory, size_t nr, size_t bytes);
char *mem_text(const char *text);

/* Makes room for one more element in an array of *capacity elements that holds nr. */
void *array_grow(void *array, size_t nr, size_t *capacity, size_t bytes);

/*
 * An output buffer. With `flush` it empties itself as it fills; without, it holds everything. One
 * that is told goes on filling between calls of buf_flush.
 */
struct buf {
	char *bytes;
	size_t nr_bytes;
	size_t capacity;
	int (*flush)(void *context, const char *bytes, size_t nr_bytes); /* 0 or -errno */
	void *context;
	bool is_told;	     /* empties itself in buf_flush and buf_flush_if_large alone */
	uint64_t nr_flushed; /* bytes that went through flush, or were thrown away */
	int error;	     /* what flush returned first; later output is thrown away */
};

void buf_init(struct buf *buf, int (*flush)(void *, const char *, size_t), void *context);
void buf_fini(struct buf *buf);

/* Hands everything to flush. Returns 0 or the first error. */
int buf_flush(struct buf *buf);

/* The same if there is much in it: at the end of each row of a long table. */
void buf_flush_if_large(struct buf *buf);

/* Makes room for nr_bytes more: by flushing, or by growing. */
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

/* Inlined, so that lengths of constant texts are constants. */
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
