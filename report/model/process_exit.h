/* SPDX-License-Identifier: Apache-2.0 */
/* How a process ended, in words: by its own account, or by what is left of it. */
#ifndef REPORT_MODEL_PROCESS_EXIT_H
#define REPORT_MODEL_PROCESS_EXIT_H

#include "report/util/buf.h"
#include "report/model/model.h"

enum process_exit_state {
	PROCESS_EXIT_ENDED,
	PROCESS_EXIT_RUNS,
	/* On another host, on this one before its last boot, in a container that is not seen. */
	PROCESS_EXIT_UNKNOWN,
};

/* Does it still run? Asks the system, see process_exit_add_text. */
enum process_exit_state process_exit_state(const struct process *process);

/*
 * Is it certain that it is no more? A process that has said how it ends may still write its last
 * events.
 */
bool process_exit_is_gone(const struct process *process);

/*
 * Appends it, as the rest of a sentence about the process. `all` are the processes of the dump,
 * among which one may go on where this one was replaced. Asks the system whether a process without
 * an end still runs, if it was started here since the last boot.
 */
void process_exit_add_text(
	struct buf *out, const struct process *process, struct process *const *all, size_t nr_all);

/* The process that took this one's place by exec, NULL if there is none among `all`. */
const struct process *process_exit_successor(
	const struct process *process, struct process *const *all, size_t nr_all);

#endif
