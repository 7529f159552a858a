/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/intervals.h"

#include "test/unit/unit.h"

enum { TIMES = 300 };

/* The plain way: a flag for each moment. */
struct plain {
	unsigned char is_in[TIMES];
};

static void add_random(struct intervals *set, struct plain *plain, uint64_t *seed)
{
	uint64_t nr = unit_random(seed) % 25;

	*plain = (struct plain){{0}};
	intervals_fini(set);
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t begin = unit_random(seed) % TIMES;
		uint64_t end = unit_random(seed) % 3 ? begin + unit_random(seed) % 20
						     : unit_random(seed) % TIMES;

		end = end < TIMES ? end : TIMES;
		intervals_add(set, begin, end);
		for (uint64_t t = begin; t < end; t++) {
			plain->is_in[t] = 1;
		}
	}
	intervals_merge(set);
}

/* The set holds just what the flags say, in as few intervals as can be, in order. */
static void check(const struct intervals *set, const struct plain *plain)
{
	uint64_t length = 0;
	size_t at = 0;

	for (uint64_t t = 0; t < TIMES; t++) {
		bool is_begin = plain->is_in[t] && (!t || !plain->is_in[t - 1]);
		bool is_last = plain->is_in[t] && (t + 1 == TIMES || !plain->is_in[t + 1]);

		length += plain->is_in[t];
		if (is_begin) {
			ck_assert_uint_lt(at, set->nr);
			ck_assert_uint_eq(set->items[at].begin, t);
		}
		if (is_last) {
			ck_assert_uint_eq(set->items[at++].end, t + 1);
		}
	}
	ck_assert_uint_eq(set->nr, at);
	ck_assert_uint_eq(intervals_length(set), length);
}

START_TEST(sets_are_those_of_a_flag_for_each_moment)
{
	struct intervals a = {0}, b = {0}, out = {0};
	uint64_t seed = 11;

	for (int round = 0; round < 3000; round++) {
		struct plain in_a, in_b, both, part;
		uint64_t begin = unit_random(&seed) % TIMES, end = unit_random(&seed) % TIMES;

		add_random(&a, &in_a, &seed);
		add_random(&b, &in_b, &seed);
		for (uint64_t t = 0; t < TIMES; t++) {
			both.is_in[t] = in_a.is_in[t] & in_b.is_in[t];
			part.is_in[t] = in_a.is_in[t] & (t >= begin && t < end);
		}
		check(&a, &in_a);
		intervals_intersect(&a, &b, &out);
		check(&out, &both);
		intervals_clip(&a, begin, end, &out);
		check(&out, &part);
	}
	intervals_fini(&a);
	intervals_fini(&b);
	intervals_fini(&out);
}
END_TEST

START_TEST(the_ends_of_time_are_times_too)
{
	struct intervals a = {0}, b = {0}, out = {0};

	intervals_add(&a, 10, 5);
	intervals_add(&a, 7, 7);
	ck_assert_uint_eq(a.nr, 0);
	ck_assert_uint_eq(intervals_length(&a), 0);
	intervals_intersect(&a, &b, &out);
	ck_assert_uint_eq(out.nr, 0);
	intervals_add(&a, 5, UINT64_MAX);
	intervals_add(&a, 0, 5);
	intervals_merge(&a);
	ck_assert_uint_eq(a.nr, 1);
	ck_assert_uint_eq(intervals_length(&a), UINT64_MAX);
	intervals_add(&b, UINT64_MAX - 1, UINT64_MAX);
	intervals_intersect(&a, &b, &out);
	ck_assert_uint_eq(intervals_length(&out), 1);
	intervals_clip(&a, 0, UINT64_MAX - 1, &out);
	ck_assert_uint_eq(intervals_length(&out), UINT64_MAX - 1);
	intervals_fini(&a);
	intervals_fini(&b);
	intervals_fini(&out);
}
END_TEST

START_TEST(what_comes_in_order_takes_no_more_than_what_stands_alone)
{
	struct intervals set = {0};

	for (uint64_t i = 0; i < 100000; i++) {
		intervals_add(&set, i * 10, i * 10 + (i % 100 ? 10 : 9));
	}
	ck_assert(!set.is_unsorted);
	ck_assert_uint_eq(set.nr, 1001);
	ck_assert_uint_eq(intervals_length(&set), 999000);
	intervals_fini(&set);
}
END_TEST

UNIT_SUITE("report/intervals", sets_are_those_of_a_flag_for_each_moment,
	the_ends_of_time_are_times_too, what_comes_in_order_takes_no_more_than_what_stands_alone)
