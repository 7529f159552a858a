/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sample/cpu_room.h"

#include "collector/sample/cpu_ring.h"
#include "test/unit/unit.h"

/* Takes first buffers until there is no more room; returns how many. */
static uint32_t take_all(bool copies_stack)
{
	uint32_t nr = 0;

	while (nr < 100000 && cpu_room_take(cpu_room_first(false, copies_stack), copies_stack)) {
		nr++;
	}
	return nr;
}

START_TEST(copies_leave_room_for_threads_without_them)
{
	static const uint64_t rates[] = {1, 99, 1000};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint64_t nr_copies, nr_chains;

		cpu_room_begin(rates[i], true, false);
		ck_assert(cpu_room_is_free());
		nr_copies = take_all(true);
		ck_assert_int_eq(nr_copies > 0, cpu_room_has_copies());
		ck_assert_uint_le(
			nr_copies * cpu_ring_locked_bytes(cpu_room_first(false, true)), 10u << 20);
		nr_chains = take_all(false);
		ck_assert_uint_gt(nr_chains, nr_copies);
		for (; nr_copies; nr_copies--) {
			cpu_room_give_back(cpu_room_first(false, true), true);
		}
		ck_assert(!cpu_room_is_free());
		for (; nr_chains; nr_chains--) {
			cpu_room_give_back(cpu_room_first(false, false), false);
		}
		ck_assert(cpu_room_is_free());
	}
}
END_TEST

START_TEST(buffers_have_room_for_some_records_and_grow_to_a_bound)
{
	cpu_room_begin(99, true, false);
	for (int i = 0; i < 4; i++) {
		bool is_main = i & 1, copies_stack = i & 2;
		uint32_t bytes = cpu_room_first(is_main, copies_stack), nr = 0;

		ck_assert_uint_ge(
			bytes, copies_stack ? 4 * CPU_RING_RECORD_BYTES : cpu_room_least());
		for (; bytes; bytes = cpu_room_larger(bytes, copies_stack)) {
			ck_assert_uint_eq(bytes & (bytes - 1), 0);
			ck_assert_uint_le(bytes, copies_stack ? 1u << 20 : 256u << 10);
			ck_assert_uint_lt(nr++, 20);
		}
	}
	ck_assert_uint_ge(cpu_room_first(true, true), cpu_room_first(false, true));
}
END_TEST

UNIT_SUITE("cpu_room", copies_leave_room_for_threads_without_them,
	buffers_have_room_for_some_records_and_grow_to_a_bound)
