/* SPDX-License-Identifier: Apache-2.0 */
/* Says how a process ended, from its own record or from what remains of it. */
#ifndef REPORT_MODEL_PROCESS_EXIT_H
#define REPORT_MODEL_PROCESS_EXIT_H

#include "report/util/buf.h"
#include "report/model/model.h"

enum process_exit_state {
	PROCESS_EXIT_ENDED,
	PROCESS_EXIT_RUNS,
	/* on another host, on this one before its last boot, or in an invisible container */
	PROCESS_EXIT_UNKNOWN,
};

/* Does it still run? Asks the system, see process_exit_add_text. */
enum process_exit_state process_exit_state(const struct process *process);

/* Is it certainly gone? A process that recorded its end may still write its last events. */
bool process_exit_is_gone(const struct process *process);

/*
 * Appends how it ended, as the rest of a sentence. `all` are the processes of the dump, among which
 * one may have replaced it by exec.
 *
 * If the process has no recorded end and started on this host since the last boot, asks the system
 * whether it still runs.
 */
void process_exit_add_text(
	struct buf *out, const struct process *process, struct process *const *all, size_t nr_all);

/*
 * The same in few words, for a process whose stream is not closed: "still running", "stopped by
 * SIGTERM". Returns false, and appends nothing, for others.
 */
bool process_exit_add_state(struct buf *out, const struct process *process);

#endif
