/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of PyTorch's CPU allocator that are in use. */
#include "preload/torch/live_blocks.h"

#include "collector/util/loss.h"
#include "test/unit/unit.h"

enum { NR = 200000, BLOCK_BYTES = 64 };

static uintptr_t address_of(uint32_t i)
{
	return 0x7f0000000000u + (uintptr_t)i * BLOCK_BYTES;
}

START_TEST(blocks_add_up_and_a_freed_address_is_taken_again)
{
	uint64_t in_use;

	ck_assert_uint_eq(live_blocks_add(address_of(1), 100), 100);
	ck_assert_uint_eq(live_blocks_add(address_of(2), 50), 150);
	ck_assert_uint_eq(live_blocks_add(address_of(1), 10), 60); /* was freed without a report */
	ck_assert_uint_eq(live_blocks_remove(address_of(1), &in_use), 10);
	ck_assert_uint_eq(in_use, 50);
	ck_assert_uint_eq(live_blocks_remove(address_of(1), &in_use), 0);
	ck_assert_uint_eq(loss_take(LOSS_BLOCK), 0);
}
END_TEST

START_TEST(blocks_beyond_those_that_fit_are_counted_and_add_nothing)
{
	uint64_t nr_kept = 0, in_use = 0, nr_lost;

	for (uint32_t i = 0; i < NR; i++) {
		nr_kept += live_blocks_add(address_of(i), BLOCK_BYTES) != 0;
	}
	nr_lost = loss_take(LOSS_BLOCK);
	ck_assert_uint_eq(nr_kept + nr_lost, NR);
	ck_assert_uint_gt(nr_kept, 60000);
	ck_assert_uint_le(nr_kept, 65536);
	for (uint32_t i = 0; i < NR; i++) {
		nr_kept -= live_blocks_remove(address_of(i), &in_use) != 0;
	}
	ck_assert_uint_eq(nr_kept, 0);
	ck_assert_uint_eq(in_use, 0);
	ck_assert_uint_eq(live_blocks_add(address_of(NR), 7), 7);
}
END_TEST

UNIT_SUITE("live_blocks", blocks_add_up_and_a_freed_address_is_taken_again,
	blocks_beyond_those_that_fit_are_counted_and_add_nothing)
