/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which of the runs in some folders a command reads, see runs.h. */
#ifndef REPORT_SESSION_RUN_CHOICE_H
#define REPORT_SESSION_RUN_CHOICE_H

#include "report/session/runs.h"
#include "report/util/buf.h"

#define RUN_CHOICE_ALL "all"

/* A recording that was found. */
struct run_choice_process {
	struct process *process; /* NULL: it is not wanted for another reason */
	size_t folder; /* 1 + the index of the folder among the named ones; 0: the stream itself was
			  named */
	bool is_chosen;
};

/* The folders and files that the user named, with the recordings in them. */
struct run_choice {
	struct runs_process *runs;
	struct run_choice_process *processes;
	size_t nr, run_capacity, capacity;
	size_t nr_runs;
};

/* Is it "all", or a list of numbers, or an ID, as GPROF_RUN has them? */
bool run_choice_is_valid(const char *text);

/* process: NULL: a file of no run. `kept`: the process, NULL if it will not be there. */
void run_choice_add(struct run_choice *choice, const struct process *process, struct process *kept,
	size_t folder);

/*
 * Chooses: NULL: of each folder the newest run, and all files that were named themselves; else the
 * runs of that text. Imported traces are chosen unless the text names runs.
 */
void run_choice_make(struct run_choice *choice, const char *text);

/*
 * Appends what was left out, in a line: "2 older runs in gprof-dump: --run 1, --run 2; ...".
 * paths: what was named. Appends nothing where nothing was left out.
 */
void run_choice_add_others(
	struct buf *out, const struct run_choice *choice, char *const *paths, size_t nr_paths);

/* Appends which runs there are, as the rest of a sentence. */
void run_choice_add_known(struct buf *out, const struct run_choice *choice);

void run_choice_fini(struct run_choice *choice);

#endif
