/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that say what to do about a training that is slower than it could be. advice.def is the
 * list: those of the TensorBoard plugin, of nsys and of nvvp with their thresholds, and our own.
 */
#ifndef REPORT_ADVICE_ADVICE_H
#define REPORT_ADVICE_ADVICE_H

#include "report/advice/facts.h"
#include "report/advice/verdict_cause.h"
#include "report/comm/straggler.h"

enum advice_verdict {
	ADVICE_FINDING,
	ADVICE_PASSED,
	ADVICE_NOT_JUDGED, /* what it needs is not in the stream; the evidence says what */
};

struct advice_result {
	enum advice_verdict verdict;
	uint64_t cost_ns;	 /* time that the rule found; the process with most is shown */
	double share;		 /* what the threshold is for, in percent; -1: it is no share */
	const char *of;		 /* what the share is of, or NULL */
	const char *problem;	 /* the rule's, or one that says more of this process */
	const char *remedy;	 /* what may help here: the rule's, or one that fits better */
	struct buf evidence;	 /* a sentence, fit to be shown; the caller frees it */
	enum advice_cause cause; /* whose sites are shown; NR_ADVICE_CAUSES: none */
	unsigned int mask;	 /* and of which times */
};

/* The input that a rule needs to be judged; each need includes the one before it. */
enum advice_need {
	ADVICE_NEEDS_NOTHING,
	ADVICE_NEEDS_DEVICES,	 /* some worked */
	ADVICE_NEEDS_ACTIVITIES, /* few launches lack theirs */
	ADVICE_NEEDS_GAPS,	 /* between them */
};

/* The times that a rule is about. */
enum advice_of {
	ADVICE_OF_BASE,
	ADVICE_OF_LATER, /* but for the first step */
	ADVICE_OF_ALL,	 /* also outside of steps */
};

struct advice_rule {
	const char *name;
	const char *source;  /* the tool that has it, with its name there */
	double threshold;    /* percent, or GB/s of a rule on the rate of copies */
	const char *problem; /* in a few words: how a sentence begins */
	const char *fires;   /* when, with the threshold */
	const char *remedy;  /* what may help */
	/* Judges a process that has what the rule needs; sum: of its cause in those times. */
	void (*judge)(const struct advice_rule *rule, const struct advice_facts *facts,
		const struct advice_facts *all, size_t nr_all, const struct advice_sum *sum,
		struct advice_result *result);
	enum advice_need needs;
	enum advice_of of;
	enum advice_cause cause;
	enum verdict_cause evidence_of; /* NR_VERDICT_CAUSES: of none */
};

extern const struct advice_rule advice_rules[];
extern const size_t advice_nr_rules;

/* "finding", "passed", "not judged". */
extern const char *const advice_verdict_names[];

/* facts: of all processes; at: the one to judge. */
void advice_judge(const struct advice_rule *rule, const struct advice_facts *facts, size_t nr_facts,
	size_t at, struct advice_result *result);

/* As ", which begins steps later", behind a rank; "" if no cause is known. */
const char *advice_straggler_because(enum straggler_cause cause);

/* As "345.8 ms". */
void advice_add_time(struct buf *out, double ns);

/* As "1 gap", "3 gaps". */
void advice_add_count(struct buf *out, uint64_t nr, const char *what);

#endif
