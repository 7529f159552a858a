/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that were named more than once: copies of a file, or a file beside its directory. */
#ifndef REPORT_MODEL_DEDUP_H
#define REPORT_MODEL_DEDUP_H

#include "report/model/model.h"

/*
 * Destroys processes whose recording is among them already, so that tables do not add it up twice;
 * of a stream that is cut in one copy the one with more events stays. Calls `tell` with a sentence
 * for each. Returns true if there were any. The processes are by rank, host, pid and begin, and
 * those that stay still are.
 */
bool dedup_drop(
	struct process **processes, size_t *nr_processes, void (*tell)(const char *sentence));

#endif
