/* SPDX-License-Identifier: Apache-2.0 */
/* What the output can show: width, colors, bars. */
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
 * Sets the style for stdout. Output into a file (path is neither NULL nor "-") is no terminal. The
 * width is COLUMNS if set, else the terminal's. NEVER removes bars, too; NO_COLOR removes only
 * colors.
 */
void terminal_set(struct table_style *style, const char *path, enum terminal_color color);

#endif
