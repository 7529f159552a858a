/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/gpu_times.h"

#include "test/unit/unit.h"

static void add(struct gpu_times *times, uint64_t correlation, uint64_t ns)
{
	struct gpu_times_entry *entry = gpu_times_put(times, correlation);

	ck_assert_int_eq(entry != NULL, correlation != 0);
	if (entry) {
		gpu_times_count(entry, ns);
	}
}

START_TEST(work_is_taken_once_by_its_call)
{
	struct gpu_times worked = {0};
	struct gpu_times_entry entry;

	ck_assert(!gpu_times_remove(&worked, 1, &entry));
	add(&worked, 0, 5);
	for (uint32_t id = 1; id <= 5000; id++) {
		add(&worked, id * 2654435761u | 1u, id);
		add(&worked, id * 2654435761u | 1u, 1);
	}
	for (uint32_t id = 1; id <= 5000; id++) {
		uint32_t key = id * 2654435761u | 1u;

		if (gpu_times_remove(&worked, key, &entry)) {
			ck_assert_uint_ge(entry.nr_activities, 2);
			ck_assert(!gpu_times_remove(&worked, key, &entry));
		}
	}
	ck_assert_uint_eq(worked.nr_entries, 0);
	gpu_times_fini(&worked);
}
END_TEST

START_TEST(calls_2_to_the_32_apart_are_not_the_same)
{
	struct gpu_times worked = {0};
	struct gpu_times_entry entry;

	for (uint64_t turn = 0; turn < 1000; turn++) {
		add(&worked, turn << 32 | 5, turn + 1);
	}
	ck_assert_uint_eq(worked.nr_entries, 1000);
	for (uint64_t turn = 0; turn < 1000; turn++) {
		ck_assert(gpu_times_remove(&worked, turn << 32 | 5, &entry));
		ck_assert_uint_eq(entry.ns, turn + 1);
		ck_assert_uint_eq(entry.nr_activities, 1);
	}
	gpu_times_fini(&worked);
}
END_TEST

START_TEST(places_of_work_that_was_taken_are_used_again)
{
	struct gpu_times worked = {0};
	struct gpu_times_entry entry;
	uint64_t random = 1;

	for (uint32_t id = 1; id <= 200000; id++) {
		uint32_t early = id > 100 ? id - (uint32_t)(unit_random(&random) % 100) : 0;

		add(&worked, id, id);
		if (gpu_times_remove(&worked, early, &entry)) {
			ck_assert_uint_eq(entry.ns, early);
			ck_assert(!gpu_times_remove(&worked, early, &entry));
		}
		if (id > 200 && gpu_times_remove(&worked, id - 200, &entry)) {
			ck_assert_uint_eq(entry.ns, id - 200);
		}
		ck_assert_uint_le(worked.nr_entries, 200);
		if (early != id) {
			ck_assert(gpu_times_remove(&worked, id, &entry));
			add(&worked, id, id);
		}
	}
	ck_assert_uint_le(worked.nr_pages, 100);
	ck_assert(!gpu_times_remove(&worked, 7, &entry));
	add(&worked, 7, 2);
	ck_assert(gpu_times_remove(&worked, 7, &entry));
	add(&worked, 7, 3); /* not added to what was taken */
	ck_assert(gpu_times_remove(&worked, 7, &entry));
	ck_assert_uint_eq(entry.ns, 3);
	ck_assert_uint_eq(entry.nr_activities, 1);
	gpu_times_fini(&worked);
}
END_TEST

UNIT_SUITE("report/gpu_times", work_is_taken_once_by_its_call,
	calls_2_to_the_32_apart_are_not_the_same, places_of_work_that_was_taken_are_used_again)
