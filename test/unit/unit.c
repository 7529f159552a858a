/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/unit.h"

#include <errno.h>
#include <ftw.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Ends what hangs, also under emulation and on a busy machine. */
#define TIMEOUT_S 1000

static char temp_dir[4096];
static pid_t temp_owner;

static TCase *add_case(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, TIMEOUT_S);
	suite_add_tcase(suite, tcase);
	return tcase;
}

Suite *unit_make(const char *module, const TTest *const *tests, size_t nr_tests)
{
	Suite *suite = suite_create(module);
	TCase *tcase = add_case(suite, module);

	for (size_t i = 0; i < nr_tests; i++) {
		tcase_add_test(tcase, tests[i]);
	}
	return suite;
}

void unit_loop(Suite *suite, const TTest *test, size_t nr)
{
	tcase_add_loop_test(add_case(suite, "each"), test, 0, (int)nr);
}

void unit_skip(const char *test, const char *why)
{
	printf("ok 0 - %s # SKIP %s\n", test, why);
	fflush(stdout);
}

uint64_t unit_random(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 0x2545f4914f6cdd1du;
}

uint64_t unit_below(uint64_t *seed, uint64_t end)
{
	return unit_random(seed) % end;
}

size_t unit_memory(void)
{
#if __GLIBC_PREREQ(2, 33)
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
#else
	return 0;
#endif
}

uint64_t unit_file_bytes(void)
{
	struct stat stat;
	uint64_t most = 0;

	for (int fd = 3; fd < 64; fd++) {
		if (!fstat(fd, &stat) && S_ISREG(stat.st_mode) && !stat.st_nlink &&
			(uint64_t)stat.st_size > most) {
			most = (uint64_t)stat.st_size;
		}
	}
	return most;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_temp_dir(void)
{
	if (temp_owner == getpid()) {
		nftw(temp_dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	}
}

const char *unit_temp_dir(void)
{
	static char one[sizeof(temp_dir) + 8];
	const char *base = getenv("TMPDIR");

	if (temp_owner != getpid()) {
		snprintf(temp_dir, sizeof(temp_dir), "%s/gprof-unit-XXXXXX", base ? base : "/tmp");
		ck_assert_ptr_nonnull(mkdtemp(temp_dir));
		temp_owner = getpid();
		atexit(remove_temp_dir);
	}
	snprintf(one, sizeof(one), "%s/XXXXXX", temp_dir);
	ck_assert_ptr_nonnull(mkdtemp(one));
	return one;
}

int main(void)
{
	SRunner *runner = srunner_create(unit_suite());
	int nr_failed;

	srunner_run_all(runner, CK_ENV);
	nr_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return nr_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

const char *unit_root(void)
{
	static const char *dir;

	dir = dir ? dir : unit_temp_dir();
	return dir;
}

void unit_put(const char *path, const char *text)
{
	char full[4200];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", unit_root(), path);
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
