/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes control characters, invisible ones, those that turn the line around, and bytes that are no
 * UTF-8 as \xNN. A name that a program chose could otherwise move the cursor, or forge a line of
 * the log.
 */
#include "collector/util/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Decodes a character of UTF-8. Returns the number of its bytes, 0 if it is none. */
static size_t take(uint32_t *code, const unsigned char *at, size_t nr_bytes)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;

	*code = length > 1 ? *at & (0x7fu >> length) : *at;
	if ((*at >= 0x80 && *at < 0xc2) || *at > 0xf4 || length > nr_bytes) {
		return 0;
	}
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80) {
			return 0;
		}
		*code = *code << 6 | (at[i] & 0x3f);
	}
	return *code >= least[length] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff)
		       ? length
		       : 0;
}

/* Control characters of both kinds, and what is invisible or turns the line around. */
static bool is_hostile(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x061c || c == 0xfeff ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f);
}

/* A character is written whole or not at all: the end of the room cuts none. */
size_t printable_copy(char *out, size_t out_bytes, const char *bytes, size_t nr_bytes)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *at = (const unsigned char *)bytes, *end = at + nr_bytes;
	size_t used = 0;

	while (at < end) {
		uint32_t code;
		size_t length = take(&code, at, (size_t)(end - at));
		bool is_plain = length && !is_hostile(code);

		length = length ? length : 1;
		if (out_bytes - used < (is_plain ? length : 4 * length)) {
			break;
		}
		if (is_plain) {
			memcpy(out + used, at, length);
			used += length;
		}
		for (size_t i = 0; !is_plain && i < length; i++) {
			out[used++] = '\\';
			out[used++] = 'x';
			out[used++] = digits[at[i] >> 4];
			out[used++] = digits[at[i] & 15];
		}
		at += length;
	}
	return used;
}
