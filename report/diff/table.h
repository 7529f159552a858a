/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides of a comparison, thing by thing, and as tables. */
#ifndef REPORT_DIFF_TABLE_H
#define REPORT_DIFF_TABLE_H

#include "report/diff/match.h"
#include "report/diff/side.h"
#include "report/table/table.h"

/* A change is beyond the noise of the steps if chance alone makes it less often than this. */
#define DIFF_NOISE_P 0.01

/* Times are means per step in ns, or of processes where there are no steps. */
struct diff_row {
	uint32_t name_a, name_b; /* of names.h, 0: the other side alone has it */
	enum diff_match match;
	struct welch_sample a, b;
	uint64_t calls_a, calls_b;
	bool has_p; /* p is known: both sides have two steps or more */
	double p;
};

struct diff_rows {
	struct diff_row *rows; /* the largest changes first */
	size_t nr_rows;
};

/* Pairs what both sides have in a section. The caller frees rows. */
struct diff_rows diff_rows_make(
	const struct diff_side *a, const struct diff_side *b, enum diff_section section);

double diff_row_change_ns(const struct diff_row *row);

/* In percent of A; false where A has nothing. */
bool diff_row_change_pct(const struct diff_row *row, double *pct);

/* "beyond", "within" or "unknown" the noise. */
const char *diff_row_noise(const struct diff_row *row);

/* The caller destroys it. base_ns: A's time per step that shares are of, 0 unknown. */
struct table *diff_table_make(
	enum diff_section section, const struct diff_rows *rows, bool has_steps, double base_ns);

#endif
