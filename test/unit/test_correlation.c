/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/format/correlation.h"

#include "collector/ring/correlation_ids.h"
#include "test/unit/unit.h"

START_TEST(ids_keep_their_bits_before_any_wrap)
{
	static const uint32_t ids[] = {1, 2, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		ck_assert_uint_eq(correlation_unwrap(0, ids[i]), ids[i]);
		ck_assert_uint_eq(correlation_unwrap(5, ids[i]), ids[i]);
		ck_assert_uint_eq(correlation_unwrap(ids[i], ids[i]), ids[i]);
	}
}
END_TEST

START_TEST(an_id_is_the_nearest_to_the_newest)
{
	const uint64_t turn = 1ull << 32;

	ck_assert_uint_eq(correlation_unwrap(0xfffffff0, 5), turn + 5);
	ck_assert_uint_eq(correlation_unwrap(turn + 5, 0xfffffff0), 0xfffffff0);
	ck_assert_uint_eq(correlation_unwrap(turn + 5, 6), turn + 6);
	for (uint64_t newest = 7; newest < 1ull << 60; newest = newest * 3 + 1) {
		for (uint64_t back = 0; back <= 0x7fffffff && back < newest; back = back * 2 + 1) {
			ck_assert_uint_eq(correlation_unwrap(newest, (uint32_t)(newest - back)),
				(uint32_t)(newest - back) ? newest - back : 0);
		}
		ck_assert_uint_eq(correlation_unwrap(newest, (uint32_t)newest + 1), newest + 1);
	}
}
END_TEST

START_TEST(no_id_is_0_and_none_is_before_the_first)
{
	ck_assert_uint_eq(correlation_unwrap(0, 0), 0);
	ck_assert_uint_eq(correlation_unwrap(7ull << 32, 0), 0);
	ck_assert_uint_eq(correlation_unwrap(100, 0xffffff00), 0xffffff00);
	ck_assert_int_eq(correlation_nearest(100, 0xffffff00), -256);
	ck_assert_uint_ne(correlation_unwrap(UINT64_MAX, 5), 0);
}
END_TEST

START_TEST(the_newest_grows_over_every_wrap_and_gap)
{
	uint64_t before = 0;

	correlation_ids_init();
	ck_assert_uint_eq(correlation_ids_newest(), 0);
	correlation_ids_saw(0xfffffff0);
	ck_assert_uint_eq(correlation_ids_newest(), 0xfffffff0);
	correlation_ids_saw(3);
	correlation_ids_saw(0xfffffff8); /* of another thread */
	ck_assert_uint_eq(correlation_ids_newest(), (1ull << 32) + 3);
	for (uint32_t id = 0; id < 10; id++) {
		correlation_ids_missed();
		correlation_ids_saw(id * 0xc0000000u);
		ck_assert_uint_gt(correlation_ids_newest(), before);
		before = correlation_ids_newest();
	}
	correlation_ids_init();
}
END_TEST

UNIT_SUITE("correlation", ids_keep_their_bits_before_any_wrap, an_id_is_the_nearest_to_the_newest,
	no_id_is_0_and_none_is_before_the_first, the_newest_grows_over_every_wrap_and_gap)
