/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other programs that write Chrome's format, too. Their events have other kinds and meanings, so
 * such a trace is refused by the name of the program and not read in part. So are the traces of
 * several processes in one file: each counts its correlation IDs from the same number, and nothing
 * tells whose GPU is whose.
 */
#ifndef REPORT_IMPORT_KINETO_FOREIGN_H
#define REPORT_IMPORT_KINETO_FOREIGN_H

#include <stddef.h>

#include "report/import/kineto/event.h"

/* Zero-initialized. */
struct kineto_foreign {
	const char *sentence; /* what the trace is, and what to do; NULL: Kineto's, or unknown */
	uint64_t pid;	      /* of the first call; has_pid: there was one */
	bool has_pid;
};

/* A member of the outer object. */
void kineto_foreign_see_member(struct kineto_foreign *foreign, const char *key, size_t nr_key);

/* Any event. */
void kineto_foreign_see_event(
	struct kineto_foreign *foreign, struct kineto_json *json, const struct kineto_event *event);

/* A call of CUDA in the process of that number (kineto_threads): a trace has one process. */
void kineto_foreign_see_call(struct kineto_foreign *foreign, uint64_t pid);

#endif
