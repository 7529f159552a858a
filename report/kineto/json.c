/* SPDX-License-Identifier: Apache-2.0 */
#define JSMN_PARENT_LINKS
#include <jsmn.h>

#include "report/kineto/json.h"

#include <stdlib.h>

#define FIRST_TOKENS 256u
/* No more than a value has that kineto_split.c keeps. */
#define MOST_TOKENS (1u << 21)

void kineto_json_fini(struct kineto_json *json)
{
	free(json->tokens);
	buf_fini(&json->text);
	*json = (struct kineto_json){0};
}

bool kineto_json_parse(struct kineto_json *json, const char *bytes, size_t nr_bytes)
{
	jsmn_parser parser;
	int rc;

	json->bytes = bytes;
	if (!json->tokens) {
		json->capacity = FIRST_TOKENS;
		json->tokens = mem_resize(NULL, json->capacity, sizeof(*json->tokens));
	}
	jsmn_init(&parser);
	while ((rc = jsmn_parse(&parser, bytes, nr_bytes, json->tokens, json->capacity)) ==
			JSMN_ERROR_NOMEM &&
		json->capacity < MOST_TOKENS) {
		json->capacity *= 2; /* jsmn goes on where it stopped */
		json->tokens = mem_resize(json->tokens, json->capacity, sizeof(*json->tokens));
	}
	json->nr_tokens = rc < 0 ? 0 : rc;
	return rc > 0 && kineto_json_next(json, 0) == rc;
}

/* ---- texts ---- */

static void add_utf8(struct buf *out, uint32_t code)
{
	if (code < 0x80) {
		buf_char(out, (char)code);
	} else if (code < 0x800) {
		buf_char(out, (char)(0xc0 | code >> 6));
		buf_char(out, (char)(0x80 | (code & 0x3f)));
	} else if (code < 0x10000) {
		buf_char(out, (char)(0xe0 | code >> 12));
		buf_char(out, (char)(0x80 | (code >> 6 & 0x3f)));
		buf_char(out, (char)(0x80 | (code & 0x3f)));
	} else {
		buf_char(out, (char)(0xf0 | code >> 18));
		buf_char(out, (char)(0x80 | (code >> 12 & 0x3f)));
		buf_char(out, (char)(0x80 | (code >> 6 & 0x3f)));
		buf_char(out, (char)(0x80 | (code & 0x3f)));
	}
}

/* Four hexadecimal digits; false if they are none. */
static bool read_hex(const char *p, const char *end, uint32_t *code)
{
	*code = 0;
	if (end - p < 4) {
		return false;
	}
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		uint32_t digit = c >= '0' && c <= '9'	? (uint32_t)(c - '0')
				 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
				 : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
							: 16;

		if (digit == 16) {
			return false;
		}
		*code = *code << 4 | digit;
	}
	return true;
}

/* At what follows `\u`; returns what comes behind it. */
static const char *add_code(struct buf *out, const char *p, const char *end)
{
	uint32_t code, low;

	if (!read_hex(p, end, &code)) {
		return p;
	}
	p += 4;
	if (code >= 0xd800 && code < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
		read_hex(p + 2, end, &low) && low >= 0xdc00 && low < 0xe000) {
		code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
		p += 6;
	} else if (code >= 0xd800 && code < 0xe000) {
		code = 0xfffd;
	}
	add_utf8(out, code);
	return p;
}

static void unescape(struct buf *out, const char *p, const char *end)
{
	static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";

	out->nr_bytes = 0;
	while (p < end) {
		char c = *p++;
		const char *found;

		if (c != '\\' || p == end) {
			buf_char(out, c);
			continue;
		}
		c = *p++;
		if (c == 'u') {
			p = add_code(out, p, end);
			continue;
		}
		found = strchr(from, c);
		buf_char(out, found && *found ? to[found - from] : c);
	}
}

const char *kineto_json_text(struct kineto_json *json, int i, size_t *nr_bytes)
{
	const char *bytes = json->bytes + json->tokens[i].start;

	*nr_bytes = kineto_json_length(json, i);
	if (!*nr_bytes || !memchr(bytes, '\\', *nr_bytes)) {
		return bytes;
	}
	unescape(&json->text, bytes, bytes + *nr_bytes);
	*nr_bytes = json->text.nr_bytes;
	return json->text.bytes;
}

/* ---- numbers ---- */

/*
 * digits . digits e digits, times 10^shift, cut off. 18 digits are kept, which no time in
 * nanoseconds of this century exceeds by more than one that is dropped behind the point.
 */
static bool read_decimal(const char *p, const char *end, int shift, uint64_t *value)
{
	uint64_t sum = 0;
	bool is_fraction = false, has_digit = false;
	int exponent = 0;

	for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !is_fraction)); p++) {
		if (*p == '.') {
			is_fraction = true;
			continue;
		}
		has_digit = true;
		if (is_fraction && (shift <= 0 || sum > UINT64_MAX / 10 - 1)) {
			continue;
		}
		if (sum > UINT64_MAX / 10 - 1) {
			return false;
		}
		sum = sum * 10 + (uint64_t)(*p - '0');
		shift -= is_fraction;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		bool is_negative = p + 1 < end && p[1] == '-';

		for (p += 1 + (p + 1 < end && (p[1] == '-' || p[1] == '+')); p < end; p++) {
			if (*p < '0' || *p > '9' || exponent > 100) {
				return false;
			}
			exponent = exponent * 10 + (*p - '0');
		}
		shift += is_negative ? -exponent : exponent;
	}
	for (; shift > 0 && sum; shift--) {
		if (__builtin_mul_overflow(sum, 10, &sum)) {
			return false;
		}
	}
	for (; shift < 0 && sum; shift++) {
		sum /= 10;
	}
	*value = sum;
	return has_digit && p == end;
}

static bool is_scalar(const struct kineto_json *json, int i)
{
	return json->tokens[i].type == JSMN_PRIMITIVE || json->tokens[i].type == JSMN_STRING;
}

bool kineto_json_number(const struct kineto_json *json, int i, uint64_t *value)
{
	return is_scalar(json, i) && read_decimal(json->bytes + json->tokens[i].start,
					     json->bytes + json->tokens[i].end, 0, value);
}

bool kineto_json_signed(const struct kineto_json *json, int i, int64_t *value)
{
	const char *p = json->bytes + json->tokens[i].start;
	const char *end = json->bytes + json->tokens[i].end;
	bool is_negative = p < end && *p == '-';
	uint64_t size;

	if (!is_scalar(json, i) || !read_decimal(p + is_negative, end, 0, &size) ||
		size > INT64_MAX) {
		return false;
	}
	*value = is_negative ? -(int64_t)size : (int64_t)size;
	return true;
}

bool kineto_json_ns(const struct kineto_json *json, int i, uint64_t *ns)
{
	return is_scalar(json, i) && read_decimal(json->bytes + json->tokens[i].start,
					     json->bytes + json->tokens[i].end, 3, ns);
}
