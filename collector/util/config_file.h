/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the file that GPROF_CONFIG names. Opening and reading never wait: it opens only regular
 * files, and reads no more than their size.
 */
#ifndef COLLECTOR_UTIL_CONFIG_FILE_H
#define COLLECTOR_UTIL_CONFIG_FILE_H

#include <stddef.h>

/* Holds as many whole lines as fit. */
#define CONFIG_FILE_BYTES 32768u

struct config_file {
	char bytes[CONFIG_FILE_BYTES + 2]; /* text, ended by 0, without a byte order mark */
	char problem[160];		   /* "" or what is wrong with it, and what to do */
};

/* Returns 0 or -errno; with a problem of the whole file there are no bytes. */
int config_file_read(struct config_file *file, const char *path);

#endif
