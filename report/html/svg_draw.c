/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text first loses what a terminal must not show either (text_add_shown), then gets XML's
 * entities.
 */
#include "report/html/svg_draw.h"

#include <string.h>

#include "report/util/text.h"

void svg_text(struct buf *out, const char *bytes, size_t nr_bytes)
{
	struct buf shown = {0};

	text_add_shown(&shown, bytes, nr_bytes, 0);
	for (size_t i = 0; i < shown.nr_bytes; i++) {
		switch (shown.bytes[i]) {
		case '<':
			buf_text(out, "&lt;");
			break;
		case '>':
			buf_text(out, "&gt;");
			break;
		case '&':
			buf_text(out, "&amp;");
			break;
		default:
			buf_char(out, shown.bytes[i]);
		}
	}
	buf_fini(&shown);
}

double svg_tick(double most)
{
	static const double factors[] = {1, 2, 5};
	double power = 1;

	for (;; power *= 10) {
		for (unsigned int k = 0; k < 3; k++) {
			if (factors[k] * power * 6 >= most) {
				return factors[k] * power;
			}
		}
	}
}

const struct svg_unit *svg_unit(double most)
{
	static const struct svg_unit units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	unsigned int u = 0;

	while (u < 3 && most < units[u].factor) {
		u++;
	}
	return &units[u];
}

void svg_head(struct buf *out, int width, int height, const char *title, const char *command)
{
	buf_printf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\" "
		"fill=\"#1b2733\">\n<title>%s</title>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"12\" y=\"20\" font-size=\"14\" font-weight=\"bold\">%s</text>\n"
		"<text x=\"12\" y=\"36\" fill=\"#566573\">",
		width, height, width, height, title, title);
	svg_text(out, command, strlen(command));
}
