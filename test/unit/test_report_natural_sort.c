/* SPDX-License-Identifier: Apache-2.0 */
/* natural_sort: order, stability and sizes of elements, for runs of every kind. */
#include <stdint.h>
#include <stdlib.h>

#include "report/util/sort.h"
#include "test/unit/unit.h"

#define MOST 2000u

struct item {
	uint32_t key, place;
	char rest[300]; /* longer than what is moved at once */
};

static size_t nr_compared;

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	nr_compared++;
	return x->key < y->key ? -1 : x->key > y->key;
}

static void check(struct item *items, size_t nr)
{
	nr_compared = 0;
	natural_sort(items, nr, sizeof(*items), by_key);
	for (size_t i = 1; i < nr; i++) {
		ck_assert(items[i - 1].key <= items[i].key);
		ck_assert(items[i - 1].key < items[i].key || items[i - 1].place < items[i].place);
	}
	for (size_t i = 0; i < nr; i++) {
		ck_assert_int_eq(items[i].rest[299], (char)items[i].place);
	}
}

static struct item *make(size_t nr, uint32_t (*key)(size_t place))
{
	struct item *items = calloc(nr + 1, sizeof(*items));

	for (size_t i = 0; i < nr; i++) {
		items[i].key = key(i);
		items[i].place = (uint32_t)i;
		items[i].rest[299] = (char)i;
	}
	return items;
}

static uint32_t rising(size_t place)
{
	return (uint32_t)place;
}

static uint32_t falling(size_t place)
{
	return MOST - (uint32_t)place;
}

static uint32_t all_equal(size_t place)
{
	(void)place;
	return 7;
}

static uint32_t in_pairs(size_t place)
{
	return MOST - (uint32_t)place / 2;
}

/* What is left of the last time, and then what came since, backwards. */
static uint32_t in_two_parts(size_t place)
{
	return place < MOST / 2 ? MOST + (uint32_t)place : 2 * MOST - (uint32_t)place;
}

static uint32_t at_random(size_t place)
{
	return (uint32_t)(((place + 1) * 0x9e3779b97f4a7c15ull) >> 40) % 97;
}

START_TEST(all_runs_come_out_in_order_and_equal_ones_in_theirs)
{
	static uint32_t (*const keys[])(size_t place) = {
		rising, falling, all_equal, in_pairs, in_two_parts, at_random};

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		for (size_t nr = 0; nr < MOST; nr = nr < 9 ? nr + 1 : nr * 3 / 2) {
			struct item *items = make(nr, keys[k]);

			check(items, nr);
			free(items);
		}
	}
}
END_TEST

START_TEST(what_is_in_order_takes_one_pass)
{
	static uint32_t (*const keys[])(size_t place) = {rising, falling, all_equal};

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		struct item *items = make(MOST, keys[k]);

		check(items, MOST);
		ck_assert(nr_compared <= MOST);
		free(items);
	}
}
END_TEST

UNIT_SUITE("report/natural_sort", all_runs_come_out_in_order_and_equal_ones_in_theirs,
	what_is_in_order_takes_one_pass)
