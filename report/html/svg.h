/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view as a picture for papers: a bar for each step, made of its parts, or the timeline of a
 * step (html_svg_timeline.h). SVG without script or fonts, the same for the same input; what is
 * text in it is escaped.
 */
#ifndef REPORT_HTML_SVG_H
#define REPORT_HTML_SVG_H

#include "report/session/session.h"

/* Views that have a picture, in the order of html_svg_write's numbers; ends with NULL. */
extern const char *const html_svg_views[];
#define HTML_SVG_TIMELINE 2u

/* Draws at most that many bars; how many there are stands below them. */
#define HTML_SVG_BARS 60u

/* Reads the input. NULL; or nothing is written, and why stands in what it returns. */
const char *html_svg_write(unsigned int view, const struct cmd_input *input, struct buf *out);

/* ---- for pictures ---- */

struct html_svg_unit {
	const char *name;
	double factor; /* ns in it */
};

/* The unit in which numbers up to `most` ns are best read. */
const struct html_svg_unit *html_svg_unit(double most);

/* The first of 1, 2, 5, 10, 20 ... of which at most six make `most`. */
double html_svg_tick(double most);

/* Text that may be anything. */
void html_svg_text(struct buf *out, const char *bytes, size_t nr_bytes);

/* What stands first, up to the line below the title, which is open: the caller ends it. */
void html_svg_head(struct buf *out, int width, int height, const char *title, const char *command);

#endif
