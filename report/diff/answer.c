/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first lines of a comparison: is B faster or slower, by how much, is that chance, and what
 * changed most. Without steps it compares whole processes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/diff.h"
#include "report/table/figure_lines.h"
#include "report/table/kernel_name.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"

#define MAX_ITEMS     6u
#define MAX_SAID      2u    /* as many of them are in the sentence */
#define MIN_OF_STEP   0.001 /* smaller changes are no item */
#define MAX_OF_A_NAME 32u

struct answer {
	const struct diff *diff;
	const struct diff_row *row; /* of the time of steps; NULL: a side has none */
	double a_ns, b_ns;	    /* medians of steps, means of processes */
	struct shift shift;	    /* of steps, if their ranks are compared */
	/* For the table. */
	struct buf sentence;
	const char *significance;
	double a_median_ns, b_median_ns, change_ns, p;
	uint64_t a_steps, b_steps;
};

const struct diff_row *diff_time_row(const struct diff *diff)
{
	const struct diff_rows *rows = &diff->sections[DIFF_STEP];

	for (size_t i = 0; i < rows->nr_rows; i++) {
		const char *name = string_pool_text(rows->rows[i].name_a, NULL);

		if (strcmp(name, "step_time") == 0 || strcmp(name, "run_time") == 0) {
			return &rows->rows[i];
		}
	}
	return NULL;
}

/*
 * The times are medians of steps, as on all screens, or means where whole processes are
 * compared.
 */
static struct answer answer_of(const struct diff *diff)
{
	struct answer answer = {.diff = diff, .row = diff_time_row(diff)};
	const struct diff_row *row = answer.row;
	struct diff_values a, b;

	if (!row || !row->calls_a || !row->calls_b) {
		answer.row = NULL;
		return answer;
	}
	answer.a_ns = row->a.mean;
	answer.b_ns = row->b.mean;
	if (diff->sides[0].has_steps) {
		answer.a_ns = row->median_a;
		answer.b_ns = row->median_b;
	}
	if (row->is_ranked) {
		diff_row_values(row, &diff->sides[0], &diff->sides[1], DIFF_STEP, &a, &b);
		shift_find(a.values, a.nr, b.values, b.nr, &answer.shift);
		free(a.values);
		free(b.values);
	}
	return answer;
}

/* ---- what changed most ---- */

static const struct {
	const char *kind;
	bool is_said; /* in the sentence: phases, which contain the others */
} sections[NR_DIFF_SECTIONS] = {[DIFF_PHASE] = {"phase", true},
	[DIFF_OPERATOR] = {"operator", false},
	[DIFF_KERNEL] = {"kernel", false},
	[DIFF_COPY] = {"copy", false}};

/* "Dataloader -68.46 ms" */
static void add_change_of(struct buf *out, const struct diff_row *row, enum diff_section section)
{
	double change_ns = diff_row_change_ns(row);
	uint32_t name = row->calls_b ? row->name_b : row->name_a;
	char time[TEXT_TIME_BYTES];
	struct buf shown = {0};
	size_t nr_bytes;
	const char *text = string_pool_shown(name, &nr_bytes);

	if (section == DIFF_KERNEL) {
		kernel_name_add(&shown, text, nr_bytes, KERNEL_NAME_SHORT);
	} else {
		buf_add(&shown, text, nr_bytes);
	}
	text_add_cut(out, shown.bytes ? shown.bytes : "", shown.nr_bytes, MAX_OF_A_NAME);
	buf_printf(out, " %c%s", change_ns < 0 ? '-' : '+', text_time(time, fabs(change_ns)));
	buf_fini(&shown);
}

static void add_item(
	struct figure_lines *lines, const struct diff_row *row, enum diff_section section)
{
	struct buf item = {0};

	add_change_of(&item, row, section);
	buf_printf(&item, " (%s%s)", sections[section].kind,
		row->match != DIFF_ALONE ? ""
		: row->calls_a		 ? ", gone"
					 : ", new");
	buf_char(&item, '\0');
	figure_lines_add(lines, item.bytes);
	buf_fini(&item);
}

/* Is it a change of some size, and not by chance? */
static bool is_item(const struct diff_row *row, double least_ns)
{
	return fabs(diff_row_change_ns(row)) >= least_ns && diff_row_change_ns(row) != 0 &&
	       (!row->has_p || row->p < DIFF_SIGNIFICANT_P);
}

/*
 * Finds the next largest change of all sections, or of those of the sentence. The rows of a section
 * have the largest changes first, so that `at` of each section is all that a merge needs.
 */
static const struct diff_row *next_item(
	const struct answer *answer, size_t *at, bool is_said, enum diff_section *section)
{
	double least_ns = MIN_OF_STEP * answer->row->a.mean;
	const struct diff_row *largest = NULL;

	for (unsigned int s = DIFF_PHASE; s < NR_DIFF_SECTIONS; s++) {
		const struct diff_rows *rows = &answer->diff->sections[s];

		while (at[s] < rows->nr_rows && !is_item(&rows->rows[at[s]], least_ns)) {
			at[s]++;
		}
		if (at[s] < rows->nr_rows && (!is_said || sections[s].is_said) &&
			(!largest || fabs(diff_row_change_ns(&rows->rows[at[s]])) >
					     fabs(diff_row_change_ns(largest)))) {
			largest = &rows->rows[at[s]];
			*section = (enum diff_section)s;
		}
	}
	if (largest) {
		at[*section]++;
	}
	return largest;
}

/* Lists what became faster and what became slower together, by size. */
static void add_items(struct figure_lines *lines, const struct answer *answer)
{
	size_t at[NR_DIFF_SECTIONS] = {0};
	const struct diff_row *row;
	enum diff_section section;
	unsigned int nr = 0;

	while (nr < MAX_ITEMS && (row = next_item(answer, at, false, &section))) {
		if (!nr++) {
			figure_lines_begin(lines, "Changes");
		}
		add_item(lines, row, section);
	}
	if (nr) {
		figure_lines_end(lines);
	}
}

/* ---- the sentence ---- */

static void add_percent(struct buf *out, const struct answer *answer)
{
	double pct = 100 * fabs(answer->b_ns - answer->a_ns) / answer->a_ns;

	if (pct < 0.1) {
		buf_text(out, "less than 0.1 %");
	} else {
		buf_printf(out, "%.*f %%", pct < 9.95 ? 1 : 0, pct);
	}
}

static void add_change(struct buf *out, const struct answer *answer)
{
	if (answer->b_ns == answer->a_ns) {
		buf_text(out, "as fast as A");
		return;
	}
	if (answer->a_ns > 0) {
		add_percent(out, answer);
		buf_char(out, ' ');
	}
	buf_text(out, answer->b_ns < answer->a_ns ? "faster" : "slower");
}

static void add_proof(struct buf *out, const struct answer *answer)
{
	const struct diff_row *row = answer->row;

	if (!row->has_p) {
		buf_text(out, "significance unknown");
	} else if (row->p < DIFF_SIGNIFICANT_P) {
		buf_text(out, "p < 0.01");
	} else {
		buf_printf(out, "p = %.2f", row->p);
	}
	if (row->has_medians) {
		buf_printf(out, "; %" PRIu64 " and %" PRIu64 " steps", row->a.nr, row->b.nr);
	}
}

/* "176.3 -> 126.3 ms": the unit once where it is the same. */
static void add_times(struct buf *out, const struct answer *answer)
{
	const struct diff_side *sides = answer->diff->sides;
	bool has_warm_up = sides[0].steps.nr_warm_up || sides[1].steps.nr_warm_up;
	bool has_outliers = sides[0].steps.nr_outliers || sides[1].steps.nr_outliers;
	char a[TEXT_TIME_BYTES], b[TEXT_TIME_BYTES];

	text_time(a, answer->a_ns);
	text_time(b, answer->b_ns);
	if (strcmp(strchr(a, ' '), strchr(b, ' ')) == 0) {
		*strchr(a, ' ') = '\0';
	}
	buf_printf(out, "%s %s -> %s%s", answer->row->has_medians ? "median" : "mean", a, b,
		answer->row->has_medians ? " a step" : "");
	if (has_warm_up || has_outliers) {
		buf_printf(out, ", %s%s%s excluded", has_warm_up ? "warm-up" : "",
			has_warm_up && has_outliers ? " and " : "", has_outliers ? "outliers" : "");
	}
}

/* "; Dataloader -68.46 ms, Forward +14.73 ms" */
static void add_said(struct buf *out, const struct answer *answer)
{
	size_t at[NR_DIFF_SECTIONS] = {0};
	const struct diff_row *row;
	enum diff_section section;

	for (unsigned int i = 0; i < MAX_SAID && (row = next_item(answer, at, true, &section));
		i++) {
		buf_text(out, i ? ", " : "; ");
		add_change_of(out, row, section);
	}
}

static void add_sentence(struct buf *out, const struct answer *answer)
{
	const struct diff_row *row = answer->row;

	if (!row) {
		buf_printf(out, "No answer: %s has no complete steps",
			answer->diff->sides[0].nr_samples ? "B" : "A");
		return;
	}
	if (row->has_p && row->p >= DIFF_SIGNIFICANT_P) {
		buf_text(out, "No significant change: ");
		add_times(out, answer);
		if (answer->a_ns != answer->b_ns) {
			buf_text(out, ", ");
			add_change(out, answer);
		}
	} else {
		buf_text(out, "B is ");
		add_change(out, answer);
		buf_text(out, ": ");
		add_times(out, answer);
	}
	buf_text(out, " (");
	add_proof(out, answer);
	buf_char(out, ')');
	add_said(out, answer);
}

static char *make_lines(const struct answer *answer, size_t width)
{
	struct figure_lines lines = {.width = width ? width : SIZE_MAX};
	struct buf sentence = {0};

	add_sentence(&sentence, answer);
	buf_char(&sentence, '\0');
	text_wrap(&lines.text, sentence.bytes, "", lines.width);
	buf_fini(&sentence);
	if (answer->row) {
		add_items(&lines, answer);
	}
	buf_char(&lines.text, '\0');
	return lines.text.bytes;
}

/* ---- the table ---- */

static const struct table_column columns[] = {
	TABLE_COLUMN("answer", "Answer", TABLE_TEXT, TABLE_BUF(answer, sentence)),
	TABLE_COLUMN("a_median_ns", "A median", TABLE_MEAN_TIME, TABLE_MEMBER(answer, a_median_ns)),
	TABLE_COLUMN("b_median_ns", "B median", TABLE_MEAN_TIME, TABLE_MEMBER(answer, b_median_ns)),
	TABLE_COLUMN("change_pct", "of A %", TABLE_PERCENT, TABLE_SHARE(answer, change_ns, a_ns)),
	TABLE_COLUMN(
		"low_ns", "Low", TABLE_MEAN_TIME, TABLE_IF(answer, shift.low, shift.has_interval)),
	TABLE_COLUMN("high_ns", "High", TABLE_MEAN_TIME,
		TABLE_IF(answer, shift.high, shift.has_interval)),
	TABLE_COLUMN("significance", "Change is", TABLE_TEXT, TABLE_MEMBER(answer, significance)),
	TABLE_COLUMN("p", "p", TABLE_NUMBER, .is_p = true, TABLE_MEMBER(answer, p)),
	TABLE_COLUMN("a_steps", "A steps", TABLE_COUNT, TABLE_MEMBER(answer, a_steps)),
	TABLE_COLUMN("b_steps", "B steps", TABLE_COUNT, TABLE_MEMBER(answer, b_steps)),
};

static void finish(struct answer *answer)
{
	const struct diff_row *row = answer->row;
	bool has_steps = row && answer->diff->sides[0].has_steps;

	add_sentence(&answer->sentence, answer);
	answer->significance = row ? diff_row_significance(row) : "unknown";
	answer->a_median_ns = has_steps ? answer->a_ns : NAN;
	answer->b_median_ns = has_steps ? answer->b_ns : NAN;
	answer->a_steps = has_steps ? row->a.nr : UINT64_MAX;
	answer->b_steps = has_steps ? row->b.nr : UINT64_MAX;
	answer->change_ns = answer->b_ns - answer->a_ns;
	answer->p = row && row->has_p ? row->p : NAN;
}

struct table *diff_answer_table(const struct diff *diff, size_t width)
{
	struct table *table =
		table_create("answer", "Answer", columns, sizeof(columns) / sizeof(columns[0]));
	struct answer answer = answer_of(diff);

	finish(&answer);
	table_add(table, &answer);
	buf_fini(&answer.sentence);
	table->is_figure_only = true;
	table->figure = make_lines(&answer, width);
	return table;
}
