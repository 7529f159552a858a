/* SPDX-License-Identifier: Apache-2.0 */
/* A figure of labelled lines, of which each item stays whole, and shares that sum to 100 %. */
#ifndef REPORT_TABLE_FIGURE_LINES_H
#define REPORT_TABLE_FIGURE_LINES_H

#include "report/table/table.h"
#include "report/util/buf.h"

struct figure_lines {
	struct buf text;
	size_t width; /* SIZE_MAX: no limit */
	size_t nr, column;
};

void figure_lines_begin(struct figure_lines *lines, const char *label);
void figure_lines_end(struct figure_lines *lines);

/* Items are printable. */
void figure_lines_add(struct figure_lines *lines, const char *item);

/* The lines for the page, which wraps them itself. The caller frees them. */
char *figure_lines_json(const char *text);

/* One kind of time. */
struct figure_share {
	const char *text;	  /* behind the percentage */
	unsigned int first, last; /* of the times: the sum of these */
};

#define FIGURE_MAX_SHARES 18u

/* Lines of their own for a printable text, which text_wrap breaks: behind a label, below it. */
void figure_lines_add_sentence(struct figure_lines *lines, const char *label, const char *sentence);

/* Tenths of a percent that add up to 1,000: what is left goes to the largest remainders. */
void figure_shares_tenths(const struct figure_share *shares, size_t nr, const uint64_t *ns,
	uint64_t all_ns, unsigned int *tenths);

/* Adds nothing for 0. */
void figure_lines_add_share(struct figure_lines *lines, unsigned int tenths, const char *text);

/* A line of them. */
void figure_lines_add_shares(struct figure_lines *lines, const char *label,
	const struct figure_share *shares, size_t nr, const uint64_t *ns, uint64_t all_ns);

/* Fills two cells for each share: its time in one of nr_steps, and its percentage. */
void figure_shares_fill(const struct figure_share *shares, size_t nr, const uint64_t *ns,
	uint64_t all_ns, double nr_steps, struct table_cell *cells);

#endif
