/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps reports of threads that nobody has searched for ends of steps yet. One thread at a time
 * searches; the others leave their reports here and do not wait, however long the thread inside
 * gets no core. It takes them, the oldest first, before it leaves.
 *
 *	step_reports_add(&reports, &report);
 *	while (step_reports_enter(&reports)) {
 *		while (step_reports_take(&reports, &report)) { ... }
 *		if (!step_reports_leave(&reports)) {
 *			break;
 *		}
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
#include "collector/util/stack.h"

/* So many reports can wait; more do only if the thread inside lost its core for a hundred steps. */
#define STEP_REPORTS_MAX 256u

enum step_report_kind {
	STEP_REPORT_RANGE,
	STEP_REPORT_CALL,   /* the program called gprof_step() at range.end */
	STEP_REPORT_PERIOD, /* by the period of launches, a step began at range.end */
};

struct step_report {
	enum step_report_kind kind;
	uint32_t thread;     /* the reporting thread's id in the stream; 0: unknown */
	uint32_t confidence; /* percent; for a period */
	struct step_auto_range range;
};

struct step_reports {
	struct claim claim; /* held by the thread inside */
	_Atomic uint64_t nr_lost;
	struct stack free, ready;
	struct stack ordered;	  /* ready ones, the oldest on top; for the thread inside */
	_Atomic uint32_t nr_used; /* slots, ever */
	_Atomic uint32_t links[STEP_REPORTS_MAX];
	struct step_report slots[STEP_REPORTS_MAX];
};

/* All zero before: makes it empty. */
void step_reports_init(struct step_reports *reports);

/* Without room, the report is counted in nr_lost. */
void step_reports_add(struct step_reports *reports, const struct step_report *report);

/* Returns false if another thread is inside. */
bool step_reports_enter(struct step_reports *reports);

/* The thread inside removes the oldest report. Returns false if none waits. */
bool step_reports_take(struct step_reports *reports, struct step_report *report);

/* Returns true if a report has come meanwhile: the caller should enter again. */
bool step_reports_leave(struct step_reports *reports);

#endif
