/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads have reported and nobody has searched for ends of steps yet. One thread at a time
 * searches; the others leave their reports here and do not wait, however long the one
 * inside does not run. It takes them, the oldest first, before it goes.
 *
 *	step_reports_add(&reports, &report);
 *	while (step_reports_enter(&reports)) {
 *		while (step_reports_take(&reports, &report)) { ... }
 *		step_reports_leave(&reports);
 *	}
 *
 * Any thread and any signal handler; no lock, no allocation.
 */
#ifndef COLLECTOR_STEP_STEP_REPORTS_H
#define COLLECTOR_STEP_STEP_REPORTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/step/step_auto.h"
#include "collector/util/claim.h"

/* That can wait; so many do only if the thread inside lost its core for a hundred steps. */
#define STEP_REPORTS_MOST 256u

enum step_report_kind {
	STEP_REPORT_RANGE,
	STEP_REPORT_CALL,   /* of gprof_step(), when the range ends */
	STEP_REPORT_PERIOD, /* a step began by the period of launches, when the range ends */
};

struct step_report {
	enum step_report_kind kind;
	uint32_t thread;     /* that reports, as in the stream; 0: unknown */
	uint32_t confidence; /* of a period, percent */
	struct step_auto_range range;
	uint64_t order; /* by step_reports_add */
};

/* Zero-initialised: empty. */
struct step_reports {
	struct claim claim; /* of who is inside */
	_Atomic uint64_t nr_added;
	_Atomic uint64_t nr_lost;
	_Atomic uint8_t states[STEP_REPORTS_MOST]; /* of the slots: enum in step_reports.c */
	struct step_report slots[STEP_REPORTS_MOST];
};

/* Without room, the report is counted in nr_lost. */
void step_reports_add(struct step_reports *reports, const struct step_report *report);

/* Returns false if another thread is inside. */
bool step_reports_enter(struct step_reports *reports);

/* Who is inside removes the oldest report. Returns false if none waits. */
bool step_reports_take(struct step_reports *reports, struct step_report *report);

/* Returns true if a report came in the last moment: enter again. */
bool step_reports_leave(struct step_reports *reports);

#endif
