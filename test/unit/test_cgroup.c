/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/memory_limits.h"

#include <stdio.h>
#include <string.h>

#include "test/unit/unit.h"

#define MB (1024 * 1024ull)

static void is_memory(uint64_t limit, uint64_t left)
{
	struct memory_limits memory = memory_limits_cgroup(unit_root());

	ck_assert_uint_eq(memory.limit, limit);
	ck_assert_uint_eq(memory.left, left);
}

START_TEST(process_without_cgroups_is_unlimited)
{
	is_memory(UINT64_MAX, UINT64_MAX);
}
END_TEST

#define V2  "/sys/fs/cgroup/"
#define JOB V2 "slurm/job/"

START_TEST(version_2_takes_the_least_of_all_limits_around)
{
	unit_put("/proc/self/cgroup", "0::/slurm/job/step\n");
	unit_put(JOB "step/memory.max", "max\n");
	unit_put(JOB "step/memory.high", "max\n");
	unit_put(JOB "step/memory.current", "10485760\n");
	is_memory(UINT64_MAX, UINT64_MAX);
	unit_put(JOB "memory.max", "104857600\n");
	unit_put(JOB "memory.high", "max\n");
	unit_put(JOB "memory.current", "31457280\n");
	unit_put(JOB "memory.stat", "anon 20971520\nfile 10485760\ninactive_file 5242880\n");
	is_memory(100 * MB, 75 * MB);
	unit_put(JOB "memory.high", "83886080\n");
	is_memory(80 * MB, 55 * MB);
	/* A wider cgroup may have a larger limit and less left. */
	unit_put(V2 "slurm/memory.max", "1073741824\n");
	unit_put(V2 "slurm/memory.current", "1063256064\n");
	is_memory(80 * MB, 10 * MB);
	unit_put(V2 "slurm/memory.current", "2000000000\n");
	is_memory(80 * MB, 0);
}
END_TEST

#define V1 "/sys/fs/cgroup/memory"

START_TEST(version_1_is_read_from_the_line_of_its_controller)
{
	unit_put("/proc/self/cgroup",
		"5:cpu,cpuacct:/a\n4:hugetlb,memory:/docker/0123\n3:memory_like:/b\n0::/\n");
	unit_put(V1 "/memory.limit_in_bytes", "9223372036854771712\n");
	is_memory(UINT64_MAX, UINT64_MAX);
	unit_put(V1 "/docker/0123/memory.limit_in_bytes", "67108864\n");
	unit_put(V1 "/docker/0123/memory.usage_in_bytes", "33554432\n");
	unit_put(V1 "/docker/0123/memory.stat", "inactive_file 1\nhierarchical_memory_limit "
						"67108864\ntotal_inactive_file 4194304\n");
	is_memory(64 * MB, 36 * MB);
}
END_TEST

START_TEST(container_that_sees_only_itself_has_the_limits_at_the_top)
{
	unit_put("/proc/self/cgroup", "4:memory:/docker/0123\n");
	unit_put(V1 "/memory.limit_in_bytes", "67108864\n");
	unit_put(V1 "/memory.usage_in_bytes", "33554432\n");
	is_memory(64 * MB, 32 * MB);
	unit_put("/proc/self/cgroup", "0::/\n");
	unit_put(V2 "memory.max", "33554432\n");
	unit_put(V2 "memory.current", "1048576\n");
	is_memory(32 * MB, 31 * MB);
}
END_TEST

START_TEST(text_that_is_no_list_of_cgroups_limits_nothing)
{
	unit_put("/proc/self/cgroup", "::\n:\n\n4:memory\n:memory:\n0::/no/such");
	is_memory(UINT64_MAX, UINT64_MAX);
}
END_TEST

/* Version 1 has one line per mounted hierarchy, and paths may be long. */
START_TEST(lines_of_any_number_and_length_are_read)
{
	static char text[600000], stat[20000], deep[4000];
	size_t n = 0, m = 0;

	for (int i = 0; i < 1000; i++) {
		memset(deep, 'a' + i % 26, sizeof(deep) - 1);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%d:name=other:/%.*s\n", i + 10,
			i % 10 ? 100 : (int)sizeof(deep) - 2, deep);
		m += (size_t)snprintf(stat + m, sizeof(stat) - m, "other_%d 12345\n", i);
	}
	memset(text + n, 'x', 10000); /* too long to count, unlike the next one */
	n += 10000;
	snprintf(text + n, sizeof(text) - n, "\n4:memory:/a"); /* without an end */
	snprintf(stat + m, sizeof(stat) - m, "total_inactive_file 4194304\nlast 1\n");
	unit_put("/proc/self/cgroup", text);
	unit_put(V1 "/a/memory.limit_in_bytes", "67108864\n");
	unit_put(V1 "/a/memory.usage_in_bytes", "33554432\n");
	unit_put(V1 "/a/memory.stat", stat);
	is_memory(64 * MB, 36 * MB);
}
END_TEST

UNIT_SUITE("cgroup", process_without_cgroups_is_unlimited,
	version_2_takes_the_least_of_all_limits_around,
	version_1_is_read_from_the_line_of_its_controller,
	container_that_sees_only_itself_has_the_limits_at_the_top,
	text_that_is_no_list_of_cgroups_limits_nothing, lines_of_any_number_and_length_are_read)
