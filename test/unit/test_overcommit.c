/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/overcommit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "test/unit/unit.h"

/* The folder in place of /; each test has its own. */
static const char *root(void)
{
	static const char *dir;

	dir = dir ? dir : unit_temp_dir();
	return dir;
}

/* Makes the file and its folders below the root. */
static void put(const char *path, const char *text)
{
	char full[4200];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root(), path);
	for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		ck_assert(!mkdir(full, 0700) || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(full, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

#define MEMINFO "MemTotal: 100 kB\nCommitLimit:     3000 kB\nCommitted_AS:    1000 kB\n"

START_TEST(only_a_kernel_that_promises_no_more_than_it_has_counts)
{
	ck_assert_uint_eq(overcommit_left(root()), UINT64_MAX);
	put("/proc/meminfo", MEMINFO);
	put("/proc/sys/vm/overcommit_memory", "0\n");
	ck_assert_uint_eq(overcommit_left(root()), UINT64_MAX);
	put("/proc/sys/vm/overcommit_memory", "2\n");
	ck_assert_uint_eq(overcommit_left(root()), 2000 * 1024);
}
END_TEST

START_TEST(less_than_nothing_is_nothing)
{
	put("/proc/sys/vm/overcommit_memory", "2\n");
	put("/proc/meminfo", "MemTotal: 100 kB\nCommitLimit: 1000 kB\nCommitted_AS: 3000 kB\n");
	ck_assert_uint_eq(overcommit_left(root()), 0);
	put("/proc/meminfo", "MemTotal: 100 kB\n");
	ck_assert_uint_eq(overcommit_left(root()), UINT64_MAX);
}
END_TEST

UNIT_SUITE("overcommit", only_a_kernel_that_promises_no_more_than_it_has_counts,
	less_than_nothing_is_nothing)
