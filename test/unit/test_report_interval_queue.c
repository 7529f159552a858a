/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/interval_queue.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/unit.h"

#define MOMENTS 3000u

/* Mostly by falling ends, some that are not; taken out now and then down to a moment. */
START_TEST(what_comes_out_is_what_went_in_from_its_end_on)
{
	static unsigned char covered[MOMENTS], seen[MOMENTS];
	uint64_t seed = 4;

	for (uint32_t round = 0; round < 300; round++) {
		struct interval_queue queue = {0};
		struct interval item;

		memset(covered, 0, sizeof(covered));
		memset(seen, 0, sizeof(seen));
		for (uint64_t end = MOMENTS; end > 100; end -= unit_random(&seed) % 30) {
			uint64_t late = unit_random(&seed) % 8 ? 0 : unit_random(&seed) % 90;
			uint64_t stop = end + late < MOMENTS ? end + late : MOMENTS;
			uint64_t begin = end - unit_random(&seed) % 60, last_end = MOMENTS;
			uint64_t nr = unit_random(&seed) % 16 ? 0 : unit_random(&seed) % 9;

			interval_queue_push(&queue, begin, stop);
			memset(covered + begin, 1, stop - begin);
			while (nr-- && interval_queue_pop(&queue, &item)) {
				ck_assert_uint_le(item.end, last_end);
				last_end = item.end;
				memset(seen + item.begin, 1, item.end - item.begin);
			}
		}
		while (interval_queue_pop(&queue, &item)) {
			memset(seen + item.begin, 1, item.end - item.begin);
		}
		ck_assert_mem_eq(seen, covered, sizeof(seen));
		interval_queue_fini(&queue);
	}
}
END_TEST

/* More than memory is to hold, in three waves, and one that comes late in each. */
static void check_many(bool has_file)
{
	struct interval_queue queue = {0};
	uint64_t end = 1ull << 40, expected = end, nr_out = 0, nr_in = 0, nr_late = 0;

	for (uint32_t wave = 0; wave < 3; wave++) {
		struct interval item;

		for (uint32_t i = 0; i < 3 * INTERVAL_QUEUE_ITEMS / 2; i++, end -= 10, nr_in++) {
			interval_queue_push(&queue, end - 5, end);
		}
		interval_queue_push(&queue, end + 1, end + 2);
		for (uint32_t i = 0; i < INTERVAL_QUEUE_ITEMS; i++) {
			ck_assert(interval_queue_pop(&queue, &item));
			if (item.end - item.begin == 1) {
				nr_late++;
				continue;
			}
			ck_assert_uint_eq(item.end, expected);
			ck_assert_uint_eq(item.begin, expected - 5);
			expected -= 10;
			nr_out++;
		}
		ck_assert_int_eq(queue.file > 0, has_file);
		ck_assert_uint_le(queue.strays.nr, 3);
		if (has_file) {
			ck_assert_uint_le(queue.front_capacity + queue.back_capacity,
				4 * INTERVAL_QUEUE_ITEMS);
		}
	}
	for (struct interval item; interval_queue_pop(&queue, &item);) {
		if (item.end - item.begin == 1) {
			nr_late++;
			continue;
		}
		ck_assert_uint_eq(item.end, expected);
		expected -= 10;
		nr_out++;
	}
	ck_assert_uint_eq(nr_out, nr_in);
	ck_assert_uint_eq(nr_late, 3);
	interval_queue_fini(&queue);
}

START_TEST(more_than_memory_holds_waits_in_a_file)
{
	check_many(true);
}
END_TEST

START_TEST(without_room_for_a_file_it_stays_in_memory)
{
	setenv("TMPDIR", "/nonexistent", 1);
	check_many(false);
	unsetenv("TMPDIR");
}
END_TEST

UNIT_SUITE("report/interval_queue", what_comes_out_is_what_went_in_from_its_end_on,
	more_than_memory_holds_waits_in_a_file, without_room_for_a_file_it_stays_in_memory)
