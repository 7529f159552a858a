/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that are more than memory should hold: sorted runs in files without a name, in $TMPDIR or
 * /tmp, merged from the last row to the first, and then read back from the first to the last.
 */
#ifndef REPORT_KINETO_RUNS_H
#define REPORT_KINETO_RUNS_H

#include "report/kineto/rows.h"

struct kineto_runs;

/* NULL where there is no room for files. */
struct kineto_runs *kineto_runs_create(void);
void kineto_runs_destroy(struct kineto_runs *runs);

/*
 * Adds a run: the n-th row from the last one (n from 0) is row_at(context, n). False if there is no
 * room for it in the file; then it is not in it.
 */
bool kineto_runs_add(struct kineto_runs *runs, size_t nr_rows,
	const struct kineto_row *(*row_at)(const void *context, size_t n), const void *context);

/*
 * Hands out all rows from the last to the first, each of which `change` may change; then the
 * changed ones from the first to the last. False if a file failed on the way.
 */
bool kineto_runs_merge(struct kineto_runs *runs,
	void (*change)(void *context, struct kineto_row *row),
	void (*take)(void *context, const struct kineto_row *row), void *context);

#endif
