/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/numbers.h"

#include "test/unit/unit.h"

static bool parses(const char *list, bool has_last)
{
	struct numbers numbers = {0};
	bool is_good = numbers_parse(&numbers, list, has_last);

	numbers_fini(&numbers);
	return is_good;
}

START_TEST(lists_of_numbers)
{
	static const char *const bad[] = {"", ",", "1,", ",1", "-", "1--2", "5-3", "a", "1a", "1-a",
		"+1", " 1", "1 ", "-0", "--1", "1-2-3", "18446744073709551616", "-"};
	struct numbers numbers = {0};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(!parses(bad[i], true), "'%s'", bad[i]);
		ck_assert_msg(!parses(bad[i], false), "'%s'", bad[i]);
	}
	ck_assert(parses("-2", true) && !parses("-2", false));
	ck_assert(numbers_is_empty(&numbers));
	ck_assert(numbers_parse(&numbers, "0,3-5,-2,9-", true));
	ck_assert(numbers_has(&numbers, 0) && !numbers_has(&numbers, 1));
	ck_assert(numbers_has(&numbers, 5) && !numbers_has(&numbers, 6));
	ck_assert(!numbers_has(&numbers, 8) && numbers_has(&numbers, UINT64_MAX));
	ck_assert_uint_eq(numbers.nr_last, 2);
	numbers_fini(&numbers);
}
END_TEST

START_TEST(lists_of_numbers_are_printed_short)
{
	uint64_t array[] = {7, 3, 4, 4, 5, 9, 0, UINT64_MAX, UINT64_MAX - 1};
	struct buf out = {0};

	numbers_print(array, 9, 9, &out);
	buf_char(&out, ' ');
	numbers_print(array, 9, 2, &out);
	buf_char(&out, 0);
	ck_assert_str_eq(
		out.bytes, "0,3-5,7,9,18446744073709551614-18446744073709551615 0,3-5,...");
	buf_fini(&out);
}
END_TEST

UNIT_SUITE("report/numbers", lists_of_numbers, lists_of_numbers_are_printed_short)
