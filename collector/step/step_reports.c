/* SPDX-License-Identifier: Apache-2.0 */
/* Slots that any thread fills and the thread inside empties: see step_reports.h. */
#include "collector/step/step_reports.h"

/* States of a slot. A slot that a signal handler left half written is never used again. */
enum { FREE, BEING_WRITTEN, READY, BEING_READ };

static bool change(_Atomic uint8_t *state, uint8_t from, uint8_t to)
{
	return atomic_compare_exchange_strong(state, &from, to);
}

void step_reports_add(struct step_reports *reports, const struct step_report *report)
{
	uint64_t order = atomic_fetch_add(&reports->nr_added, 1);
	uint32_t at = 0;

	while (at < STEP_REPORTS_MOST && !change(&reports->states[at], FREE, BEING_WRITTEN)) {
		at++;
	}
	if (at == STEP_REPORTS_MOST) {
		atomic_fetch_add(&reports->nr_lost, 1);
		return;
	}
	reports->slots[at] = *report;
	reports->slots[at].order = order;
	atomic_store(&reports->states[at], READY);
}

bool step_reports_enter(struct step_reports *reports)
{
	return claim_try(&reports->claim, CLAIM_MOST_NS);
}

/* The slot of the oldest report; STEP_REPORTS_MOST if none waits. */
static uint32_t find_oldest(const struct step_reports *reports)
{
	uint32_t oldest = STEP_REPORTS_MOST;

	for (uint32_t i = 0; i < STEP_REPORTS_MOST; i++) {
		if (atomic_load(&reports->states[i]) == READY &&
			(oldest == STEP_REPORTS_MOST ||
				reports->slots[i].order < reports->slots[oldest].order)) {
			oldest = i;
		}
	}
	return oldest;
}

bool step_reports_take(struct step_reports *reports, struct step_report *report)
{
	uint32_t at = find_oldest(reports);

	if (at == STEP_REPORTS_MOST || !change(&reports->states[at], READY, BEING_READ)) {
		return false;
	}
	*report = reports->slots[at];
	atomic_store(&reports->states[at], FREE);
	return true;
}

/* Only states are looked at: another thread may be inside, and slots be written anew. */
bool step_reports_leave(struct step_reports *reports)
{
	uint32_t at = 0;

	claim_drop(&reports->claim);
	while (at < STEP_REPORTS_MOST && atomic_load(&reports->states[at]) != READY) {
		at++;
	}
	return at < STEP_REPORTS_MOST;
}
