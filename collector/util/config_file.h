/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of the file that GPROF_CONFIG names. Opening and reading never wait for anybody: only a
 * regular file is opened, and only what its size says is read of it.
 */
#ifndef COLLECTOR_UTIL_CONFIG_FILE_H
#define COLLECTOR_UTIL_CONFIG_FILE_H

#include <stddef.h>

/* What fits into a buffer is read of it, as whole lines. */
#define CONFIG_FILE_BYTES 32768u

struct config_file {
	char bytes[CONFIG_FILE_BYTES + 2]; /* text, ended by 0, without a byte order mark */
	char problem[160];		   /* "" or what is wrong with it, and what to do */
};

/* Returns 0 or -errno; with a problem of the whole file there are no bytes. */
int config_file_read(struct config_file *file, const char *path);

#endif
