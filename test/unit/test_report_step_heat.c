/* SPDX-License-Identifier: Apache-2.0 */
#include "report/step_heat.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/unit.h"

static struct step_heat steps[4096];
static size_t nr;

static void add(uint64_t rank, uint64_t step, uint64_t duration_ns)
{
	steps[nr++] = (struct step_heat){rank, step, duration_ns};
}

static void check(const char *wanted)
{
	char *have = step_heat_draw(steps, nr);

	ck_assert_ptr_nonnull(have);
	ck_assert_str_eq(have, wanted);
	free(have);
}

START_TEST(signs_say_how_steps_compare_with_the_median_of_all)
{
	static const uint64_t durations[] = {80, 81, 120, 121, 150, 151, 200, 201, 400, 401};

	for (uint64_t step = 0; step < 10; step++) {
		add(3, 5 + step, durations[step]);
	}
	for (uint64_t step = 0; step < 12; step++) {
		if (step != 1) { /* not recorded */
			add(0, 4 + step, 100);
		}
	}
	check("  steps 4 to 15 of 2 ranks, each by the median of all: . to 0.8, - to 1.2, + to "
	      "1.5, "
	      "* to 2.0, # to 4.0, @ above\n"
	      "  rank     0  |- ----------|\n"
	      "  rank     3  | .--++**##@ |\n");
}
END_TEST

START_TEST(of_many_steps_the_longest_stands)
{
	for (uint64_t step = 0; step < 130; step++) {
		add(0, step, step == 64 ? 1000 : 100);
		add(1, step, 100);
	}
	check("  steps 0 to 129 of 2 ranks, the longest of each 3 by the median of all: . to 0.8, "
	      "- to 1.2, + to 1.5, * to 2.0, # to 4.0, @ above\n"
	      "  rank     0  |---------------------@----------------------|\n"
	      "  rank     1  |--------------------------------------------|\n");
}
END_TEST

START_TEST(of_many_ranks_those_with_the_longest_times_stand)
{
	char *have;

	for (uint64_t rank = 0; rank < 40; rank++) {
		add(rank, 0, rank < 8 ? 90 : 100);
	}
	have = step_heat_draw(steps, nr);
	ck_assert_ptr_null(strstr(have, "rank     7"));
	ck_assert_ptr_nonnull(strstr(have, "rank     8"));
	ck_assert_ptr_nonnull(strstr(have, "rank    39"));
	ck_assert_ptr_nonnull(strstr(have, "\n  8 ranks with shorter times are not shown\n"));
	free(have);
}
END_TEST

START_TEST(one_rank_is_no_field_and_nonsense_no_harm)
{
	char *have;

	ck_assert_ptr_null(step_heat_draw(steps, 0));
	add(1, 1, 5);
	add(1, 2, 5);
	ck_assert_ptr_null(step_heat_draw(steps, nr));
	nr = 0;
	add(0, 0, 0);
	add(UINT64_MAX, UINT64_MAX, UINT64_MAX);
	add(UINT64_MAX, 0, 0);
	have = step_heat_draw(steps, nr);
	ck_assert_ptr_nonnull(have);
	free(have);
}
END_TEST

UNIT_SUITE("report/step_heat", signs_say_how_steps_compare_with_the_median_of_all,
	of_many_steps_the_longest_stands, of_many_ranks_those_with_the_longest_times_stand,
	one_rank_is_no_field_and_nonsense_no_harm)
