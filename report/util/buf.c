/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and output buffers of the reporter. All of report/ allocates through these functions, so
 * no caller handles a lack of memory: there is nothing useful to do then but say so and exit. A
 * buffer either grows or, with `flush`, empties itself when it is full; a piece larger than the
 * buffer makes it grow as well.
 */
#include "report/util/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_BYTES (256u * 1024u)

static void out_of_memory(void)
{
	fputs("gprof-report: out of memory\n", stderr);
	exit(1);
}

void *mem_zeroed(size_t nr, size_t bytes)
{
	void *memory = calloc(nr ? nr : 1, bytes ? bytes : 1);

	if (!memory) {
		out_of_memory();
	}
	return memory;
}

void *mem_resize(void *memory, size_t nr, size_t bytes)
{
	size_t total;

	if (__builtin_mul_overflow(nr, bytes, &total)) {
		out_of_memory();
	}
	memory = realloc(memory, total ? total : 1);
	if (!memory) {
		out_of_memory();
	}
	return memory;
}

char *mem_text(const char *text)
{
	size_t nr_bytes = strlen(text) + 1;

	return memcpy(mem_zeroed(nr_bytes, 1), text, nr_bytes);
}

void *array_double(void *array, size_t *capacity, size_t bytes)
{
	*capacity = *capacity ? *capacity * 2 : 16;
	return mem_resize(array, *capacity, bytes);
}

void buf_init(struct buf *buf, int (*flush)(void *, const char *, size_t), void *context)
{
	*buf = (struct buf){.flush = flush, .context = context};
}

void buf_fini(struct buf *buf)
{
	free(buf->bytes);
	*buf = (struct buf){0};
}

int buf_flush(struct buf *buf)
{
	if (buf->flush && buf->nr_bytes) {
		if (!buf->error) {
			buf->error = buf->flush(buf->context, buf->bytes, buf->nr_bytes);
		}
		buf->nr_flushed += buf->nr_bytes;
		buf->nr_bytes = 0;
	}
	return buf->error;
}

void buf_flush_if_large(struct buf *buf)
{
	if (buf->nr_bytes >= FLUSH_BYTES) {
		buf_flush(buf);
	}
}

/* Flushing may be enough; if not, the buffer grows to the larger of twice its size and the need. */
void buf_reserve(struct buf *buf, size_t nr_bytes)
{
	size_t capacity = buf->capacity ? buf->capacity * 2 : 4096;

	if (buf->capacity - buf->nr_bytes >= nr_bytes) {
		return;
	}
	if (buf->flush && !buf->is_manual) {
		buf_flush(buf);
		capacity = FLUSH_BYTES;
	}
	if (buf->capacity - buf->nr_bytes < nr_bytes) {
		if (capacity < buf->nr_bytes + nr_bytes) {
			capacity = buf->nr_bytes + nr_bytes;
		}
		buf->bytes = mem_resize(buf->bytes, capacity, 1);
		buf->capacity = capacity;
	}
}

void buf_pad(struct buf *buf, char c, size_t nr)
{
	if (nr) {
		buf_reserve(buf, nr);
		memset(buf->bytes + buf->nr_bytes, c, nr);
		buf->nr_bytes += nr;
	}
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list arguments, again;
	int nr_bytes;

	va_start(arguments, format);
	va_copy(again, arguments);
	nr_bytes = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (nr_bytes > 0) {
		buf_reserve(buf, (size_t)nr_bytes + 1);
		vsnprintf(buf->bytes + buf->nr_bytes, (size_t)nr_bytes + 1, format, again);
		buf->nr_bytes += (size_t)nr_bytes;
	}
	va_end(again);
}

void buf_uint(struct buf *buf, uint64_t value)
{
	char digits[20];
	size_t first = sizeof(digits);

	do {
		digits[--first] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	buf_add(buf, digits + first, sizeof(digits) - first);
}
