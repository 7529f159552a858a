/* SPDX-License-Identifier: Apache-2.0 */
/* For cmd_runs.c and what its options do: the runs of some folders, each with its processes. */
#ifndef REPORT_CLI_CMD_RUNS_H
#define REPORT_CLI_CMD_RUNS_H

#include "report/session/session.h"

struct cmd_run {
	size_t number;		    /* as --run has it */
	struct process **processes; /* of the input */
	size_t nr_processes, capacity;
};

struct cmd_runs {
	struct cmd_run *runs; /* the oldest first */
	size_t nr;
	char *folders; /* what the user named, as words for a shell */
};

/* How the run ended, or that it has not, in a few words. */
void cmd_runs_add_state(struct buf *out, const struct cmd_run *run);

/*
 * Deletes the files of all of these runs, and prints their names; `numbers`: what the user calls
 * the runs. Refuses if a process of them still runs, or may run where nobody can tell. Returns
 * GOOD, or FAILED after saying why.
 */
enum cmd_exit cmd_runs_delete(const struct cmd_runs *runs, const char *numbers);

#endif
