/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops recordings that were named more than once: copies of a file, or a file and its directory.
 */
#ifndef REPORT_MODEL_DEDUP_H
#define REPORT_MODEL_DEDUP_H

#include "report/model/model.h"

/*
 * Destroys processes whose recording is there already, so that tables do not count it twice. If one
 * copy of a stream is cut off, the one with more events stays.
 *
 * The processes are sorted by rank, host, pid and begin, and stay so. Calls `warn` with a sentence
 * for each that is dropped. Returns true if there are any.
 */
bool dedup_drop(
	struct process **processes, size_t *nr_processes, void (*warn)(const char *sentence));

#endif
