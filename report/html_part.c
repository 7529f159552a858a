/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html_part.h"

/* HTML_PAGE is the folder where report.mk puts them. */
#define PART(name, file)                                                               \
	__asm__(".pushsection .rodata\n"                                               \
		"html_" #name "_begin:\n.incbin \"" HTML_PAGE "/" file "\"\n"          \
		"html_" #name "_end:\n.byte 0\n.popsection\n");                        \
	extern const char html_##name##_begin[] __attribute__((visibility("hidden"))); \
	extern const char html_##name##_end[] __attribute__((visibility("hidden")))

PART(body, "page.html");
PART(style, "page.css");
PART(script, "page.js");
PART(diff_script, "diff.js");
PART(timeline_style, "timeline.css");
PART(timeline_data, "timeline_data.js");
PART(timeline_script, "timeline.js");
PART(chart, "chart.js");
PART(terms, "chart.licence");

const struct html_part html_page = {"", html_body_begin, html_body_end};
const struct html_part html_licence = {"", html_terms_begin, html_terms_end};
const struct html_part html_parts[] = {
	{"@STYLE@", html_style_begin, html_style_end},
	{"@CHART@", html_chart_begin, html_chart_end},
	{"@SCRIPT@", html_script_begin, html_script_end},
	{"@DIFF_SCRIPT@", html_diff_script_begin, html_diff_script_end},
	{"@TIMELINE_STYLE@", html_timeline_style_begin, html_timeline_style_end},
	{"@TIMELINE_DATA@", html_timeline_data_begin, html_timeline_data_end},
	{"@TIMELINE_SCRIPT@", html_timeline_script_begin, html_timeline_script_end},
	{0},
};
