/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One page that holds everything `summary` knows and opens from disk alone: page/page.html with
 * its style, script and charts, and the tables as JSON. Names from a stream are data in it, never
 * markup: every `<` of the JSON is written \u003c, and the page's policy runs no other script than
 * its own. Bounded by the rows that are shown.
 */
#ifndef REPORT_HTML_HTML_H
#define REPORT_HTML_HTML_H

#include "report/session/session.h"

struct diff;
struct reduced;

struct html_ask {
	const struct diff *diff;       /* the page of two inputs; NULL: of one */
	const struct cmd_input *other; /* of diff: B */
	struct reduced *reduced;       /* the page of a summary of `reduce`; NULL: of streams */
	size_t timeline_bytes; /* what the timeline may take of the page, 0: there is none */
	size_t top; /* rows of a table; 0: all. Tables over time have up to HTML_MOST_TIME more */
};

/* Rows that make a curve are of no use in part. */
#define HTML_MOST_TIME 2000u

/* Of how many rows of a table of that key the page has. */
size_t html_rows(const struct html_ask *ask, const char *key);

/* input: A of the page of two; of a summary it has no processes. */
void html_write(const struct html_ask *ask, const struct cmd_input *input, struct buf *out);

#endif
