/* SPDX-License-Identifier: Apache-2.0 */
/* What the place where text goes can show: width, colours, bars. */
#ifndef REPORT_TABLE_TERMINAL_H
#define REPORT_TABLE_TERMINAL_H

#include "report/table/print.h"

enum terminal_color {
	TERMINAL_AUTO, /* on a terminal, unless NO_COLOR is set or TERM is dumb */
	TERMINAL_ALWAYS,
	TERMINAL_NEVER,
};

/* "auto", "always", "never", NULL */
extern const char *const terminal_colors[];

/*
 * Sets what a style has of stdout. Where output goes into a file (path is neither NULL nor "-"),
 * that is no terminal. The width is the terminal's, or COLUMNS, if that is set. With NEVER there
 * are no bars either; NO_COLOR takes only the colours away.
 */
void terminal_set(struct table_style *style, const char *path, enum terminal_color color);

#endif
