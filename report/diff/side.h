/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One side of a comparison: what each thing took in each step, as sums over the steps. Only whole
 * steps count (phase.h), of all processes that have any; where either side has no steps, what is
 * compared are whole processes instead. A record of device work belongs to the step whose call
 * launched it; one without a call in the stream to none, and is counted.
 *
 * Memory: by the number of different things, not of steps.
 */
#ifndef REPORT_DIFF_SIDE_H
#define REPORT_DIFF_SIDE_H

#include "report/session/session.h"
#include "report/util/idmap.h"
#include "report/table/welch_ttest.h"

/* S(id, JSON key, what its times are) */
#define DIFF_SECTIONS(S)                                                                   \
	S(STEP, "step", "the step on the host, and sums of device records launched in it") \
	S(PHASE, "phase", "host time of phases")                                           \
	S(OPERATOR, "operator", "host time in the operator itself, without those in it")   \
	S(KERNEL, "kernel", "time of kernels, added up")                                   \
	S(COPY, "copy", "time of copies and sets, added up")

enum diff_section {
#define S(id, key, what) DIFF_##id,
	DIFF_SECTIONS(S)
#undef S
		NR_DIFF_SECTIONS,
};

/* Steps of a thing that may still grow: threads are read a little apart. */
#define DIFF_OPEN 8u

struct diff_open {
	uint64_t ns, calls;
	uint32_t step;
	bool is_used;
};

struct diff_thing {
	uint32_t name; /* of names.h */
	uint64_t calls;
	unsigned __int128 ns, squares; /* of its sum in each step */
	struct diff_open open[DIFF_OPEN];
};

struct diff_side {
	struct idmap things[NR_DIFF_SECTIONS]; /* struct diff_thing by name */
	bool has_steps;			       /* else a sample is a process */
	uint64_t nr_samples;		       /* whole steps */
	size_t nr_processes;		       /* of which they are */
	uint64_t nr_unlaunched;		       /* records without a call */
	uint64_t nr_outside;		       /* events outside whole steps */
	uint64_t nr_untimed;		       /* records without times */
	uint64_t nr_late; /* that came too late for their step: no part of any sum */
};

/* Has any process steps? */
bool diff_has_steps(const struct cmd_input *input);

/* Reads all of it, by steps or by processes. */
void diff_side_read(struct diff_side *side, const struct cmd_input *input, bool has_steps);
void diff_side_fini(struct diff_side *side);

/* The thing's time per step; steps without it count as 0. thing: NULL is all zeros. */
struct welch_sample diff_side_sample(const struct diff_side *side, const struct diff_thing *thing);

#endif
