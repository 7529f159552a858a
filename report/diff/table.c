/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the rows of a section from both sides, the largest change first, and the table of them.
 * diff.c calls it once both sides are read.
 *
 * A row has one test. Welch's test of the means is always there; where the ranks of the steps can
 * show a change, the Mann-Whitney test takes its place, because a few slow steps move a mean but
 * not the ranks.
 */
#include "report/diff/diff.h"

#include <math.h>
#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/string_pool.h"

struct shown_row {
	struct diff_row of;
	uint32_t name, a_name; /* the second: where A has another one, else 0 */
	double a_ns, b_ns, change_ns, base_ns, a_stddev_ns, b_stddev_ns;
	const char *significance, *match;
};

static const struct table_column columns[] = {
	TABLE_COLUMN("name", "Name", TABLE_NAME, TABLE_MEMBER(shown_row, name)),
	TABLE_COLUMN("a_ns", "A", TABLE_MEAN_TIME, TABLE_MEMBER(shown_row, a_ns)),
	TABLE_COLUMN("b_ns", "B", TABLE_MEAN_TIME, TABLE_MEMBER(shown_row, b_ns)),
	TABLE_COLUMN("change_ns", "Change", TABLE_MEAN_TIME, TABLE_MEMBER(shown_row, change_ns)),
	TABLE_COLUMN(
		"change_pct", "of A %", TABLE_PERCENT, TABLE_SHARE(shown_row, change_ns, a_ns)),
	TABLE_COLUMN("step_pct", "of A's step %", TABLE_PERCENT,
		TABLE_SHARE(shown_row, change_ns, base_ns)),
	TABLE_COLUMN(
		"significance", "Change is", TABLE_TEXT, TABLE_MEMBER(shown_row, significance)),
	TABLE_COLUMN("p", "p", TABLE_NUMBER, .is_p = true, .is_wide_only = true,
		TABLE_IF(shown_row, of.p, of.has_p)),
	TABLE_COLUMN("a_calls", "A calls", TABLE_NUMBER, .is_wide_only = true,
		TABLE_MEAN(shown_row, of.calls_a, of.a.nr)),
	TABLE_COLUMN("b_calls", "B calls", TABLE_NUMBER, .is_wide_only = true,
		TABLE_MEAN(shown_row, of.calls_b, of.b.nr)),
	TABLE_COLUMN("a_stddev_ns", "A stddev", TABLE_MEAN_TIME, .is_wide_only = true,
		TABLE_IF(shown_row, a_stddev_ns, of.has_p)),
	TABLE_COLUMN("b_stddev_ns", "B stddev", TABLE_MEAN_TIME, .is_wide_only = true,
		TABLE_IF(shown_row, b_stddev_ns, of.has_p)),
	TABLE_COLUMN("match", "Match", TABLE_TEXT, TABLE_MEMBER(shown_row, match)),
	TABLE_COLUMN("a_name", "Name in A", TABLE_NAME, .is_wide_only = true,
		TABLE_NONZERO(shown_row, a_name)),
};

static const char *const keys[] = {
#define S(id, key, title) key,
	DIFF_SECTIONS(S)
#undef S
};

static const char *const titles[] = {
#define S(id, key, title) title,
	DIFF_SECTIONS(S)
#undef S
};

/* ---- rows ---- */

static size_t list_names(
	const struct diff_side *side, enum diff_section section, struct diff_name **names)
{
	const struct idmap *entries = &side->entries[section];
	size_t nr = 0;

	*names = mem_zeroed(entries->nr + 1, sizeof(**names));
	for (size_t i = 0; i < entries->nr; i++) {
		const struct diff_entry *entry = idmap_at(entries, i);

		if (entry->calls) { /* else it was outside whole steps alone */
			(*names)[nr++] = (struct diff_name){entry->name, (double)entry->ns};
		}
	}
	return nr;
}

static struct diff_entry *thing_in(
	const struct diff_side *side, enum diff_section section, uint32_t name, bool is_there)
{
	return is_there ? idmap_get(&side->entries[section], name) : NULL;
}

static struct diff_entry *thing_of_a(
	const struct diff_row *row, const struct diff_side *a, enum diff_section section)
{
	return thing_in(a, section, row->name_a, row->match != DIFF_ALONE || row->name_a);
}

static struct diff_entry *thing_of_b(
	const struct diff_row *row, const struct diff_side *b, enum diff_section section)
{
	return thing_in(b, section, row->name_b, row->match != DIFF_ALONE || row->name_b);
}

void diff_row_values(const struct diff_row *row, const struct diff_side *a,
	const struct diff_side *b, enum diff_section section, struct diff_values *of_a,
	struct diff_values *of_b)
{
	*of_a = diff_side_values(a, section, thing_of_a(row, a, section));
	*of_b = diff_side_values(b, section, thing_of_b(row, b, section));
}

/* Sets the medians, and replaces Welch's p where the ranks of the steps can show a change. */
static void rank(struct diff_row *row, const struct diff_values *a, const struct diff_values *b)
{
	row->median_a = diff_values_median(a);
	row->median_b = diff_values_median(b);
	row->is_ranked =
		row->has_p && shift_has_interval(a->nr, b->nr) && !(a->is_rare && b->is_rare);
	if (row->is_ranked) {
		row->p = shift_p(a->values, a->nr, b->values, b->nr);
	}
}

static void fill(struct diff_row *row, const struct diff_side *a, const struct diff_side *b,
	enum diff_section section)
{
	const struct diff_entry *in_a = thing_of_a(row, a, section);
	const struct diff_entry *in_b = thing_of_b(row, b, section);
	struct diff_values of_a, of_b;

	row->a = diff_side_sample(a, in_a);
	row->b = diff_side_sample(b, in_b);
	row->calls_a = in_a ? in_a->calls : 0;
	row->calls_b = in_b ? in_b->calls : 0;
	row->has_p = a->has_steps && welch_p(&row->a, &row->b, &row->p);
	row->has_medians = in_a && in_b && in_a->nr_samples && in_b->nr_samples;
	if (row->has_p || row->has_medians) {
		diff_row_values(row, a, b, section, &of_a, &of_b);
		rank(row, &of_a, &of_b);
		free(of_a.values);
		free(of_b.values);
	}
}

static int compare(const void *a, const void *b)
{
	double x = fabs(diff_row_change_ns(a)), y = fabs(diff_row_change_ns(b));

	return (x < y) - (x > y);
}

struct diff_rows diff_rows_make(
	const struct diff_side *a, const struct diff_side *b, enum diff_section section)
{
	struct diff_rows rows;
	struct diff_name *names_a, *names_b;
	struct diff_pair *pairs;
	size_t nr_a = list_names(a, section, &names_a), nr_b = list_names(b, section, &names_b);

	rows.nr_rows = diff_match_names(names_a, nr_a, names_b, nr_b, &pairs);
	rows.rows = mem_zeroed(rows.nr_rows + 1, sizeof(*rows.rows));
	for (size_t i = 0; i < rows.nr_rows; i++) {
		rows.rows[i].match = pairs[i].match;
		rows.rows[i].name_a = pairs[i].a == SIZE_MAX ? 0 : names_a[pairs[i].a].name;
		rows.rows[i].name_b = pairs[i].b == SIZE_MAX ? 0 : names_b[pairs[i].b].name;
		fill(&rows.rows[i], a, b, section);
	}
	qsort(rows.rows, rows.nr_rows, sizeof(*rows.rows), compare);
	free(pairs);
	free(names_a);
	free(names_b);
	return rows;
}

double diff_row_change_ns(const struct diff_row *row)
{
	return row->b.mean - row->a.mean;
}

const char *diff_row_significance(const struct diff_row *row)
{
	return !row->has_p		     ? "unknown"
	       : row->p < DIFF_SIGNIFICANT_P ? "significant"
					     : "not significant";
}

/* ---- tables ---- */

static const char *match_text(const struct diff_row *row)
{
	static const char *const texts[] = {
		[DIFF_EQUAL] = "", [DIFF_SHAPE] = "~", [DIFF_WORDS] = "~~"};

	if (row->match == DIFF_ALONE) {
		return row->calls_a ? "gone" : "new";
	}
	return texts[row->match];
}

/* Shows the name in B, unless only A has it: B is what runs now. */
static void add_row(struct table *table, const struct diff_row *row, double base_ns)
{
	struct shown_row shown = {.of = *row,
		.name = row->calls_b ? row->name_b : row->name_a,
		.a_ns = row->has_medians ? row->median_a : row->a.mean,
		.b_ns = row->has_medians ? row->median_b : row->b.mean,
		.base_ns = row->has_medians ? row->median_a : base_ns,
		.a_stddev_ns = sqrt(row->a.variance),
		.b_stddev_ns = sqrt(row->b.variance),
		.significance = diff_row_significance(row),
		.match = match_text(row)};

	shown.change_ns = shown.b_ns - shown.a_ns;
	if (row->match != DIFF_ALONE && row->name_a != row->name_b) {
		shown.a_name = row->name_a;
	}
	table_add(table, &shown);
}

struct table *diff_table_make(
	enum diff_section section, const struct diff_rows *rows, bool has_steps, double base_ns)
{
	struct buf title = {0};
	struct table *table;

	if (has_steps && section == DIFF_STEP) {
		buf_text(&title, "Step: median time, mean sums of kernel and copy times");
	} else {
		buf_printf(
			&title, "%s, mean per %s", titles[section], has_steps ? "step" : "process");
	}
	buf_char(&title, '\0');
	table = table_create(
		keys[section], title.bytes, columns, sizeof(columns) / sizeof(columns[0]));
	table->columns[0].is_kernel = section == DIFF_KERNEL;
	buf_fini(&title);
	for (size_t i = 0; i < rows->nr_rows; i++) {
		add_row(table, &rows->rows[i], base_ns);
	}
	return table;
}
