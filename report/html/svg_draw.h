/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts that pictures have in common: their head, text, and the ticks and unit of an axis of
 * time.
 */
#ifndef REPORT_HTML_SVG_DRAW_H
#define REPORT_HTML_SVG_DRAW_H

#include "report/util/buf.h"

struct svg_unit {
	const char *name;
	double factor; /* ns in it */
};

/* The unit in which numbers up to `most` ns are best read. */
const struct svg_unit *svg_unit(double most);

/* The first of 1, 2, 5, 10, 20 ... of which at most six make `most`. */
double svg_tick(double most);

/* Adds a text, which may be any bytes, escaped. */
void svg_text(struct buf *out, const char *bytes, size_t nr_bytes);

/* The head, up to the line below the title: the caller ends that with </text>. */
void svg_head(struct buf *out, int width, int height, const char *title, const char *command);

#endif
