/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/memory_limits.h"

#include <stdio.h>

#include "test/unit/unit.h"

#define MEMINFO "MemTotal: 100 kB\nCommitLimit:     3000 kB\nCommitted_AS:    1000 kB\n"

START_TEST(only_a_kernel_that_promises_no_more_than_it_has_counts)
{
	ck_assert_uint_eq(memory_limits_commit(unit_root()), UINT64_MAX);
	unit_put("/proc/meminfo", MEMINFO);
	unit_put("/proc/sys/vm/overcommit_memory", "0\n");
	ck_assert_uint_eq(memory_limits_commit(unit_root()), UINT64_MAX);
	unit_put("/proc/sys/vm/overcommit_memory", "2\n");
	ck_assert_uint_eq(memory_limits_commit(unit_root()), 2000 * 1024);
}
END_TEST

START_TEST(less_than_nothing_is_nothing)
{
	unit_put("/proc/sys/vm/overcommit_memory", "2\n");
	unit_put(
		"/proc/meminfo", "MemTotal: 100 kB\nCommitLimit: 1000 kB\nCommitted_AS: 3000 kB\n");
	ck_assert_uint_eq(memory_limits_commit(unit_root()), 0);
	unit_put("/proc/meminfo", "MemTotal: 100 kB\n");
	ck_assert_uint_eq(memory_limits_commit(unit_root()), UINT64_MAX);
}
END_TEST

START_TEST(lines_may_come_late)
{
	static char text[20000];
	size_t n = 0;

	for (int i = 0; i < 1000; i++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "Other%d: 100 kB\n", i);
	}
	snprintf(text + n, sizeof(text) - n, MEMINFO);
	unit_put("/proc/sys/vm/overcommit_memory", "2\n");
	unit_put("/proc/meminfo", text);
	ck_assert_uint_eq(memory_limits_commit(unit_root()), 2000 * 1024);
}
END_TEST

UNIT_SUITE("overcommit", only_a_kernel_that_promises_no_more_than_it_has_counts,
	less_than_nothing_is_nothing, lines_may_come_late)
