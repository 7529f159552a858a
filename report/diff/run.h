/* SPDX-License-Identifier: Apache-2.0 */
/* Two inputs read and put side by side, for `diff` and for the page of both. */
#ifndef REPORT_DIFF_RUN_H
#define REPORT_DIFF_RUN_H

#include "report/session/session.h"
#include "report/diff/table.h"

struct diff {
	const char *paths[2]; /* A, B, as the user named them */
	struct diff_side sides[2];
	struct diff_rows sections[NR_DIFF_SECTIONS];
};

/* Reads both, by steps where both have them. The paths must stay. Starts with all zeros. */
void diff_run(struct diff *diff, const struct cmd_input *const inputs[2], char *const *paths);
void diff_fini(struct diff *diff);

/* What is compared, and a section of it. The caller destroys them. */
struct table *diff_sides_table(const struct diff *diff);
struct table *diff_section_table(const struct diff *diff, enum diff_section section);

#endif
