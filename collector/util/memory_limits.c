/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the limits from /proc and from the file systems of cgroups. */
#include "collector/util/memory_limits.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/util/cgroup.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"

/*
 * ---- cgroups ----
 *
 * The limits of each cgroup around the process; the lowest one counts.
 */

/* Version 1 says "unlimited" by a number of this size. */
#define NO_LIMIT ((uint64_t)1 << 60)

static const struct files {
	const char *max, *high;
	const char *used;
	const char *files; /* the line of memory.stat */
} files_of[NR_CGROUP_VERSIONS] = {[CGROUP_1] = {.max = "memory.limit_in_bytes",
					  .used = "memory.usage_in_bytes",
					  .files = "total_inactive_file "},
	[CGROUP_2] = {.max = "memory.max",
		.high = "memory.high",
		.used = "memory.current",
		.files = "inactive_file "}};

/* The number in a file of a cgroup; `otherwise` if it has none ("max"). */
static uint64_t read_number(const char *dir, const char *name, uint64_t otherwise)
{
	char path[PATH_MAX], text[32], *end;
	uint64_t value;

	log_format(path, sizeof(path), "%s/%s", dir, name);
	file_text_read(path, text, sizeof(text));
	value = strtoull(text, &end, 10);
	return end == text ? otherwise : value;
}

static uint64_t read_files(const char *dir, const struct files *version)
{
	char path[PATH_MAX];
	uint64_t files;

	log_format(path, sizeof(path), "%s/memory.stat", dir);
	file_text_number(path, version->files, &files);
	return files;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool look_at(const char *dir, enum cgroup_version number, void *data)
{
	struct memory_limits *memory = data;
	const struct files *version = &files_of[number];
	uint64_t limit = read_number(dir, version->max, NO_LIMIT), used, files;

	if (version->high) {
		limit = least(limit, read_number(dir, version->high, NO_LIMIT));
	}
	if (limit < NO_LIMIT) {
		used = read_number(dir, version->used, 0);
		files = read_files(dir, version);
		used -= least(files, used);
		memory->limit = least(memory->limit, limit);
		memory->left = least(memory->left, limit - least(used, limit));
	}
	return false;
}

struct memory_limits memory_limits_cgroup(const char *root)
{
	struct memory_limits memory = {UINT64_MAX, UINT64_MAX};

	cgroup_walk(root, "memory", look_at, &memory);
	return memory;
}

/*
 * ---- promises ----
 *
 * Compares CommitLimit with Committed_AS of /proc/meminfo, if /proc/sys/vm/overcommit_memory says
 * that the kernel enforces the limit.
 */

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

uint64_t memory_limits_commit(const char *root)
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
