/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what the output can show, once before the tables are printed (print.h). A terminal gets
 * colors and bars, a file or a pipe only with --color=always. Follows COLUMNS, TERM, NO_COLOR and
 * the variables of the locale.
 */
#include "report/table/print.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *const terminal_colors[] = {"auto", "always", "never", NULL};

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || strcmp(term, "dumb") == 0;
}

/* Finds the locale's encoding as the C library would, without loading a locale. */
static bool is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		if (is_set(variables[i])) {
			const char *value = getenv(variables[i]);

			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
		}
	}
	return false;
}

static unsigned int find_width(bool is_terminal)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	unsigned long number = columns ? strtoul(columns, NULL, 10) : 0;

	if (number > 0 && number < 100000) {
		return (unsigned int)number;
	}
	return is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void terminal_set(struct table_style *style, const char *path, enum terminal_color color)
{
	bool is_terminal = (!path || strcmp(path, "-") == 0) && isatty(STDOUT_FILENO);
	bool is_text = style->format == TABLE_TEXT_FORMAT;

	style->width = is_text ? find_width(is_terminal) : 0;
	style->is_utf8 = is_utf8();
	style->has_color = is_text && is_terminal && !is_dumb() && !is_set("NO_COLOR");
	style->has_bars = is_text && is_terminal && !is_dumb();
	if (color == TERMINAL_ALWAYS) {
		style->has_color = style->has_bars = is_text;
	} else if (color == TERMINAL_NEVER) {
		style->has_color = style->has_bars = false;
	}
}
