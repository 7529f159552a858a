/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that the process's cgroup, a container or a job of a batch system, and the cgroups
 * around it allow. Where they allow no more, the kernel kills a process instead of failing a call.
 */
#ifndef COLLECTOR_UTIL_CGROUP_H
#define COLLECTOR_UTIL_CGROUP_H

#include <stdint.h>

/* In bytes; UINT64_MAX: unlimited, or unknown. */
struct cgroup_memory {
	uint64_t limit;
	uint64_t left; /* not in use, or by files that the kernel can drop */
};

/* The least of all. root: "", or a folder in place of /, for tests. */
struct cgroup_memory cgroup_find_memory(const char *root);

#endif
