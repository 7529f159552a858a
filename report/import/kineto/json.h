/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parsed JSON value (jsmn), access to its tokens, and a splitter that cuts a trace into values.
 *
 * Tokens are in text order; a key precedes its value. jsmn's leniency is intended: NaN is a token
 * like any number, but has no value.
 */
#ifndef REPORT_IMPORT_KINETO_JSON_H
#define REPORT_IMPORT_KINETO_JSON_H

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
	struct buf text;   /* for kineto_json_text */
	struct buf mended; /* what was parsed, where backslashes were not escaped */
};

/* Zero-initialized. */
void kineto_json_fini(struct kineto_json *json);

/*
 * Parses nr_bytes at `bytes`, which the caller keeps, or a copy in which lone backslashes are
 * escaped. False: not exactly one value.
 */
bool kineto_json_parse(struct kineto_json *json, const char *bytes, size_t nr_bytes);

/* The token after a value and all that it contains. */
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
 * Returns the unescaped text: in json->bytes itself, or in json->text until the next call. Unpaired
 * surrogates become U+FFFD.
 */
const char *kineto_json_text(struct kineto_json *json, int i, size_t *nr_bytes);

/* An integer, also in quotes; a fraction is cut off. False: none, negative, or too large. */
bool kineto_json_number(const struct kineto_json *json, int i, uint64_t *value);

/* Does the same for numbers that may be negative. */
bool kineto_json_signed(const struct kineto_json *json, int i, int64_t *value);

/*
 * Converts microseconds to the nearest nanosecond by their decimal digits, without the rounding of
 * a double.
 */
bool kineto_json_ns(const struct kineto_json *json, int i, uint64_t *ns);

/* ---- the file as events ---- */

/*
 * Splits a JSON trace into parts that are parsed at once: the members of the outer object and the
 * events of `traceEvents` (or of the bare array that Chrome also reads).
 *
 * So memory is bounded by the largest part, and a bad part loses only itself: reading resumes where
 * the next event may begin.
 */

enum kineto_kind {
	KINETO_END,
	KINETO_MEMBER, /* of the outer object */
	KINETO_EVENT,
};

struct kineto_part {
	enum kineto_kind kind;
	const char *key; /* of a member, as in the text */
	size_t nr_key;
	const char *bytes; /* valid until the next part */
	size_t nr_bytes;
};

struct kineto_tokenizer {
	struct kineto_input *in;
	char *at, *end;	   /* the rest of the current piece */
	char *part, *next; /* begin of the last part, and what follows it */
	uint64_t offset;   /* in the text, of `end` */
	uint8_t state;
	bool is_array; /* of the outer value */
	bool is_guess; /* the end of the last event was guessed by its indentation */
	bool is_input_ended;
	uint64_t nr_bad;     /* parts that were left out */
	uint64_t cut_offset; /* where the text ends too early; 0: it does not */
	bool is_cut;
	char key[64]; /* of a member that is too large, or its begin */
};

void kineto_tokenizer_init(struct kineto_tokenizer *split, struct kineto_input *in);

/*
 * Gets the next part; KINETO_END at the end, also if the text ends too early (is_cut). A member
 * that is too large has no bytes.
 */
void kineto_tokenizer_next(struct kineto_tokenizer *split, struct kineto_part *part);

/*
 * The last event did not parse. Returns true if it may end elsewhere, with the part to try instead.
 * Else counts it; kineto_tokenizer_next then continues after it.
 */
bool kineto_tokenizer_retry(struct kineto_tokenizer *split, struct kineto_part *part);

/*
 * Reads a JSON trace in pieces, plain or gzipped (detected by content). A thread of its own
 * decompresses while the caller parses.
 *
 * Control bytes become blanks: Kineto writes names unescaped, and outside of texts JSON allows both
 * alike.
 *
 * Memory: NR_PIECES pieces, whatever the size of the file, and the used part of the room before
 * them.
 */

/* Room before each piece for the reader, which puts the rest of the previous piece there. */
#define KINETO_INPUT_ROOM (8u << 20)

struct kineto_input;

/* Do these first bytes look like a trace: JSON or gzip? */
bool kineto_input_is_trace(const unsigned char *bytes, size_t nr_bytes);

/* The caller keeps fd, which is read by pread. Never fails. */
struct kineto_input *kineto_input_create(int fd);
void kineto_input_destroy(struct kineto_input *in);

/*
 * The next piece, valid until the second next call. The reader may write to KINETO_INPUT_ROOM bytes
 * before it. Returns 0 at the end.
 */
size_t kineto_input_next(struct kineto_input *in, char **bytes);

/*
 * Why the input ended early: a static text (such as "the gzip data are truncated"), or NULL. It
 * reads on to the end, so kineto_input_next has nothing afterwards.
 */
const char *kineto_input_problem(struct kineto_input *in);

#endif
