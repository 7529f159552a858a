/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline as Chrome JSON in Kineto's dialect, which Perfetto, chrome://tracing and
 * HolisticTraceAnalysis open. Events are in the order of the stream. Events of the host are walked
 * twice: once to find their rows, once to write. Memory: GPU activities that may still have to be
 * put in order, and what chrome_rows.h and chrome_launches.h say.
 */
#ifndef REPORT_TIMELINE_CHROME_H
#define REPORT_TIMELINE_CHROME_H

#include "report/timeline/timeline.h"
#include "report/util/buf.h"

/* A whole file called `name`. filter may be NULL. */
void chrome_write(struct process *const *processes, size_t nr_processes,
	const struct timeline_filter *filter, const char *name, struct buf *out);

/* The same of a part of the time. sizes: NULL, or to be filled. */
void chrome_write_part(struct process *const *processes, size_t nr_processes,
	const struct timeline_filter *filter, const char *name, const struct timeline_part *part,
	struct timeline_sizes *sizes, struct buf *out);

#endif
