/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes texts of the target safely to terminals, CSV, JSON and Markdown. Printers and messages go
 * through it. Each format has its own danger: escape sequences, formulas, quotes, marks. All share
 * text_next(), which decodes one character and finds broken bytes, so that no format decides by
 * itself what UTF-8 is.
 */
#include "report/util/text.h"

#include <ctype.h>
#include <stdio.h>

#include <string.h>

/* A text of no bytes, such as that of an empty buf, may be NULL. */
static const char *end_of(const char *bytes, size_t nr_bytes)
{
	return nr_bytes ? bytes + nr_bytes : bytes;
}

static bool is_tail(const char *at, const char *end)
{
	return at < end && ((unsigned char)*at & 0xc0) == 0x80;
}

/*
 * Refuses overlong forms, surrogates and code points beyond Unicode: a filter might not know
 * them.
 */
int32_t text_next(const char **at, const char *end)
{
	const unsigned char first = (unsigned char)**at;
	unsigned int tails = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
	static const int32_t least[4] = {0, 0x80, 0x800, 0x10000};
	int32_t code = first & (0x3f >> tails);

	*at += 1;
	if (first < 0x80) {
		return first;
	}
	if (first < 0xc2 || first > 0xf4) {
		return -1;
	}
	for (unsigned int i = 0; i < tails; i++) {
		if (!is_tail(*at + i, end)) {
			return -1;
		}
		code = (code << 6) | ((*at)[i] & 0x3f);
	}
	if (code < least[tails] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
		return -1;
	}
	*at += tails;
	return code;
}

bool text_is_utf8(const char *bytes, size_t nr_bytes)
{
	const char *end = end_of(bytes, nr_bytes);

	for (const char *at = bytes; at < end;) {
		if (text_next(&at, end) < 0) {
			return false;
		}
	}
	return true;
}

/*
 * True for characters that must not reach a terminal: control characters, and marks that reorder
 * text.
 */
static bool text_is_hostile(int32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x061c || c == 0xfeff ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f);
}

unsigned int text_width(int32_t c)
{
	if ((c >= 0x0300 && c <= 0x036f) || (c >= 0x1ab0 && c <= 0x1aff) ||
		(c >= 0x20d0 && c <= 0x20ff) || (c >= 0xfe00 && c <= 0xfe0f)) {
		return 0;
	}
	if ((c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf && c != 0x303f) ||
		(c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
		(c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
		(c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1f64f) ||
		(c >= 0x1f680 && c <= 0x1f6ff) || (c >= 0x1f900 && c <= 0x1f9ff) ||
		(c >= 0x1fa70 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd)) {
		return 2;
	}
	return 1;
}

/* The columns that the escaped character takes. */
static size_t shown_width(int32_t code)
{
	if (code < 0 || (text_is_hostile(code) && code < 0x100)) {
		return 4; /* \xNN */
	}
	if (text_is_hostile(code)) {
		return 8; /* \u{NNNN} */
	}
	return text_width(code);
}

static void add_character(struct buf *out, const char *at, size_t nr_bytes, int32_t code)
{
	if (code < 0) {
		buf_printf(out, "\\x%02x", (unsigned char)*at);
	} else if (!text_is_hostile(code)) {
		buf_add(out, at, nr_bytes);
	} else if (code < 0x100) {
		buf_printf(out, "\\x%02x", (unsigned int)code);
	} else {
		buf_printf(out, "\\u{%04x}", (unsigned int)code);
	}
}

/*
 * `cut` is the last position from which "..." still fits. It counts only if the whole does not
 * fit.
 */
size_t text_add_shown(struct buf *out, const char *bytes, size_t nr_bytes, size_t max_width)
{
	const char *end = end_of(bytes, nr_bytes);
	const char *cut = NULL;
	size_t width = 0, cut_width = 0;

	/* The first pass finds whether the text fits, and where to cut it if not. */
	for (const char *at = bytes; max_width && at < end;) {
		const char *start = at;
		size_t wide = shown_width(text_next(&at, end));

		if (!cut && width + wide + 3 > max_width) {
			cut = start;
			cut_width = width;
		}
		width += wide;
		if (width > max_width) {
			end = cut;
			break;
		}
		if (at == end) {
			cut = NULL;
		}
	}
	width = 0;
	for (const char *at = bytes; at < end;) {
		const char *start = at;
		int32_t code = text_next(&at, end);

		add_character(out, start, (size_t)(at - start), code);
		width += shown_width(code);
	}
	if (cut) {
		buf_text(out, "...");
		width = cut_width + 3;
	}
	return width;
}

size_t text_shown_width(const char *bytes, size_t nr_bytes)
{
	const char *end = end_of(bytes, nr_bytes);
	size_t width = 0;

	for (const char *at = bytes; at < end;) {
		width += shown_width(text_next(&at, end));
	}
	return width;
}

/* Is the word a unit, perhaps with a prefix, and punctuation after it? */
static bool is_unit(const char *word, size_t nr_bytes)
{
	static const char *const units[] = {"%", "s", "x", "B", "B/s", "FLOP/s"};

	while (nr_bytes && strchr(".,;:)", word[nr_bytes - 1])) {
		nr_bytes--;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t nr_unit = strlen(units[i]);
		bool has_prefix = nr_bytes == nr_unit + 1 && strchr("numKMGTP", *word);

		if ((nr_bytes == nr_unit || has_prefix) &&
			!memcmp(word + nr_bytes - nr_unit, units[i], nr_unit)) {
			return true;
		}
	}
	return false;
}

/* The bytes up to a blank where a line may end: a number and its unit stay together. */
static size_t unbroken(const char *text)
{
	size_t nr_bytes = strcspn(text, " ");
	const char *next = text + nr_bytes + strspn(text + nr_bytes, " ");
	size_t nr_next = strcspn(next, " ");

	if (nr_bytes && nr_next && isdigit((unsigned char)text[nr_bytes - 1]) &&
		is_unit(next, nr_next)) {
		return (size_t)(next - text) + nr_next;
	}
	return nr_bytes;
}

void text_wrap(struct buf *out, const char *text, const char *indent, size_t width)
{
	size_t used = 0; /* columns of the line */

	while (*(text += strspn(text, " "))) {
		size_t nr_bytes = unbroken(text);
		size_t needed = text_shown_width(text, nr_bytes);

		if (used && used + 1 + needed > width) {
			buf_char(out, '\n');
			used = 0;
		}
		buf_text(out, used ? " " : indent);
		buf_add(out, text, nr_bytes);
		used += (used ? 1 : strlen(indent)) + needed;
		text += nr_bytes;
	}
	buf_text(out, used ? "\n" : "");
}

void text_add_choices(struct buf *out, const char *words)
{
	for (; *words; words++) {
		buf_text(out, *words == '|' ? " " : "");
		buf_char(out, *words);
		buf_text(out, *words == '|' ? " " : "");
	}
}

/*
 * The head gets the odd column. The tail starts where the rest is narrow enough, which is found by
 * taking characters away from its front.
 */
size_t text_add_cut(struct buf *out, const char *bytes, size_t nr_bytes, size_t max_width)
{
	size_t width = text_shown_width(bytes, nr_bytes), used = 0;
	size_t head_width, tail_width;
	const char *end = end_of(bytes, nr_bytes), *at = bytes, *tail;

	if (!max_width || width <= max_width || max_width < 8) {
		return text_add_shown(out, bytes, nr_bytes, max_width);
	}
	head_width = (max_width - 3 + 1) / 2;
	tail_width = (max_width - 3) / 2;
	for (;;) {
		const char *next = at;
		size_t wide = shown_width(text_next(&next, end));

		if (used + wide > head_width) {
			break;
		}
		used += wide;
		at = next;
	}
	width -= used;
	/* A combining mark after the cut would change the dots. */
	for (tail = at; tail < end && width > tail_width;) {
		width -= shown_width(text_next(&tail, end));
	}
	while (tail < end) {
		const char *next = tail;

		if (shown_width(text_next(&next, end))) {
			break;
		}
		tail = next;
	}
	text_add_shown(out, bytes, (size_t)(at - bytes), 0);
	buf_text(out, "...");
	text_add_shown(out, tail, (size_t)(end - tail), 0);
	return used + 3 + width;
}

void text_add_shell_word(struct buf *out, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_@%+=:,./-";

	if (*text != '\0' && text[strspn(text, plain)] == '\0') {
		buf_text(out, text);
		return;
	}
	buf_text(out, "'");
	for (; *text != '\0'; text++) {
		if (*text == '\'') {
			buf_text(out, "'\\''");
		} else {
			buf_char(out, *text);
		}
	}
	buf_text(out, "'");
}

/*
 * Adds the bytes up to the first that is not plain, or is the escape; most often all of them.
 * Returns where it is.
 */
static const char *add_plain(struct buf *out, const char *at, const char *end, char escape)
{
	const char *first = at;

	while (at < end && *at >= ' ' && *at < 0x7f && *at != '"' && *at != escape) {
		at++;
	}
	buf_add(out, first, (size_t)(at - first));
	return at;
}

void text_add_json(struct buf *out, const char *bytes, size_t nr_bytes)
{
	const char *end = end_of(bytes, nr_bytes), *at;

	buf_char(out, '"');
	while ((at = bytes = add_plain(out, bytes, end, '\\')) < end) {
		int32_t code = text_next(&bytes, end);

		if (code < 0) {
			buf_text(out, "\xef\xbf\xbd");
		} else if (code == '"' || code == '\\') {
			buf_char(out, '\\');
			buf_char(out, (char)code);
		} else if (text_is_hostile(code)) {
			buf_printf(out, "\\u%04x", (unsigned int)code);
		} else {
			buf_add(out, at, (size_t)(bytes - at));
		}
	}
	buf_char(out, '"');
}

/* Includes the wide forms, which some spreadsheets treat alike. */
static bool begins_formula(int32_t code)
{
	return code == '=' || code == '+' || code == '-' || code == '@' || code == '\t' ||
	       code == '\r' || code == '\n' || code == 0xff1d || code == 0xff0b || code == 0xff0d ||
	       code == 0xff20;
}

/*
 * Spreadsheets run a cell that begins like a formula, also in quotes: an apostrophe makes it
 * text.
 */
void text_add_csv(struct buf *out, const char *bytes, size_t nr_bytes)
{
	const char *end = end_of(bytes, nr_bytes), *first = bytes, *at;

	buf_char(out, '"');
	if (nr_bytes && begins_formula(text_next(&first, end))) {
		buf_char(out, '\'');
	}
	while ((at = bytes = add_plain(out, bytes, end, '"')) < end) {
		int32_t code = text_next(&bytes, end);

		if (code == '"') {
			buf_char(out, '"');
		}
		add_character(out, at, (size_t)(bytes - at), code);
	}
	buf_char(out, '"');
}

void text_add_csv_remark(struct buf *out, const char *bytes, size_t nr_bytes)
{
	const char *end = end_of(bytes, nr_bytes);
	bool is_begin = false; /* at the start of what a spreadsheet may take for a cell */

	for (const char *at = bytes; at < end;) {
		const char *start = at;
		int32_t code = text_next(&at, end);

		if (is_begin && begins_formula(code)) {
			buf_char(out, '\'');
		}
		is_begin = code == ',' || code == ';' || (is_begin && (code == ' ' || code == '"'));
		add_character(out, start, (size_t)(at - start), code);
	}
}

/* Would `&` begin an entity here? */
static bool is_entity(const char *at, const char *end)
{
	return at < end && (*at == '#' || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z'));
}

void text_add_markdown(struct buf *out, const char *bytes, size_t nr_bytes)
{
	const char *end = end_of(bytes, nr_bytes);

	for (const char *at = bytes; at < end;) {
		const char *start = at;
		int32_t code = text_next(&at, end);

		if (code == '<' || (code == '&' && is_entity(at, end))) {
			buf_text(out, code == '<' ? "&lt;" : "&amp;");
			continue;
		}
		if (code > 0 && code < 0x80 && strchr("|*_`[]\\~$", (int)code)) {
			buf_char(out, '\\');
		}
		add_character(out, start, (size_t)(at - start), code);
	}
}

const char *text_time(char text[TEXT_TIME_BYTES], double ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;
	int decimals;
	double value;

	while (i < 3 && ns < units[i].ns) {
		i++;
	}
	value = ns / units[i].ns;
	decimals = i == 3 || value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
	snprintf(text, TEXT_TIME_BYTES, "%.*f %s", decimals, value, units[i].name);
	return text;
}

bool text_has_any(const char *text, const char *const *words)
{
	for (; *words; words++) {
		if (strcasestr(text, *words)) {
			return true;
		}
	}
	return false;
}

bool text_begins_with_any(const char *text, const char *const *words)
{
	for (; *words; words++) {
		if (strncmp(text, *words, strlen(*words)) == 0) {
			return true;
		}
	}
	return false;
}
