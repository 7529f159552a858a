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

struct chrome_file {
	const char *name;
	const struct timeline_filter *filter; /* NULL: everything */
	const struct timeline_part *part;     /* of the time; NULL: all */
	struct timeline_sizes *sizes;	      /* to be filled; NULL: not wanted */
};

void chrome_write(struct process *const *processes, size_t nr_processes,
	const struct chrome_file *file, struct buf *out);

#endif
