/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the streams in what the user names: dump directories, streams, traces. */
#ifndef REPORT_STREAM_DUMPDIR_H
#define REPORT_STREAM_DUMPDIR_H

#include <stdbool.h>
#include <stddef.h>

/* The first bytes of a summary file; see reduce/reduced.h. */
#define DUMPDIR_SUMMARY_MAGIC	    "GPROFSUM"
#define DUMPDIR_SUMMARY_MAGIC_BYTES 8u

struct dumpdir {
	char **paths; /* of streams, in the given order; those of a directory by name */
	size_t nr_paths, capacity;
};

/*
 * Adds a stream, or all streams of a directory (`*.gprof`, `*.gprof.part`; if there are none, the
 * traces, `*.json` and `*.json.gz`, else `*.sqlite`). Returns 0, or negative with err_set if the
 * path does not exist or the directory has none.
 */
int dumpdir_add(struct dumpdir *dumpdir, const char *path);

/* Adds a file that another program found; it may be gone. */
void dumpdir_add_file(struct dumpdir *dumpdir, const char *path);
void dumpdir_fini(struct dumpdir *dumpdir);

/* Is the file a summary, as `reduce` writes it? False also if it cannot be read. */
bool dumpdir_is_summary(const char *path);

#endif
