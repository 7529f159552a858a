/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as text and Markdown. Text fits the terminal: titles wrap, texts are cut, and columns are
 * left out.
 */
#include "report/table/print.h"

#include <stdlib.h>
#include <string.h>

#include "report/table/short_names.h"
#include "report/util/text.h"

/* A number that nobody knows: a blank would read as zero. */
#define UNKNOWN "n/a"
/* The width of lines where the terminal's is unknown. */
#define UNKNOWN_WIDTH 80u
/* Texts are cut in the middle, rows' names and others, to no less while columns can be left out ...
 */
#define MIN_NAME 32u
#define MIN_TEXT 16u
/* ... and to no less than this at all. */
#define MIN_CUT 8u
/* A title takes at most so many lines. */
#define MAX_TITLE_LINES 3u
#define BAR_WIDTH	8u
/* Between two columns. */
#define SPACE 2u

/* Before lines below a row. */
#define BELOW "    "

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define CYAN  "\033[36m"
#define PLAIN "\033[0m"

/* A column as it is printed. Widths are in columns of the terminal. */
struct column_layout {
	struct table_scale scale;
	struct short_names *names; /* of a text with fewer columns, else NULL */
	bool is_shown;
	bool wraps;			      /* its long texts take several lines */
	bool is_left_out;		      /* for lack of space */
	bool is_below;			      /* in lines below the row */
	bool is_same;			      /* all rows have the same value */
	char *value;			      /* of the first row, as printed */
	char *title;			      /* with its unit */
	size_t title_widths[MAX_TITLE_LINES]; /* if it takes 1, 2 ... lines */
	size_t whole_width;		      /* of its widest cell, uncut */
	size_t width;
	size_t least_width; /* of a text, cut */
	size_t limit;	    /* of its texts; 0: none */
	size_t end;	    /* of its cell in the text of the line */
	size_t shown;	    /* the width of that cell */
};

/* One line at a time, so that a table of every event needs no memory for its text. */
struct layout {
	const struct table *table;
	const struct table_style *style;
	struct buf text; /* the cells of the current line, as printed */
	struct column_layout *columns;
	unsigned int *order; /* of the columns from left to right: what a row is comes first */
	unsigned int name;   /* the column that says what a row is; UINT32_MAX: none */
	bool has_bars;	     /* after the first column of the table, which holds shares */
};

static bool is_markdown(const struct table_style *style)
{
	return style->format == TABLE_MARKDOWN;
}

static bool is_sort_column(const struct table *table, unsigned int c)
{
	return table->sort_column == c + 1;
}

size_t table_line_width(const struct table_style *style)
{
	if (style->is_wide || style->format != TABLE_TEXT_FORMAT) {
		return 0;
	}
	return style->width ? style->width : UNKNOWN_WIDTH;
}

/* ---- cells ---- */

/* A number as text and Markdown have it: the blank of a quantity would read as zero. */
static void add_number(struct buf *out, const struct table_column *column,
	const struct table_cell *cell, const struct table_scale *scale)
{
	if (!cell->is_known && column->type != TABLE_ID && column->type != TABLE_DIGITS) {
		buf_text(out, UNKNOWN);
	} else {
		table_add_number(out, column, cell, scale, true);
	}
}

static size_t indent_of(const struct layout *layout, unsigned int c, size_t row)
{
	bool is_name = strcmp(layout->table->columns[c].key, "name") == 0;
	size_t limit = layout->columns[c].limit;
	size_t indent = is_name && !is_markdown(layout->style)
				? 2 * (size_t)table_level(layout->table, row)
				: 0;

	return limit && indent > limit / 2 ? limit / 2 : indent;
}

static size_t add_cell(
	struct layout *layout, unsigned int c, const struct table_cell *cell, size_t row)
{
	const struct table_column *column = &layout->table->columns[c];
	const struct column_layout *place = &layout->columns[c];
	size_t before = layout->text.nr_bytes;
	size_t nr_bytes, indent;
	const char *bytes;

	if (!table_is_text(column)) {
		add_number(&layout->text, column, cell, &place->scale);
		return layout->text.nr_bytes - before;
	}
	bytes = place->names ? short_names_text(place->names, (uint32_t)cell->integer, &nr_bytes)
			     : table_cell_text(column, cell, &nr_bytes);
	if (is_markdown(layout->style)) {
		text_add_markdown(&layout->text, bytes, nr_bytes);
		return layout->text.nr_bytes - before;
	}
	indent = indent_of(layout, c, row);
	buf_pad(&layout->text, ' ', indent);
	return indent + text_add_cut(&layout->text, bytes, nr_bytes,
				place->limit && !place->wraps ? place->limit - indent : 0);
}

/* Returns the number of the row's first cell. */
static double layout_row(struct layout *layout, size_t row)
{
	const struct table_cell *cells = table_row(layout->table, row);
	double number = cells->number;

	layout->text.nr_bytes = 0;
	for (unsigned int i = 0; i < layout->table->nr_columns; i++) {
		unsigned int c = layout->order[i];
		struct column_layout *place = &layout->columns[c];

		place->shown = place->is_shown ? add_cell(layout, c, &cells[c], row) : 0;
		place->end = layout->text.nr_bytes;
	}
	return number;
}

/* ---- titles ---- */

/* The length of a title's first line, of at most `width` unless its first word is longer. */
static size_t title_line(const char *title, size_t width)
{
	size_t length = strcspn(title, " ");

	while (title[length]) {
		size_t next = length + 1 + strcspn(title + length + 1, " ");

		if (next > width) {
			break;
		}
		length = next;
	}
	return length;
}

/* The lines of a title in a column of that width; *longest becomes the width that they take. */
static unsigned int count_title_lines(const char *title, size_t width, size_t *longest)
{
	unsigned int nr = 0;

	*longest = 0;
	for (;;) {
		size_t length = title_line(title, width);

		nr++;
		*longest = length > *longest ? length : *longest;
		title += length;
		if (!*title) {
			return nr;
		}
		title++; /* the blank */
	}
}

/* The least width at which a title takes at most nr_lines. */
static size_t title_width(const char *title, unsigned int nr_lines)
{
	size_t best = strlen(title), longest;

	for (size_t width = best; width; width--) {
		if (count_title_lines(title, width, &longest) > nr_lines) {
			break;
		}
		best = longest < best ? longest : best;
	}
	return best;
}

/* ---- widths ---- */

static size_t line_width(const struct layout *layout)
{
	size_t sum = layout->has_bars ? BAR_WIDTH + SPACE : 0;

	for (unsigned int c = 0; c < layout->table->nr_columns; c++) {
		sum += layout->columns[c].is_shown ? layout->columns[c].width + SPACE : 0;
	}
	return sum;
}

/*
 * The column that says what a row is: the one declared so, else its name, else its first text that
 * is shown and not minor; UINT32_MAX: there is none.
 */
static unsigned int find_name(const struct layout *layout)
{
	const struct table *table = layout->table;
	unsigned int first = UINT32_MAX, name = UINT32_MAX;

	for (unsigned int c = table->nr_columns; c-- > 0;) {
		const struct table_column *column = &table->columns[c];

		if (!layout->columns[c].is_shown) {
			continue;
		}
		if (column->is_name) {
			return c;
		}
		if (strcmp(column->key, "name") == 0) {
			name = c;
		}
		if (table_is_text(column) && !column->is_minor) {
			first = c;
		}
	}
	return name != UINT32_MAX ? name : first;
}

/*
 * Names come first, unless they may be as long as they are. A sentence is the last column, and
 * other texts do not name a row.
 */
static void find_order(struct layout *layout)
{
	const struct table *table = layout->table;
	unsigned int name = layout->name, nr = 0;
	bool is_first =
		table_line_width(layout->style) && name != UINT32_MAX &&
		!table->columns[name].is_sentence &&
		(table->columns[name].is_name || strcmp(table->columns[name].key, "name") == 0);

	layout->order = mem_zeroed(table->nr_columns, sizeof(*layout->order));
	if (is_first) {
		layout->order[nr++] = name;
	}
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		if (!is_first || c != name) {
			layout->order[nr++] = c;
		}
	}
}

/* Collects the names of columns that are shortened. */
static void find_short_names(struct layout *layout)
{
	const struct table *table = layout->table;
	bool has_any = false;

	for (unsigned int c = 0; c < table->nr_columns && table_line_width(layout->style); c++) {
		struct column_layout *place = &layout->columns[c];

		if (place->is_shown && table->columns[c].type == TABLE_NAME &&
			!table->columns[c].is_sentence) {
			place->names = short_names_create(table->columns[c].is_kernel);
			has_any = true;
		}
	}
	for (size_t row = 0; has_any && row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		for (unsigned int c = 0; c < table->nr_columns; c++) {
			if (layout->columns[c].names) {
				short_names_add(
					layout->columns[c].names, (uint32_t)cells[c].integer);
			}
		}
	}
	for (unsigned int c = 0; has_any && c < table->nr_columns; c++) {
		if (layout->columns[c].names) {
			short_names_choose(layout->columns[c].names);
		}
	}
}

/* Cuts the names of columns that are narrower than these. */
static void cut_names(struct layout *layout)
{
	for (unsigned int c = 0; c < layout->table->nr_columns; c++) {
		const struct column_layout *place = &layout->columns[c];

		if (place->names && place->is_shown && place->limit) {
			short_names_cut(place->names, place->limit);
		}
	}
}

/*
 * Finds the width of each column if nothing is cut, and which columns have nothing to compare: only
 * zeros, or the same key in all rows.
 */
static void measure(struct layout *layout)
{
	const struct table *table = layout->table;

	for (size_t row = 0; row < table->nr_rows; row++) {
		size_t start = 0;

		layout_row(layout, row);
		for (unsigned int i = 0; i < table->nr_columns; i++) {
			struct column_layout *place = &layout->columns[layout->order[i]];
			const char *cell = layout->text.bytes ? layout->text.bytes + start : "";
			size_t length = place->end - start;

			if (place->shown > place->whole_width) {
				place->whole_width = place->shown;
			}
			if (!row) {
				place->value = mem_zeroed(length + 1, 1);
				memcpy(place->value, cell, length);
				place->is_same = true;
			} else if (place->is_same) {
				place->is_same = strlen(place->value) == length &&
						 memcmp(place->value, cell, length) == 0;
			}
			start = place->end;
		}
	}
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		struct column_layout *place = &layout->columns[c];
		enum table_type type = table->columns[c].type;
		bool is_key = type == TABLE_ID || type == TABLE_COUNT || type == TABLE_DIGITS ||
			      table_is_text(&table->columns[c]);
		bool is_zero = place->value && (!place->value[strspn(place->value, "0.")] ||
						       strcmp(place->value, UNKNOWN) == 0);

		place->is_same &= is_zero || (is_key && table->nr_rows > 1);
	}
}

/* Shortens the column of texts that is the furthest above its least width. False if none is. */
static bool cut_texts(struct layout *layout, size_t excess)
{
	struct column_layout *longest = NULL;
	size_t most = 0;

	for (unsigned int c = 0; c < layout->table->nr_columns; c++) {
		struct column_layout *place = &layout->columns[c];

		if (place->is_shown && table_is_text(&layout->table->columns[c]) &&
			place->width > place->least_width &&
			place->width - place->least_width > most) {
			most = place->width - place->least_width;
			longest = place;
		}
	}
	if (longest) {
		longest->width -= excess < most ? excess : most;
		longest->limit = longest->width;
	}
	return longest;
}

/*
 * Sets the width of each column, with titles of at most nr_lines lines and texts as short as
 * allowed and needed. False if lines are still too long.
 */
static bool set_widths(
	struct layout *layout, unsigned int nr_lines, size_t least_name, size_t least_text)
{
	size_t limit = table_line_width(layout->style);
	size_t width;

	for (unsigned int c = 0; c < layout->table->nr_columns; c++) {
		struct column_layout *place = &layout->columns[c];
		size_t title = place->title_widths[nr_lines - 1];
		size_t least = c == layout->name ? least_name : least_text;

		place->width = title > place->whole_width ? title : place->whole_width;
		place->least_width = title > least ? title : least;
		place->limit = 0;
	}
	while (limit && (width = line_width(layout)) > limit) {
		if (!cut_texts(layout, width - limit)) {
			return false;
		}
	}
	return true;
}

static bool find_widths(struct layout *layout)
{
	for (unsigned int nr_lines = 1; nr_lines <= MAX_TITLE_LINES; nr_lines++) {
		if (set_widths(layout, nr_lines, MIN_NAME, MIN_TEXT)) {
			return true;
		}
	}
	return false;
}

/*
 * Leaves out one more column: one with the same value in all rows, else a minor one, else the last,
 * major ones at the end.
 * The rows' name, the column that they are sorted by and the first one stay.
 */
static bool hide_column(struct layout *layout)
{
	const struct table *table = layout->table;

	for (int pass = 0; pass < 4; pass++) {
		for (unsigned int c = table->nr_columns; c-- > 0;) {
			struct column_layout *place = &layout->columns[c];
			bool is_next = pass == 0   ? place->is_same
				       : pass == 1 ? table->columns[c].is_minor
				       : pass == 2 ? c > 0 && !table->columns[c].is_major
						   : c > 0;

			if (place->is_shown && is_next && c != layout->name &&
				!is_sort_column(table, c)) {
				place->is_shown = false;
				place->is_left_out = true;
				return true;
			}
		}
	}
	return false;
}

/* Leaves out columns without any value. */
static void hide_empty(struct layout *layout)
{
	for (unsigned int c = 0; c < layout->table->nr_columns; c++) {
		struct column_layout *place = &layout->columns[c];
		const char *value = place->value ? place->value : "";

		if (place->is_shown && place->is_same && c != layout->name &&
			!is_sort_column(layout->table, c) &&
			(!*value || strcmp(value, UNKNOWN) == 0)) {
			place->is_shown = false;
			place->is_left_out = true;
		}
	}
}

/* Takes the texts that have lines of their own from the line of the row. */
static void put_below(struct layout *layout)
{
	for (unsigned int c = 0; c < layout->table->nr_columns; c++) {
		struct column_layout *place = &layout->columns[c];

		place->is_below = place->is_shown && layout->table->columns[c].is_below;
		place->is_shown &= !place->is_below;
	}
}

/*
 * Makes lines fit into the width of the style: texts go below their rows, titles wrap, texts are
 * cut, columns left out.
 */
static void fit(struct layout *layout)
{
	if (set_widths(layout, 1, SIZE_MAX, SIZE_MAX)) {
		return;
	}
	put_below(layout);
	if (set_widths(layout, 1, SIZE_MAX, SIZE_MAX)) {
		return;
	}
	hide_empty(layout);
	if (find_widths(layout)) {
		return;
	}
	layout->has_bars = false;
	while (!find_widths(layout)) {
		if (!hide_column(layout)) {
			set_widths(layout, MAX_TITLE_LINES, MIN_CUT, MIN_CUT);
			return;
		}
	}
}

/* Lets the last column wrap if it may and was cut. */
static void find_wrapped(struct layout *layout)
{
	struct column_layout *last = NULL;

	for (unsigned int i = 0; i < layout->table->nr_columns; i++) {
		unsigned int c = layout->order[i];
		struct column_layout *place = &layout->columns[c];

		if (place->is_shown) {
			last = place;
			last->wraps = layout->table->columns[c].is_sentence && place->limit;
		}
	}
	for (unsigned int c = 0; c < layout->table->nr_columns; c++) {
		layout->columns[c].wraps &= &layout->columns[c] == last;
	}
}

static void layout_init(
	struct layout *layout, const struct table *table, const struct table_style *style)
{
	struct table_scale *scales = mem_zeroed(table->nr_columns, sizeof(*scales));

	*layout = (struct layout){.table = table,
		.style = style,
		.columns = mem_zeroed(table->nr_columns, sizeof(*layout->columns))};
	table_find_scales(table, style, scales);
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		struct column_layout *place = &layout->columns[c];
		struct buf title = {0};

		place->scale = scales[c];
		place->is_shown = style->is_wide || !table->columns[c].is_wide_only ||
				  is_sort_column(table, c);
		table_add_title(&title, &table->columns[c], place->scale.unit);
		buf_char(&title, '\0');
		place->title = title.bytes;
		for (unsigned int i = 0; i < MAX_TITLE_LINES; i++) {
			place->title_widths[i] = title_width(place->title, i + 1);
		}
	}
	free(scales);
	layout->name = find_name(layout);
	find_order(layout);
	find_short_names(layout);
	layout->has_bars = style->has_bars && !is_markdown(style) && table->nr_rows > 1 &&
			   table->columns[0].type == TABLE_PERCENT && layout->columns[0].is_shown;
	measure(layout);
	fit(layout);
	cut_names(layout);
	find_wrapped(layout);
}

static void layout_fini(struct layout *layout)
{
	for (unsigned int c = 0; c < layout->table->nr_columns; c++) {
		free(layout->columns[c].title);
		free(layout->columns[c].value);
		short_names_destroy(layout->columns[c].names);
	}
	free(layout->order);
	free(layout->columns);
	buf_fini(&layout->text);
}

/* ---- lines ---- */

static void add_colored(
	struct buf *out, const struct table_style *style, const char *color, const char *text)
{
	buf_text(out, style->has_color ? color : "");
	buf_text(out, text);
	buf_text(out, style->has_color ? PLAIN : "");
}

/* Draws a percentage as a bar of up to BAR_WIDTH columns, in eighths if the terminal has them. */
static void add_bar(struct buf *out, const struct table_style *style, double percent)
{
	static const char *const eighths[] = {
		"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
	double share = percent > 0 ? (percent < 100 ? percent / 100 : 1) : 0;
	unsigned int steps = (unsigned int)(share * 8 * BAR_WIDTH + 0.5);
	unsigned int full = style->is_utf8 ? steps / 8 : (steps + 4) / 8;
	unsigned int part = style->is_utf8 ? steps % 8 : 0;

	buf_text(out, style->has_color ? CYAN : "");
	for (unsigned int i = 0; i < full; i++) {
		buf_text(out, style->is_utf8 ? "\u2588" : "#");
	}
	buf_text(out, eighths[part]);
	buf_text(out, style->has_color ? PLAIN : "");
	buf_pad(out, ' ', BAR_WIDTH - full - (part != 0));
}

/* Aligns a text to the left, a number to the right. */
static void add_aligned(struct buf *out, const struct layout *layout, unsigned int c,
	const char *bytes, size_t nr_bytes, size_t width)
{
	const struct column_layout *place = &layout->columns[c];
	size_t space = place->width - width;
	bool is_left = table_is_text(&layout->table->columns[c]);
	bool is_row = is_markdown(layout->style);

	buf_text(out, is_row ? " " : "  ");
	buf_pad(out, ' ', is_left ? 0 : space);
	buf_add(out, bytes, nr_bytes);
	buf_pad(out, ' ', is_left ? space : 0);
	buf_text(out, is_row ? " |" : "");
}

/* Ends with a NUL. */
static void add_cut_words(struct buf *text, const char *bytes, size_t nr_bytes, size_t width)
{
	for (size_t at = 0; at < nr_bytes;) {
		size_t length = nr_bytes - at;
		const char *blank = memchr(bytes + at, ' ', length);

		length = blank ? (size_t)(blank - bytes) - at : length;
		text_add_cut(text, bytes + at, length, width);
		buf_char(text, ' ');
		at += length + 1;
	}
	buf_char(text, '\0');
}

/* Adds a text of the last column in lines below each other; long words are cut. */
static void add_wrapped(struct buf *out, const struct layout *layout, size_t width,
	const char *bytes, size_t nr_bytes)
{
	size_t start = line_width(layout) - width;
	struct buf text = {0}, indent = {0}, lines = {0};

	add_cut_words(&text, bytes, nr_bytes, width);
	buf_pad(&indent, ' ', start);
	buf_char(&indent, '\0');
	text_wrap(&lines, text.bytes, indent.bytes, start + width);
	if (lines.nr_bytes) {
		/* The columns before are in the first line already. */
		buf_add(out, lines.bytes + start - SPACE, lines.nr_bytes - 1 - (start - SPACE));
	}
	buf_fini(&text);
	buf_fini(&indent);
	buf_fini(&lines);
}

static void end_line(struct buf *out)
{
	while (out->nr_bytes && out->bytes[out->nr_bytes - 1] == ' ') {
		out->nr_bytes--;
	}
	buf_char(out, '\n');
}

/* The texts below a row, behind their titles, but for sentences, which say what they are. */
static void print_below(const struct layout *layout, size_t row, struct buf *out)
{
	const struct table_cell *cells = table_row(layout->table, row);
	size_t width = table_line_width(layout->style);
	struct buf text = {0};

	for (unsigned int c = 0; c < layout->table->nr_columns; c++) {
		const struct table_column *column = &layout->table->columns[c];
		size_t nr_bytes;
		const char *bytes = table_cell_text(column, &cells[c], &nr_bytes);

		if (!layout->columns[c].is_below || !nr_bytes) {
			continue;
		}
		text.nr_bytes = 0;
		if (!column->is_sentence) {
			buf_printf(&text, "%s: ", layout->columns[c].title);
		}
		add_cut_words(&text, bytes, nr_bytes, width - strlen(BELOW));
		text_wrap(out, text.bytes, BELOW, width);
	}
	buf_fini(&text);
}

static void print_row(struct layout *layout, size_t row, struct buf *out)
{
	double share = layout_row(layout, row);
	size_t start = 0;

	buf_text(out, is_markdown(layout->style) ? "|" : "");
	for (unsigned int i = 0; i < layout->table->nr_columns; i++) {
		unsigned int c = layout->order[i];
		const struct column_layout *place = &layout->columns[c];

		if (place->is_shown && place->wraps && place->shown > place->width) {
			add_wrapped(out, layout, place->width, layout->text.bytes + start,
				place->end - start);
		} else if (place->is_shown) {
			add_aligned(out, layout, c, layout->text.bytes + start, place->end - start,
				place->shown);
		}
		start = place->end;
		if (!c && layout->has_bars) {
			buf_text(out, "  ");
			add_bar(out, layout->style, share);
		}
	}
	end_line(out);
	print_below(layout, row, out);
}

/* The titles' lines stand at the bottom of the header. */
static void print_header(const struct layout *layout, struct buf *out)
{
	const struct table *table = layout->table;
	unsigned int nr_lines = 1;
	size_t longest;

	for (unsigned int c = 0; c < table->nr_columns; c++) {
		const struct column_layout *place = &layout->columns[c];
		unsigned int nr = count_title_lines(place->title, place->width, &longest);

		nr_lines = place->is_shown && nr > nr_lines ? nr : nr_lines;
	}
	for (unsigned int line = nr_lines; line > 0; line--) {
		buf_text(out, layout->style->has_color ? BOLD : "");
		buf_text(out, is_markdown(layout->style) ? "|" : "");
		for (unsigned int i = 0; i < table->nr_columns; i++) {
			unsigned int c = layout->order[i];
			const struct column_layout *place = &layout->columns[c];
			const char *title = place->title;
			unsigned int nr = count_title_lines(title, place->width, &longest);
			size_t length = title_line(title, place->width);

			for (; nr > line; nr--) {
				title += length + 1;
				length = title_line(title, place->width);
			}
			length = nr < line ? 0 : length;
			if (place->is_shown) {
				add_aligned(out, layout, c, title, length, length);
			}
			buf_pad(out, ' ', !c && layout->has_bars ? SPACE + BAR_WIDTH : 0);
		}
		end_line(out);
		if (layout->style->has_color) {
			out->nr_bytes--; /* the newline follows the reset */
			buf_text(out, PLAIN "\n");
		}
	}
}

static void print_rule(const struct layout *layout, struct buf *out)
{
	buf_char(out, '|');
	for (unsigned int i = 0; i < layout->table->nr_columns; i++) {
		unsigned int c = layout->order[i];
		bool is_left = table_is_text(&layout->table->columns[c]);

		if (layout->columns[c].is_shown) {
			buf_char(out, ' ');
			buf_pad(out, '-', layout->columns[c].width - !is_left);
			buf_text(out, is_left ? " |" : ": |");
		}
	}
	buf_char(out, '\n');
}

/* Names the columns that did not fit, and the value of those that have the same in all rows. */
static void print_left_out(const struct layout *layout, struct buf *out)
{
	struct buf text = {0};

	for (unsigned int c = 0; c < layout->table->nr_columns; c++) {
		const struct column_layout *place = &layout->columns[c];

		if (!place->is_left_out) {
			continue;
		}
		buf_text(&text, text.nr_bytes ? ", " : "Columns left out: ");
		buf_text(&text, place->title);
		if (place->is_same) {
			buf_text(&text, " = ");
			text_add_cut(&text, *place->value ? place->value : UNKNOWN,
				*place->value ? strlen(place->value) : strlen(UNKNOWN), MIN_NAME);
		}
	}
	if (text.nr_bytes) {
		buf_text(&text, "; --wide shows all");
		buf_char(&text, '\0');
		text_wrap(out, text.bytes, "  ", table_line_width(layout->style));
	}
	buf_fini(&text);
}

static void print_rows(const struct table *table, const struct table_style *style, struct buf *out)
{
	struct layout layout;

	layout_init(&layout, table, style);
	print_header(&layout, out);
	if (is_markdown(style)) {
		print_rule(&layout, out);
	}
	for (size_t row = 0; row < table->nr_rows; row++) {
		print_row(&layout, row, out);
		buf_flush_if_large(out);
	}
	print_left_out(&layout, out);
	layout_fini(&layout);
}

/* Prints a note, indented. Lines longer than the terminal wrap at words. */
static void print_note(
	const char *note, size_t nr_bytes, const struct table_style *style, struct buf *out)
{
	struct buf text = {0};

	if (is_markdown(style)) {
		text_add_markdown(out, note, nr_bytes);
		buf_char(out, '\n');
		return;
	}
	text_add_shown(&text, note, nr_bytes, 0);
	buf_char(&text, '\0');
	buf_text(out, style->has_color ? DIM : "");
	text_wrap(out, text.bytes, "  ", style->width ? style->width : UNKNOWN_WIDTH);
	buf_text(out, style->has_color ? PLAIN : "");
	buf_fini(&text);
}

/*
 * Prints the lines of a figure. Those longer than the terminal wrap at words, below the text behind
 * the first word if two blanks separate it.
 */
static void print_figure(const char *figure, size_t limit, struct buf *out)
{
	struct buf line = {0}, indent = {0}, wrapped = {0};

	while (*figure) {
		size_t length = strcspn(figure, "\n"), first = strspn(figure, " ");
		size_t word = first + strcspn(figure + first, " \n");
		size_t blanks = strspn(figure + word, " ");

		first = blanks > 1 ? word + blanks : first;
		if (!limit || text_shown_width(figure, length) <= limit || first > limit / 2) {
			buf_add(out, figure, length);
			buf_char(out, '\n');
		} else {
			line.nr_bytes = indent.nr_bytes = wrapped.nr_bytes = 0;
			buf_add(&line, figure + first, length - first);
			buf_char(&line, '\0');
			buf_pad(&indent, ' ', first);
			buf_char(&indent, '\0');
			text_wrap(&wrapped, line.bytes, indent.bytes, limit);
			memcpy(wrapped.bytes, figure, first);
			buf_add(out, wrapped.bytes, wrapped.nr_bytes);
		}
		figure += length + (figure[length] == '\n');
	}
	buf_fini(&line);
	buf_fini(&indent);
	buf_fini(&wrapped);
}

void table_print_text(const struct table *table, const struct table_style *style, struct buf *out)
{
	bool is_md = is_markdown(style);

	if (table->is_figure_only) {
		buf_text(out, is_md ? "```\n" : "");
		buf_text(out, table->figure);
		buf_text(out, is_md ? "```\n\n" : "\n");
		return;
	}
	buf_text(out, is_md ? "### " : "");
	add_colored(out, style, BOLD, table->title);
	buf_text(out, is_md ? "\n\n" : "\n");
	if (table->nr_rows) {
		print_rows(table, style, out);
	} else {
		buf_text(out, is_md ? "none\n" : "  none\n");
	}
	if (table->nr_cut) {
		buf_printf(out, "%s%zu more row%s; --top 0 shows all\n", is_md ? "\n" : "  ",
			table->nr_cut, table->nr_cut == 1 ? "" : "s");
	}
	buf_text(out, is_md && table->note ? "\n" : "");
	for (const char *note = table->note; note; note = table_next_note(note)) {
		print_note(note, table_note_length(note), style, out);
	}
	if (table->figure && !is_md) {
		print_figure(table->figure, table_line_width(style), out);
	}
	buf_char(out, '\n');
}
