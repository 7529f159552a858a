/* SPDX-License-Identifier: Apache-2.0 */
/* Says what ran and whether all of it was recorded, in a line each, as the start of any output. */
#ifndef REPORT_MODEL_RUN_STATE_H
#define REPORT_MODEL_RUN_STATE_H

#include "report/model/model.h"
#include "report/util/buf.h"

/*
 * Appends the command of a process without the folders of the program and without its interpreter,
 * in at most `width` columns (0: no limit).
 */
void run_state_add_program(struct buf *out, const struct process *process, size_t width);

/* The same of a command in a text, with its arguments. */
void run_state_add_command(struct buf *out, const char *command, size_t width);

/*
 * Appends the local time at which the first of the processes began, by strftime's format; nothing
 * where that is unknown: clocks of traces may begin with the machine.
 */
void run_state_add_begin(
	struct buf *out, struct process *const *processes, size_t nr_processes, const char *format);

/*
 * Appends a line "INCOMPLETE ..." if anything of the processes is missing, and one about hangs that
 * were recorded, without their ends in at most `width` columns. Call it after the scan, since
 * damage in columns is found by reading. lacking: what else is missing, "" for nothing. Returns the
 * number of lines.
 */
size_t run_state_add_losses(struct buf *out, struct process *const *processes, size_t nr_processes,
	const char *lacking, size_t width);

#endif
