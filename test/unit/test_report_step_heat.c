/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table/step_heatmap.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/unit.h"

static struct step_heatmap steps[4096];
static size_t nr;

static void add(uint64_t rank, uint64_t step, uint64_t duration_ns)
{
	steps[nr++] = (struct step_heatmap){rank, step, duration_ns, 100 + (uint32_t)rank};
}

static void check(const char *wanted)
{
	char *have = step_heatmap_draw(steps, nr);

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
	check("  Step time / median of all: steps 4 to 15 of 2 ranks\n"
	      "  . to 0.8, - to 1.2, + to 1.5, * to 2.0, # to 4.0, @ above\n"
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
	check("  Step time / median of all: steps 0 to 129 of 2 ranks, the longest of each 3\n"
	      "  . to 0.8, - to 1.2, + to 1.5, * to 2.0, # to 4.0, @ above\n"
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
	have = step_heatmap_draw(steps, nr);
	ck_assert_ptr_null(strstr(have, "rank     7"));
	ck_assert_ptr_nonnull(strstr(have, "rank     8"));
	ck_assert_ptr_nonnull(strstr(have, "rank    39"));
	ck_assert_ptr_nonnull(strstr(have, "\n  8 ranks with shorter times are not shown\n"));
	free(have);
}
END_TEST

START_TEST(the_page_has_the_longest_step_of_each_cell)
{
	char *have;

	add(0, 7, 100);
	add(0, 9, 130);
	add(2, 8, 90);
	have = step_heatmap_json(steps, nr);
	ck_assert_ptr_nonnull(have);
	ck_assert_str_eq(have,
		"{\"first\": 7, \"last\": 9, \"per_cell\": 1, \"median_ns\": 100, \"nr_ranks\": 2, "
		"\"quantiles_pct\": [0,10,25,50,75,90,100], \"quantiles\": "
		"[[100,100,100,100,100,100,100],[90,90,90,90,90,90,90],[130,130,130,130,130,130,"
		"130]], "
		"\"ranks\": [\n"
		"{\"rank\": 0, \"pid\": 100, \"total_ns\": 230, \"cells\": [[7,100],[],[9,130]]},\n"
		"{\"rank\": 2, \"pid\": 102, \"total_ns\": 90, \"cells\": [[],[8,90],[]]}]}");
	free(have);
	add(0, 263, 50); /* steps 7 to 9 share a cell */
	have = step_heatmap_json(steps, nr);
	ck_assert_ptr_nonnull(strstr(have, "\"per_cell\": 3,"));
	ck_assert_ptr_nonnull(strstr(have, "\"cells\": [[9,130],[],"));
	ck_assert_ptr_nonnull(strstr(have, "\"cells\": [[8,90],[],"));
	free(have);
}
END_TEST

START_TEST(a_step_of_a_rank_that_was_started_again_has_its_own_process)
{
	char *have;

	add(0, 7, 100);
	add(0, 8, 100);
	steps[nr - 1].pid = 900;
	add(2, 7, 90);
	have = step_heatmap_json(steps, nr);
	ck_assert_ptr_nonnull(
		strstr(have, "\"pid\": 100, \"total_ns\": 200, \"cells\": [[7,100],[8,100,900]]"));
	free(have);
}
END_TEST

START_TEST(of_thousands_of_ranks_the_page_has_those_with_the_longest_times)
{
	const char *at;
	size_t nr_ranks = 0;
	char *have;

	for (uint64_t rank = 0; rank < 2000; rank++) {
		add(rank, 0, rank % 2 ? 200 + rank : 100);
	}
	have = step_heatmap_json(steps, nr);
	ck_assert_ptr_nonnull(strstr(have, "\"nr_ranks\": 2000,"));
	ck_assert_ptr_nonnull(strstr(have, "\"quantiles\": [[100,100,100,100,1199,1799,2199]]"));
	ck_assert_ptr_nonnull(strstr(have, "\"rank\": 1999,"));
	ck_assert_ptr_nonnull(strstr(have, "\"rank\": 46,"));
	ck_assert_ptr_null(strstr(have, "\"rank\": 48,"));
	for (at = have; (at = strstr(at, "\"rank\": ")); at++) {
		nr_ranks++;
	}
	ck_assert_uint_eq(nr_ranks, 1024);
	free(have);
}
END_TEST

START_TEST(one_rank_is_no_field_and_nonsense_no_harm)
{
	char *have;

	ck_assert_ptr_null(step_heatmap_draw(steps, 0));
	add(1, 1, 5);
	add(1, 2, 5);
	ck_assert_ptr_null(step_heatmap_draw(steps, nr));
	ck_assert_ptr_null(step_heatmap_json(steps, nr));
	nr = 0;
	add(0, 0, 0);
	add(UINT64_MAX, UINT64_MAX, UINT64_MAX);
	add(UINT64_MAX, 0, 0);
	have = step_heatmap_draw(steps, nr);
	ck_assert_ptr_nonnull(have);
	free(have);
	have = step_heatmap_json(steps, nr);
	ck_assert_ptr_nonnull(have);
	free(have);
}
END_TEST

UNIT_SUITE("report/step_heat", signs_say_how_steps_compare_with_the_median_of_all,
	of_many_steps_the_longest_stands, of_many_ranks_those_with_the_longest_times_stand,
	the_page_has_the_longest_step_of_each_cell,
	a_step_of_a_rank_that_was_started_again_has_its_own_process,
	of_thousands_of_ranks_the_page_has_those_with_the_longest_times,
	one_rank_is_no_field_and_nonsense_no_harm)
