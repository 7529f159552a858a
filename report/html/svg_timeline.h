/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of what was chosen (a step, usually) as a picture: phases, threads and streams of
 * each process, as the page's timeline has them but without Python, moments of the recorder and
 * counters. What is narrower than a pixel is drawn as one column, stronger the busier, in the
 * colour of its longest slice. Memory: 40 bytes for each slice of the choice.
 */
#ifndef REPORT_HTML_SVG_TIMELINE_H
#define REPORT_HTML_SVG_TIMELINE_H

#include "report/session/session.h"

/* Draws no more than that: a choice with more is told to be too long. */
#define HTML_SVG_SLICES 2000000u

/* Levels of a row; how many slices lie deeper is told. */
#define HTML_SVG_DEPTHS 8u

/* The processes have a selection (select.h). Returns as html_svg_write. */
const char *html_svg_timeline(const struct cmd_input *input, struct buf *out);

#endif
