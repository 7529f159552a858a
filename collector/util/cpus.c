/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses the system calls directly, since the C library's set has room for 1,024 CPUs only.
 */
#include "collector/util/cpus.h"

#include "collector/util/target.h"

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As many as a kernel can have; with more the thread stays where it is. */
#define NR_CPUS	 8192u
#define NR_WORDS (NR_CPUS / 64u)

struct cpu_set {
	uint64_t words[NR_WORDS];
};

/* All zero: unknown. */
static struct cpu_set given COMPAT_AT_START;
static struct cpu_set before;
static struct sched_param priority_before;
static int policy_before;

COMPAT_START_CODE void cpus_remember(void)
{
	TARGET_KEEP_ERRNO;

	if (syscall(SYS_sched_getaffinity, 0, sizeof(given), &given) < 0) {
		given = (struct cpu_set){0};
	}
}

static unsigned int count(const struct cpu_set *set)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < NR_WORDS; i++) {
		nr += (unsigned int)__builtin_popcountll(set->words[i]);
	}
	return nr;
}

static void leave_single_cpu(void)
{
	struct cpu_set others = given;

	before = (struct cpu_set){0};
	if (syscall(SYS_sched_getaffinity, 0, sizeof(before), &before) < 0 || count(&before) != 1) {
		return;
	}
	for (unsigned int i = 0; i < NR_WORDS; i++) {
		others.words[i] &= ~before.words[i];
	}
	/* It fails if there are none, or none of these may be used by now. */
	syscall(SYS_sched_setaffinity, 0, sizeof(others), &others);
}

void cpus_step_aside(void)
{
	const struct sched_param normal = {0};

	policy_before = (int)syscall(SYS_sched_getscheduler, 0);
	if (policy_before == SCHED_FIFO || policy_before == SCHED_RR) {
		syscall(SYS_sched_getparam, 0, &priority_before);
		syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &normal);
	} else {
		policy_before = -1;
	}
	leave_single_cpu();
}

void cpus_step_back(void)
{
	if (policy_before >= 0) {
		syscall(SYS_sched_setscheduler, 0, policy_before, &priority_before);
	}
	if (count(&before) == 1) {
		syscall(SYS_sched_setaffinity, 0, sizeof(before), &before);
	}
}

/* As the kernel has it, in its first version. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline, period;
};

#define SHORT_SLICE_NS 100000u /* the kernel takes none that is shorter */

/* A thread with a shorter slice may interrupt others with longer ones, without a higher share. */
void cpus_hurry(bool is_short)
{
	struct attributes attributes = {0};

	if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) ||
		(attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH)) {
		return;
	}
	attributes.size = sizeof(attributes);
	attributes.runtime_ns = is_short ? SHORT_SLICE_NS : 0;
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}
