/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of paddle_*.c take their cells from tables of our own views, by key. A key that a
 * table lacks gives a cell that is not known, and that becomes a dash; so a table of Paddle can be
 * made of any recording. All texts here are allocated for a grid, which frees them.
 */
#include <inttypes.h>

#include "report/styles/paddle.h"
#include "report/util/text.h"

const struct table_cell *paddle_cell(const struct table *table, size_t row, const char *key)
{
	static const struct table_cell unknown;
	const struct table_cell *found = table_find_cell(table, row, key);

	return found ? found : &unknown;
}

bool paddle_has(const struct table *table, size_t row, const char *key, const char *text)
{
	const char *have = paddle_cell(table, row, key)->text;

	return have && strcmp(have, text) == 0;
}

void paddle_add_time(
	const struct paddle_report *report, struct buf *text, const struct table_cell *time)
{
	if (time->is_known) {
		buf_printf(text, "%.2f", time->number / report->unit_ns);
	} else {
		buf_char(text, '-');
	}
}

char *paddle_time(const struct paddle_report *report, const struct table_cell *time)
{
	struct buf text = {0};

	paddle_add_time(report, &text, time);
	buf_char(&text, '\0');
	return text.bytes;
}

char *paddle_percent(const struct table_cell *percent)
{
	return percent->is_known ? paddle_text("%.2f", percent->number) : mem_text("-");
}

char *paddle_count(const struct table_cell *count)
{
	return count->is_known ? paddle_text("%" PRIu64, count->integer) : mem_text("-");
}

char *paddle_name_text(const struct paddle_report *report, const char *bytes, size_t nr_bytes,
	unsigned int level, size_t width)
{
	struct buf text = {0};
	size_t indent = 2 * (size_t)level;

	/* A deep name keeps half of the column, as in our own tables. */
	indent = indent > width / 2 ? width / 2 : indent;
	buf_pad(&text, ' ', indent);
	text_add_shown(
		&text, bytes, nr_bytes, report->summary->asked.table.is_wide ? 0 : width - indent);
	buf_char(&text, '\0');
	return text.bytes;
}

char *paddle_name(
	const struct paddle_report *report, const struct table *table, size_t row, size_t width)
{
	const struct table_cell *name = paddle_cell(table, row, "name");
	size_t nr_bytes = name->nr_text;
	const char *bytes = name->text;

	if (!bytes) {
		bytes = string_pool_shown((uint32_t)name->integer, &nr_bytes);
	}
	return paddle_name_text(report, bytes, nr_bytes, table_level(table, row), width);
}

char *paddle_note(const struct view_class *class, const struct table *table)
{
	return paddle_text(
		"%s%s%s", class->about, table->note ? "\n" : "", table->note ? table->note : "");
}
