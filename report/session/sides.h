/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs of a comparison, A and B: two paths, or two runs of one folder. */
#ifndef REPORT_SESSION_SIDES_H
#define REPORT_SESSION_SIDES_H

#include "report/session/common_options.h"

struct sides {
	struct cmd_input inputs[2];
	char *names[2]; /* as the user named them */
};

/* Do the arguments name two? They do by two paths, or by --run twice and at most one path. */
bool sides_are_named(const struct common_options *asked, int nr_paths);

/* As common_options_open(), of both. In any case sides_close() ends it. Starts with all zeros. */
enum cmd_exit sides_open(
	struct sides *sides, const struct common_options *asked, char *const *paths, int nr_paths);
void sides_close(struct sides *sides);

#endif
