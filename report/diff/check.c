/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conditions of `diff --fail-on`: reads them, judges the rows of a comparison by them, and
 * shows the judgements. cmd_diff.c parses them first, so that their sections are sampled, and
 * judges them last.
 *
 * A limit is compared with an interval, not with the change alone, so that noise does not fail a
 * build:
 *
 *   change of 99 %     limit
 *      |--x--|           |              passed: the estimate x is not above it
 *                    |---|-x---|        inconclusive
 *                        |    |--x--|   failed: the whole interval is above it
 */
#include "report/diff/diff.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/string_pool.h"
#include "report/ops/phase.h"

static const struct {
	const char *prefix;
	enum diff_section section;
} prefixes[] = {
	{"operator:", DIFF_OPERATOR},
	{"kernel:", DIFF_KERNEL},
	{"copy:", DIFF_COPY},
};

static const char *const step_rows[] = {"step_time", "kernel_time", "copy_time", "run_time"};

/* ---- parsing ---- */

static bool find_what(struct diff_check *check, const char *what)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t length = strlen(prefixes[i].prefix);

		if (strncmp(what, prefixes[i].prefix, length) == 0) {
			check->section = prefixes[i].section;
			memmove(check->pattern, what + length, strlen(what + length) + 1);
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(step_rows) / sizeof(step_rows[0]); i++) {
		if (strcmp(what, step_rows[i]) == 0) {
			check->section = DIFF_STEP;
			return true;
		}
	}
	for (unsigned int i = 0; i < NR_PHASES; i++) {
		if (strcasecmp(what, phase_names[i]) == 0) {
			check->section = DIFF_PHASE;
			return true;
		}
	}
	return false;
}

void diff_check_names(void (*add)(void *context, const char *word), void *context)
{
	for (size_t i = 0; i < sizeof(step_rows) / sizeof(step_rows[0]); i++) {
		add(context, step_rows[i]);
	}
	for (unsigned int i = 0; i < NR_PHASES; i++) {
		add(context, phase_names[i]);
	}
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		add(context, prefixes[i].prefix);
	}
}

static bool find_limit(struct diff_check *check, const char *text)
{
	static const struct {
		const char *unit;
		double factor;
	} units[] = {{"%", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double value = strtod(text, &end);

	if (end == text || !isfinite(value) || value < 0) {
		return false;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit) == 0) {
			check->limit = value * units[i].factor;
			check->is_percent = i == 0;
			return true;
		}
	}
	return false;
}

bool diff_check_parse(struct diff_check *check, const char *text)
{
	const char *sign = strrchr(text, '>'); /* the last one: names of kernels have some, too */

	*check = (struct diff_check){.text = text};
	if (!sign || sign == text) {
		return false;
	}
	check->pattern = mem_text(text);
	check->pattern[sign - text] = '\0';
	if (find_what(check, check->pattern) && find_limit(check, sign + 1)) {
		return true;
	}
	diff_check_fini(check);
	return false;
}

void diff_check_fini(struct diff_check *check)
{
	free(check->pattern);
	check->pattern = NULL;
}

static bool fits(const struct diff_check *check, uint32_t name)
{
	const char *text = string_pool_demangled(name, NULL);

	if (check->section == DIFF_STEP || check->section == DIFF_PHASE) {
		return strcasecmp(text, check->pattern) == 0;
	}
	return fnmatch(check->pattern, text, 0) == 0;
}

/* ---- one row ---- */

/* Compares the means, where medians say nothing. */
static void compare_means(struct diff_judgement *judgement)
{
	const struct diff_row *row = judgement->row;
	double half;

	judgement->is_mean = true;
	judgement->base_ns = row->a.mean;
	judgement->has_p = row->has_p;
	judgement->change = (struct shift){.estimate = diff_row_change_ns(row), .p = row->p};
	if (row->has_p && welch_interval(&row->a, &row->b, &half)) {
		judgement->change.has_interval = true;
		judgement->change.low = judgement->change.estimate - half;
		judgement->change.high = judgement->change.estimate + half;
	}
}

static void compare_row(struct diff_judgement *judgement, const struct diff_side *a,
	const struct diff_side *b, enum diff_section section)
{
	const struct diff_row *row = judgement->row;
	struct diff_values of_a, of_b;

	diff_row_values(row, a, b, section, &of_a, &of_b);
	if (!row->has_p || (of_a.is_rare && of_b.is_rare)) {
		compare_means(judgement);
	} else {
		judgement->base_ns = diff_values_median(&of_a);
		judgement->has_p = true;
		shift_find(of_a.values, of_a.nr, of_b.values, of_b.nr, &judgement->change);
		judgement->change.p = row->p;
		judgement->nr_outliers_a = shift_count_outliers(of_a.values, of_a.nr);
		judgement->nr_outliers_b = shift_count_outliers(of_b.values, of_b.nr);
	}
	free(of_a.values);
	free(of_b.values);
}

static enum diff_verdict verdict_of(
	const struct diff_check *check, const struct diff_judgement *judgement)
{
	/* If A has none of it, a limit in percent is 0: any growth is above it. */
	double limit_ns =
		check->is_percent ? check->limit / 100 * judgement->base_ns : check->limit;

	if (judgement->change.estimate <= limit_ns) {
		return DIFF_PASSED;
	}
	if (!judgement->has_p ||
		(judgement->change.has_interval && judgement->change.low > limit_ns)) {
		return DIFF_FAILED;
	}
	return DIFF_INCONCLUSIVE;
}

/* ---- all rows ---- */

struct diff_judgement diff_check_judge(const struct diff_check *check, const struct diff_side *a,
	const struct diff_side *b, const struct diff_rows sections[NR_DIFF_SECTIONS])
{
	const struct diff_rows *rows = &sections[check->section];
	struct diff_judgement worst = {.verdict = DIFF_NOT_JUDGED};

	for (size_t i = 0; i < rows->nr_rows; i++) {
		const struct diff_row *row = &rows->rows[i];
		struct diff_judgement judgement = {.row = row};

		if (!((row->calls_b && fits(check, row->name_b)) ||
			    (row->calls_a && fits(check, row->name_a)))) {
			continue;
		}
		compare_row(&judgement, a, b, check->section);
		judgement.verdict = verdict_of(check, &judgement);
		if (!worst.row || judgement.verdict > worst.verdict ||
			(judgement.verdict == worst.verdict &&
				judgement.change.estimate > worst.change.estimate)) {
			worst = judgement;
		}
	}
	return worst;
}

/* ---- the table ---- */

struct check_row {
	const char *condition;
	struct diff_judgement of;
	uint32_t name; /* of string_pool.h; 0: not judged */
};

static void add_check(
	struct table *table, const struct diff_check *check, const struct diff_judgement *judgement)
{
	struct check_row row = {.condition = check->text, .of = *judgement};

	if (row.of.row) {
		row.name = row.of.row->calls_b ? row.of.row->name_b : row.of.row->name_a;
	}
	if (!row.of.change.has_interval) {
		row.of.change.low = row.of.change.high = NAN;
	}
	if (!row.of.has_p || row.of.is_mean) {
		row.of.nr_outliers_a = row.of.nr_outliers_b = SIZE_MAX;
	}
	table_add(table, &row);
}

struct table *diff_checks_table(const struct diff_check *checks,
	const struct diff_judgement *judgements, size_t nr, bool has_steps)
{
	static const char *const results[] = {[DIFF_PASSED] = "passed",
		[DIFF_FAILED] = "FAILED",
		[DIFF_INCONCLUSIVE] = "inconclusive",
		[DIFF_NOT_JUDGED] = "not judged"};
	static const char *const tests[] = {"median", "mean"};
	static const struct table_column columns[] = {
		TABLE_COLUMN(
			"condition", "Fails on", TABLE_TEXT, TABLE_MEMBER(check_row, condition)),
		TABLE_COLUMN("result", "Result", TABLE_TEXT,
			TABLE_NAMED(check_row, of.verdict, results)),
		TABLE_COLUMN("name", "Name", TABLE_NAME, TABLE_NONZERO(check_row, name)),
		TABLE_COLUMN("change_ns", "Change", TABLE_MEAN_TIME,
			TABLE_IF(check_row, of.change.estimate, of.row)),
		TABLE_COLUMN("change_low_ns", "Low", TABLE_MEAN_TIME, .is_wide_only = true,
			TABLE_MEMBER(check_row, of.change.low)),
		TABLE_COLUMN("change_high_ns", "High", TABLE_MEAN_TIME, .is_wide_only = true,
			TABLE_MEMBER(check_row, of.change.high)),
		TABLE_COLUMN("change_pct", "of A %", TABLE_PERCENT,
			TABLE_SHARE(check_row, of.change.estimate, of.base_ns)),
		TABLE_COLUMN("change_low_pct", "Low %", TABLE_PERCENT,
			TABLE_SHARE(check_row, of.change.low, of.base_ns)),
		TABLE_COLUMN("change_high_pct", "High %", TABLE_PERCENT,
			TABLE_SHARE(check_row, of.change.high, of.base_ns)),
		TABLE_COLUMN("p", "p", TABLE_NUMBER, .is_p = true,
			TABLE_IF(check_row, of.change.p, of.has_p)),
		TABLE_COLUMN("outliers_a", "Outliers A", TABLE_COUNT,
			TABLE_MEMBER(check_row, of.nr_outliers_a)),
		TABLE_COLUMN("outliers_b", "Outliers B", TABLE_COUNT,
			TABLE_MEMBER(check_row, of.nr_outliers_b)),
		TABLE_COLUMN("by", "By", TABLE_TEXT, .is_wide_only = true,
			TABLE_NAMED(check_row, of.is_mean, tests),
			TABLE_WHOLE(check_row, of.has_p)),
	};
	struct table *table =
		table_create("checks", "Conditions", columns, sizeof(columns) / sizeof(columns[0]));
	bool is_any_mean = false, is_any_short = false;

	for (size_t i = 0; i < nr; i++) {
		add_check(table, &checks[i], &judgements[i]);
		is_any_mean |= judgements[i].is_mean && judgements[i].has_p;
		is_any_short |= judgements[i].has_p && !judgements[i].change.has_interval;
	}
	if (has_steps) {
		table_note(table,
			"Change: median of the differences of steps. Low, High: its 99 %% "
			"confidence interval.");
	}
	if (is_any_short) {
		table_note(table, "With so few steps there is no interval: a change above the "
				  "limit is inconclusive.");
	}
	if (is_any_mean) {
		table_note(table, "Rare operations, in less than half of the steps: mean.");
	}
	return table;
}
