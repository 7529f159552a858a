/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/diff.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>

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

static bool fails(const struct diff_check *check, const struct diff_row *row)
{
	double change = diff_row_change_ns(row);

	if (change <= 0 || (row->has_p && row->p >= DIFF_SIGNIFICANT_P)) {
		return false;
	}
	if (check->is_percent && !diff_row_change_pct(row, &change)) {
		return true; /* new: any share of nothing */
	}
	return change > check->limit;
}

enum diff_verdict diff_check_judge(const struct diff_check *check,
	const struct diff_rows sections[NR_DIFF_SECTIONS], const struct diff_row **worst)
{
	const struct diff_rows *rows = &sections[check->section];
	bool has_failed = false;

	*worst = NULL;
	for (size_t i = 0; i < rows->nr_rows; i++) {
		const struct diff_row *row = &rows->rows[i];
		bool is_failed;

		if (!((row->calls_b && fits(check, row->name_b)) ||
			    (row->calls_a && fits(check, row->name_a)))) {
			continue;
		}
		is_failed = fails(check, row);
		if (!*worst || is_failed > has_failed ||
			(is_failed == has_failed &&
				diff_row_change_ns(row) > diff_row_change_ns(*worst))) {
			*worst = row;
		}
		has_failed |= is_failed;
	}
	return has_failed ? DIFF_FAILED : *worst ? DIFF_GOOD : DIFF_NOT_JUDGED;
}
