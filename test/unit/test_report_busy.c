/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/busy.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/clock_map.h"
#include "report/util/idmap.h"
#include "report/util/idset.h"
#include "test/unit/unit.h"

START_TEST(overlapping_and_touching_intervals_count_once)
{
	struct busy busy;

	busy_init(&busy);
	busy_add(&busy, 10, 20);
	busy_add(&busy, 15, 30);
	busy_add(&busy, 30, 40);
	busy_add(&busy, 12, 14);
	busy_add(&busy, 100, 100);
	busy_finish(&busy);
	ck_assert_uint_eq(busy.sum.busy_ns, 30);
	ck_assert_uint_eq(busy.first, 10);
	ck_assert_uint_eq(busy.last, 100);
	busy_fini(&busy);
}
END_TEST

START_TEST(the_union_in_pieces_is_that_of_all_at_once)
{
	enum { TIMES = 20000 };
	static unsigned char covered[TIMES];
	uint64_t seed = 5, expected = 0;
	struct busy busy;

	busy_init(&busy);
	for (uint64_t from = 0; from < TIMES - 1000; from += 500) {
		for (int i = 0; i < 30; i++) {
			uint64_t begin = from + unit_random(&seed) % 600;
			uint64_t end = begin + unit_random(&seed) % 40;

			busy_add(&busy, begin, end);
			for (uint64_t t = begin; t < end; t++) {
				covered[t] = 1;
			}
		}
		busy_advance(&busy, from + 500);
		/* Only what may still change waits. */
		ck_assert_uint_lt(busy.nr_waiting, 30);
	}
	busy_finish(&busy);
	for (int t = 0; t < TIMES; t++) {
		expected += covered[t];
	}
	ck_assert_uint_eq(busy.sum.busy_ns, expected);
	busy_fini(&busy);
}
END_TEST

/* Several runs each time, far back into what waits, and moments at which nothing can be counted. */
START_TEST(the_union_is_right_however_late_intervals_come)
{
	enum { TIMES = 60000 };
	static unsigned char covered[TIMES];

	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t random = seed * 31, expected = 0, done = 0;
		struct busy busy;

		busy_init(&busy);
		memset(covered, 0, sizeof(covered));
		for (int round = 0; round < 40; round++) {
			for (int i = 0; i < 200; i++) {
				uint64_t begin = done + unit_random(&random) % (TIMES - 100 - done);
				uint64_t end = begin + unit_random(&random) % 9;

				busy_add(&busy, begin, end);
				memset(covered + begin, 1, end - begin);
			}
			done += unit_random(&random) % 3 ? 0 : unit_random(&random) % 3000;
			busy_advance(&busy, done);
		}
		busy_finish(&busy);
		for (int t = 0; t < TIMES; t++) {
			expected += covered[t];
		}
		ck_assert_uint_eq(busy.sum.busy_ns, expected);
		ck_assert_uint_eq(busy.nr_waiting, 0);
		busy_fini(&busy);
	}
}
END_TEST

START_TEST(times_between_anchors_lie_on_a_line_and_outside_on_the_nearest)
{
	struct clock_map map = {0};

	clock_map_add(&map, 3000000000, 6000600000);
	clock_map_add(&map, 1000000000, 4000000000);
	clock_map_add(&map, 2000000000, 5000200000);
	clock_map_finish(&map);
	ck_assert_uint_eq(clock_map_time(&map, 1000000000), 4000000000);
	ck_assert_uint_eq(clock_map_time(&map, 1500000000), 4500100000);
	ck_assert_uint_eq(clock_map_time(&map, 3000000000), 6000600000);
	ck_assert_uint_eq(clock_map_time(&map, 4000000000), 7001000000);
	ck_assert_uint_eq(clock_map_time(&map, 500000000), 3499900000);
	ck_assert_uint_eq(clock_map_duration(&map, 1000000000), 1000300000);
	clock_map_fini(&map);
}
END_TEST

/* What readings are late by is no rate, unless they are far apart. */
START_TEST(errors_of_readings_are_no_rate)
{
	static const struct {
		uint64_t apart_ns, late_ns, dur_ns; /* that 50 ms become */
	} cases[] = {
		{10000000, 250, 50000000}, {99000000, 9000, 50000000}, {150000000, 1500, 50000500}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct clock_map map = {0};
		uint64_t dur_ns;

		clock_map_add(&map, 1000000000, 4000000000);
		clock_map_add(&map, 1000000000 + cases[i].apart_ns,
			4000000000 + cases[i].apart_ns + cases[i].late_ns);
		clock_map_finish(&map);
		dur_ns = clock_map_time(&map, 1051000000) - clock_map_time(&map, 1001000000);
		ck_assert_uint_le(cases[i].dur_ns - dur_ns, 1);
		clock_map_fini(&map);
	}
}
END_TEST

START_TEST(one_anchor_shifts_none_leaves_and_nonsense_is_left_out)
{
	struct clock_map none = {0}, one = {0}, odd = {0};

	clock_map_finish(&none);
	ck_assert_uint_eq(clock_map_time(&none, 77), 77);
	ck_assert_uint_eq(clock_map_duration(&none, 77), 77);
	clock_map_add(&one, 100, 1100);
	clock_map_finish(&one);
	ck_assert_uint_eq(clock_map_time(&one, 90), 1090);
	ck_assert_uint_eq(clock_map_time(&one, 200), 1200);
	clock_map_add(&odd, 100, 1100);
	clock_map_add(&odd, 100, 5000);
	clock_map_add(&odd, 200, 900); /* runs backwards */
	clock_map_add(&odd, 300, 1300);
	clock_map_finish(&odd);
	ck_assert_uint_eq(clock_map_time(&odd, 250), 1250);
	clock_map_fini(&one);
	clock_map_fini(&odd);
}
END_TEST

START_TEST(ids_far_out_cost_no_memory_and_are_found)
{
	struct idmap map;

	idmap_init(&map, sizeof(uint32_t));
	for (uint32_t id = 1; id < 100000; id++) {
		*(uint32_t *)idmap_put(&map, id) = id * 3;
	}
	*(uint32_t *)idmap_put(&map, UINT32_MAX) = 5;
	*(uint32_t *)idmap_put(&map, 0x80000001u) = 6;
	*(uint32_t *)idmap_put(&map, 1ull << 32 | 1) = 7;
	ck_assert_uint_eq(*(uint32_t *)idmap_get(&map, 99999), 299997);
	ck_assert_uint_eq(*(uint32_t *)idmap_get(&map, UINT32_MAX), 5);
	ck_assert_uint_eq(*(uint32_t *)idmap_get(&map, 0x80000001u), 6);
	ck_assert_uint_eq(*(uint32_t *)idmap_get(&map, 1), 3);
	ck_assert_uint_eq(*(uint32_t *)idmap_get(&map, 1ull << 32 | 1), 7);
	ck_assert_ptr_null(idmap_get(&map, 0));
	ck_assert_ptr_null(idmap_get(&map, 1ull << 32));
	ck_assert_ptr_null(idmap_get(&map, 0x80000000u));
	ck_assert_uint_lt(map.nr_near, 1u << 20);
	ck_assert_uint_eq(map.nr, 100002);
	idmap_fini(&map);
}
END_TEST

START_TEST(sets_tell_what_the_other_lacks)
{
	struct idset *a = idset_create(), *b = idset_create();

	idset_add(a, 1);
	idset_add(a, 65536);
	idset_add(a, UINT32_MAX);
	idset_add(a, UINT32_MAX);
	idset_add(b, 65536);
	idset_add(b, 2);
	ck_assert_int_eq(idset_has(a, UINT32_MAX), 1);
	ck_assert_int_eq(idset_has(b, UINT32_MAX), 0);
	ck_assert_uint_eq(idset_count_missing(a, b), 2);
	for (uint64_t turn = 1; turn < 1000; turn++) {
		idset_add(a, turn << 32 | 7);
		idset_add(b, turn << 33 | 7);
	}
	for (uint64_t turn = 1; turn < 1000; turn++) {
		ck_assert_int_eq(idset_has(a, turn << 32 | 7), 1);
		ck_assert_int_eq(idset_has(b, turn << 32 | 7), turn % 2 == 0);
	}
	ck_assert_int_eq(idset_has(a, 7), 0);
	ck_assert_uint_eq(idset_count_missing(a, b), 2 + 500);
	idset_destroy(a);
	idset_destroy(b);
}
END_TEST

/* Parts that lie in each other and apart, some late, against their unions tick by tick. */
START_TEST(parts_that_advance_together_have_their_unions)
{
	enum { TIMES = 30000, NR = 3 };
	static unsigned char covered[2 * NR][TIMES];
	struct busy_sum sums[NR] = {0};
	struct busy parts[NR];
	uint64_t seed = 9;

	memset(covered, 0, sizeof(covered));
	for (int k = 0; k < NR; k++) {
		busy_init(&parts[k]);
	}
	for (uint64_t from = 0; from < TIMES - 1000; from += 500) {
		for (int i = 0; i < 40; i++) {
			uint64_t begin = from + unit_random(&seed) % 900;
			uint64_t end = begin + unit_random(&seed) % 60;
			uint64_t k = unit_random(&seed) % (from < 5000 ? 2 : NR);

			busy_add(&parts[k], begin, end);
			memset(&covered[k][begin], 1, end - begin);
			for (uint64_t sum = k; sum < NR; sum++) {
				memset(&covered[NR + sum][begin], 1, end - begin);
			}
		}
		busy_advance_all(parts, NR, from + 500, sums);
	}
	busy_advance_all(parts, NR, UINT64_MAX, sums);
	for (int k = 0; k < NR; k++) {
		uint64_t expected = 0, expected_sum = 0;

		for (int t = 0; t < TIMES; t++) {
			expected += covered[k][t];
			expected_sum += covered[NR + k][t];
		}
		ck_assert_uint_eq(parts[k].sum.busy_ns, expected);
		ck_assert_uint_eq(sums[k].busy_ns, expected_sum);
		busy_fini(&parts[k]);
	}
}
END_TEST

UNIT_SUITE("report/busy", overlapping_and_touching_intervals_count_once,
	the_union_in_pieces_is_that_of_all_at_once, the_union_is_right_however_late_intervals_come,
	parts_that_advance_together_have_their_unions,
	times_between_anchors_lie_on_a_line_and_outside_on_the_nearest,
	errors_of_readings_are_no_rate, one_anchor_shifts_none_leaves_and_nonsense_is_left_out,
	ids_far_out_cost_no_memory_and_are_found, sets_tell_what_the_other_lacks)
