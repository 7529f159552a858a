/* SPDX-License-Identifier: Apache-2.0 */
/* Two inputs read and put side by side, for `diff` and for the page of both. */
#ifndef REPORT_DIFF_DIFF_H
#define REPORT_DIFF_DIFF_H

#include <stddef.h>
#include <stdint.h>

#include "report/analysis/headline.h"
#include "report/session/session.h"
#include "report/table/table.h"
#include "report/stats/samples.h"
#include "report/stats/shift.h"
#include "report/stats/welch_ttest.h"
#include "report/util/idmap.h"
#include "report/util/idset.h"

/* ---- the steps ---- */

/* The steps of the job that count: those whose median the first screen gives. */
struct diff_steps {
	struct headline_job_step *steps; /* by rising numbers */
	size_t nr;
	size_t nr_warm_up, nr_outliers; /* whole ones that do not count */
	struct idset *numbers;
};

/*
 * Finds them. Returns the number of processes that the first screen counts, which stay in the
 * array.
 */
size_t diff_steps_find(struct diff_steps *steps, struct process **processes, size_t nr_processes);
void diff_steps_fini(struct diff_steps *steps);

/* ---- one side ---- */

/*
 * One side of a comparison: for each name (an operator, a kernel ...) what it took in each step, as
 * sums over the steps. The steps are those of the first screen; where either side has no steps,
 * whole processes are compared instead. A record of device work belongs to the step whose call
 * launched it; one without a call in the stream belongs to none, and is counted. The time of a step
 * is the median of its ranks; all else counts in each rank's step.
 *
 * Memory: 8 bytes for each name in each of DIFF_MAX_VALUES steps, drawn by their numbers if there
 * are more; in sampled sections in each of all steps.
 */

#define DIFF_MAX_VALUES 4096u

/* S(id, JSON key, title) */
#define DIFF_SECTIONS(S)                                                  \
	S(STEP, "step", "Step: host time, sums of kernel and copy times") \
	S(PHASE, "phase", "Phases: host time")                            \
	S(OPERATOR, "operator", "Operators: host self time")              \
	S(KERNEL, "kernel", "Kernels: total time")                        \
	S(COPY, "copy", "Memcpy and memset: total time")

enum diff_section {
#define S(id, key, title) DIFF_##id,
	DIFF_SECTIONS(S)
#undef S
		NR_DIFF_SECTIONS,
};

/* Steps of a name that may still grow: the walk reads threads a little apart. */
#define DIFF_OPEN 8u

struct diff_open {
	uint64_t ns, calls;
	uint32_t step;
	bool is_used;
};

struct diff_entry {
	uint32_t name; /* of string_pool.h */
	uint64_t calls;
	unsigned __int128 ns, squares; /* of its sum in each step */
	struct diff_open open[DIFF_OPEN];
	struct samples values; /* its sums that are not 0, in the steps that are drawn */
	uint64_t nr_samples;   /* in which it is looked for; 0: those of the side */
};

struct diff_side {
	struct idmap entries[NR_DIFF_SECTIONS]; /* struct diff_entry by name */
	struct diff_steps steps;
	uint32_t sampled;	/* bits of sections: those whose values are all kept */
	bool has_steps;		/* else a sample is a process */
	uint64_t nr_samples;	/* steps that count, of each process */
	uint64_t drawn;		/* of 2^32 steps, how many are drawn */
	uint64_t nr_drawn;	/* those of the steps */
	uint64_t nr_excluded;	/* steps of each process that do not count */
	size_t nr_processes;	/* which these steps are of */
	uint64_t nr_unlaunched; /* records without a call */
	uint64_t nr_outside;	/* events outside whole steps */
	uint64_t nr_untimed;	/* records without times */
	uint64_t nr_late;	/* that came too late for their step: no part of any sum */
};

/* Has any process steps? */
bool diff_has_steps(const struct cmd_input *input);

/* Reads all of it, by steps or by processes. sampled: bits of sections. */
void diff_side_read(
	struct diff_side *side, const struct cmd_input *input, bool has_steps, uint32_t sampled);
void diff_side_fini(struct diff_side *side);

/*
 * Returns the time per step, in which steps without the name count as 0. entry: NULL is all
 * zeros.
 */
struct welch_sample diff_side_sample(const struct diff_side *side, const struct diff_entry *entry);

/* The time of a name in each step that was drawn, 0 included. */
struct diff_values {
	uint64_t *values; /* sorted */
	size_t nr;
	bool is_rare; /* less than half of them are above 0 */
};

/*
 * Returns the times of a name in the steps that were drawn, or in all if its section is sampled.
 * The caller frees the values. entry: NULL is all zeros.
 */
struct diff_values diff_side_values(
	const struct diff_side *side, enum diff_section section, struct diff_entry *entry);
double diff_values_median(const struct diff_values *values);

/* ---- names of both sides ---- */

/*
 * Pairs names of both sides that differ a little: other tile sizes or template arguments, another
 * number at the end, another name space. In this order:
 *
 *     equal    the same name
 *     shape    equal once template arguments, call arguments and numbers are left out; of several,
 *              those that took most are paired first
 *     similar  most words in common: 2 |A and B| / (|A| + |B|) of their words is 0.6 or more, the
 *              most similar pair first (of the DIFF_SIMILAR names that took most on each side)
 */

#define DIFF_SIMILAR 256u

enum diff_match {
	DIFF_EQUAL,
	DIFF_SHAPE,
	DIFF_WORDS,
	DIFF_ALONE,
};

struct diff_name {
	uint32_t name; /* of string_pool.h */
	double weight; /* how much it took */
};

struct diff_pair {
	size_t a, b; /* indices in the arrays, SIZE_MAX: none */
	enum diff_match match;
};

/*
 * Pairs the names of both sides; each is in one pair. Names within a side must differ. Returns the
 * number of pairs, at most nr_a + nr_b, in *pairs, which the caller frees.
 */
size_t diff_match_names(const struct diff_name *a, size_t nr_a, const struct diff_name *b,
	size_t nr_b, struct diff_pair **pairs);

/* ---- both sides ---- */

/* A change is significant if chance alone makes one as large less often than this. */
#define DIFF_SIGNIFICANT_P 0.01

/* Times are means per step in ns, or of processes where there are no steps. */
struct diff_row {
	uint32_t name_a, name_b; /* of string_pool.h, 0: the other side alone has it */
	enum diff_match match;
	struct welch_sample a, b;
	uint64_t calls_a, calls_b;
	bool has_p;	/* p is known: both sides have two steps or more */
	bool is_ranked; /* it is of the Mann-Whitney test, else of Welch's */
	double p;
	bool has_medians; /* it is the time of steps, of which all screens give medians */
	double median_a, median_b;
};

/*
 * There is one test for each row, and all that a screen says of its significance is of that test:
 * Mann and Whitney's (shift.h), in which a few slow steps do not matter. Where it can say nothing,
 * in fewer steps than have an interval and of what is in less than half of them on both sides, it
 * is Welch's test of the means.
 */
struct diff_rows {
	struct diff_row *rows; /* the largest changes first */
	size_t nr_rows;
};

/* Pairs what both sides have in a section. The caller frees rows. */
struct diff_rows diff_rows_make(
	const struct diff_side *a, const struct diff_side *b, enum diff_section section);

/* Returns the times of both its names in the steps that were drawn. The caller frees the values. */
void diff_row_values(const struct diff_row *row, const struct diff_side *a,
	const struct diff_side *b, enum diff_section section, struct diff_values *of_a,
	struct diff_values *of_b);

/* The change of the means, B less A. */
double diff_row_change_ns(const struct diff_row *row);

/* "significant", "not significant" or "unknown". */
const char *diff_row_significance(const struct diff_row *row);

/* The caller destroys it. base_ns: A's time per step that shares are of, 0 unknown. */
struct table *diff_table_make(
	enum diff_section section, const struct diff_rows *rows, bool has_steps, double base_ns);

/* ---- two inputs ---- */

struct diff {
	const char *paths[2]; /* A, B, as the user named them */
	struct diff_side sides[2];
	struct diff_rows sections[NR_DIFF_SECTIONS];
};

/*
 * Reads both, by steps where both have them. The paths must stay. Starts with all zeros. sampled:
 * the sections of conditions.
 */
void diff_run(struct diff *diff, const struct cmd_input *const inputs[2], char *const *paths,
	uint32_t sampled);
void diff_fini(struct diff *diff);

/* The row of the time of steps, or of processes; NULL if there is none. */
const struct diff_row *diff_time_row(const struct diff *diff);

/*
 * The answer in a sentence, with what changed most as lines of text of a width, 0: no limit. The
 * caller destroys it.
 */
struct table *diff_answer_table(const struct diff *diff, size_t width);

/* Tables of what is compared, and of a section of it. The caller destroys them. */
struct table *diff_sides_table(const struct diff *diff);
struct table *diff_section_table(const struct diff *diff, enum diff_section section);

/* ---- conditions ---- */

/*
 * Conditions for scripts, as `step_time>5%`:
 *
 *     WHAT>LIMIT    WHAT   step_time, kernel_time, copy_time, run_time (without steps), a phase
 *                          (forward ...), or operator:PATTERN, kernel:PATTERN, copy:PATTERN with
 *                          the shell's * and ?; any row that fits may fail
 *                   LIMIT  a number with % (of A), or with ns, us, ms, s
 *
 * The change is that of shift.h, so that a few slow steps do not matter; of what is in less than
 * half of the steps on both sides it is that of the means, with Welch's interval. A condition
 *
 *     passes           if the change is at most LIMIT
 *     fails            if all of the change's 99 % confidence interval is above LIMIT
 *     is inconclusive  else: the runs are too short or too noisy
 *
 * With one step on a side, or none, the limit alone decides.
 */

struct diff_check {
	const char *text; /* the whole condition */
	char *pattern;	  /* of names */
	enum diff_section section;
	double limit; /* in percent, or ns */
	bool is_percent;
};

/* From good to bad. */
enum diff_verdict {
	DIFF_PASSED,
	DIFF_INCONCLUSIVE,
	DIFF_NOT_JUDGED, /* neither side has anything of that name */
	DIFF_FAILED,
};

/* A row by a condition. */
struct diff_judgement {
	enum diff_verdict verdict;
	const struct diff_row *row; /* NULL: not judged */
	double base_ns;		    /* A's median, or mean */
	struct shift change;	    /* in ns */
	bool has_p;
	bool is_mean;			     /* a comparison of means */
	size_t nr_outliers_a, nr_outliers_b; /* steps */
};

/* Passes what a condition can judge: step_time, forward, "kernel:". */
void diff_check_names(void (*add)(void *context, const char *word), void *context);

/* False if it is no condition. text must stay. */
bool diff_check_parse(struct diff_check *check, const char *text);
void diff_check_fini(struct diff_check *check);

/*
 * The row that grew most among those that fail, else among inconclusive ones, else among all that
 * fit. The check's section was sampled.
 */
struct diff_judgement diff_check_judge(const struct diff_check *check, const struct diff_side *a,
	const struct diff_side *b, const struct diff_rows sections[NR_DIFF_SECTIONS]);

/* A row for each condition. The caller destroys it. */
struct table *diff_checks_table(const struct diff_check *checks,
	const struct diff_judgement *judgements, size_t nr, bool has_steps);

#endif
