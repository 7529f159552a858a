/* SPDX-License-Identifier: Apache-2.0 */
/* Works that wait, in memory and in a file, against a plain sort. */
#include "report/gpu/gpu_activities.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "test/unit/unit.h"

#define MOST	   3000u
#define NR_BATCHES 60u
#define BATCH	   1500u
#define NR_WORKS   (NR_BATCHES * BATCH)

static struct gpu_activity all[NR_WORKS];

static int by_begin(const void *a, const void *b)
{
	const struct gpu_activity *x = a, *y = b;

	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

/* Some batches are in order. */
static void add_batch(struct gpu_activity_runs *runs, uint32_t batch, uint64_t *seed)
{
	struct gpu_activity *items = mem_zeroed(BATCH, sizeof(*items));

	for (uint32_t i = 0; i < BATCH; i++) {
		items[i].begin = batch % 3 ? unit_random(seed) % 50000 : 40ull * i;
		items[i].correlation = batch * BATCH + i + 1;
		items[i].bytes = unit_random(seed);
		all[batch * BATCH + i] = items[i];
	}
	gpu_activity_runs_add(runs, items, BATCH);
}

/* Takes out one and checks that it is that of the plain sort. */
static void check_next(struct gpu_activity_runs *runs, size_t nth)
{
	const struct gpu_activity *work = gpu_activity_runs_first(runs);

	ck_assert_ptr_nonnull(work);
	ck_assert_uint_eq(work->begin, all[nth].begin);
	ck_assert_uint_eq(work->correlation, all[nth].correlation);
	ck_assert_uint_eq(work->bytes, all[nth].bytes);
	gpu_activity_runs_drop(runs);
}

static void check_all(struct gpu_activity_runs *runs)
{
	qsort(all, NR_WORKS, sizeof(*all), by_begin);
	for (size_t i = 0; i < NR_WORKS; i++) {
		check_next(runs, i);
	}
	ck_assert_ptr_null(gpu_activity_runs_first(runs));
	ck_assert_uint_eq(runs->nr_kept, 0);
	ck_assert_uint_eq(runs->nr_filed, 0);
	ck_assert_uint_eq(runs->nr_written, 0);
}

/* Twice, since the file is used again once it is empty. */
START_TEST(works_come_in_order_and_few_wait_in_memory)
{
	struct gpu_activity_runs runs = {.most = MOST};
	uint64_t seed = 7;

	for (unsigned int round = 0; round < 2; round++) {
		for (uint32_t batch = 0; batch < NR_BATCHES; batch++) {
			add_batch(&runs, batch, &seed);
			ck_assert_uint_le(runs.nr_kept, MOST);
		}
		ck_assert_uint_ge(runs.nr_filed, NR_WORKS / (MOST + BATCH));
		check_all(&runs);
	}
	gpu_activity_runs_fini(&runs);
}
END_TEST

/* As a scan does, which takes out what nothing earlier can come of. */
START_TEST(works_go_out_while_others_come)
{
	struct gpu_activity_runs runs = {.most = MOST};
	uint64_t seed = 8, last = 0;
	size_t nr = 0;

	for (uint32_t batch = 0; batch < NR_BATCHES; batch++) {
		add_batch(&runs, batch, &seed);
		last = 0;
		for (uint32_t i = 0; i < BATCH - 100 * (batch % 4); i++, nr++) {
			ck_assert_uint_ge(gpu_activity_runs_first(&runs)->begin, last);
			last = gpu_activity_runs_first(&runs)->begin;
			gpu_activity_runs_drop(&runs);
		}
	}
	while (gpu_activity_runs_first(&runs)) {
		ck_assert_uint_ge(gpu_activity_runs_first(&runs)->begin, last);
		last = gpu_activity_runs_first(&runs)->begin;
		gpu_activity_runs_drop(&runs);
		nr++;
	}
	ck_assert_uint_eq(nr, NR_WORKS);
	gpu_activity_runs_fini(&runs);
}
END_TEST

START_TEST(where_there_is_no_file_they_stay_in_memory)
{
	struct gpu_activity_runs runs = {.most = MOST};
	uint64_t seed = 9;

	setenv("TMPDIR", "/nowhere/at/all", 1);
	for (uint32_t batch = 0; batch < NR_BATCHES; batch++) {
		add_batch(&runs, batch, &seed);
	}
	ck_assert(runs.is_full);
	ck_assert_uint_eq(runs.nr_kept, NR_WORKS);
	check_all(&runs);
	gpu_activity_runs_fini(&runs);
	unsetenv("TMPDIR");
}
END_TEST

START_TEST(works_that_are_left_are_freed)
{
	struct gpu_activity_runs runs = {.most = MOST};
	uint64_t seed = 10;

	for (uint32_t batch = 0; batch < 5; batch++) {
		add_batch(&runs, batch, &seed);
	}
	ck_assert_uint_gt(runs.nr_filed, 0);
	gpu_activity_runs_fini(&runs);
	ck_assert_ptr_null(gpu_activity_runs_first(&runs));
}
END_TEST

UNIT_SUITE("report/gpu_activity_runs", works_come_in_order_and_few_wait_in_memory,
	works_go_out_while_others_come, where_there_is_no_file_they_stay_in_memory,
	works_that_are_left_are_freed)
