/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of the selected steps as a picture: phases, threads and streams of each process, as
 * on the page, but without Python, notices and counters. Slices that are narrower than a pixel
 * become one column in the colour of the longest one; the busier, the more opaque. Memory: 40 bytes
 * for each selected slice.
 */
#ifndef REPORT_HTML_SVG_TIMELINE_H
#define REPORT_HTML_SVG_TIMELINE_H

#include "report/session/session.h"

/* The most slices of a picture; a selection with more is refused. */
#define HTML_SVG_SLICES 2000000u

/* Levels of a row; the number of deeper slices stands below the title. */
#define HTML_SVG_DEPTHS 8u

/* The processes have a selection (select.h). Returns as html_svg_write. */
const char *html_svg_timeline(const struct cmd_input *input, struct buf *out);

#endif
