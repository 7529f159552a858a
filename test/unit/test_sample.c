/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sample/sample.h"

#include <string.h>

#include "collector/sample/thread_cpu.h"
#include "test/unit/unit.h"

START_TEST(cpu_ticks_are_the_first_eight_without_guests)
{
	struct sample_cpus cpus = {0};

	ck_assert(sample_read_cpus(
		"cpu  100 20 30 4000 500 6 7 8 99 9\ncpu0 1 2 3 4 5 6 7 8 9 10\n", &cpus));
	ck_assert_uint_eq(cpus.all, 100 + 20 + 30 + 4000 + 500 + 6 + 7 + 8);
	ck_assert_uint_eq(cpus.busy, 100 + 20 + 30 + 6 + 7 + 8);
	ck_assert_uint_eq(cpus.user, 100 + 20);
	ck_assert_uint_eq(cpus.system, 30 + 6 + 7);
	ck_assert_uint_eq(cpus.iowait, 500);
	ck_assert(sample_read_cpus("cpu 1 2 3 4 5 6 7 8", &cpus));
}
END_TEST

START_TEST(odd_texts_give_nothing)
{
	static const char *const texts[] = {
		"", "cpu", "cpu0 1 2 3 4 5 6 7 8", "cpu  1 2 3 4 5 6 7", "cpu  1 2 3 x", "intr 1"};
	struct sample_cpus cpus;
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_msg(!sample_read_cpus(texts[i], &cpus), "%s", texts[i]);
	}
	ck_assert(!sample_read_resident("", &bytes));
	ck_assert(!sample_read_resident("Name:\tVmRSS:\t 12 kB\n", &bytes));
	ck_assert(!sample_read_resident("Name:\tx\nVmRSS:\t", &bytes));
	ck_assert(!sample_read_resident("Name:\tx\nVmRSS:\t    12", &bytes));
}
END_TEST

START_TEST(allowed_cpus_are_the_bits_of_the_mask)
{
	uint64_t nr = 0;

	ck_assert(sample_read_allowed(
		"Name:\tx\nCpus_allowed:\tff,0000000f\nCpus_allowed_list:\t0-3\n", &nr));
	ck_assert_uint_eq(nr, 12);
	/* A name may be anything, and the text may be cut. */
	ck_assert(!sample_read_allowed("Name:\tCpus_allowed:\t3\n", &nr));
	ck_assert(!sample_read_allowed("Name:\tx\nCpus_allowed:\tff", &nr));
	ck_assert(!sample_read_allowed("Name:\tx\nCpus_allowed:\t0\n", &nr));
	ck_assert(!sample_read_allowed("", &nr));
}
END_TEST

START_TEST(resident_memory_is_in_kilobytes)
{
	uint64_t bytes = 0;

	ck_assert(
		sample_read_resident("Name:\tx\nVmHWM:\t 1700 kB\nVmRSS:\t    1640 kB\n", &bytes));
	ck_assert_uint_eq(bytes, 1640 * 1024);
}
END_TEST

START_TEST(threads_have_two_times)
{
	static const char *const texts[] = {
		"", "12", "12 ", "12 34", " x", "x 34 5\n", "12  x 5\n"};
	uint64_t cpu_ns, wait_ns;

	ck_assert(thread_cpu_read("1096877114 97009188 299\n", &cpu_ns, &wait_ns));
	ck_assert_uint_eq(cpu_ns, 1096877114);
	ck_assert_uint_eq(wait_ns, 97009188);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_msg(!thread_cpu_read(texts[i], &cpu_ns, &wait_ns), "%s", texts[i]);
	}
}
END_TEST

START_TEST(bytes_that_calls_read_are_known_where_storage_is_counted)
{
	static const char *const texts[] = {"", "rchar: 5\n", "rchar: 5\nwchar: 1\n",
		"rchar: x\nread_bytes: 4\n", "rchar: -5\nread_bytes: 4\n", "read_bytes: 4\n",
		"rchar: 5", "rchar: 5 kB\nread_bytes: 4\n"};
	uint64_t bytes;

	ck_assert(sample_read_bytes(
		"rchar: 4292\nwchar: 0\nsyscr: 9\nsyscw: 0\nread_bytes: 4096\n", &bytes));
	ck_assert_uint_eq(bytes, 4292);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_msg(!sample_read_bytes(texts[i], &bytes), "%s", texts[i]);
	}
}
END_TEST

START_TEST(kinds_of_samples_meet)
{
	/* A late waking does not move what comes after it. */
	ck_assert_uint_eq(sample_next_ns(1000, 0, 100), 1100);
	ck_assert_uint_eq(sample_next_ns(1007, 0, 100), 1100);
	ck_assert_uint_eq(sample_next_ns(1007, 100, 100), 1100);
	ck_assert_uint_eq(sample_next_ns(1099, 1, 100), 1100);
	ck_assert_uint_eq(sample_next_ns(1007, 101, 100), 1200);
	ck_assert_uint_eq(sample_next_ns(1007, 1000, 100), 2000);
	ck_assert_uint_eq(sample_next_ns(1007, 1000, 300), 2100);
}
END_TEST

UNIT_SUITE("sample", cpu_ticks_are_the_first_eight_without_guests, odd_texts_give_nothing,
	allowed_cpus_are_the_bits_of_the_mask, resident_memory_is_in_kilobytes,
	threads_have_two_times, bytes_that_calls_read_are_known_where_storage_is_counted,
	kinds_of_samples_meet)
