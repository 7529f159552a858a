/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One page with everything that `summary` knows. It opens from disk alone: page/page.html with its
 * style, script and charts, and the tables as JSON. Names from a stream are data, never markup:
 * every `<` of the JSON is written as \u003c, and the page's policy runs its own script alone.
 * Memory is bounded by the rows that are shown.
 */
#ifndef REPORT_HTML_HTML_H
#define REPORT_HTML_HTML_H

#include "report/session/session.h"

struct diff;
struct reduced;

struct html_options {
	const struct diff *diff;       /* the page of two inputs; NULL: of one */
	const struct cmd_input *other; /* of diff: B */
	char *const *paths;	       /* as the user names them; of diff: those of A and B */
	int nr_paths;
	struct table *history; /* of the runs of the command, which html_write destroys; or NULL */
	struct reduced *reduced; /* the page of a summary of `reduce`; NULL: of streams */
	size_t timeline_bytes;	 /* the most that the timeline may take; 0: no timeline */
	size_t top; /* rows of a table; 0: all. Tables over time have up to HTML_MAX_TIME more */
	/* The nonce of a page that a server gives out, HTML_NONCE_CHARS long. NULL: of a file. */
	const char *served_nonce;
};

#define HTML_NONCE_CHARS 32u

/*
 * The page's policy. A served page may also connect to its server, which sends the policy as a
 * header.
 */
void html_add_policy(struct buf *out, const char *nonce, bool is_served);

/* Rows of a table, unless the user says how many. */
#define HTML_USUAL_TOP 200u

/* A part of the rows of a curve is of no use. */
#define HTML_MAX_TIME 2000u

/* input: A where two are compared; without processes for a summary of `reduce`. */
void html_write(const struct html_options *options, const struct cmd_input *input, struct buf *out);

#endif
