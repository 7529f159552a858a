/* SPDX-License-Identifier: Apache-2.0 */
/* The changes that `whatif` tries: the standard removals, or those and the factors of the user. */
#ifndef REPORT_REPLAY_WHAT_IF_H
#define REPORT_REPLAY_WHAT_IF_H

#include "report/replay/replay.h"

/* The names of removals, in the order of enum replay_removal; ends with NULL. */
extern const char *const what_if_removals[NR_REPLAY_REMOVALS + 1];
/* The assumption of each removal, for people. */
extern const char *const what_if_assumptions[NR_REPLAY_REMOVALS];

/* Starts with all zeros: then each removal is tried by itself. Else all is changed at once. */
struct what_if {
	struct replay_change change;
	struct what_if_scale *scales;
	size_t nr_scales, capacity;
};

/*
 * Takes "kernel:REGEX=FACTOR" (extended regular expression, anywhere in the name of a kernel or a
 * copy) or "op:REGEX=FACTOR" (the whole name of an operator or range). Returns NULL, or what is
 * wrong, until the next call.
 */
const char *what_if_add_scale(struct what_if *what_if, const char *text);

/* False if there is no such removal. */
bool what_if_add_removal(struct what_if *what_if, const char *name);

/* Returns the scales that apply to an item of that name; none to calls. One thread only. */
uint32_t what_if_scales_of(struct what_if *what_if, uint32_t name, enum replay_item item);

/* The text of scale i if it applied to no name so far, else NULL. */
const char *what_if_unmatched(const struct what_if *what_if, size_t i);

void what_if_fini(struct what_if *what_if);

#endif
