/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which steps are recorded. Pure: a text in, a state for each step number out. */
#ifndef COLLECTOR_STEP_SCHEDULE_H
#define COLLECTOR_STEP_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"

/* Step 0 is the first. After skip_first closed steps: closed, ready, record steps, over and over.
 */
struct schedule {
	uint64_t skip_first;
	uint64_t closed;
	uint64_t ready;
	uint64_t record; /* at least 1 */
	uint64_t repeat; /* cycles; 0 is without end */
};

/*
 * Reads "all", "FIRST-END" or "(FIRST,END)" (FIRST to END - 1; the step before FIRST is ready), or
 * "skip_first=N,closed=N,ready=N,record=N,repeat=N" in any order, with `wait`, `warmup` and
 * `active` for closed, ready and record. Returns 0 or -EINVAL.
 */
int schedule_parse(struct schedule *schedule, const char *text);

/* More than any run has. */
#define SCHEDULE_NO_END ((uint64_t)1 << 48)

/* Reads the digits at *text and skips them. Returns false without digits, or from SCHEDULE_NO_END
 * on. */
bool schedule_take_number(const char **text, uint64_t *number);

/* Reads "FIRST-END" or "(FIRST,END)", END above FIRST. Returns 0 or -EINVAL. */
int schedule_parse_span(uint64_t *first, uint64_t *end, const char *text);

/* The steps first to end - 1, the one before is ready; none at all where both are the same. */
struct schedule schedule_span(uint64_t first, uint64_t end);

enum gprof_window_state schedule_state(const struct schedule *schedule, uint64_t step);

/* Steps from `step` to the next that is not closed; 0 if that one is not, UINT64_MAX if none is. */
uint64_t schedule_until_open(const struct schedule *schedule, uint64_t step);

#endif
