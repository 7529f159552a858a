/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sample.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collector/held.h"
#include "test/unit/unit.h"

START_TEST(cpu_ticks_are_the_first_eight_without_guests)
{
	uint64_t busy = 0, all = 0;

	ck_assert(sample_read_cpus(
		"cpu  100 20 30 4000 500 6 7 8 99 9\ncpu0 1 2 3 4 5 6 7 8 9 10\n", &busy, &all));
	ck_assert_uint_eq(all, 100 + 20 + 30 + 4000 + 500 + 6 + 7 + 8);
	ck_assert_uint_eq(busy, 100 + 20 + 30 + 6 + 7 + 8);
	ck_assert(sample_read_cpus("cpu 1 2 3 4 5 6 7 8", &busy, &all));
}
END_TEST

START_TEST(odd_texts_give_nothing)
{
	static const char *const texts[] = {
		"", "cpu", "cpu0 1 2 3 4 5 6 7 8", "cpu  1 2 3 4 5 6 7", "cpu  1 2 3 x", "intr 1"};
	uint64_t busy, all;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_msg(!sample_read_cpus(texts[i], &busy, &all), "%s", texts[i]);
	}
	ck_assert(!sample_read_resident("", &all));
	ck_assert(!sample_read_resident("123", &all));
	ck_assert(!sample_read_resident("123 ", &all));
}
END_TEST

START_TEST(resident_is_the_second_number)
{
	uint64_t pages = 0;

	ck_assert(sample_read_resident("5000 1234 88 1 0 77 0\n", &pages));
	ck_assert_uint_eq(pages, 1234);
}
END_TEST

START_TEST(a_held_file_has_a_high_number_and_is_read_again)
{
	struct held held;
	char text[64], again[4];
	int lowest = dup(0);

	close(lowest);
	ck_assert_int_eq(held_open(&held, "/proc/self/statm"), 0);
	ck_assert_int_ge(held.fd, 500);
	ck_assert(fcntl(held.fd, F_GETFD) & FD_CLOEXEC);
	ck_assert_int_eq(dup(0), lowest);
	ck_assert_uint_gt(held_read(&held, text, sizeof(text)), 5);
	ck_assert_uint_eq(held_read(&held, again, sizeof(again)), 3);
	ck_assert_int_eq(memcmp(text, again, 3), 0);
	ck_assert_int_eq(again[3], 0);
	held_close(&held);
	ck_assert_int_eq(held.fd, -1);
	ck_assert_uint_eq(held_read(&held, text, sizeof(text)), 0);
}
END_TEST

START_TEST(a_number_that_the_host_took_is_left_alone)
{
	struct held held;
	char text[64];
	int fd;

	ck_assert_int_eq(held_open(&held, "/proc/self/statm"), 0);
	fd = held.fd;
	ck_assert_int_eq(dup2(0, fd), fd);
	ck_assert_uint_eq(held_read(&held, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "");
	held_close(&held);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
}
END_TEST

START_TEST(few_descriptors_are_the_hosts)
{
	const struct rlimit few = {.rlim_cur = 256, .rlim_max = 256};
	struct held held;

	setrlimit(RLIMIT_NOFILE, &few);
	ck_assert_int_lt(held_open(&held, "/proc/self/statm"), 0);
	ck_assert_int_eq(held.fd, -1);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_not_held)
{
	struct held held;

	ck_assert_int_lt(held_open(&held, "/proc/no such file"), 0);
	ck_assert_int_eq(held.fd, -1);
}
END_TEST

UNIT_SUITE("sample", cpu_ticks_are_the_first_eight_without_guests, odd_texts_give_nothing,
	resident_is_the_second_number, a_held_file_has_a_high_number_and_is_read_again,
	a_number_that_the_host_took_is_left_alone, few_descriptors_are_the_hosts,
	a_file_that_is_not_there_is_not_held)
