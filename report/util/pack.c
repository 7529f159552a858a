/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of summary files and of the page's data: numbers in as few bytes as they need. Reading
 * may meet a damaged or hostile file, so a failure marks the input bad and makes it empty: the
 * caller goes on with zeros and asks once at the end.
 */
#include "report/util/pack.h"

void pack_uint(struct buf *out, uint64_t value)
{
	char bytes[10];
	size_t nr = 0;

	for (; value >= 0x80; value >>= 7) {
		bytes[nr++] = (char)(value | 0x80);
	}
	bytes[nr++] = (char)value;
	buf_add(out, bytes, nr);
}

void pack_int(struct buf *out, int64_t value)
{
	pack_uint(out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void pack_wide(struct buf *out, unsigned __int128 value)
{
	pack_uint(out, (uint64_t)value);
	pack_uint(out, (uint64_t)(value >> 64));
}

void pack_text(struct buf *out, const char *bytes, size_t nr_bytes)
{
	pack_uint(out, nr_bytes);
	buf_add(out, bytes, nr_bytes);
}

static uint64_t fail(struct unpack *from)
{
	from->is_bad = true;
	from->at = from->end;
	return 0;
}

/* Refuses bits beyond the 64th, so that each number has one meaning. */
uint64_t unpack_uint(struct unpack *from)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; from->at < from->end && shift < 64; shift += 7) {
		unsigned char byte = *from->at++;
		uint64_t bits = byte & 0x7f;

		if (bits << shift >> shift != bits) {
			break;
		}
		value |= bits << shift;
		if (byte < 0x80) {
			return value;
		}
	}
	return fail(from);
}

int64_t unpack_int(struct unpack *from)
{
	uint64_t value = unpack_uint(from);

	return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

unsigned __int128 unpack_wide(struct unpack *from)
{
	uint64_t low = unpack_uint(from);

	return (unsigned __int128)unpack_uint(from) << 64 | low;
}

size_t unpack_count(struct unpack *from)
{
	uint64_t nr = unpack_uint(from);

	return nr <= (size_t)(from->end - from->at) ? (size_t)nr : (size_t)fail(from);
}

const char *unpack_text(struct unpack *from, size_t *nr_bytes)
{
	const char *text;

	*nr_bytes = unpack_count(from);
	text = (const char *)from->at;
	from->at += *nr_bytes;
	return text;
}
