/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/external_sort.h"

#include <stdlib.h>

#include "test/unit/unit.h"

struct record {
	struct external_sort_head head;
	uint64_t value;
};

static int by_key(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->head.key != y->head.key) {
		return x->head.key < y->head.key ? -1 : 1;
	}
	return x->value < y->value ? -1 : 1;
}

/* nr records with keys below `range`, against qsort; run_bytes makes many runs of them. */
static void check(size_t nr, uint64_t range, size_t most, size_t run_bytes)
{
	struct external_sort *spool = external_sort_create(sizeof(struct record), most, run_bytes);
	uint64_t seed = nr + 1;
	struct record *plain = calloc(nr + 1, sizeof(*plain));
	size_t expected = most && most < nr ? most : nr;

	for (size_t i = 0; i < nr; i++) {
		struct record *record = external_sort_add(spool);

		ck_assert_uint_eq(record->value, 0);
		record->head.key = unit_random(&seed) % range;
		record->value = i;
		plain[i] = *record;
	}
	external_sort_finish(spool);
	qsort(plain, nr, sizeof(*plain), by_key);
	ck_assert_uint_eq(external_sort_nr_added(spool), nr);
	ck_assert_uint_ge(external_sort_nr(spool), expected);
	ck_assert_uint_le(external_sort_nr(spool), nr);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < expected; i++) {
			const struct record *record = external_sort_at(spool, i);

			ck_assert_uint_eq(record->head.key, plain[i].head.key);
			ck_assert_uint_eq(record->value, plain[i].value);
		}
	}
	external_sort_destroy(spool);
	free(plain);
}

START_TEST(records_come_sorted_and_equal_ones_as_they_were_added)
{
	check(0, 1, 0, 0);
	check(1, 1, 0, 0);
	check(1000, 7, 0, 0);
	check(1000, UINT64_MAX, 0, 0);
}
END_TEST

START_TEST(runs_in_the_file_are_merged)
{
	check(5000, 100, 0, 40 * sizeof(struct record));
	check(5000, UINT64_MAX, 0, 40 * sizeof(struct record));
	check(4000, 9, 0, 4000 * sizeof(struct record));
	check(30000, UINT64_MAX, 0, 9000 * sizeof(struct record)); /* more than a window each */
	check(77, 5, 0, 1);
}
END_TEST

START_TEST(the_lowest_are_kept_and_the_rest_is_counted)
{
	check(5000, 50, 15, 40 * sizeof(struct record));
	check(5000, UINT64_MAX, 1, 40 * sizeof(struct record));
	check(5000, UINT64_MAX, 39, 40 * sizeof(struct record));
	check(10, UINT64_MAX, 15, 0);
}
END_TEST

START_TEST(without_room_for_a_file_they_stay_in_memory)
{
	setenv("TMPDIR", "/nonexistent/directory", 1);
	check(5000, 100, 0, 40 * sizeof(struct record));
	unsetenv("TMPDIR");
}
END_TEST

START_TEST(a_place_before_the_last_begins_again)
{
	struct external_sort *spool =
		external_sort_create(sizeof(struct record), 0, 10 * sizeof(struct record));

	for (uint64_t i = 0; i < 100; i++) {
		struct record *record = external_sort_add(spool);

		record->head.key = 99 - i;
		record->value = i;
	}
	external_sort_finish(spool);
	ck_assert_uint_eq(((const struct record *)external_sort_at(spool, 50))->value, 49);
	ck_assert_uint_eq(((const struct record *)external_sort_at(spool, 50))->value, 49);
	ck_assert_uint_eq(((const struct record *)external_sort_at(spool, 7))->value, 92);
	ck_assert_uint_eq(((const struct record *)external_sort_at(spool, 99))->value, 0);
	external_sort_destroy(spool);
}
END_TEST

/* Sorted in the other order than added, also across runs. */
START_TEST(a_tie_sorts_records_whose_order_is_the_same)
{
	struct external_sort *sorter =
		external_sort_create(sizeof(struct record), 0, 10 * sizeof(struct record));

	external_sort_break_ties(sorter);
	for (uint64_t i = 0; i < 100; i++) {
		struct record *record = external_sort_add(sorter);

		record->head = (struct external_sort_head){i % 2, i % 4};
		record->value = 1000 - i;
	}
	external_sort_finish(sorter);
	for (size_t i = 1; i < 100; i++) {
		const struct record before =
			*(const struct record *)external_sort_at(sorter, i - 1);
		const struct record *record = external_sort_at(sorter, i);

		ck_assert(before.head.key < record->head.key ||
			  before.head.order < record->head.order || before.value < record->value);
	}
	external_sort_destroy(sorter);
}
END_TEST

UNIT_SUITE("report/external_sort", records_come_sorted_and_equal_ones_as_they_were_added,
	runs_in_the_file_are_merged, the_lowest_are_kept_and_the_rest_is_counted,
	without_room_for_a_file_they_stay_in_memory, a_place_before_the_last_begins_again,
	a_tie_sorts_records_whose_order_is_the_same)
