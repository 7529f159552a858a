/* SPDX-License-Identifier: Apache-2.0 */
/* From what the user names (dump directories, streams, traces) to the streams. */
#ifndef REPORT_STREAM_DUMPDIR_H
#define REPORT_STREAM_DUMPDIR_H

#include <stdbool.h>
#include <stddef.h>

/* The first bytes of a summary file; see reduce/reduced.h. */
#define DUMPDIR_SUMMARY_MAGIC	    "GPROFSUM"
#define DUMPDIR_SUMMARY_MAGIC_BYTES 8u

struct dumpdir {
	char **paths; /* of streams, in the order given, those of a directory by name */
	size_t nr_paths, capacity;
};

/*
 * Adds a stream, or all streams of a directory (`*.gprof`, `*.gprof.part`; if there are none, the
 * traces, `*.json` and `*.json.gz`). Returns 0, or negative with err_set: not there, or a directory
 * without any.
 */
int dumpdir_add(struct dumpdir *dumpdir, const char *path);

/* The same of a file that somebody else has found: it may be gone. */
void dumpdir_add_file(struct dumpdir *dumpdir, const char *path);
void dumpdir_fini(struct dumpdir *dumpdir);

/* Is the file a summary, as `reduce` writes it? False also if it cannot be read. */
bool dumpdir_is_summary(const char *path);

#endif
