/* SPDX-License-Identifier: Apache-2.0 */
#include "report/styles/nsys_cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_time(const struct table_column *column)
{
	return column->type == TABLE_TIME || column->type == TABLE_MEAN_TIME;
}

void nsys_cell_title(
	struct buf *out, const struct table_column *column, const struct table_unit *unit)
{
	const char *bracket = is_time(column) ? strstr(column->title, "(ns)") : NULL;

	if (!bracket) {
		buf_text(out, column->title);
		return;
	}
	buf_add(out, column->title, (size_t)(bracket - column->title));
	buf_printf(out, "(%s)%s", unit->name, bracket + strlen("(ns)"));
}

static void print_digits(char *digits, size_t nr_bytes, const struct table_column *column,
	const struct table_cell *cell, const struct table_unit *unit)
{
	if (is_time(column) && unit->factor > 1) {
		snprintf(digits, nr_bytes, "%.*f", (int)lround(log10(unit->factor)),
			cell->number / unit->factor);
		return;
	}
	switch (column->type) {
	case TABLE_ID:
	case TABLE_COUNT:
	case TABLE_TIME:
		snprintf(digits, nr_bytes, "%" PRIu64, cell->integer);
		break;
	case TABLE_SIZE:
	case TABLE_MEAN_SIZE:
	case TABLE_RATE:
		snprintf(digits, nr_bytes, "%.3f", cell->number / 1e6);
		break;
	default:
		snprintf(digits, nr_bytes, "%.1f", cell->number);
		break;
	}
}

/* A comma before each group of three in front of the point. */
static void add_separated(struct buf *out, const char *digits)
{
	size_t whole = strcspn(digits, ".");

	for (size_t i = 0; digits[i]; i++) {
		if (i && i < whole && (whole - i) % 3 == 0) {
			buf_char(out, ',');
		}
		buf_char(out, digits[i]);
	}
}

void nsys_cell_number(struct buf *out, const struct table_column *column,
	const struct table_cell *cell, const struct table_unit *unit, bool is_separated)
{
	char digits[64];

	print_digits(digits, sizeof(digits), column, cell, unit);
	if (is_separated && column->type != TABLE_ID) {
		add_separated(out, digits);
	} else {
		buf_text(out, digits);
	}
}
