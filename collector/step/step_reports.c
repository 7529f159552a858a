/* SPDX-License-Identifier: Apache-2.0 */
/* Slots that any thread fills and the thread inside empties: see step_reports.h. */
#include "collector/step/step_reports.h"

void step_reports_init(struct step_reports *reports)
{
	stack_init(&reports->free);
	stack_init(&reports->ready);
	stack_init(&reports->ordered);
}

/* A slot that a signal handler has taken and left is never used again. */
void step_reports_add(struct step_reports *reports, const struct step_report *report)
{
	uint32_t at =
		stack_take(&reports->free, reports->links, &reports->nr_used, STEP_REPORTS_MAX);

	if (at == STACK_NONE) {
		atomic_fetch_add(&reports->nr_lost, 1);
		return;
	}
	reports->slots[at] = *report;
	stack_push(&reports->ready, reports->links, at);
}

bool step_reports_enter(struct step_reports *reports)
{
	return claim_try(&reports->claim, CLAIM_MAX_NS);
}

bool step_reports_take(struct step_reports *reports, struct step_report *report)
{
	uint32_t at = stack_pop_oldest(&reports->ordered, &reports->ready, reports->links);

	if (at == STACK_NONE) {
		return false;
	}
	*report = reports->slots[at];
	stack_push(&reports->free, reports->links, at);
	return true;
}

bool step_reports_leave(struct step_reports *reports)
{
	claim_drop(&reports->claim);
	return !stack_is_empty(&reports->ready);
}
