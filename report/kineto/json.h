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

#include "report/kineto/input.h"

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

/* ---- the file as events ---- */

/*
 * Cuts a JSON trace into what is parsed at once: the members of the outer object and the events of
 * `traceEvents` (or of the bare array that Chrome also takes). So memory is bounded by the largest
 * of them, and a bad one is left out alone: then the next place where an event may begin is taken.
 */

enum kineto_kind {
	KINETO_END,
	KINETO_MEMBER, /* of the outer object */
	KINETO_EVENT,
};

struct kineto_part {
	enum kineto_kind kind;
	const char *key; /* of a member, as it stands there */
	size_t nr_key;
	const char *bytes; /* good until the next part is taken */
	size_t nr_bytes;
};

struct kineto_tokenizer {
	struct kineto_input *in;
	char *at, *end;	   /* what is left of the piece at hand */
	char *part, *next; /* of the last part: where it begins, and what comes after it */
	uint64_t offset;   /* in the text, of `end` */
	uint8_t state;
	bool is_array; /* the outer thing */
	bool is_guess; /* the end of the last event was found by its indentation */
	bool is_input_ended;
	uint64_t nr_bad;     /* parts that were left out */
	uint64_t nr_large;   /* of those: larger than KINETO_INPUT_ROOM */
	uint64_t cut_offset; /* where a text ends too early; 0: it does not */
	bool is_cut;
};

void kineto_tokenizer_init(struct kineto_tokenizer *split, struct kineto_input *in);

/* The next part; KINETO_END at the end, also where the text ends too early (is_cut). */
void kineto_tokenizer_next(struct kineto_tokenizer *split, struct kineto_part *part);

/*
 * The last event is not one. Returns true if it ends elsewhere, and then the part is what to try
 * instead. Else it is counted, and kineto_tokenizer_next goes on behind it.
 */
bool kineto_tokenizer_retry(struct kineto_tokenizer *split, struct kineto_part *part);

#endif
