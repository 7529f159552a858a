/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/part.h"

/* HTML_PAGE is the folder where report.mk puts them. */
#define PART(name, file)                                                               \
	__asm__(".pushsection .rodata\n"                                               \
		"html_" #name "_begin:\n.incbin \"" HTML_PAGE "/" file "\"\n"          \
		"html_" #name "_end:\n.byte 0\n.popsection\n");                        \
	extern const char html_##name##_begin[] __attribute__((visibility("hidden"))); \
	extern const char html_##name##_end[] __attribute__((visibility("hidden")))

PART(body, "page.html");
PART(style, "style.css");
PART(script, "script.js");
PART(chart, "chart.js");
PART(terms, "chart.licence");

const struct html_part html_page = {"", html_body_begin, html_body_end};
const struct html_part html_licence = {"", html_terms_begin, html_terms_end};
const struct html_part html_parts[] = {
	{"@STYLE@", html_style_begin, html_style_end},
	{"@CHART@", html_chart_begin, html_chart_end},
	{"@SCRIPT@", html_script_begin, html_script_end},
	{0},
};
