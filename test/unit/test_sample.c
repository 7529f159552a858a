/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sample/sample.h"

#include <string.h>

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
	uint64_t pages;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_msg(!sample_read_cpus(texts[i], &cpus), "%s", texts[i]);
	}
	ck_assert(!sample_read_resident("", &pages));
	ck_assert(!sample_read_resident("123", &pages));
	ck_assert(!sample_read_resident("123 ", &pages));
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

START_TEST(resident_is_the_second_number)
{
	uint64_t pages = 0;

	ck_assert(sample_read_resident("5000 1234 88 1 0 77 0\n", &pages));
	ck_assert_uint_eq(pages, 1234);
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
	allowed_cpus_are_the_bits_of_the_mask, resident_is_the_second_number, kinds_of_samples_meet)
