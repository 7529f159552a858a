/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table in Paddle's layout: the caller adds rows of allocated texts, and paddle_grid_print()
 * finds the widths, prints and frees them. A title line within the table spans all columns and does
 * not widen any.
 */
#include "report/styles/paddle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/util/text.h"

#define SPACING 2u

struct paddle_row *paddle_grid_add(struct paddle_grid *grid)
{
	struct paddle_row *row;

	grid->rows = array_grow(grid->rows, grid->nr_rows, &grid->capacity, sizeof(*grid->rows));
	row = &grid->rows[grid->nr_rows++];
	*row = (struct paddle_row){0};
	return row;
}

char *paddle_text(const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0) {
		text = mem_text("");
	}
	va_end(arguments);
	return text;
}

static size_t width_of(const char *text)
{
	const char *at = text, *end = text + strlen(text);
	size_t width = 0;

	while (at < end) {
		int32_t code_point = text_next(&at, end);

		width += code_point < 0 ? 1 : text_width(code_point);
	}
	return width;
}

static size_t find_widths(struct paddle_grid *grid)
{
	size_t length = SPACING * (grid->nr_columns - 1);

	for (unsigned int c = 0; c < grid->nr_columns; c++) {
		for (size_t i = 0; i < grid->nr_rows; i++) {
			const struct paddle_row *row = &grid->rows[i];
			size_t width =
				row->cells[c] && !row->is_title ? width_of(row->cells[c]) : 0;

			grid->widths[c] = width > grid->widths[c] ? width : grid->widths[c];
		}
		length += grid->widths[c];
	}
	return length;
}

static void print_title(struct buf *out, const char *title, size_t length)
{
	size_t width = width_of(title), left = length > width ? length - width : 0;

	buf_pad(out, '-', left / 2);
	buf_text(out, title);
	buf_pad(out, '-', left - left / 2);
	buf_char(out, '\n');
}

static void print_rule(const struct paddle_grid *grid, struct buf *out)
{
	for (unsigned int c = 0; c < grid->nr_columns; c++) {
		buf_pad(out, '-', grid->widths[c]);
		buf_pad(out, ' ', SPACING);
	}
	buf_char(out, '\n');
}

static void print_cells(const struct paddle_grid *grid, char *const *cells, struct buf *out)
{
	for (unsigned int c = 0; c < grid->nr_columns; c++) {
		const char *text = cells[c] ? cells[c] : "";
		size_t width = width_of(text);

		buf_text(out, text);
		buf_pad(out, ' ',
			SPACING + (width < grid->widths[c] ? grid->widths[c] - width : 0));
	}
	buf_char(out, '\n');
}

static void print_row(const struct paddle_grid *grid, const struct paddle_row *row, size_t length,
	struct buf *out)
{
	if (row->is_title) {
		print_title(out, *row->cells, length);
		return;
	}
	if (row->is_head) {
		print_rule(grid, out);
	}
	print_cells(grid, row->cells, out);
	if (row->is_head) {
		print_rule(grid, out);
	}
}

/* Parts of a note may come from a stream, so it is shown like names. */
static void print_note(struct buf *out, const char *note)
{
	buf_text(out, "Note:\n");
	while (*note) {
		size_t nr_bytes = strcspn(note, "\n");

		text_add_shown(out, note, nr_bytes, 0);
		buf_char(out, '\n');
		note += nr_bytes + (note[nr_bytes] == '\n');
	}
}

void paddle_grid_print(struct paddle_grid *grid, struct buf *out)
{
	size_t length = find_widths(grid);
	struct paddle_row head = {.is_head = true};

	for (unsigned int c = 0; c < grid->nr_columns; c++) {
		head.cells[c] = mem_text(grid->titles[c]);
	}
	print_title(out, grid->title, length);
	if (grid->unit) {
		buf_printf(out, "Time unit: %s\n", grid->unit);
	}
	buf_text(out, grid->lines ? grid->lines : "");
	print_row(grid, &head, length, out);
	for (size_t i = 0; i < grid->nr_rows; i++) {
		print_row(grid, &grid->rows[i], length, out);
	}
	print_rule(grid, out);
	if (grid->note) {
		print_note(out, grid->note);
		buf_pad(out, '-', length);
		buf_char(out, '\n');
	}
	buf_text(out, "\n\n");
	for (unsigned int c = 0; c < grid->nr_columns; c++) {
		free(head.cells[c]);
		for (size_t i = 0; i < grid->nr_rows; i++) {
			free(grid->rows[i].cells[c]);
		}
	}
	free(grid->rows);
	grid->rows = NULL;
	grid->nr_rows = grid->capacity = 0;
}
