/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads /proc/self/cgroup, whose lines name the process's cgroup in each hierarchy, and goes from
 * there upwards. A container may name its cgroup as its host does and see only itself, at the top.
 */
#include "collector/util/cgroup.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "collector/util/file_text.h"
#include "collector/util/log.h"

/* Where systems mount them: version 1 in a folder of the controller's name. */
static const char *const folders[NR_CGROUP_VERSIONS][2] = {
	[CGROUP_1] = {"/sys/fs/cgroup/"},
	[CGROUP_2] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"},
};

/* The process's cgroup in each version, if that version counts for the controller. */
struct own_cgroups {
	const char *controller;
	char paths[NR_CGROUP_VERSIONS][PATH_MAX];
	bool is_there[NR_CGROUP_VERSIONS];
};

/* Is that word in the list of controllers, which commas divide? */
static bool has_controller(const char *list, size_t nr_bytes, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; at + length <= list + nr_bytes; at++) {
		if (!strncmp(at, word, length) && (at == list || at[-1] == ',') &&
			(at + length == list + nr_bytes || at[length] == ',')) {
			return true;
		}
	}
	return false;
}

/* NUMBER:CONTROLLERS:PATH, without controllers for version 2. */
static bool look_at_line(const char *line, void *data)
{
	struct own_cgroups *own = data;
	const char *list = strchr(line, ':');
	const char *path = list ? strchr(list + 1, ':') : NULL;
	enum cgroup_version version = path && path == list + 1 ? CGROUP_2 : CGROUP_1;

	if (path && (version == CGROUP_2 ||
			    has_controller(list + 1, (size_t)(path - list - 1), own->controller))) {
		log_format(own->paths[version], PATH_MAX, "%s", path + 1);
		own->is_there[version] = true;
	}
	return false; /* the other version's line may follow */
}

void cgroup_walk(const char *root, const char *controller,
	bool (*look)(const char *folder, enum cgroup_version version, void *data), void *data)
{
	struct own_cgroups own = {.controller = controller};
	char folder[PATH_MAX];

	log_format(folder, sizeof(folder), "%s/proc/self/cgroup", root);
	file_text_find(folder, '\n', look_at_line, &own);
	for (unsigned int i = 0; i < 2 * NR_CGROUP_VERSIONS; i++) {
		enum cgroup_version version = (enum cgroup_version)(i / 2);
		size_t top;

		if (!own.is_there[version] || !folders[version][i % 2]) {
			continue;
		}
		top = log_format(folder, sizeof(folder), "%s%s%s", root, folders[version][i % 2],
			version == CGROUP_1 ? controller : "");
		log_format(folder + top, sizeof(folder) - top, "%s", own.paths[version]);
		for (char *slash = folder; slash; *slash = 0) {
			if (look(folder, version, data)) {
				return;
			}
			slash = strrchr(folder + top, '/');
			if (!slash) {
				break;
			}
		}
	}
}
