/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions for scripts, as `step_time>5%`:
 *
 *     WHAT>LIMIT    WHAT   step_time, kernel_time, copy_time, run_time (without steps), a phase
 *                          (forward ...), or operator:PATTERN, kernel:PATTERN, copy:PATTERN with
 *                          the shell's * and ?; any row that fits may fail
 *                   LIMIT  a number with % (of A), or with ns, us, ms, s
 *
 * One fails if the time grew by more than LIMIT and the change is beyond the noise of the steps;
 * where the noise is unknown (one step on a side, or none) the limit alone decides.
 */
#ifndef REPORT_DIFF_CHECK_H
#define REPORT_DIFF_CHECK_H

#include "report/diff/table.h"

struct diff_check {
	const char *text; /* the whole condition */
	char *pattern;	  /* of names */
	enum diff_section section;
	double limit; /* in percent, or ns */
	bool is_percent;
};

enum diff_verdict {
	DIFF_GOOD,
	DIFF_FAILED,
	DIFF_NOT_JUDGED, /* nothing of that name on either side */
};

/* False if it is no condition. text must stay. */
bool diff_check_parse(struct diff_check *check, const char *text);
void diff_check_fini(struct diff_check *check);

/* *worst: the row that grew most among those that fail, else among all that fit; may be NULL. */
enum diff_verdict diff_check_judge(const struct diff_check *check,
	const struct diff_rows sections[NR_DIFF_SECTIONS], const struct diff_row **worst);

#endif
