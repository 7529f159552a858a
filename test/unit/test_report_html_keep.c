/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "report/html/keep.h"
#include "test/unit/unit.h"

enum { ROWS = 7, SPAN = 10000000 };

/* Slices of a row one after the other, some moments among them. */
static struct html_slice slice_at(uint64_t i, uint64_t most_ns)
{
	struct html_slice slice = {.begin_ns = 1000 + i * (SPAN / 20000),
		.row = (uint32_t)(i % ROWS),
		.name = (uint32_t)(i % 50) + 1};

	slice.dur_ns = (uint64_t)rand() % most_ns + 1;
	if (i % 97 == 0) {
		slice.dur_ns = 0;
		slice.is_moment = true;
	}
	return slice;
}

struct sums {
	uint64_t nr, busy_ns, longest_ns;
};

static struct sums dropped_of(const struct html_keep *keep)
{
	struct sums sums = {0};

	for (size_t row = 0; row < keep->nr_rows; row++) {
		for (size_t i = 0; keep->grids[row] && i < keep->nr_buckets; i++) {
			const struct html_bucket *bucket = &keep->grids[row][i];

			sums.nr += bucket->nr;
			sums.busy_ns += bucket->busy_ns;
			sums.longest_ns = bucket->longest_ns > sums.longest_ns ? bucket->longest_ns
									       : sums.longest_ns;
			ck_assert(bucket->nr || bucket->busy_ns || !bucket->name);
		}
	}
	return sums;
}

static void check_sums(
	const struct html_keep *keep, uint64_t nr, uint64_t busy_ns, uint64_t longest_ns)
{
	struct sums dropped = dropped_of(keep);

	ck_assert_uint_eq(dropped.nr, keep->nr_dropped);
	ck_assert_uint_eq(dropped.longest_ns, keep->longest_dropped_ns);
	ck_assert_uint_le(keep->longest_dropped_ns, longest_ns);
	ck_assert_uint_eq(keep->nr + keep->nr_dropped, nr);
	for (size_t i = 0; i < keep->nr; i++) {
		dropped.busy_ns += keep->slices[i].dur_ns;
		/* Those of a length and a sixteenth more may be either. */
		ck_assert(keep->slices[i].is_moment ||
			  keep->slices[i].dur_ns + keep->slices[i].dur_ns / 16 + 1 >=
				  keep->longest_dropped_ns);
	}
	ck_assert_uint_eq(dropped.busy_ns, busy_ns);
}

START_TEST(what_is_dropped_is_in_the_sums)
{
	struct html_keep keep;
	uint64_t busy_ns = 0, longest_ns = 0, nr = 20000;

	srand(1);
	html_keep_init(&keep, 3000, 1000, 1000 + SPAN);
	for (uint64_t i = 0; i < nr; i++) {
		struct html_slice slice = slice_at(i, i % 3 ? 100 : 5000);

		busy_ns += slice.dur_ns;
		longest_ns = slice.dur_ns > longest_ns ? slice.dur_ns : longest_ns;
		html_keep_add(&keep, &slice);
		ck_assert_uint_le(keep.nr, 3000);
	}
	ck_assert_uint_gt(keep.nr, 1400);
	check_sums(&keep, nr, busy_ns, longest_ns);
	html_keep_cut(&keep, 500);
	ck_assert_uint_le(keep.nr, 500);
	ck_assert_uint_gt(keep.nr, 400);
	check_sums(&keep, nr, busy_ns, longest_ns);
	while (keep.nr_buckets > HTML_KEEP_LEAST_BUCKETS) {
		html_keep_widen(&keep);
		check_sums(&keep, nr, busy_ns, longest_ns);
	}
	html_keep_sort(&keep);
	for (size_t i = 1; i < keep.nr; i++) {
		const struct html_slice *a = &keep.slices[i - 1], *b = &keep.slices[i];

		ck_assert(a->row < b->row || (a->row == b->row && a->begin_ns <= b->begin_ns));
	}
	html_keep_fini(&keep);
}
END_TEST

START_TEST(slices_of_one_length_are_thinned_evenly)
{
	struct html_keep keep;
	size_t halves[2] = {0};

	html_keep_init(&keep, 4000, 0, 1 << 20);
	for (uint64_t i = 0; i < 1 << 16; i++) {
		html_keep_add(
			&keep, &(struct html_slice){.begin_ns = i * 16, .dur_ns = 7, .name = 1});
	}
	for (size_t i = 0; i < keep.nr; i++) {
		halves[keep.slices[i].begin_ns >> 19]++;
	}
	ck_assert_uint_gt(keep.nr, 1000);
	ck_assert_uint_gt(halves[0] * 4, keep.nr);
	ck_assert_uint_gt(halves[1] * 4, keep.nr);
	html_keep_fini(&keep);
}
END_TEST

START_TEST(busy_time_lies_in_the_buckets_that_it_was_in)
{
	struct html_keep keep;
	const struct html_bucket *grid;

	html_keep_init(&keep, 1, 1000, 1000 + 4 * HTML_KEEP_BUCKETS - 4);
	ck_assert_uint_eq(keep.shift, 2);
	html_keep_cut(&keep, 0);
	keep.least = UINT32_MAX;
	/* 2 ns of the bucket 1, all of 2, 3 ns of 3; then one before the first, and one behind. */
	html_keep_add(&keep, &(struct html_slice){.begin_ns = 1006, .dur_ns = 9, .name = 5});
	html_keep_add(&keep, &(struct html_slice){.begin_ns = 10, .dur_ns = 5, .name = 6});
	html_keep_add(&keep, &(struct html_slice){.begin_ns = 1 << 30, .dur_ns = 3, .name = 7});
	ck_assert_uint_eq(keep.nr, 0);
	grid = keep.grids[0];
	ck_assert_uint_eq(grid[1].busy_ns, 2);
	ck_assert_uint_eq(grid[1].nr, 1);
	ck_assert_uint_eq(grid[2].busy_ns, 4);
	ck_assert_uint_eq(grid[2].nr, 0);
	ck_assert_uint_eq(grid[2].name, 5);
	ck_assert_uint_eq(grid[3].busy_ns, 3);
	ck_assert_uint_eq(grid[0].busy_ns, 5);
	ck_assert_uint_eq(grid[HTML_KEEP_BUCKETS - 1].busy_ns, 3);
	ck_assert_uint_eq(grid[HTML_KEEP_BUCKETS - 1].name, 7);
	html_keep_fini(&keep);
}
END_TEST

START_TEST(many_rows_have_wider_buckets)
{
	struct html_keep keep;

	html_keep_init(&keep, 1, 0, SPAN);
	keep.least = UINT32_MAX;
	for (uint32_t row = 0; row < 5000; row++) {
		html_keep_add(&keep,
			&(struct html_slice){
				.begin_ns = row * 2000, .dur_ns = 100, .name = 1, .row = row});
	}
	ck_assert_uint_le(
		keep.nr_grids * keep.nr_buckets * sizeof(struct html_bucket), HTML_KEEP_GRID_BYTES);
	ck_assert_uint_lt(keep.nr_buckets, HTML_KEEP_BUCKETS);
	check_sums(&keep, 5000, 500000, 100);
	html_keep_fini(&keep);
}
END_TEST

UNIT_SUITE("report/html_keep", what_is_dropped_is_in_the_sums,
	slices_of_one_length_are_thinned_evenly, busy_time_lies_in_the_buckets_that_it_was_in,
	many_rows_have_wider_buckets)
