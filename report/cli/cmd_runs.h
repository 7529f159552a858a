/* SPDX-License-Identifier: Apache-2.0 */
/* For cmd_runs.c and what its options do: the runs of some folders, each with its processes. */
#ifndef REPORT_CLI_CMD_RUNS_H
#define REPORT_CLI_CMD_RUNS_H

#include "report/session/session.h"
#include "report/table/table.h"

struct cmd_run {
	size_t number;		    /* as --run has it */
	struct process **processes; /* of the input */
	size_t nr_processes, capacity;
};

struct cmd_runs {
	struct cmd_run *runs; /* the oldest first */
	size_t nr;
	size_t nr_all; /* with those that were not chosen */
	char *folders; /* what the user named, as words for a shell */
};

/* Sets the clocks of its processes and where their loops begin, before they are read. */
void cmd_runs_prepare(const struct cmd_run *run);

/* Sets the local time at which the first process of a struct cmd_run began: a TABLE_SET. */
void cmd_runs_set_begin(const void *run, struct table_cell *cell);

/*
 * The newest run and those before it with the same command, at most `top` (0: all), with what
 * changed from each to the next. The caller destroys it.
 */
struct table *cmd_runs_trend(const struct cmd_runs *runs, size_t top);

/*
 * The same of some folders, for the page of one run; NULL where the command has only one run. Opens
 * the recordings and closes them again, so it comes before the input of the page. The caller
 * destroys the table.
 */
struct table *cmd_runs_history(char *const *paths, int nr_paths, size_t top);

/*
 * Deletes the files of all of these runs, and prints their names; `numbers`: what the user calls
 * the runs. Refuses if a process of them still runs, or may run where nobody can tell. Returns
 * GOOD, or FAILED after saying why.
 */
enum cmd_exit cmd_runs_delete(const struct cmd_runs *runs, const char *numbers);

#endif
