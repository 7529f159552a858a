/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the summaries that a command names, and prints warnings about them on stderr. */
#ifndef REPORT_REDUCE_REDUCED_JOB_H
#define REPORT_REDUCE_REDUCED_JOB_H

#include <stdbool.h>

#include "report/reduce/reduced.h"

/*
 * Merges the files into an empty summary and sorts its processes. Returns 0, or CMD_FAILED after
 * printing an error.
 */
int reduced_job_read(struct reduced *reduced, char *const *paths, int nr_paths);

/* The number of incomplete processes and of their missing events. */
struct reduced_missing {
	size_t nr_processes;
	uint64_t nr_events;
};
struct reduced_missing reduced_job_missing(const struct reduced *reduced);

/*
 * Warns of processes whose idle time is unknown, since their launches lack activities; of the first
 * ones by their ranks. Returns true if there are any.
 */
bool reduced_job_warn_lost(const struct reduced *reduced);

/*
 * Warns of these, and of ranks that are missing, repeated or incomplete. Returns true if there are
 * any.
 */
bool reduced_job_warn(const struct reduced *reduced);

#endif
