/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects the end of a step from the ranges that a framework marks: the end of its optimizer's
 * step, or the begin of a fetch from its data loader. Pure logic: names and times in, ends of steps
 * out. No clock, no allocation, no lock; the caller admits one thread at a time.
 *
 * One step of the optimizer is one step, however many batches were fetched. Several optimizers in
 * one iteration form a group and are one step. The group is learned: with a data loader, it is what
 * steps between two fetches; without one, the names before one of them repeats. An optimizer that
 * steps later than the known length of the group belongs to the previous step.
 *
 * Two optimizers of the same name, such as those of a GAN, differ in how many parameters get a
 * gradient before they step. Where two such numbers alternate, two steps of the optimizer are one
 * step.
 */
#ifndef COLLECTOR_STEP_STEP_AUTO_H
#define COLLECTOR_STEP_STEP_AUTO_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"

/*
 * This many fetches without an optimizer are a separate loop; this many optimizer steps per fetch
 * are no group.
 */
#define STEP_AUTO_PATIENCE 16u
#define STEP_AUTO_NAMES	   64u /* optimizers of a group */

/*
 * So many steps in a row repeat the one before the last: from the first step on, or else; so many
 * again where that was an error.
 */
#define STEP_AUTO_TURNS	      2u
#define STEP_AUTO_LATER_TURNS 6u
#define STEP_AUTO_DOUBTED     64u

/* Two optimizers of the same name that take turns. */
struct step_auto_turns {
	uint64_t last, before;	/* keys of the last two steps of the optimizer; 0: none */
	uint64_t first, second; /* keys of the pair, if are_known */
	uint32_t nr, nr_needed; /* in a row */
	uint64_t first_end;	/* when the first optimizer step ended, a time */
	uint32_t doubt;		/* grows with each step out of turn */
	bool are_known, is_second_next;
};

/* Times (of the caller's clock) at which steps ended, the oldest first. */
struct step_auto_ends {
	uint32_t nr;
	uint64_t times[STEP_AUTO_PATIENCE + 1];
};

struct step_auto {
	enum gprof_step_rule wanted; /* 0: whatever comes */
	enum gprof_step_rule rule;   /* in force; 0: none yet */
	/* of the data loader */
	uint64_t fetched_at; /* begin of the last fetch */
	uint64_t nr_fetches;
	bool has_left_loader; /* steps have nothing to do with its fetches */
	bool has_zero_grad;   /* there is an optimizer that has not stepped yet */
	/* of the optimizers */
	uint32_t nr_wanted; /* that step in one iteration, with a loader */
	uint32_t nr_seen;   /* in this iteration */
	uint32_t nr_short;  /* iterations in a row with fewer */
	bool was_short;
	uint64_t names[STEP_AUTO_NAMES]; /* hashes */
	uint64_t seen;			 /* one bit per name */
	uint32_t nr_names;
	bool has_more_names; /* more optimizers than there is room for */
	struct step_auto_turns turns;
	uint64_t nr_gradients; /* at the last step of the optimizer */
	uint32_t period_confidence;
	uint64_t last_name, last_begin, last_end;
	struct step_auto_ends held; /* candidates for ends of steps */
};

/* A range that has ended. */
struct step_auto_range {
	uint64_t begin, end;
	uint64_t name;	       /* hash */
	uint64_t nr_gradients; /* that parameters have got so far; 0 always where this is unknown */
	uint32_t kind;	       /* see step_auto.c */
};

/* Says how steps are found, for people. */
struct step_auto_verdict {
	enum gprof_step_rule rule; /* 0: no step was found */
	uint32_t confidence;	   /* percent */
	const char *why;	   /* never NULL */
	uint64_t inner_end;	   /* an end of a step that was none, as it is now known; 0: none */
};

/* wanted: 0, GPROF_STEP_OPTIMIZER or GPROF_STEP_DATALOADER. */
void step_auto_init(struct step_auto *a, enum gprof_step_rule wanted);

/* Fills in name and kind. Returns false if a range of that name says nothing of steps. */
bool step_auto_knows(const char *name, struct step_auto_range *range);

/* Is it a fetch from a data loader? */
bool step_auto_is_fetch(const char *name);

/* A range has ended: adds to *ends, which the caller made empty, the steps that end with that. */
void step_auto_range(
	struct step_auto *a, const struct step_auto_range *range, struct step_auto_ends *ends);

/*
 * The program itself marks the end of a step. From then on nothing else counts, unless another rule
 * is configured. Returns false if ranges have ended this step already.
 */
bool step_auto_call(struct step_auto *a);

/*
 * The period of launches ends a step, with that confidence (percent). Returns false if a better
 * rule is known, or the framework's ranges are still undecided.
 */
bool step_auto_period(struct step_auto *a, uint32_t confidence);

struct step_auto_verdict step_auto_verdict(const struct step_auto *a);

#endif
