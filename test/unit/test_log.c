/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test/unit/unit.h"

/* Runs both our formatter and the C library's. */
#define SAME(...)                                                                        \
	do {                                                                             \
		char ours[256], theirs[256];                                             \
		size_t n = log_format(ours, sizeof(ours), __VA_ARGS__);                  \
                                                                                         \
		ck_assert_int_eq((int)n, snprintf(theirs, sizeof(theirs), __VA_ARGS__)); \
		ck_assert_str_eq(ours, theirs);                                          \
	} while (0)

START_TEST(conversions_print_as_the_c_library_does)
{
	SAME("plain");
	SAME("%s and %s", "one", "");
	SAME("%d %d %d", 0, INT_MAX, INT_MIN);
	SAME("%u %x", UINT_MAX, 0xdeadbeefu);
	SAME("%lu %zu", ULONG_MAX, (size_t)SIZE_MAX);
	SAME("%lld %llu %llx", LLONG_MIN, ULLONG_MAX, ULLONG_MAX);
	SAME("%c%%%c", 'a', 'z');
	SAME("%.3s|%.*s|%.9s", "abcdef", 2, "xyz", "short");
}
END_TEST

START_TEST(text_that_does_not_fit_is_cut_and_ends_in_zero)
{
	char out[8];

	memset(out, 'x', sizeof(out));
	ck_assert_uint_eq(log_format(out, sizeof(out), "%s-%d", "abcd", 123456), 7);
	ck_assert_str_eq(out, "abcd-12");
	ck_assert_uint_eq(log_format(out, 1, "abc"), 0);
	ck_assert_str_eq(out, "");
}
END_TEST

/* What a function writes to stderr. */
static const char *stderr_of(void (*function)(void))
{
	static char text[4096];
	int saved = dup(STDERR_FILENO);
	int pipes[2];
	ssize_t n;

	ck_assert_int_eq(pipe(pipes), 0);
	dup2(pipes[1], STDERR_FILENO);
	close(pipes[1]);
	function();
	dup2(saved, STDERR_FILENO);
	n = read(pipes[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	return text;
}

static void two_lines(void)
{
	errno = EDOM;
	log_line("first %d", 1);
	log_line("second");
	ck_assert_int_eq(errno, EDOM);
}

START_TEST(only_the_first_line_of_a_process_reaches_stderr)
{
	char expected[64];

	log_init(LOG_WARN, "", 0);
	snprintf(expected, sizeof(expected), "gprof[%d]: first 1\n", (int)getpid());
	ck_assert_str_eq(stderr_of(two_lines), expected);
}
END_TEST

START_TEST(quiet_prints_nothing)
{
	log_init(LOG_WARN, "", 1);
	ck_assert_str_eq(stderr_of(two_lines), "");
}
END_TEST

static void all_levels(void)
{
	log_message(LOG_WARN, "warn");
	log_message(LOG_INFO, "info");
	log_message(LOG_DEBUG, "debug");
}

START_TEST(log_file_gets_the_levels_asked_for_and_stderr_nothing)
{
	char path[4200], text[256], expected[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/log", unit_temp_dir());
	log_init(LOG_INFO, path, 0);
	ck_assert_str_eq(stderr_of(all_levels), "");
	fd = open(path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	snprintf(expected, sizeof(expected), "gprof[%d]: warn\ngprof[%d]: info\n", (int)getpid(),
		(int)getpid());
	ck_assert_str_eq(text, expected);
}
END_TEST

static void long_message(void)
{
	char text[2000];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	log_message(LOG_WARN, "%s", text);
}

START_TEST(long_message_is_cut_and_still_ends_its_line)
{
	const char *text;

	log_init(LOG_WARN, "", 0);
	text = stderr_of(long_message);
	ck_assert_uint_le(strlen(text), 512);
	ck_assert_uint_ge(strlen(text), 500);
	ck_assert_int_eq(text[strlen(text) - 1], '\n');
}
END_TEST

UNIT_SUITE("log", conversions_print_as_the_c_library_does,
	text_that_does_not_fit_is_cut_and_ends_in_zero,
	only_the_first_line_of_a_process_reaches_stderr, quiet_prints_nothing,
	log_file_gets_the_levels_asked_for_and_stderr_nothing,
	long_message_is_cut_and_still_ends_its_line)
