/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the limits from /proc and from the file systems of cgroups. */
#include "collector/util/memory_limits.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/util/file_text.h"
#include "collector/util/log.h"

/*
 * ---- cgroups ----
 *
 * Reads /proc/self/cgroup, then the limits of each version from the process's cgroup up to the
 * root. The lowest limit counts.
 */

/* Version 1 says "unlimited" by a number of this size. */
#define NO_LIMIT ((uint64_t)1 << 60)

static const struct cgroup_version {
	const char *places[2]; /* where it may be mounted */
	const char *max, *high;
	const char *used;
	const char *files; /* the line of memory.stat */
} versions[] = {{.places = {"/sys/fs/cgroup/memory"},
			.max = "memory.limit_in_bytes",
			.used = "memory.usage_in_bytes",
			.files = "total_inactive_file "},
	{.places = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"},
		.max = "memory.max",
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

static uint64_t read_files(const char *dir, const struct cgroup_version *version)
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

static void look_at(
	const char *dir, const struct cgroup_version *version, struct memory_limits *memory)
{
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
}

/*
 * The cgroup and those around it. A container may name its cgroup as its host does and see only
 * itself, at the top: what is not there is skipped.
 */
static void look_upwards(const char *root, const char *place, const char *path,
	const struct cgroup_version *version, struct memory_limits *memory)
{
	char dir[PATH_MAX];
	size_t top = log_format(dir, sizeof(dir), "%s%s", root, place);

	log_format(dir + top, sizeof(dir) - top, "%s", path);
	for (;;) {
		char *slash = strrchr(dir + top, '/');

		look_at(dir, version, memory);
		if (!slash) {
			return;
		}
		*slash = 0;
	}
}

/* Is that word in the list of controllers? */
static bool has_memory(const char *list, size_t nr_bytes)
{
	static const char word[] = "memory";
	size_t length = sizeof(word) - 1;

	for (const char *at = list; at + length <= list + nr_bytes; at++) {
		if (!strncmp(at, word, length) && (at == list || at[-1] == ',') &&
			(at + length == list + nr_bytes || at[length] == ',')) {
			return true;
		}
	}
	return false;
}

/* The process's cgroup in each version, if that version counts memory. */
struct places {
	char paths[2][PATH_MAX];
	bool is_there[2];
};

/* NUMBER:CONTROLLERS:PATH, without controllers for version 2. */
static bool look_at_line(const char *line, void *data)
{
	struct places *places = data;
	const char *list = strchr(line, ':');
	const char *path = list ? strchr(list + 1, ':') : NULL;
	bool is_2 = path && path == list + 1;

	if (path && (is_2 || has_memory(list + 1, (size_t)(path - list - 1)))) {
		log_format(places->paths[is_2], PATH_MAX, "%s", path + 1);
		places->is_there[is_2] = true;
	}
	return false; /* the other version's line may follow */
}

struct memory_limits memory_limits_cgroup(const char *root)
{
	struct memory_limits memory = {UINT64_MAX, UINT64_MAX};
	struct places places = {.is_there = {false, false}};
	char path[PATH_MAX];

	log_format(path, sizeof(path), "%s/proc/self/cgroup", root);
	file_text_find(path, '\n', look_at_line, &places);
	for (unsigned int i = 0; i < 4; i++) {
		const struct cgroup_version *version = &versions[i / 2];

		if (places.is_there[i / 2] && version->places[i % 2]) {
			look_upwards(root, version->places[i % 2], places.paths[i / 2], version,
				&memory);
		}
	}
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
