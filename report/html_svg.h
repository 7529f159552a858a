/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view as a picture for papers: a bar for each step, made of its parts. SVG without script or
 * fonts, the same for the same input; what is text in it is escaped.
 */
#ifndef REPORT_HTML_SVG_H
#define REPORT_HTML_SVG_H

#include "report/cmd.h"

/* Views that have a picture, in the order of html_svg_write's numbers; ends with NULL. */
extern const char *const html_svg_views[];

/* Draws at most that many bars; how many there are stands below them. */
#define HTML_SVG_BARS 60u

/* Reads the input. False, and nothing written, where the view has no rows with known parts. */
bool html_svg_write(unsigned int view, const struct cmd_input *input, struct buf *out);

#endif
