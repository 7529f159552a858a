/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/external_sort.h"

#include <stdlib.h>
#include <string.h>

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

/* What `take` of external_sort_hand_out got. */
struct taken {
	const struct record *sorted;
	size_t nr;
};

static void take(void *context, const void *record)
{
	struct taken *taken = context;
	const struct record *got = record, *expected = &taken->sorted[taken->nr++];

	ck_assert_uint_eq(got->head.key, expected->head.key);
	ck_assert_uint_eq(got->value, expected->value);
}

/*
 * Record i has a key in [i - late, i + 3], so none later than record i + k has one below i + k -
 * late; one in `nr_early` comes as the first of all keys, as what was read ahead does.
 */
static void check_hand_out(size_t nr, size_t late, size_t nr_early, size_t run_records)
{
	struct external_sort *sorter =
		external_sort_create(sizeof(struct record), 0, run_records * sizeof(struct record));
	struct record *plain = calloc(nr + nr_early, sizeof(*plain));
	struct taken taken = {.sorted = plain};
	uint64_t seed = nr + late;

	for (size_t i = 0; i < nr + nr_early; i++) {
		uint64_t at = i < nr_early ? unit_random(&seed) % nr : i - nr_early;

		plain[i].head.key = late + at - unit_random(&seed) % (late + 1) + i % 4;
		plain[i].value = i;
	}
	external_sort_hand_out(sorter, take, &taken);
	/* In a copy, since the sorted ones are what is expected. */
	{
		struct record *added = malloc((nr + nr_early) * sizeof(*added));

		memcpy(added, plain, (nr + nr_early) * sizeof(*added));
		qsort(plain, nr + nr_early, sizeof(*plain), by_key);
		for (size_t i = 0; i < nr + nr_early; i++) {
			struct record *record;

			if (i >= nr_early) {
				external_sort_no_earlier(sorter, i - nr_early);
			}
			record = external_sort_add(sorter);
			record->head.key = added[i].head.key;
			record->value = added[i].value;
		}
		free(added);
	}
	ck_assert(nr < 4 * run_records || taken.nr > nr / 2);
	external_sort_finish(sorter);
	ck_assert_uint_eq(taken.nr, nr + nr_early);
	external_sort_destroy(sorter);
	free(plain);
}

/* As check_hand_out, but what is due goes out at once: it is what a plain sort says. */
static void check_release(size_t nr, size_t late, size_t part, size_t run_records)
{
	struct external_sort *sorter =
		external_sort_create(sizeof(struct record), 0, run_records * sizeof(struct record));
	struct record *plain = calloc(nr, sizeof(*plain)), *sorted = malloc(nr * sizeof(*sorted));
	struct taken taken = {.sorted = sorted};
	uint64_t seed = nr + part;

	for (size_t i = 0; i < nr; i++) {
		plain[i] = (struct record){{i + unit_random(&seed) % (late + 1), 0}, i};
	}
	memcpy(sorted, plain, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), by_key);
	external_sort_hand_out(sorter, take, &taken);
	for (size_t i = 0; i < nr; i++) {
		struct record *record = external_sort_add(sorter);

		record->head.key = plain[i].head.key;
		record->value = plain[i].value;
		if (i % part == part - 1) {
			external_sort_release(sorter, i + 1);
			ck_assert(taken.nr == nr || sorted[taken.nr].head.key > i);
			ck_assert(!taken.nr || sorted[taken.nr - 1].head.key <= i);
		}
	}
	external_sort_finish(sorter);
	ck_assert_uint_eq(taken.nr, nr);
	external_sort_destroy(sorter);
	free(plain);
	free(sorted);
}

START_TEST(what_is_due_is_released_at_once)
{
	check_release(1, 0, 1, 10);
	check_release(5000, 0, 7, 100000);
	check_release(5000, 100, 7, 100000);
	check_release(50000, 3000, 1000, 100000);
	check_release(50000, 3000, 100, 500); /* most wait in the file */
	setenv("TMPDIR", "/nonexistent/directory", 1);
	check_release(50000, 3000, 100, 500);
	unsetenv("TMPDIR");
}
END_TEST

/* Adds so many records in any order, of which a part is due afterwards. */
static void add_many(struct external_sort *sorter, size_t nr, uint64_t first)
{
	uint64_t seed = first + 3;

	for (size_t i = 0; i < nr; i++) {
		struct record *record = external_sort_add(sorter);

		record->head.key = first + unit_random(&seed) % nr;
		record->value = i;
	}
}

static void count_rising(void *context, const void *record)
{
	const struct record *got = record;
	struct record *last = context;

	ck_assert_uint_ge(got->head.key, last->head.key);
	last->head.key = got->head.key;
	last->value++;
}

/* Twice, since the file is used again once it is empty. */
START_TEST(few_records_wait_in_memory_and_the_file_is_used_again)
{
	enum { NR = 1000000, RUN_BYTES = 1u << 20, WINDOWS = NR * sizeof(struct record) / 16 };
	size_t before = unit_memory();
	struct external_sort *sorter = external_sort_create(sizeof(struct record), 0, RUN_BYTES);
	struct record last = {0};
	uint64_t bytes = 0;

	external_sort_hand_out(sorter, count_rising, &last);
	for (uint64_t round = 0; round < 2; round++) {
		add_many(sorter, NR, round * NR);
		ck_assert_uint_le(unit_memory() - before, 4 * RUN_BYTES + WINDOWS);
		ck_assert(!bytes || unit_file_bytes() == bytes);
		bytes = unit_file_bytes();
		ck_assert_uint_gt(bytes, (NR - NR / 10) * sizeof(struct record));
		external_sort_release(sorter, (round + 1) * NR);
		ck_assert_uint_eq(last.value, (round + 1) * NR);
		ck_assert_uint_le(unit_memory() - before, 4 * RUN_BYTES);
	}
	add_many(sorter, NR, 2ull * NR); /* what is left is freed */
	external_sort_destroy(sorter);
	ck_assert_uint_le(unit_memory() - before, RUN_BYTES);
}
END_TEST

/* ---- there and back ---- */

struct tied {
	struct external_sort_head head;
	uint64_t tie, changed;
};

struct walk {
	struct tied last;
	uint64_t nr;
};

static void change(void *context, void *record)
{
	struct walk *walk = context;
	struct tied *own = record, *last = &walk->last;

	ck_assert(!walk->nr || own->head.key < last->head.key ||
		  (own->head.key == last->head.key &&
			  (own->head.order > last->head.order ||
				  (own->head.order == last->head.order && own->tie > last->tie))));
	walk->last = *own;
	own->changed = ++walk->nr;
}

static void use(void *context, const void *record)
{
	struct walk *walk = context;

	ck_assert_uint_eq(((const struct tied *)record)->changed, walk->nr--);
}

static bool rewrite(size_t nr, size_t run_records)
{
	struct external_sort *sorter =
		external_sort_create(sizeof(struct tied), 0, run_records * sizeof(struct tied));
	struct walk walk = {0};
	uint64_t seed = nr;
	bool is_good;

	external_sort_fall(sorter);
	for (size_t i = 0; i < nr; i++) {
		struct tied *record = external_sort_add(sorter);

		*record = (struct tied){
			{unit_random(&seed) % 500, unit_random(&seed) % 3}, nr - i, 0};
	}
	external_sort_finish(sorter);
	is_good = external_sort_rewrite(sorter, change, use, &walk);
	ck_assert(!is_good || !walk.nr);
	external_sort_destroy(sorter);
	return is_good;
}

START_TEST(records_are_changed_in_falling_order_and_used_in_rising)
{
	ck_assert(rewrite(0, 10));
	ck_assert(rewrite(1, 10));
	ck_assert(rewrite(10000, 100000));
	ck_assert(rewrite(10000, 1000));
	ck_assert(rewrite(10007, 100));
	setenv("TMPDIR", "/nonexistent/directory", 1);
	ck_assert(rewrite(10000, 1000)); /* in memory */
	unsetenv("TMPDIR");
}
END_TEST

START_TEST(records_are_handed_out_once_no_earlier_one_can_come)
{
	check_hand_out(1, 0, 0, 10);
	check_hand_out(5000, 0, 0, 40);
	check_hand_out(5000, 15, 0, 40);
	check_hand_out(100000, 5000, 0, 20000);
}
END_TEST

START_TEST(what_cannot_be_handed_out_yet_waits_in_the_file)
{
	check_hand_out(5000, 300, 0, 100); /* never more than a few are due */
	check_hand_out(5000, 15, 3000, 100);
	check_hand_out(30000, 2000, 30000, 9000);
	setenv("TMPDIR", "/nonexistent/directory", 1);
	check_hand_out(5000, 300, 1000, 100);
	unsetenv("TMPDIR");
}
END_TEST

UNIT_SUITE("report/external_sort", what_is_due_is_released_at_once,
	few_records_wait_in_memory_and_the_file_is_used_again,
	records_are_changed_in_falling_order_and_used_in_rising,
	records_come_sorted_and_equal_ones_as_they_were_added, runs_in_the_file_are_merged,
	the_lowest_are_kept_and_the_rest_is_counted, without_room_for_a_file_they_stay_in_memory,
	records_are_handed_out_once_no_earlier_one_can_come,
	what_cannot_be_handed_out_yet_waits_in_the_file, a_place_before_the_last_begins_again,
	a_tie_sorts_records_whose_order_is_the_same)
