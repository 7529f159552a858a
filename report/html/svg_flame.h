/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as a picture: an icicle. */
#ifndef REPORT_HTML_SVG_FLAME_H
#define REPORT_HTML_SVG_FLAME_H

#include "report/timeline/flame.h"
#include "report/util/buf.h"

/*
 * Among the frames of a parent the widest comes first, or the one that began first. command: the
 * subtitle begins with it. The root must have some of the weight.
 */
void svg_flame_write(const struct flame *flame, enum flame_weight weight, bool is_by_time,
	const char *command, struct buf *out);

#endif
