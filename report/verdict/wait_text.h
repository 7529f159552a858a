/* SPDX-License-Identifier: Apache-2.0 */
/* Sums samples of waits by line and call, and writes how a sentence names them. */
#ifndef REPORT_VERDICT_WAIT_TEXT_H
#define REPORT_VERDICT_WAIT_TEXT_H

#include "report/budget/code_samples.h"
#include "report/verdict/code_form.h"

#define NR_WAIT_PLACES 3u

struct wait_sums {
	struct wait_place top[NR_WAIT_PLACES]; /* known ones with most time, the first with most */
	double ns;     /* of all, which shares are of, as in the view wait-lines */
	double gil_ns; /* of waits for Python's lock */
};

/*
 * Sums the waits by line and call. A place of the result has the file or the like that most of its
 * time is for, and then the time of that alone.
 */
struct wait_sums wait_sums_of(const struct wait_place *places);

/* The share of a place, in percent; 0 if there is none. */
double wait_sums_pct(const struct wait_sums *sums, size_t i);

/* Appends as " at train.py(4): load, in read of /data/a.tar", or " in read" where no line is known.
 */
void wait_add_where(
	const struct wait_place_key *key, const struct code_form *form, struct buf *out);

/*
 * As ", 61.3 % of its waits at train.py(4): load, in read of /data/a.tar", or, behind `before`,
 * " at train.py(4): load, in read of /data/a.tar".
 */
void wait_add(const struct wait_sums *sums, const struct code_form *form, const char *before,
	struct buf *out);

/* As "61.3 % of the loop's waits at train.py(4): step, in page faults; 4.2 % at ...". */
void wait_add_all(const struct wait_sums *sums, struct buf *out);

#endif
