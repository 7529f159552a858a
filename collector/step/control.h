/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands to a running process: the first line of the file gprof.control in the directory of its
 * stream, `start`, `stop` or `steps FIRST-END`. For the drain thread.
 */
#ifndef COLLECTOR_STEP_CONTROL_H
#define COLLECTOR_STEP_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/step/step.h"

/* The arguments of step_command. */
struct control_command {
	uint32_t first, end;
};

#define CONTROL_START ((struct control_command){0, STEP_NO_END})
#define CONTROL_STOP  ((struct control_command){1, 1})

/* After stream_start. Ignores a file that exists already. */
void control_init(void);

/*
 * Returns true if there is a new, valid command. Each command that takes effect, and each error in
 * the file, becomes a notice. One stat() if nothing is new.
 */
bool control_look(struct control_command *command);

#endif
