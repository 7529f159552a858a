/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries of `reduce` as what a command reads, and what it says of them on stderr. */
#ifndef REPORT_REDUCE_REDUCED_JOB_H
#define REPORT_REDUCE_REDUCED_JOB_H

#include <stdbool.h>

#include "report/reduce/reduced.h"

/*
 * Reads the files into an empty one, all together and in the order of ranks. Returns 0, or
 * CMD_FAILED after saying why.
 */
int reduced_job_read(struct reduced *reduced, char *const *paths, int nr_paths);

/* How many processes are not complete, and how many events are missing of all. */
struct reduced_missing {
	size_t nr_processes;
	uint64_t nr_events;
};
struct reduced_missing reduced_job_missing(const struct reduced *reduced);

/* Says which ranks are missing, are there several times or are incomplete; true if any is. */
bool reduced_job_tell(const struct reduced *reduced);

#endif
