/* SPDX-License-Identifier: Apache-2.0 */
/* What the unit tests share: Check, and each file's one suite. Case names are sentences. */
#ifndef TEST_UNIT_UNIT_H
#define TEST_UNIT_UNIT_H

#include <check.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Check sends the place of each assertion that holds to the parent process, for the message of a
 * test that crashes. In tests with a million assertions that took nearly all of the time. One that
 * fails prints its place without it.
 */
#define _mark_point(file, line) ((void)0)

/* With a sanitizer code takes 5 to 20 times as long: then loops that only repeat are shortened. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNIT_IS_SLOW 1
#else
#define UNIT_IS_SLOW 0
#endif

/* Defined by each test_*.c. */
Suite *unit_suite(void);

/* A suite of one case that runs the tests, each in its own process. */
Suite *unit_make(const char *module, const TTest *const *tests, size_t nr_tests);

/* Adds a test that runs once for each _i below nr, each in its own process. */
void unit_loop(Suite *suite, const TTest *test, size_t nr);

#define UNIT_SUITE(module, ...)                                                    \
	Suite *unit_suite(void)                                                    \
	{                                                                          \
		const TTest *const tests[] = {__VA_ARGS__};                        \
                                                                                   \
		return unit_make(module, tests, sizeof(tests) / sizeof(tests[0])); \
	}

/* In place of adding a test that cannot run here: it is counted as skipped. */
void unit_skip(const char *test, const char *why);

/* Numbers that are the same in each run: xorshift64*. *seed must not be 0. */
uint64_t unit_random(uint64_t *seed);

/* The same from 0 to below end, which must not be 0. */
uint64_t unit_below(uint64_t *seed, uint64_t end);

/* Bytes that malloc has given out; 0 where it does not say. */
size_t unit_memory(void);

/* The size of the largest file without a name that this process has open; 0: none. */
uint64_t unit_file_bytes(void);

/* A new empty directory under $TMPDIR or /tmp; removed when the process that made it exits. */
const char *unit_temp_dir(void);

/* A folder that replaces /; each test has its own. */
const char *unit_root(void);

/* Makes a file and its folders below unit_root(). */
void unit_put(const char *path, const char *text);

#endif
