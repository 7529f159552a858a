/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares CommitLimit with Committed_AS of /proc/meminfo, if /proc/sys/vm/overcommit_memory says
 * that the kernel enforces the limit.
 */
#include "collector/util/overcommit.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "collector/util/file_text.h"
#include "collector/util/log.h"

/* Reads a line of /proc/meminfo, which counts in KiB. */
static bool find_bytes(const char *root, const char *name, uint64_t *nr_bytes)
{
	char path[PATH_MAX];
	bool is_there;

	log_format(path, sizeof(path), "%s/proc/meminfo", root);
	is_there = file_text_number(path, name, nr_bytes);
	*nr_bytes <<= 10;
	return is_there;
}

uint64_t overcommit_left(const char *root)
{
	char path[PATH_MAX], how[8];
	uint64_t most, mapped;

	log_format(path, sizeof(path), "%s/proc/sys/vm/overcommit_memory", root);
	file_text_read(path, how, sizeof(how));
	if (strcmp(how, "2\n") != 0 || !find_bytes(root, "CommitLimit:", &most) ||
		!find_bytes(root, "Committed_AS:", &mapped)) {
		return UINT64_MAX;
	}
	return most > mapped ? most - mapped : 0;
}
