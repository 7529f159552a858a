/* SPDX-License-Identifier: Apache-2.0 */
/* Writes characters as UTF-8: names of wide characters and of Python arrive as numbers. */
#ifndef PRELOAD_BASE_UTF8_H
#define PRELOAD_BASE_UTF8_H

#include <stdint.h>

/* Writes a character as UTF-8 (up to 4 bytes); returns what is behind it. */
static inline char *utf8_put(char *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xf0 | (c >> 18 & 7));
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

#endif
