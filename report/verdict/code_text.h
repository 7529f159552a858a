/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which code runs, or waits, in the time that a cause costs, by the samples of
 * code_samples.h, and writes how a finding names it.
 */
#ifndef REPORT_VERDICT_CODE_TEXT_H
#define REPORT_VERDICT_CODE_TEXT_H

#include "report/verdict/verdict.h"

#define NR_CODE_PLACES 3u

/* The CPU samples in the time that a cause costs. */
struct code_found {
	struct code_place top[NR_CODE_PLACES]; /* those with most samples, the first with most */
	uint64_t nr; /* samples with a known place, which shares are of, as in the view cpu-lines */
	double ns;   /* CPU time of all samples */
	bool has_place;	 /* the thread mostly computed, and the first has enough samples */
	bool is_waiting; /* the thread mostly did not compute in user mode */
};

/* The samples of waits in that time. */
struct wait_found {
	struct wait_place top[NR_CODE_PLACES]; /* known ones with most time, the first with most */
	double ns;	 /* of all, which shares are of, as in the view wait-lines */
	bool has_place;	 /* the thread mostly waited, and the first has enough samples */
	bool is_at_line; /* then nearly all of it is of the first */
	bool is_for_gil; /* then most of the time is of waits for Python's lock */
};

/* How a sentence names the first place: with its share, and names in so many columns. */
struct code_form {
	bool has_share;
	bool keeps_share;	   /* longer than names, as it tells how little is of the place */
	bool has_function;	   /* behind its line, where code_add_line writes it */
	unsigned int width;	   /* of the place */
	unsigned int object_width; /* of what it waits for; 0: leaves that out */
};

/* What a sentence may say of code, and how. */
struct code_words {
	struct code_found code;
	struct wait_found waits;
	struct code_found holders; /* if waits.is_for_gil: what other threads run meanwhile */
	struct code_form form;
};

/* Finds it for a cause that has such a part, for the widest form; else it is all zeros. */
struct code_words code_words_of(
	const struct verdict *verdict, const struct verdict_finding *finding);

/* Says less, or cuts names further; returns false if there is no more to leave out. */
bool code_form_narrow(struct code_form *form);

/* The share of a place, in percent. */
double code_found_pct(const struct code_found *found, size_t i);

/* A place as the form has it: without the function, if need be, before the file is cut. */
void code_add_line(uint32_t place, const struct code_form *form, struct buf *out);

void code_add_place(const struct code_place *place, unsigned int width, struct buf *out);

/* As ", 61.3 % of its CPU samples at dataset.py(41): load", or " at dataset.py(41): load". */
void code_add(const struct code_found *found, const struct code_form *form, const char *of,
	struct buf *out);

/*
 * As ", 61.3 % of its waits at train.py(4): load, in read of /data/a.tar", or, behind `before`,
 * " at train.py(4): load, in read of /data/a.tar".
 */
void wait_add(const struct wait_found *found, const struct code_form *form, const char *before,
	struct buf *out);

/* As "61.3 % of the loop's waits at train.py(4): step, in page faults; 4.2 % at ...". */
void wait_add_all(const struct wait_found *found, struct buf *out);

#endif
