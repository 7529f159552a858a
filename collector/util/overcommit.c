/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares CommitLimit with Committed_AS of /proc/meminfo, where /proc/sys/vm says that they count.
 */
#include "collector/util/overcommit.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/util/file_text.h"
#include "collector/util/log.h"

#define TEXT_BYTES 4096u

static void read_text(const char *root, const char *name, char text[TEXT_BYTES])
{
	char path[PATH_MAX];

	log_format(path, sizeof(path), "%s%s", root, name);
	file_text_read(path, text, TEXT_BYTES);
}

/* A line of /proc/meminfo, which is in KiB. */
static bool find_bytes(const char *text, const char *name, uint64_t *nr_bytes)
{
	const char *line = strstr(text, name);

	*nr_bytes = line ? strtoull(line + strlen(name), NULL, 10) << 10 : 0;
	return line != NULL;
}

uint64_t overcommit_left(const char *root)
{
	char text[TEXT_BYTES];
	uint64_t most, mapped;

	read_text(root, "/proc/sys/vm/overcommit_memory", text);
	if (strcmp(text, "2\n") != 0) {
		return UINT64_MAX;
	}
	read_text(root, "/proc/meminfo", text);
	if (!find_bytes(text, "\nCommitLimit:", &most) ||
		!find_bytes(text, "\nCommitted_AS:", &mapped)) {
		return UINT64_MAX;
	}
	return most > mapped ? most - mapped : 0;
}
