/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps and record windows at run time: counts steps, consults the schedule, sets collector_mode,
 * writes the step and window rows. Any thread may mark a step; the drain learns whether CUPTI
 * should run.
 */
#ifndef COLLECTOR_STEP_STEP_H
#define COLLECTOR_STEP_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"
#include "collector/step/step_auto.h"

/* Reads GPROF_STEP, GPROF_SCHEDULE and GPROF_CAPTURE; wrong ones become notices and defaults. */
void step_init(uint32_t (*find_call)(const char *name));

/* Opens step 0: writes the first window row and sets collector_mode. */
void step_start(void);

/* Ends a step if `rule` is the one in force. */
void step_mark(enum gprof_step_rule rule);

/* Ends it at an earlier time, of clock_raw(); a schedule follows the current events. */
void step_mark_at(enum gprof_step_rule rule, uint64_t time);

/* A user range of a framework has ended; depending on GPROF_STEP, that may end steps. */
void step_range(const char *name, uint64_t begin, uint64_t end);

/* A parameter has got its gradient. Any thread. */
void step_gradient(void);

/*
 * Is the period of launches needed? Not if a schedule waits for steps, since the period is known
 * late. step_found: by that period, a step began at `time`. Both for the drain thread.
 */
bool step_needs_period(void);
void step_found(uint64_t time, uint32_t confidence);

/*
 * Returns how steps are detected so far; false if GPROF_STEP names the rule, or another thread is
 * busy here.
 */
bool step_verdict(struct step_auto_verdict *verdict);

/*
 * Adds rows of table info that say how the recorder finds steps, unless GPROF_STEP names the rule:
 * step.rule, step.why and step.confidence (0.00 to 1.00), again after each change; the last ones
 * count. At the end (is_last) also that it has found none. step.inner_end: an end that was none.
 * The drain thread's.
 */
void step_add_facts(bool is_last);

/* The end: late kernels may still end steps, but no window opens any more. */
void step_stop(void);

/* Profiler start and stop calls, if GPROF_CAPTURE honours them. */
void step_capture(bool is_on);

/* Does an NVTX range, or a kernel, of that name end a step? The latter is for the drain thread. */
bool step_is_range(const char *name, uint64_t nr_bytes);
bool step_is_kernel(const char *name);

/* Milliseconds of an interval step, 0 if steps are not intervals. */
uint32_t step_interval_ms(void);

/* Is a record window open? */
bool step_is_open(void);

/* Should CUPTI run now? True in and just before ready and record windows, and while kernels count.
 */
bool step_wants_activity(void);

/* Was this call made in a record window? For records that arrive later. */
bool step_is_recorded(uint32_t correlation);

/* Has a record window begun yet? For records without a call. */
bool step_has_recorded(void);

/* Does anything mark steps, even while nothing is recorded? */
bool step_has_source(void);

/* Returns how many steps have ended. */
uint64_t step_now(void);

#define STEP_NO_END UINT32_MAX

/*
 * For the control file, on the drain thread: from now on only the steps first to end - 1 are
 * recorded, whatever GPROF_SCHEDULE and GPROF_CAPTURE say; none if both are equal and above 0. If
 * CUPTI must be ready for that, call step_prepare first, which makes step_wants_activity true.
 */
void step_prepare(uint32_t first, uint32_t end);
void step_command(uint32_t first, uint32_t end);

#endif
