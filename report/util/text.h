/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes bytes for display. Texts come from the target and may contain anything: broken UTF-8,
 * terminal escapes, spreadsheet formulas.
 */
#ifndef REPORT_UTIL_TEXT_H
#define REPORT_UTIL_TEXT_H

#include <string.h>

#include "report/util/buf.h"

/*
 * Decodes one character from [*at, end), *at < end. Returns its code point and moves *at behind it.
 * For a byte that is not well-formed UTF-8 it returns -1 and moves by one.
 */
int32_t text_next(const char **at, const char *end);

/* Are the bytes, which need no NUL behind them, this text? */
static inline bool text_is(const char *bytes, size_t nr_bytes, const char *text)
{
	return strlen(text) == nr_bytes && memcmp(bytes, text, nr_bytes) == 0;
}

/* Is all of it well-formed UTF-8? */
bool text_is_utf8(const char *bytes, size_t nr_bytes);

/* The terminal columns that the character takes: 0, 1 or 2. */
unsigned int text_width(int32_t code_point);

/*
 * Appends the text with hostile characters and broken bytes as \xNN or \u{N}; backslashes stay as
 * they are. At most max_width columns (0: no limit); a cut text ends in "...". Returns the columns
 * used.
 */
size_t text_add_shown(struct buf *out, const char *bytes, size_t nr_bytes, size_t max_width);

/* The columns that text_add_shown would use for all of it. */
size_t text_shown_width(const char *bytes, size_t nr_bytes);

/*
 * Appends printable text as lines of at most `width` columns, each indented. Lines end at blanks,
 * but never between a number and its unit.
 */
void text_wrap(struct buf *out, const char *text, const char *indent, size_t width);

/* Adds words that | separates, with blanks around it for a line to break at. */
void text_add_choices(struct buf *out, const char *words);

/*
 * Works like text_add_shown, but cuts in the middle, because both ends of template names matter. If
 * max_width is below 8, it cuts the end.
 */
size_t text_add_cut(struct buf *out, const char *bytes, size_t nr_bytes, size_t max_width);

/* The word for one of them, or for several. */
static inline const char *text_many(uint64_t nr, const char *one, const char *many)
{
	return nr == 1 ? one : many;
}

/* Appends the text as one word of a POSIX shell's command line, in quotes if it needs them. */
void text_add_shell_word(struct buf *out, const char *text);

/* Appends a JSON string with its quotes. Broken bytes become U+FFFD. */
void text_add_json(struct buf *out, const char *bytes, size_t nr_bytes);

/*
 * Appends a CSV field in quotes. If a spreadsheet would take the text for a formula, an apostrophe
 * comes first, as OWASP recommends. Such texts begin with = + - @ (wide ones, too), a tab, a return
 * or a newline. Hostile characters are escaped as in text_add_shown. Numbers do not use this
 * function.
 */
void text_add_csv(struct buf *out, const char *bytes, size_t nr_bytes);

/* Appends to an unquoted line, with no formula after any comma or semicolon. */
void text_add_csv_remark(struct buf *out, const char *bytes, size_t nr_bytes);

/* Appends a cell or a line of Markdown: like text_add_shown, with the marks of Markdown escaped. */
void text_add_markdown(struct buf *out, const char *bytes, size_t nr_bytes);

/* A time for a sentence, with four digits in the unit that suits it: "345.8 ms", "12 ns". */
#define TEXT_TIME_BYTES 32u
const char *text_time(char text[TEXT_TIME_BYTES], double ns);

/*
 * Does the text contain one of the words (ignoring case), or begin with one (case-sensitive)? The
 * words end with NULL.
 */
bool text_has_any(const char *text, const char *const *words);
bool text_begins_with_any(const char *text, const char *const *words);

#endif
