/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as a picture: an icicle, the widest frame of each parent first. */
#ifndef REPORT_HTML_SVG_FLAME_H
#define REPORT_HTML_SVG_FLAME_H

#include "report/timeline/flame.h"
#include "report/util/buf.h"

/* command: the subtitle begins with it. The root must have some of the weight. */
void svg_flame_write(
	const struct flame *flame, enum flame_weight weight, const char *command, struct buf *out);

#endif
