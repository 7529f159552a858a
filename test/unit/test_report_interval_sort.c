/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/intervals.h"

#include <string.h>

#include "test/unit/unit.h"

#define MOST 3000u

static struct interval items[MOST], expected[MOST];

/* By insertion, which keeps equal ones in order. */
static void sort_plainly(uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++) {
		struct interval item = expected[i];
		uint32_t k = i;

		for (; k && expected[k - 1].begin > item.begin; k--) {
			expected[k] = expected[k - 1];
		}
		expected[k] = item;
	}
}

static void check(struct run_sort *sort, uint32_t nr)
{
	memcpy(expected, items, sizeof(items));
	sort_plainly(nr);
	interval_sort(sort, items, 0, nr);
	ck_assert_int_eq(memcmp(items, expected, sizeof(items)), 0);
}

/* Ends number the items, so that a change in the order of equal ones shows. */
static void fill(uint64_t *seed, uint32_t nr, uint32_t run, uint64_t nr_begins, int64_t step)
{
	uint64_t begin = 0;

	for (uint32_t i = 0; i < nr; i++) {
		begin = i % run ? begin + (uint64_t)step * (unit_random(seed) % 3)
				: (1u << 20) + unit_random(seed) % nr_begins;
		items[i] = (struct interval){begin, i};
	}
}

START_TEST(random_runs_rising_and_falling_come_out_as_the_plain_way_sorts_them)
{
	static const uint32_t runs[] = {1, 2, 9, 200, MOST};
	struct run_sort sort = {0};
	uint64_t seed = 11;

	for (uint32_t i = 0; i < 120; i++) {
		uint32_t nr = (uint32_t)(unit_random(&seed) % MOST);

		fill(&seed, nr, runs[i % 5], i % 2 ? 12 : 1u << 20, i % 3 - 1);
		check(&sort, nr);
	}
	run_sort_fini(&sort);
}
END_TEST

START_TEST(none_one_and_two)
{
	struct run_sort sort = {0};
	uint64_t seed = 2;

	check(&sort, 0);
	for (uint32_t i = 0; i < 20; i++) {
		fill(&seed, 2, 1, 3, 1);
		check(&sort, 1 + i % 2);
	}
	run_sort_fini(&sort);
}
END_TEST

UNIT_SUITE("report/interval_sort",
	random_runs_rising_and_falling_come_out_as_the_plain_way_sorts_them, none_one_and_two)
