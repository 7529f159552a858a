/* SPDX-License-Identifier: Apache-2.0 */
/* For html.c: the files that the page is made of, put into the program when it is built. */
#ifndef REPORT_HTML_PART_H
#define REPORT_HTML_PART_H

#include <stddef.h>

struct html_part {
	const char *name; /* as the page names it, "@STYLE@" */
	const char *bytes, *end;
};

/* The page, and what stands in it; the last has no name. Charts and their licence are empty where
 * they were not installed when this was built. */
extern const struct html_part html_page, html_licence, html_parts[];

#endif
