/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One JSON value, taken apart by jsmn into tokens, and what tokens say. Tokens stand in the order
 * of the text; a key is followed by its value. jsmn is used as it is lenient: NaN is a token like
 * any number, only that it has no value.
 */
#ifndef REPORT_KINETO_JSON_H
#define REPORT_KINETO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JSMN_HEADER
#define JSMN_PARENT_LINKS
#include <jsmn.h>

#include "report/util/buf.h"

struct kineto_json {
	const char *bytes;
	jsmntok_t *tokens;
	int nr_tokens;
	unsigned int capacity;
	struct buf text; /* for kineto_json_text */
};

/* Zeroed is empty. */
void kineto_json_fini(struct kineto_json *json);

/* Takes nr_bytes at `bytes` apart, which must stay. False: not exactly one value. */
bool kineto_json_parse(struct kineto_json *json, const char *bytes, size_t nr_bytes);

/* The token behind a value and all that is in it. */
static inline int kineto_json_next(const struct kineto_json *json, int i)
{
	int end = json->tokens[i].end;

	for (i++; i < json->nr_tokens && json->tokens[i].start < end; i++) {
	}
	return i;
}

static inline size_t kineto_json_length(const struct kineto_json *json, int i)
{
	return (size_t)(json->tokens[i].end - json->tokens[i].start);
}

static inline bool kineto_json_is(const struct kineto_json *json, int i, const char *text, size_t n)
{
	return kineto_json_length(json, i) == n &&
	       !memcmp(json->bytes + json->tokens[i].start, text, n);
}

/*
 * A text without its escapes: where it stands, or in json->text until the next call. Half
 * surrogates become U+FFFD.
 */
const char *kineto_json_text(struct kineto_json *json, int i, size_t *nr_bytes);

/* A whole number, also one in quotes; a fraction is cut off. False: none, negative, or too large.
 */
bool kineto_json_number(const struct kineto_json *json, int i, uint64_t *value);

/* The same for what may be below 0. */
bool kineto_json_signed(const struct kineto_json *json, int i, int64_t *value);

/* Microseconds to nanoseconds by their digits, never by way of a double. */
bool kineto_json_ns(const struct kineto_json *json, int i, uint64_t *ns);

#endif
