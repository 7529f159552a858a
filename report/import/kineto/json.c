/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts a trace into members and events, of which jsmn then parses each by itself. An event's end is
 * found by counting brackets (scan_value), or faster by the indentation of its lines (guess_end):
 * if a guessed event does not parse, kineto_tokenizer_retry() repeats it with the counted end.
 * After an event that does not parse at all, reading resumes at the next `} , { "` (find_boundary).
 */
#define JSMN_STATIC
#define JSMN_PARENT_LINKS
#include <jsmn.h>

#include "report/import/kineto/json.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_TOKENS 256u
/* A value of the size limit has no more. */
#define MAX_TOKENS (1u << 21)

void kineto_json_fini(struct kineto_json *json)
{
	free(json->tokens);
	buf_fini(&json->text);
	buf_fini(&json->mended);
	*json = (struct kineto_json){0};
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

/* Reads four hexadecimal digits; false if they are none. */
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

/* Decodes what follows `\u`; returns the next position. */
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

/* ---- parsing ---- */

/* Keeps the tokens' memory from event to event; it grows to the largest. */
static int parse(struct kineto_json *json, const char *bytes, size_t nr_bytes)
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
		json->capacity < MAX_TOKENS) {
		json->capacity *= 2; /* jsmn resumes where it stopped */
		json->tokens = mem_resize(json->tokens, json->capacity, sizeof(*json->tokens));
	}
	json->nr_tokens = rc < 0 ? 0 : rc;
	return rc;
}

/* Is what follows a backslash no escape of JSON? */
static bool is_lone(const char *p, const char *end)
{
	uint32_t code;

	return p < end && (*p == 'u' ? !read_hex(p + 1, end, &code) : !strchr("\"\\/bfnrt", *p));
}

/*
 * Kineto on Windows wrote paths as they are: "torch\cuda\__init__.py". A backslash that begins no
 * escape stands for itself. Returns false if there is none.
 */
static bool mend_backslashes(struct buf *mended, const char *bytes, size_t nr_bytes)
{
	const char *p = bytes, *end = bytes + nr_bytes;
	bool has_lone = false;

	mended->nr_bytes = 0;
	while (p < end) {
		char c = *p++;

		buf_char(mended, c);
		if (c != '\\') {
			continue;
		}
		if (is_lone(p, end)) {
			has_lone = true;
			buf_char(mended, c);
		} else if (p < end) {
			buf_char(mended, *p++);
		}
	}
	return has_lone;
}

bool kineto_json_parse(struct kineto_json *json, const char *bytes, size_t nr_bytes)
{
	int rc = parse(json, bytes, nr_bytes);

	if (rc == JSMN_ERROR_INVAL && memchr(bytes, '\\', nr_bytes) &&
		mend_backslashes(&json->mended, bytes, nr_bytes)) {
		rc = parse(json, json->mended.bytes, json->mended.nr_bytes);
	}
	return rc > 0 && kineto_json_next(json, 0) == rc;
}

/* ---- numbers ---- */

/*
 * Reads digits . digits e digits, times 10^shift, cut off to an integer. It keeps 18 digits; a time
 * of this century in nanoseconds has at most one more, which lies behind the point.
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

/* Is the part of a ns, which is behind the third decimal, a half or more? */
static bool rounds_up(const char *p, const char *end)
{
	const char *point = memchr(p, '.', (size_t)(end - p));

	return point && end - point > 4 && point[4] >= '5' &&
	       !memchr(point, 'e', (size_t)(end - point)) &&
	       !memchr(point, 'E', (size_t)(end - point));
}

bool kineto_json_ns(const struct kineto_json *json, int i, uint64_t *ns)
{
	const char *p = json->bytes + json->tokens[i].start;
	const char *end = json->bytes + json->tokens[i].end;

	if (!is_scalar(json, i) || !read_decimal(p, end, 3, ns)) {
		return false;
	}
	*ns += *ns < UINT64_MAX && rounds_up(p, end);
	return true;
}

/* ---- the file as events ---- */

enum state {
	AT_BEGIN,
	IN_OBJECT,
	IN_EVENTS,
	AT_END,
};

/* The state of scan_value() within a value that continues in the next piece. */
struct scan {
	unsigned int depth;
	bool in_text, is_escaped;
};

void kineto_tokenizer_init(struct kineto_tokenizer *split, struct kineto_input *in)
{
	*split = (struct kineto_tokenizer){.in = in, .state = AT_BEGIN};
}

/*
 * Reads more bytes behind those from `keep` on, which may move. False, and unchanged, if there are
 * none or the kept ones are too many.
 */
static bool refill(struct kineto_tokenizer *split, char **keep)
{
	size_t nr_kept = (size_t)(split->end - *keep);
	size_t nr_bytes;
	char *bytes;

	if (split->is_input_ended || nr_kept > KINETO_INPUT_ROOM) {
		return false;
	}
	nr_bytes = kineto_input_next(split->in, &bytes);
	split->is_input_ended = !nr_bytes;
	if (!nr_bytes) {
		return false;
	}
	if (nr_kept) {
		memcpy(bytes - nr_kept, *keep, nr_kept);
	}
	*keep = bytes - nr_kept;
	split->end = bytes + nr_bytes;
	split->offset += nr_bytes;
	return true;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n';
}

/* Returns the next byte that is no blank, comma or byte order mark; 0 at the end. */
static char skip_blanks(struct kineto_tokenizer *split)
{
	for (;;) {
		split->part = split->at; /* guess_end looks back this far */
		while (split->at < split->end &&
			(is_space(*split->at) || *split->at == ',' ||
				(split->state == AT_BEGIN && (*split->at & 0x80)))) {
			split->at++;
		}
		if (split->at < split->end) {
			return *split->at;
		}
		if (!refill(split, &split->at)) {
			return 0;
		}
	}
}

/* ---- the end of a value ---- */

/*
 * Bit 0: has a meaning outside of texts; bit 1: within texts; bit 2: ends a number outside of
 * brackets.
 */
static const unsigned char meaning[256] = {['"'] = 3,
	['\\'] = 2,
	['{'] = 1,
	['}'] = 1,
	['['] = 1,
	[']'] = 1,
	[','] = 4,
	[' '] = 4,
	['\n'] = 4};

static const char *scan_text(struct scan *scan, const char *p, const char *end)
{
	while (p < end) {
		if (scan->is_escaped) {
			scan->is_escaped = false;
		} else if (*p == '\\') {
			scan->is_escaped = true;
		} else if (*p == '"') {
			scan->in_text = false;
			return p + 1;
		}
		p++;
		while (!scan->is_escaped && p < end && !(meaning[(unsigned char)*p] & 2)) {
			p++;
		}
	}
	return p;
}

/* Returns the end of the value that `scan` is in, NULL if it goes on beyond the bytes. */
static const char *scan_value(struct scan *scan, const char *p, const char *end)
{
	while (p < end) {
		if (scan->in_text) {
			p = scan_text(scan, p, end);
			if (!scan->in_text && !scan->depth) {
				return p;
			}
			continue;
		}
		while (p < end && !(meaning[(unsigned char)*p] & 1) &&
			(scan->depth || !(meaning[(unsigned char)*p] & 4))) {
			p++;
		}
		if (p == end) {
			break;
		}
		if (*p == '"') {
			scan->in_text = true;
		} else if (*p == '{' || *p == '[') {
			scan->depth++;
		} else if (!scan->depth) {
			return p; /* after a number */
		} else if (--scan->depth == 0) {
			return p + 1;
		}
		p++;
	}
	return NULL;
}

/*
 * An event on several lines ends with a line that holds its bracket alone, indented as its first
 * line. The guess may be wrong; then parsing fails. NULL: it cannot be found like this.
 */
static const char *guess_end(const struct kineto_tokenizer *split, const char *begin)
{
	const char *line = begin, *p = begin;
	size_t indent;

	while (line > split->part && line[-1] == ' ') {
		line--;
	}
	if (line == split->part || line[-1] != '\n' || begin + 1 == split->end ||
		begin[1] != '\n') {
		return NULL;
	}
	indent = (size_t)(begin - line);
	while ((p = memchr(p, '\n', (size_t)(split->end - p)))) {
		p++;
		if ((size_t)(split->end - p) <= indent) {
			return NULL;
		}
		if (p[indent] == '}' && !memcmp(p, line, indent)) {
			return p + indent + 1;
		}
	}
	return NULL;
}

/* ---- unusable input ---- */

/* Returns where the next event may begin: `} , {` and a text, in any context. */
static char *find_boundary(char *p, const char *end)
{
	while ((p = memchr(p, '}', (size_t)(end - p)))) {
		char *q = ++p;

		while (q < end && is_space(*q)) {
			q++;
		}
		if (q == end || *q != ',') {
			continue;
		}
		for (q++; q < end && is_space(*q); q++) {
		}
		if (q < end && *q == '{') {
			char *begin = q++;

			while (q < end && is_space(*q)) {
				q++;
			}
			if (q < end && *q == '"') {
				return begin;
			}
		}
	}
	return NULL;
}

/* Skips a bad event that begins at split->at. */
static void skip_event(struct kineto_tokenizer *split)
{
	char *boundary;

	split->nr_bad++;
	split->at++;
	while (!(boundary = find_boundary(split->at, split->end))) {
		size_t nr_bytes = (size_t)(split->end - split->at);

		/* A boundary may be split between pieces, so keep some bytes. */
		split->at = nr_bytes > 256 ? split->end - 256 : split->at;
		if (!refill(split, &split->at)) {
			split->at = split->end;
			return;
		}
	}
	split->at = boundary;
}

/* Skips a value that is too large to keep. */
static void skip_value(struct kineto_tokenizer *split, struct scan *scan)
{
	const char *end;

	split->nr_bad++;
	do {
		split->at = split->end;
		if (!refill(split, &split->at)) {
			return;
		}
		end = scan_value(scan, split->at, split->end);
	} while (!end);
	split->at += end - split->at;
}

/* ---- parts ---- */

static void note_cut(struct kineto_tokenizer *split)
{
	split->is_cut = true;
	split->cut_offset = split->offset;
	split->state = AT_END;
}

/*
 * Finds the end of the value at split->at, keeping the bytes from *begin (at or before it) on.
 * False: it has none, or is too large; `scan` shows how far it goes.
 */
static bool find_end(struct kineto_tokenizer *split, char **begin, struct scan *scan)
{
	char *from = split->at;

	*scan = (struct scan){0};
	for (;;) {
		const char *end = scan_value(scan, from, split->end);
		size_t nr_before = (size_t)(split->at - *begin);
		size_t nr_scanned = (size_t)(split->end - split->at);

		if (end) {
			split->next = split->at + (end - split->at);
			return true;
		}
		if (!refill(split, begin)) {
			return false;
		}
		split->at = *begin + nr_before;
		from = split->at + nr_scanned;
	}
}

/*
 * An event without an end is where the trace was cut if the input ends and nothing in the rest
 * looks like an event; else it is damaged or too large, and is skipped.
 */
static bool read_event(struct kineto_tokenizer *split, struct kineto_part *part)
{
	struct scan scan;
	const char *guess = guess_end(split, split->at);

	split->is_guess = guess != NULL;
	if (guess) {
		split->part = split->at;
		split->next = split->at + (guess - split->at);
	} else if (find_end(split, &split->at, &scan)) {
		split->part = split->at;
	} else {
		bool is_cut = split->is_input_ended && !find_boundary(split->at, split->end);

		if (is_cut) {
			note_cut(split);
		} else {
			skip_event(split);
		}
		split->part = split->at;
		return false;
	}
	part->kind = KINETO_EVENT;
	part->bytes = split->part;
	part->nr_bytes = (size_t)(split->next - split->part);
	split->at = split->next;
	return true;
}

bool kineto_tokenizer_retry(struct kineto_tokenizer *split, struct kineto_part *part)
{
	struct scan scan;
	size_t nr_guessed = part->nr_bytes;
	bool is_guess = split->is_guess, has_end = true;
	char *boundary;

	split->at = split->part;
	if (is_guess) {
		has_end = find_end(split, &split->at, &scan);
		split->is_guess = false;
		split->part = split->at;
		part->bytes = split->part;
		part->nr_bytes = has_end ? (size_t)(split->next - split->part) : 0;
	}
	if (!has_end) {
		skip_event(split);
		return false;
	}
	if (is_guess && part->nr_bytes != nr_guessed) {
		split->at = split->next;
		return true;
	}
	/* An unmatched quote inverts texts, so this end may be wrong, too. */
	split->nr_bad++;
	boundary = find_boundary(split->part + 1, split->next);
	split->at = boundary ? boundary : split->next;
	return false;
}

static bool is_events(const char *key, size_t nr_key)
{
	return nr_key == 13 && !memcmp(key, "\"traceEvents\"", 13);
}

/* Starts at the text of a key. False: there is no member to hand out. */
static bool read_member(struct kineto_tokenizer *split, struct kineto_part *part)
{
	struct scan scan;
	char *key = split->at;
	size_t nr_key, colon;

	if (*key != '"' || !find_end(split, &split->at, &scan)) {
		note_cut(split);
		return false;
	}
	key = split->at;
	nr_key = (size_t)(split->next - key);
	/* Keeps the key until the colon and the value are found. */
	for (colon = nr_key;; colon++) {
		if (key + colon == split->end && !refill(split, &key)) {
			note_cut(split);
			return false;
		}
		if (!is_space(key[colon]) && key[colon] != ':') {
			break;
		}
	}
	split->at = key + colon;
	if (is_events(key, nr_key) && *split->at == '[') {
		split->at++;
		split->state = IN_EVENTS;
		return false;
	}
	if (!find_end(split, &key, &scan)) {
		if (split->is_input_ended) {
			note_cut(split);
			return false;
		}
		nr_key = nr_key - 2 < sizeof(split->key) ? nr_key - 2 : sizeof(split->key);
		memcpy(split->key, key + 1, nr_key);
		*part = (struct kineto_part){
			.kind = KINETO_MEMBER, .key = split->key, .nr_key = nr_key};
		skip_value(split, &scan);
		return true;
	}
	*part = (struct kineto_part){.kind = KINETO_MEMBER,
		.key = key + 1,
		.nr_key = nr_key - 2,
		.bytes = split->at,
		.nr_bytes = (size_t)(split->next - split->at)};
	split->at = split->next;
	return true;
}

static void begin(struct kineto_tokenizer *split, char c)
{
	split->is_array = c == '[';
	split->state = split->is_array ? IN_EVENTS : IN_OBJECT;
	split->at++;
}

/* Skips an array element that is no object. */
static void skip_other(struct kineto_tokenizer *split)
{
	struct scan scan;

	if (find_end(split, &split->at, &scan)) {
		split->nr_bad++;
		split->at = split->next > split->at ? split->next : split->at + 1;
	} else if (split->is_input_ended && !find_boundary(split->at, split->end)) {
		note_cut(split);
	} else {
		skip_event(split);
	}
}

void kineto_tokenizer_next(struct kineto_tokenizer *split, struct kineto_part *part)
{
	part->kind = KINETO_END;
	while (split->state != AT_END) {
		char c = skip_blanks(split);

		if (!c) {
			if (!split->is_array || kineto_input_problem(split->in)) {
				note_cut(split);
			}
			split->state = AT_END;
		} else if (split->state == AT_BEGIN) {
			begin(split, c);
		} else if (c == ']' && split->state == IN_EVENTS) {
			split->state = split->is_array ? AT_END : IN_OBJECT;
			split->at++;
		} else if (split->state == IN_OBJECT && c == '}') {
			split->state = AT_END;
		} else if (split->state == IN_OBJECT) {
			if (read_member(split, part)) {
				return;
			}
		} else if (c != '{') {
			skip_other(split);
		} else if (read_event(split, part)) {
			return;
		}
	}
}
