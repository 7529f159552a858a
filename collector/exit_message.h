/* SPDX-License-Identifier: Apache-2.0 */
/* The one line on stderr, in the user's words: what was recorded, or why nothing is. */
#ifndef COLLECTOR_EXIT_MESSAGE_H
#define COLLECTOR_EXIT_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/util/config.h"

/*
 * Recording ended: events, losses, CPU cost relative to run_ns, the stream, the next command. A
 * forked child without losses writes it to the log only.
 */
void exit_message_recorded(
	uint64_t nr_events, uint64_t nr_lost, uint64_t cpu_ns, uint64_t run_ns, bool is_child);

/* The stream could not be closed in time. */
void exit_message_unfinished(void);

/*
 * The process ended before the recorder could start, and lost that many events. waits_for: the
 * variable whose file or directory did not respond, CONFIG_NR for none.
 */
void exit_message_never_started(uint64_t nr_lost, enum config_name waits_for);

/* Nothing is recorded: what refused (a path, a call), and its error, -errno. */
void exit_message_refused(const char *what, int code);

#endif
