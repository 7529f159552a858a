/* SPDX-License-Identifier: Apache-2.0 */
/* Where the cgroups of this process are, which limit it in containers and batch jobs. */
#ifndef COLLECTOR_UTIL_CGROUP_H
#define COLLECTOR_UTIL_CGROUP_H

#include <stdbool.h>

enum cgroup_version { CGROUP_1, CGROUP_2, NR_CGROUP_VERSIONS };

/*
 * Calls `look` with the folder of each cgroup that counts for the controller ("memory", "cpu"),
 * from the process's own up to the root, for each version, until it returns true. A folder need not
 * exist. root: "", or a folder in place of /, for tests. Allocates nothing.
 */
void cgroup_walk(const char *root, const char *controller,
	bool (*look)(const char *folder, enum cgroup_version version, void *data), void *data);

#endif
