/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills items into lines of a given width: the first line has the label, the others blanks. Shares
 * become tenths of a percent so that the printed ones add up to 100 %.
 */
#include "report/table/figure_lines.h"

#include <stdio.h>
#include <string.h>

#include "report/util/text.h"

#define LABEL_WIDTH 8u

/* ---- lines ---- */

void figure_lines_begin(struct figure_lines *lines, const char *label)
{
	buf_printf(&lines->text, "%-*s", (int)LABEL_WIDTH, label);
	lines->column = LABEL_WIDTH;
	lines->nr++;
}

void figure_lines_end(struct figure_lines *lines)
{
	buf_char(&lines->text, '\n');
}

/* Items are printable. */
void figure_lines_add(struct figure_lines *lines, const char *item)
{
	bool is_first = lines->column == LABEL_WIDTH;
	size_t length = strlen(item) + 1; /* a comma may follow */

	if (!is_first) {
		buf_char(&lines->text, ',');
		lines->column++;
	}
	if (!is_first && lines->column + 1 + length > lines->width) {
		figure_lines_end(lines);
		figure_lines_begin(lines, "");
		is_first = true;
	}
	buf_printf(&lines->text, "%s%s", is_first ? "" : " ", item);
	lines->column += length - is_first;
}

void figure_lines_add_sentence(struct figure_lines *lines, const char *label, const char *sentence)
{
	size_t start = lines->text.nr_bytes, width = strlen(label);
	struct buf indent = {0};

	buf_pad(&indent, ' ', width);
	buf_char(&indent, '\0');
	text_wrap(&lines->text, sentence, indent.bytes, lines->width);
	memcpy(lines->text.bytes + start, label, width);
	buf_fini(&indent);
}

/* Returns the lines as JSON for the page, which wraps them itself. */
char *figure_lines_json(const char *text)
{
	struct buf json = {0};

	buf_char(&json, '[');
	for (bool is_first = true; *text; is_first = false) {
		size_t length = strcspn(text, "\n");

		buf_text(&json, is_first ? "" : ", ");
		text_add_json(&json, text, length);
		text += length + (text[length] == '\n');
	}
	buf_text(&json, "]");
	buf_char(&json, '\0');
	return json.bytes;
}

/* ---- shares ---- */

static uint64_t share_ns(const struct figure_share *share, const uint64_t *ns)
{
	uint64_t sum = 0;

	for (unsigned int i = share->first; i <= share->last; i++) {
		sum += ns[i];
	}
	return sum;
}

/* Tenths of a percent that add up to 1,000: what is left goes to the largest remainders. */
void figure_shares_tenths(const struct figure_share *shares, size_t nr, const uint64_t *ns,
	uint64_t all_ns, unsigned int *tenths)
{
	double rests[FIGURE_MAX_SHARES];
	unsigned int left = 1000;

	for (size_t i = 0; i < nr; i++) {
		double exact = 1000 * (double)share_ns(&shares[i], ns) / (double)all_ns;

		tenths[i] = (unsigned int)exact;
		rests[i] = exact - tenths[i];
		left -= tenths[i] < left ? tenths[i] : left;
	}
	for (; left && left <= nr; left--) {
		size_t most = 0;

		for (size_t i = 1; i < nr; i++) {
			most = rests[i] > rests[most] ? i : most;
		}
		tenths[most]++;
		rests[most] = -1;
	}
}

void figure_lines_add_share(struct figure_lines *lines, unsigned int tenths, const char *text)
{
	char item[64];

	if (tenths) {
		snprintf(item, sizeof(item), "%u.%u %% %s", tenths / 10, tenths % 10, text);
		figure_lines_add(lines, item);
	}
}

void figure_lines_add_shares(struct figure_lines *lines, const char *label,
	const struct figure_share *shares, size_t nr, const uint64_t *ns, uint64_t all_ns)
{
	unsigned int tenths[FIGURE_MAX_SHARES];

	figure_shares_tenths(shares, nr, ns, all_ns, tenths);
	figure_lines_begin(lines, label);
	for (size_t i = 0; i < nr; i++) {
		figure_lines_add_share(lines, tenths[i], shares[i].text);
	}
	figure_lines_end(lines);
}

void figure_shares_fill(const struct figure_share *shares, size_t nr, const uint64_t *ns,
	uint64_t all_ns, double nr_steps, struct table_cell *cells)
{
	for (size_t i = 0; i < nr && all_ns; i++) {
		uint64_t part_ns = share_ns(&shares[i], ns);

		table_set_number(&cells[2 * i], (double)part_ns / nr_steps);
		table_set_share(&cells[2 * i + 1], (double)part_ns, (double)all_ns);
	}
}
