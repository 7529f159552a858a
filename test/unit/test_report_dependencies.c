/* SPDX-License-Identifier: Apache-2.0 */
/* dependencies: the order of items and records against the order that sorting all of them gives. */
#include "test/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "report/replay/dependencies.h"

#define MOST 400u

static struct step_item items[MOST];
static struct step_activity records[MOST];

/* Later places go behind earlier ones where all else is the same. */
static int item_order(const void *a, const void *b)
{
	const struct step_item *x = *(const struct step_item *const *)a;
	const struct step_item *y = *(const struct step_item *const *)b;

	if (x->thread != y->thread) {
		return x->thread < y->thread ? -1 : 1;
	}
	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	if (x->end != y->end) {
		return x->end > y->end ? -1 : 1;
	}
	if (x->is_call != y->is_call) {
		return x->is_call ? 1 : -1;
	}
	return x < y ? -1 : x > y;
}

static void check_items(size_t nr, uint64_t from)
{
	const struct step_item *sorted[MOST];
	struct step_events step = {.items = items, .nr_items = nr};
	struct dependencies dependencies;
	size_t nr_sorted = 0;

	for (size_t i = 0; i < nr; i++) {
		sorted[i] = &items[i];
	}
	qsort(sorted, nr, sizeof(sorted[0]), item_order);
	for (size_t i = 0; i < nr; i++) {
		if (sorted[i]->end > from ||
			(nr_sorted && sorted[nr_sorted - 1]->thread == sorted[i]->thread)) {
			sorted[nr_sorted++] = sorted[i];
		}
	}
	dependencies_init(&dependencies, &step, from);
	ck_assert_uint_eq(dependencies.nr_items, nr_sorted);
	for (size_t i = 0; i < nr_sorted; i++) {
		ck_assert_ptr_eq(dependencies.items[i], sorted[i]);
	}
	dependencies_fini(&dependencies);
}

static int record_order(const void *a, const void *b)
{
	const struct step_activity *x = a, *y = b;

	if (x->stream != y->stream) {
		return x->stream < y->stream ? -1 : 1;
	}
	if (x->call_begin != y->call_begin) {
		return x->call_begin < y->call_begin ? -1 : 1;
	}
	if (x->correlation != y->correlation) {
		return x->correlation < y->correlation ? -1 : 1;
	}
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void check_records(size_t nr)
{
	static struct step_activity sorted[MOST];
	struct step_events step = {.records = records, .nr_records = nr};
	struct dependencies dependencies;

	memcpy(sorted, records, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), record_order);
	dependencies_init(&dependencies, &step, 0);
	ck_assert_uint_eq(dependencies.nr_records, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct step_activity *record = &dependencies.records[i];

		ck_assert_uint_eq(record->stream, sorted[i].stream);
		ck_assert_uint_eq(record->call_begin, sorted[i].call_begin);
		ck_assert_uint_eq(record->correlation, sorted[i].correlation);
		ck_assert_uint_eq(record->begin, sorted[i].begin);
	}
	dependencies_fini(&dependencies);
}

/* From the last to the first, of so many threads or streams in turn. */
static void make_falling(size_t nr, size_t nr_keys, uint64_t *seed)
{
	memset(items, 0, sizeof(items));
	memset(records, 0, sizeof(records));
	for (size_t i = 0; i < nr; i++) {
		uint32_t key = (uint32_t)unit_below(seed, nr_keys);

		items[i].thread = key;
		items[i].begin = 10 * (nr - i);
		items[i].end = items[i].begin + 1 + unit_below(seed, 100);
		records[i].stream = key;
		records[i].call_begin = 10 * (nr - i);
		records[i].correlation = (uint32_t)(nr - i);
	}
}

START_TEST(what_comes_from_the_last_to_the_first_is_turned_round)
{
	uint64_t seed = 91;

	for (int round = 0; round < 100; round++) {
		size_t nr = unit_below(&seed, MOST);

		make_falling(nr, 1 + unit_below(&seed, 4), &seed);
		check_items(nr, unit_below(&seed, 2) ? 0 : unit_below(&seed, 10 * MOST));
		check_records(nr);
	}
}
END_TEST

START_TEST(more_threads_and_streams_than_have_a_chain_are_sorted)
{
	uint64_t seed = 92;

	for (size_t nr_keys = 60; nr_keys < 300; nr_keys += 3) {
		make_falling(MOST, nr_keys, &seed);
		check_items(MOST, 5 * MOST);
		check_records(MOST);
	}
}
END_TEST

START_TEST(any_other_order_is_sorted_and_what_is_the_same_stays_in_order)
{
	uint64_t seed = 93;

	for (int round = 0; round < 200; round++) {
		size_t nr = unit_below(&seed, MOST), nr_other = 1 + unit_below(&seed, 20);

		make_falling(nr, 1 + unit_below(&seed, 4), &seed);
		for (size_t i = 0; nr && i < nr_other; i++) {
			struct step_item *item = &items[unit_below(&seed, nr)];
			struct step_activity *record = &records[unit_below(&seed, nr)];

			*item = items[unit_below(&seed, nr)];
			item->is_call = unit_below(&seed, 2);
			record->call_begin = unit_below(&seed, 10 * MOST);
			record->correlation = (uint32_t)unit_below(&seed, 3);
			record->begin = unit_below(&seed, 3);
		}
		check_items(nr, unit_below(&seed, 10 * MOST));
		check_records(nr);
	}
}
END_TEST

UNIT_SUITE("report/dependencies", what_comes_from_the_last_to_the_first_is_turned_round,
	more_threads_and_streams_than_have_a_chain_are_sorted,
	any_other_order_is_sorted_and_what_is_the_same_stays_in_order)
