/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step of each row of a process, by the rules of select.h: that of the time when the host did
 * it, or of the call that launched it. What lies in a step that was not seen to end is in none.
 */
#ifndef REPORT_SQL_EVENT_STEPS_H
#define REPORT_SQL_EVENT_STEPS_H

#include "report/model/model.h"

struct event_steps;

struct event_steps *event_steps_create(struct process *process);

/*
 * Before steps of rows of a table are asked for: reads what launched, once, if the table goes by
 * that and the process has steps. 8 bytes for each call that launches.
 */
void event_steps_prepare(struct event_steps *steps, unsigned int table);
void event_steps_destroy(struct event_steps *steps);

/* The number of the step of a row; false if it is in none, or nobody knows. */
bool event_steps_find(
	struct event_steps *steps, const struct batch *batch, uint32_t row, uint64_t *step);

/* The same for a time of the host's. */
bool event_steps_at(struct event_steps *steps, uint64_t tick, uint64_t *step);

#endif
