/* SPDX-License-Identifier: Apache-2.0 */
/* For cmd_reduce.c and mpi_main.c: what to reduce, a share of it, and the result. */
#ifndef REPORT_CLI_CMD_REDUCE_H
#define REPORT_CLI_CMD_REDUCE_H

#include "report/session/session.h"
#include "report/stream/dumpdir.h"
#include "report/reduce/reduced.h"

struct cmd_reduce {
	const char *output, *run;  /* as run_choice_make takes it */
	uint64_t nr_jobs;	   /* 0: one for each core */
	uint64_t share, nr_shares; /* of the paths; 0 shares: all */
	struct dumpdir paths;
	enum cmd_exit status; /* INCOMPLETE if some path was not there */
};

/*
 * Takes the options, and the streams and summaries that the arguments name. Returns 0, CMD_USAGE or
 * CMD_FAILED after saying why, or COMMON_OPTIONS_HELP. A share may have no paths. In any case the
 * caller ends with dumpdir_fini(&asked->paths).
 */
int cmd_reduce_take(struct cmd_reduce *asked, int argc, char **argv);

/*
 * Reduces every `stride`-th path from `first` on, one after the other, into an empty one, and says
 * on stderr what is wrong with them. Returns GOOD, INCOMPLETE, or FAILED if they do not add up.
 */
enum cmd_exit cmd_reduce_share(
	struct reduced *into, const struct dumpdir *paths, size_t first, size_t stride);

/* Adds; returns the worse of both, or FAILED after saying why they do not add up. */
enum cmd_exit cmd_reduce_merge(
	struct reduced *into, struct reduced *from, enum cmd_exit a, enum cmd_exit b);

/* Writes what came of it, if it did. */
enum cmd_exit cmd_reduce_write(
	const struct cmd_reduce *asked, struct reduced *reduced, enum cmd_exit status);

#endif
