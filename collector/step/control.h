/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands to a process that runs: the first line of the file gprof.control in the directory of its
 * stream, `start`, `stop` or `steps FIRST-END`. The drain thread's own.
 */
#ifndef COLLECTOR_STEP_CONTROL_H
#define COLLECTOR_STEP_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* As step_command wants it. */
struct control_command {
	uint32_t first, end;
};

/* After stream_start. What is there already was meant for others, and is left alone. */
void control_init(void);

/*
 * True if there is a command that was not there at the last look, and what it says can be done.
 * What was obeyed, and what is wrong with a file that is not, becomes a notice. One stat() where
 * nothing is new.
 */
bool control_look(struct control_command *command);

#endif
