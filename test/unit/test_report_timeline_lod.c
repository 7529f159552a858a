/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "report/html/timeline_lod.h"
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
		slice.is_instant = true;
	}
	return slice;
}

struct sums {
	uint64_t nr, busy_ns, longest_ns;
};

static struct sums dropped_of(const struct html_lod *lod)
{
	struct sums sums = {0};

	for (size_t row = 0; row < lod->nr_rows; row++) {
		for (size_t i = 0; lod->grids[row] && i < lod->nr_buckets; i++) {
			const struct html_bucket *bucket = &lod->grids[row][i];

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
	const struct html_lod *lod, uint64_t nr, uint64_t busy_ns, uint64_t longest_ns)
{
	struct sums dropped = dropped_of(lod);

	ck_assert_uint_eq(dropped.nr, lod->nr_dropped);
	ck_assert_uint_eq(dropped.longest_ns, lod->longest_dropped_ns);
	ck_assert_uint_le(lod->longest_dropped_ns, longest_ns);
	ck_assert_uint_eq(lod->nr + lod->nr_dropped, nr);
	for (size_t i = 0; i < lod->nr; i++) {
		dropped.busy_ns += lod->slices[i].dur_ns;
		/* Those of a length and a sixteenth more may be either. */
		ck_assert(lod->slices[i].is_instant ||
			  lod->slices[i].dur_ns + lod->slices[i].dur_ns / 16 + 1 >=
				  lod->longest_dropped_ns);
	}
	ck_assert_uint_eq(dropped.busy_ns, busy_ns);
}

static void add(struct html_lod *lod, const struct html_slice *slice)
{
	if (!html_lod_drop(lod, slice)) {
		html_lod_keep(lod, slice);
	}
}

START_TEST(what_is_dropped_is_in_the_sums)
{
	struct html_lod lod;
	uint64_t busy_ns = 0, longest_ns = 0, nr = 20000;

	srand(1);
	html_lod_init(&lod, 3000, 1000, 1000 + SPAN);
	for (uint64_t i = 0; i < nr; i++) {
		struct html_slice slice = slice_at(i, i % 3 ? 100 : 5000);

		busy_ns += slice.dur_ns;
		longest_ns = slice.dur_ns > longest_ns ? slice.dur_ns : longest_ns;
		add(&lod, &slice);
		ck_assert_uint_le(lod.nr, 3000);
	}
	ck_assert_uint_gt(lod.nr, 1400);
	check_sums(&lod, nr, busy_ns, longest_ns);
	html_lod_cut(&lod, 500);
	ck_assert_uint_le(lod.nr, 500);
	ck_assert_uint_gt(lod.nr, 400);
	check_sums(&lod, nr, busy_ns, longest_ns);
	while (lod.nr_buckets > HTML_LOD_MIN_BUCKETS) {
		html_lod_widen(&lod);
		check_sums(&lod, nr, busy_ns, longest_ns);
	}
	html_lod_sort(&lod);
	for (size_t i = 1; i < lod.nr; i++) {
		const struct html_slice *a = &lod.slices[i - 1], *b = &lod.slices[i];

		ck_assert(a->row < b->row || (a->row == b->row && a->begin_ns <= b->begin_ns));
	}
	html_lod_fini(&lod);
}
END_TEST

START_TEST(slices_of_one_length_are_thinned_evenly)
{
	struct html_lod lod;
	size_t halves[2] = {0};

	html_lod_init(&lod, 4000, 0, 1 << 20);
	for (uint64_t i = 0; i < 1 << 16; i++) {
		add(&lod, &(struct html_slice){.begin_ns = i * 16, .dur_ns = 7, .name = 1});
	}
	for (size_t i = 0; i < lod.nr; i++) {
		halves[lod.slices[i].begin_ns >> 19]++;
	}
	ck_assert_uint_gt(lod.nr, 1000);
	ck_assert_uint_gt(halves[0] * 4, lod.nr);
	ck_assert_uint_gt(halves[1] * 4, lod.nr);
	html_lod_fini(&lod);
}
END_TEST

START_TEST(busy_time_lies_in_the_buckets_that_it_was_in)
{
	struct html_lod lod;
	const struct html_bucket *grid;

	html_lod_init(&lod, 1, 1000, 1000 + 4 * HTML_LOD_BUCKETS - 4);
	ck_assert_uint_eq(lod.shift, 2);
	html_lod_cut(&lod, 0);
	lod.least = UINT32_MAX;
	/* 2 ns of the bucket 1, all of 2, 3 ns of 3; then one before the first, and one behind. */
	add(&lod, &(struct html_slice){.begin_ns = 1006, .dur_ns = 9, .name = 5});
	add(&lod, &(struct html_slice){.begin_ns = 10, .dur_ns = 5, .name = 6});
	add(&lod, &(struct html_slice){.begin_ns = 1 << 30, .dur_ns = 3, .name = 7});
	ck_assert_uint_eq(lod.nr, 0);
	grid = lod.grids[0];
	ck_assert_uint_eq(grid[1].busy_ns, 2);
	ck_assert_uint_eq(grid[1].nr, 1);
	ck_assert_uint_eq(grid[2].busy_ns, 4);
	ck_assert_uint_eq(grid[2].nr, 0);
	ck_assert_uint_eq(grid[2].name, 5);
	ck_assert_uint_eq(grid[3].busy_ns, 3);
	ck_assert_uint_eq(grid[0].busy_ns, 5);
	ck_assert_uint_eq(grid[HTML_LOD_BUCKETS - 1].busy_ns, 3);
	ck_assert_uint_eq(grid[HTML_LOD_BUCKETS - 1].name, 7);
	html_lod_fini(&lod);
}
END_TEST

START_TEST(many_rows_have_wider_buckets)
{
	struct html_lod lod;

	html_lod_init(&lod, 1, 0, SPAN);
	lod.least = UINT32_MAX;
	for (uint32_t row = 0; row < 5000; row++) {
		add(&lod, &(struct html_slice){
				  .begin_ns = row * 2000, .dur_ns = 100, .name = 1, .row = row});
	}
	ck_assert_uint_le(
		lod.nr_grids * lod.nr_buckets * sizeof(struct html_bucket), HTML_LOD_GRID_BYTES);
	ck_assert_uint_lt(lod.nr_buckets, HTML_LOD_BUCKETS);
	check_sums(&lod, 5000, 500000, 100);
	html_lod_fini(&lod);
}
END_TEST

UNIT_SUITE("report/timeline_lod", what_is_dropped_is_in_the_sums,
	slices_of_one_length_are_thinned_evenly, busy_time_lies_in_the_buckets_that_it_was_in,
	many_rows_have_wider_buckets)
