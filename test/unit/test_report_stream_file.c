/* SPDX-License-Identifier: Apache-2.0 */
/* More streams than a process may have files open. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define NR   150u
#define MOST 40u

static void limit_files(void)
{
	const struct rlimit limit = {.rlim_cur = MOST, .rlim_max = MOST};

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Descriptors of streams. The directory needs one, too: the limit leaves room for it. */
static unsigned int nr_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	unsigned int nr = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		char path[4096];
		ssize_t length = readlinkat(dirfd(dir), entry->d_name, path, sizeof(path) - 1);

		path[length > 0 ? length : 0] = '\0';
		nr += strstr(path, ".gprof") != NULL;
	}
	closedir(dir);
	return nr;
}

/* A kernel of `ns` ns. */
static const char *one_kernel(uint32_t number, uint64_t ns)
{
	char name[32];
	const char *path;
	struct gen *gen;
	struct gprof_row_kernel *kernel;

	snprintf(name, sizeof(name), "%u.gprof", number);
	path = streams_path(name);
	gen = gen_open(path);
	kernel = gen_row(gen, GPROF_TABLE_kernel);
	kernel->begin = 1000;
	kernel->dur = 1000 + ns;
	gen_close(gen, "exit");
	return path;
}

START_TEST(all_are_read_though_few_are_open)
{
	static struct process *processes[NR];
	struct table *table;

	for (uint32_t i = 0; i < NR; i++) {
		one_kernel(i, i + 1);
	}
	limit_files();
	for (uint32_t i = 0; i < NR; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%u.gprof", i);
		processes[i] = streams_process(streams_path(name));
	}
	ck_assert_uint_eq(nr_open(), MOST / 2);
	for (int round = 0; round < 2; round++) { /* each is opened again */
		table = tables_make(&view_kernel, processes, NR, false);
		ck_assert_uint_eq(tables_number(table, 0, "total_ns"), NR * (NR + 1) / 2);
		ck_assert_uint_eq(tables_number(table, 0, "calls"), NR);
		table_destroy(table);
		ck_assert_uint_le(nr_open(), MOST / 2);
	}
	for (uint32_t i = 0; i < NR; i++) {
		ck_assert(!stream_is_damaged(processes[i]->stream));
		process_destroy(processes[i]);
	}
	ck_assert_uint_eq(nr_open(), 0);
}
END_TEST

static enum decode_status taken;

static void take_status(
	void *context, const char *column, uint64_t offset, enum decode_status status)
{
	(void)context;
	(void)column;
	(void)offset;
	taken = status;
}

/* The reason is that it cannot be read, not that it is damaged. */
START_TEST(another_file_under_its_name_is_not_read)
{
	struct process *processes[MOST];
	char path[4200];
	struct table *table;

	limit_files();
	for (uint32_t i = 0; i < MOST; i++) {
		const char *at = one_kernel(i, 1);

		if (!i) {
			snprintf(path, sizeof(path), "%s", at);
		}
		processes[i] = streams_process(at);
	}
	unlink(path);
	one_kernel(MOST, 1); /* so that the number of the file is not given again */
	one_kernel(0, 7);
	table = tables_make(&view_kernel, processes, MOST, false);
	ck_assert_uint_eq(tables_number(table, 0, "calls"), MOST - 1);
	ck_assert_uint_eq(tables_number(table, 0, "total_ns"), MOST - 1);
	ck_assert(stream_is_damaged(processes[0]->stream));
	ck_assert_uint_eq(stream_verify(processes[0]->stream, 0, take_status, NULL), 1);
	ck_assert_int_eq(taken, DECODE_UNREADABLE);
	table_destroy(table);
	for (uint32_t i = 0; i < MOST; i++) {
		process_destroy(processes[i]);
	}
}
END_TEST

UNIT_SUITE("stream_file", all_are_read_though_few_are_open, another_file_under_its_name_is_not_read)
