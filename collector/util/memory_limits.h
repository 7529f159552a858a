/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of memory beside those of setrlimit. `root`: "", or a folder instead of /, for tests. */
#ifndef COLLECTOR_UTIL_MEMORY_LIMITS_H
#define COLLECTOR_UTIL_MEMORY_LIMITS_H

#include <stdint.h>

/* In bytes; UINT64_MAX: unlimited, or unknown. */
struct memory_limits {
	uint64_t limit;
	uint64_t left; /* not in use, or by files that the kernel can drop */
};

/*
 * The least that the process's cgroup, a container or a job of a batch system, and the cgroups
 * around it allow. Where they allow no more, the kernel kills a process instead of failing a call.
 */
struct memory_limits memory_limits_cgroup(const char *root);

/*
 * Bytes that all processes may still map; UINT64_MAX: any number, or unknown. Where the kernel
 * promises no more memory than there is (vm.overcommit_memory=2), what is mapped counts, and not
 * only what is used: what gprof maps, the target cannot.
 */
uint64_t memory_limits_commit(const char *root);

#endif
