/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/log.h"

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
	static char text[32768];
	int saved = dup(STDERR_FILENO);
	int pipes[2];
	ssize_t n;

	ck_assert_int_eq(pipe(pipes), 0);
	dup2(pipes[1], STDERR_FILENO);
	close(pipes[1]);
	log_remember_stderr();
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

/* Closes stderr; its number then goes to a file of the program. */
static void line_after_another_file(void)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/data", unit_temp_dir());
	close(STDERR_FILENO);
	ck_assert_int_eq(open(path, O_RDWR | O_CREAT, 0600), STDERR_FILENO);
	log_line("first");
	ck_assert_int_eq(lseek(STDERR_FILENO, 0, SEEK_END), 0);
	close(STDERR_FILENO);
	log_line("second");
}

START_TEST(file_that_has_taken_the_number_of_stderr_gets_no_line)
{
	log_init(LOG_WARN, "", 0);
	ck_assert_str_eq(stderr_of(line_after_another_file), "");
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

/* The program may change its directory between two lines. */
START_TEST(log_file_stays_where_it_is)
{
	const char *dir = unit_temp_dir();
	char before[4096];

	ck_assert_ptr_nonnull(getcwd(before, sizeof(before)));
	ck_assert_int_eq(chdir(dir), 0);
	log_init(LOG_INFO, "log", 0);
	ck_assert_int_eq(chdir("/proc"), 0);
	log_message(LOG_INFO, "info");
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(access("log", F_OK), 0);
	ck_assert_int_eq(chdir(before), 0);
}
END_TEST

static char long_text[20000];

static void long_message(void)
{
	log_message(LOG_WARN, "%s;", long_text);
}

START_TEST(line_of_two_long_paths_is_whole)
{
	const char *text;

	log_init(LOG_WARN, "", 0);
	memset(long_text, 'a', 2 * PATH_MAX + 200);
	text = stderr_of(long_message);
	ck_assert_ptr_nonnull(strstr(text, long_text));
	ck_assert_str_eq(strchr(text, ';'), ";\n");
}
END_TEST

START_TEST(longer_message_is_cut_and_still_ends_its_line)
{
	const char *text;

	log_init(LOG_WARN, "", 0);
	memset(long_text, 'a', sizeof(long_text) - 1);
	text = stderr_of(long_message);
	ck_assert_uint_lt(strlen(text), sizeof(long_text));
	ck_assert_uint_gt(strlen(text), 2 * PATH_MAX);
	ck_assert_int_eq(text[strlen(text) - 1], '\n');
	ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
}
END_TEST

static void hostile_message(void)
{
	log_line("%s is in %s", "\033[2Ja\nb\x7f", "\xc2\x9b\xff\xe2\x80\xae\xc3\xa4\xe2\x82");
}

START_TEST(what_a_terminal_would_obey_is_shown_as_numbers)
{
	const char *text;

	log_init(LOG_WARN, "", 0);
	text = strchr(stderr_of(hostile_message), ' ') + 1;
	ck_assert_str_eq(text, "\\x1b[2Ja\\x0ab\\x7f is in "
			       "\\xc2\\x9b\\xff\\xe2\\x80\\xae\xc3\xa4\\xe2\\x82\n");
}
END_TEST

UNIT_SUITE("log", conversions_print_as_the_c_library_does,
	text_that_does_not_fit_is_cut_and_ends_in_zero,
	only_the_first_line_of_a_process_reaches_stderr, quiet_prints_nothing,
	file_that_has_taken_the_number_of_stderr_gets_no_line,
	log_file_gets_the_levels_asked_for_and_stderr_nothing, log_file_stays_where_it_is,
	line_of_two_long_paths_is_whole, longer_message_is_cut_and_still_ends_its_line,
	what_a_terminal_would_obey_is_shown_as_numbers)
