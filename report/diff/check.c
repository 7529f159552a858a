/* SPDX-License-Identifier: Apache-2.0 */
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
	const char *sign = strrchr(text, '>'); /* names of kernels have some, too */

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

/* What a side took in each step, sorted. The caller frees it. */
static uint64_t *list_values(const struct diff_side *side, struct diff_thing *thing, bool *is_rare)
{
	uint64_t *values = mem_zeroed(side->nr_samples + 1, sizeof(*values));
	size_t nr = thing ? thing->values.nr : 0;

	*is_rare = nr * 2 < side->nr_samples;
	if (nr && nr <= side->nr_samples) {
		samples_median(&thing->values); /* sorts */
		memcpy(values + side->nr_samples - nr, thing->values.values, nr * sizeof(*values));
	}
	return values;
}

static double median_of(const uint64_t *sorted, size_t nr)
{
	return ((double)sorted[(nr - 1) / 2] + (double)sorted[nr / 2]) / 2;
}

/* The change of the means, where medians say nothing. */
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
	bool is_rare_a, is_rare_b;
	uint64_t *of_a = list_values(
		a, row->calls_a ? idmap_get(&a->things[section], row->name_a) : NULL, &is_rare_a);
	uint64_t *of_b = list_values(
		b, row->calls_b ? idmap_get(&b->things[section], row->name_b) : NULL, &is_rare_b);

	if (!row->has_p || (is_rare_a && is_rare_b)) {
		compare_means(judgement);
	} else {
		judgement->base_ns = median_of(of_a, a->nr_samples);
		judgement->has_p = true;
		shift_find(of_a, a->nr_samples, of_b, b->nr_samples, &judgement->change);
		judgement->nr_outliers_a = shift_count_outliers(of_a, a->nr_samples);
		judgement->nr_outliers_b = shift_count_outliers(of_b, b->nr_samples);
	}
	free(of_a);
	free(of_b);
}

static enum diff_verdict verdict_of(
	const struct diff_check *check, const struct diff_judgement *judgement)
{
	/* Of what A has nothing of, anything is more than any share. */
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
