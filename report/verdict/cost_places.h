/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time that a cause costs comes from: the places of gap_places.h, of all processes that
 * count. The same names in different processes are one place.
 */
#ifndef REPORT_VERDICT_COST_PLACES_H
#define REPORT_VERDICT_COST_PLACES_H

#include "report/verdict/verdict.h"

/* The place of a cause that its sentence names. */
struct cost_place {
	uint32_t name;	    /* of string_pool.h; 0: no place has enough of the time */
	double pct;	    /* its share of what the cause costs */
	unsigned int width; /* columns for the name */
};

/* Returns it; none for a cause whose sentence has no such place, or says it in another way. */
struct cost_place cost_place_find(
	const struct verdict *verdict, const struct verdict_finding *finding);

/* Appends it, as ", 62.3 % of that for aten::linear"; nothing if there is none. */
void cost_place_add(
	const struct cost_place *place, const struct verdict_finding *finding, struct buf *out);

/* Cuts its name further, or leaves it out; returns false if there is none. */
bool cost_place_narrow(struct cost_place *place);

/* Does the budget know places of the cause? */
bool cost_places_has(enum verdict_cause cause);

/*
 * Appends the places of `cause` with most time, as evidence of the finding: means as its own.
 * Start-up comes once for a process, so its times are means of processes.
 */
void cost_places_add(const struct verdict *verdict, const struct verdict_finding *finding,
	enum verdict_cause cause, struct buf *out);

/* The mean that findings have. */
struct advice_mean cost_places_mean(const struct verdict *verdict);

#endif
