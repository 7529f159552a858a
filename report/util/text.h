/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes from a stream made fit to be shown. They come from the profiled program and may hold
 * anything: broken UTF-8, terminal escapes, spreadsheet formulas.
 */
#ifndef REPORT_UTIL_TEXT_H
#define REPORT_UTIL_TEXT_H

#include "report/util/buf.h"

/*
 * One character from [*at, end): returns its code point and moves *at behind it. A byte that is not
 * part of well-formed UTF-8 gives -1 and moves by one. *at < end.
 */
int32_t text_next(const char **at, const char *end);

/* Is all of it well-formed UTF-8? */
bool text_is_utf8(const char *bytes, size_t nr_bytes);

/* True for characters that a terminal must not get: controls, and marks that reorder text. */
bool text_is_hostile(int32_t code_point);

/* Columns that the character takes on a terminal: 0, 1 or 2. */
unsigned int text_width(int32_t code_point);

/*
 * Appends the text with hostile characters and broken bytes as \xNN or \u{N}, backslashes as they
 * are. At most max_width columns (0: no limit); what is cut ends in "...". Returns the columns
 * used.
 */
size_t text_add_shown(struct buf *out, const char *bytes, size_t nr_bytes, size_t max_width);

/* The columns that text_add_shown would use for all of it. */
size_t text_shown_width(const char *bytes, size_t nr_bytes);

/*
 * As text_add_shown, but what does not fit is cut in the middle: names of templates tell by both
 * ends. A max_width below 8 cuts the end.
 */
size_t text_add_cut(struct buf *out, const char *bytes, size_t nr_bytes, size_t max_width);

/* Appends a JSON string with its quotes; broken bytes become U+FFFD. */
void text_add_json(struct buf *out, const char *bytes, size_t nr_bytes);

/*
 * Appends a CSV field in quotes. A text that a spreadsheet would take for a formula (it begins with
 * = + - @, also wide ones, a tab, a return or a newline) gets an apostrophe in front, as OWASP
 * recommends; hostile characters are shown as above. Numbers do not come here.
 */
void text_add_csv(struct buf *out, const char *bytes, size_t nr_bytes);

/* Appends to a line without quotes: no formula begins behind a comma or semicolon of it. */
void text_add_csv_remark(struct buf *out, const char *bytes, size_t nr_bytes);

/* Appends a cell of a Markdown table, or a line: as text_add_shown, with its marks made harmless.
 */
void text_add_markdown(struct buf *out, const char *bytes, size_t nr_bytes);

/*
 * Is one of the words, which end with NULL, in the text (letters of both cases are the same), or
 * at its beginning (to the letter)?
 */
bool text_has_any(const char *text, const char *const *words);
bool text_begins_with_any(const char *text, const char *const *words);

#endif
