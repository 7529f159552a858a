/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which code runs, or waits, in the time that a cause costs, by the samples of
 * code_samples.h, and writes how a finding names it.
 */
#ifndef REPORT_VERDICT_CODE_TEXT_H
#define REPORT_VERDICT_CODE_TEXT_H

#include "report/verdict/code_form.h"
#include "report/verdict/verdict.h"
#include "report/verdict/wait_text.h"

#define NR_CODE_PLACES 3u

/* The CPU samples in the time that a cause costs. */
struct code_found {
	struct code_place top[NR_CODE_PLACES]; /* those with most samples, the first with most */
	uint64_t nr; /* samples with a known place, which shares are of, as in the view cpu-lines */
	double ns;   /* CPU time of all samples */
	bool has_place;	 /* the thread mostly computed, and the first has enough samples */
	bool is_at_line; /* then nearly all of them are at the first */
	bool is_waiting; /* the thread mostly did not compute ... */
	bool has_kernel; /* ... also not in the kernel, of which there are samples */
	bool is_held; /* CODE_GIL: the lock is held at the places; else other threads run there */
};

/* The samples of waits in that time. */
struct wait_found {
	struct wait_sums sums;
	bool has_place;	 /* the thread mostly waited, and the first has enough samples */
	bool is_at_line; /* then nearly all of it is of the first */
	bool is_for_gil; /* then most of the time is of waits for Python's lock */
};

/* What a sentence may say of code, and how. */
struct code_words {
	struct code_found code;
	struct wait_found waits;
	struct code_found holders; /* if waits.is_for_gil: of CODE_GIL */
	struct code_form form;
};

/*
 * Finds it for a cause that has such a part, for the widest form; else it is all zeros, but for the
 * form where a sentence has a place of another kind.
 */
struct code_words code_words_of(
	const struct verdict *verdict, const struct verdict_finding *finding);

/* The share of a place, in percent. */
double code_found_pct(const struct code_found *found, size_t i);

void code_add_place(const struct code_place *place, unsigned int width, struct buf *out);

/* As ", 61.3 % of its CPU samples at dataset.py(41): load", or " at dataset.py(41): load". */
void code_add(const struct code_found *found, const struct code_form *form, const char *of,
	struct buf *out);

#endif
