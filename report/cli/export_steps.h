/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step of each row of a process, by the rules of select.h: that of the time when the host did
 * it, or of the call that launched it. What lies in a step that was not seen to end is in none.
 */
#ifndef REPORT_CLI_EXPORT_STEPS_H
#define REPORT_CLI_EXPORT_STEPS_H

#include "report/model/model.h"

struct export_steps;

/* Reads what launched, if the process has steps. 8 bytes for each call that launches. */
struct export_steps *export_steps_create(struct process *process);
void export_steps_destroy(struct export_steps *steps);

/* The number of the step of a row; false if it is in none, or nobody knows. */
bool export_steps_find(
	struct export_steps *steps, const struct batch *batch, uint32_t row, uint64_t *step);

/* The same for a time of the host's. */
bool export_steps_at(struct export_steps *steps, uint64_t tick, uint64_t *step);

#endif
