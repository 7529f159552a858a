/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/chrome_rows.h"

#include <stdlib.h>

#include "test/unit/unit.h"

enum { SLICES = 300 };

struct slice {
	uint64_t begin, end;
	uint32_t tid;
	enum chrome_lane_kind kind;
};

static int by_begin(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->tid != y->tid) {
		return x->tid < y->tid ? -1 : 1;
	}
	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	return (x->end < y->end) - (x->end > y->end);
}

/* Slices of a row lie in each other or apart. */
static void check_nesting(struct slice *slices, size_t nr)
{
	uint64_t open[SLICES];
	size_t nr_open = 0;

	qsort(slices, nr, sizeof(*slices), by_begin);
	for (size_t i = 0; i < nr; i++) {
		nr_open = i && slices[i - 1].tid != slices[i].tid ? 0 : nr_open;
		while (nr_open && open[nr_open - 1] <= slices[i].begin) {
			nr_open--;
		}
		ck_assert(!nr_open || slices[i].end <= open[nr_open - 1]);
		open[nr_open++] = slices[i].end;
	}
}

static void walk(struct chrome_lanes *lanes, struct slice *slices, size_t nr, bool is_written)
{
	for (size_t i = 0; i < nr; i++) {
		const struct chrome_lane_slice slice = {.kind = slices[i].kind,
			.begin_ns = slices[i].begin,
			.end_ns = slices[i].end};

		ck_assert_uint_eq(
			chrome_lanes_place(lanes, &slice, &slices[i].tid), is_written ? i + 1 : 0);
	}
}

/* Calls one after the other, each with one in it, and ranges anywhere: in any order. */
static size_t make(struct slice *slices, uint64_t seed)
{
	size_t nr = 0;

	while (nr + 3 <= SLICES) {
		uint64_t at = nr * 10, begin = unit_random(&seed) % (10 * SLICES);
		uint32_t tid = 7 + (uint32_t)(unit_random(&seed) % 2);

		slices[nr++] = (struct slice){at + 5, at + 9, tid, CHROME_LANE_CALL};
		slices[nr++] = (struct slice){at, at + 20, tid, CHROME_LANE_CALL};
		slices[nr++] = (struct slice){begin, begin + unit_random(&seed) % 500,
			7 + (uint32_t)(unit_random(&seed) % 2), CHROME_LANE_RANGE};
	}
	return nr;
}

START_TEST(ranges_that_overlap_partly_move_and_calls_stay)
{
	for (uint64_t seed = 1; seed < 50; seed++) {
		struct chrome_lanes *lanes = chrome_lanes_create();
		struct slice slices[SLICES], before[SLICES];
		size_t nr = make(slices, seed), nr_moved = 0;

		memcpy(before, slices, sizeof(before));
		walk(lanes, slices, nr, false);
		chrome_lanes_find(lanes, NULL);
		walk(lanes, slices, nr, true);
		for (size_t i = 0; i < nr; i++) {
			ck_assert(slices[i].kind == CHROME_LANE_RANGE ||
				  slices[i].tid == before[i].tid);
			nr_moved += slices[i].tid != before[i].tid;
		}
		ck_assert_uint_gt(nr_moved, 0);
		check_nesting(slices, nr);
		chrome_lanes_destroy(lanes);
	}
}
END_TEST

START_TEST(what_lies_in_each_other_stays)

{
	struct slice slices[] = {{10, 20, 7, CHROME_LANE_CALL}, {20, 30, 7, CHROME_LANE_CALL},
		{10, 30, 7, CHROME_LANE_RANGE}, {10, 20, 7, CHROME_LANE_RANGE},
		{15, 15, 7, CHROME_LANE_RANGE}, {15, 25, 8, CHROME_LANE_RANGE}};
	struct chrome_lanes *lanes = chrome_lanes_create();

	walk(lanes, slices, 6, false);
	chrome_lanes_find(lanes, NULL);
	walk(lanes, slices, 6, true);
	for (size_t i = 0; i < 6; i++) {
		ck_assert_uint_eq(slices[i].tid, i == 5 ? 8 : 7);
	}
	chrome_lanes_destroy(lanes);
}
END_TEST

START_TEST(steps_of_a_thread_stay_together)
{
	struct slice slices[] = {{0, 100, 7, CHROME_LANE_STEP}, {100, 200, 7, CHROME_LANE_STEP},
		{200, 300, 7, CHROME_LANE_STEP}, {190, 210, 7, CHROME_LANE_CALL},
		{195, 205, 7, CHROME_LANE_RANGE}, {205, 215, 7, CHROME_LANE_RANGE},
		{0, 100, 8, CHROME_LANE_STEP}};
	struct chrome_lanes *lanes = chrome_lanes_create();
	uint32_t row;

	walk(lanes, slices, 7, false);
	chrome_lanes_find(lanes, NULL);
	walk(lanes, slices, 7, true);
	row = slices[0].tid;
	ck_assert_uint_ne(row, 7);
	ck_assert_uint_eq(slices[1].tid, row);
	ck_assert_uint_eq(slices[2].tid, row);
	ck_assert_uint_eq(slices[3].tid, 7);
	ck_assert_uint_eq(slices[4].tid, 7);
	ck_assert_uint_ne(slices[5].tid, 7);
	ck_assert_uint_ne(slices[5].tid, row);
	ck_assert_uint_eq(slices[6].tid, 8);
	chrome_lanes_destroy(lanes);
}
END_TEST

UNIT_SUITE("report/chrome_rows", ranges_that_overlap_partly_move_and_calls_stay,
	what_lies_in_each_other_stays, steps_of_a_thread_stay_together)
