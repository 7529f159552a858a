/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline in a file; Chrome JSON that is larger than viewers open becomes several files. */
#ifndef REPORT_TIMELINE_FILE_H
#define REPORT_TIMELINE_FILE_H

#include "report/timeline/timeline.h"

struct timeline_file {
	const char *path; /* *.pftrace, *.json, both with .gz; "-" is JSON on stdout */
	const struct timeline_filter *filter;
	uint64_t most_bytes; /* of a file of JSON before compression; 0: no limit */
	/* set by timeline_file_write */
	size_t nr_parts; /* x.json became x-1.json and so on; 0: one file */
	size_t nr_older; /* files of an earlier run that are named like further parts */
};

bool timeline_file_is_path(const char *path);

/* The path of a part: x-2.json.gz. The caller frees it. */
char *timeline_file_part(const char *path, size_t nr);

/* Returns 0, or -errno if not all could be written. */
int timeline_file_write(
	struct timeline_file *file, struct process *const *processes, size_t nr_processes);

#endif
