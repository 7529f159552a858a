/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/op_launch.h"

#include "test/unit/unit.h"

START_TEST(lists_of_records_use_room_again)
{
	struct op_records records = {0};
	uint32_t a = 0, b = 0;

	for (uint32_t i = 1; i <= 1000; i++) {
		op_records_add(&records, i % 2 ? &a : &b)->correlation = i;
		op_records_add(&records, &a)->correlation = 5000;
		ck_assert_uint_eq(op_records_pop(&records, &a)->correlation, 5000);
	}
	ck_assert_uint_eq(records.nr_items, 1001);
	for (uint32_t i = 1000; i >= 2; i -= 2) {
		ck_assert_uint_eq(op_records_pop(&records, &b)->correlation, i);
		ck_assert_uint_eq(op_records_pop(&records, &a)->correlation, i - 1);
	}
	ck_assert(!op_records_pop(&records, &a));
	ck_assert(!op_records_pop(&records, &b));
	for (uint32_t i = 0; i < 1001; i++) {
		op_records_add(&records, &b);
	}
	ck_assert_uint_eq(records.nr_items, 1001);
	op_records_fini(&records);
}
END_TEST

UNIT_SUITE("report/op_records", lists_of_records_use_room_again)
