/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view as a picture for papers: a bar for each step, made of its parts, or the timeline of a
 * step. SVG without scripts or fonts; the same input gives the same bytes.
 */
#ifndef REPORT_HTML_SVG_H
#define REPORT_HTML_SVG_H

#include "report/session/session.h"

/* Views that have a picture; html_svg_write takes the place of one. Ends with NULL. */
extern const char *const html_svg_views[];
#define HTML_SVG_TIMELINE 2u

/* The most bars of a picture; the number of all stands below the title. */
#define HTML_SVG_BARS 60u

/* Reads the input and writes the picture. Returns NULL, or why nothing was written. */
const char *html_svg_write(unsigned int view, const struct cmd_input *input, struct buf *out);

#endif
