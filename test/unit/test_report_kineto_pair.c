/* SPDX-License-Identifier: Apache-2.0 */
#include "report/import/kineto/convert.h"

#include <stdlib.h>

#include "test/unit/unit.h"

#define THREADS 3u
#define DEEPEST 50u

/* Orders of what is open on a thread, the plain way. */
static uint64_t open[THREADS][DEEPEST];
static size_t depth[THREADS];

static void begin(struct kineto_pairs *pairs, uint32_t thread, uint64_t order)
{
	char text[2] = {(char)('a' + order % 26), (char)('a' + thread)};

	ck_assert(kineto_pairs_begin(pairs, thread + 7, order % 3 ? text : NULL, 2, order));
	open[thread][depth[thread]++] = order;
}

static void end(struct kineto_pairs *pairs, uint32_t thread)
{
	uint64_t order = depth[thread] ? open[thread][--depth[thread]] : 0;
	struct kineto_begin found;

	ck_assert(kineto_pairs_end(pairs, thread + 7, &found) == (order != 0));
	if (order) {
		ck_assert_uint_eq(found.order, order);
		ck_assert((found.text != NULL) == (order % 3 != 0));
		ck_assert(!found.text || (found.text[0] == (char)('a' + order % 26) &&
						 found.text[1] == (char)('a' + thread)));
		free(found.text);
	}
}

START_TEST(random_pairs_end_as_the_plain_way_ends_them)
{
	struct kineto_pairs pairs;
	uint64_t seed = 3, nr_open = 0;

	kineto_pairs_init(&pairs);
	for (uint64_t order = 1; order < 20000; order++) {
		uint32_t thread = (uint32_t)(unit_random(&seed) % THREADS);

		if (unit_random(&seed) % 2 && depth[thread] < DEEPEST) {
			begin(&pairs, thread, order);
		} else {
			end(&pairs, thread);
		}
	}
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		for (size_t i = 0; i < depth[thread]; i++) {
			nr_open += open[thread][i] % 3 != 0;
		}
	}
	ck_assert_uint_eq(kineto_pairs_nr_open(&pairs), nr_open);
	kineto_pairs_fini(&pairs);
}
END_TEST

/* What is refused is innermost, so its ends are the next; then the others have theirs. */
START_TEST(too_many_are_refused_and_those_before_them_still_end)
{
	struct kineto_begin found;
	struct kineto_pairs pairs;

	kineto_pairs_init(&pairs);
	for (uint64_t i = 1; i <= KINETO_PAIRS_MAX; i++) {
		ck_assert(kineto_pairs_begin(&pairs, 1, NULL, 0, i));
	}
	ck_assert(!kineto_pairs_begin(&pairs, 1, "x", 1, 1));
	ck_assert(!kineto_pairs_begin(&pairs, 2, "x", 1, 1));
	ck_assert(kineto_pairs_end(&pairs, 1, &found));
	ck_assert_uint_eq(found.order, 0);
	ck_assert(kineto_pairs_end(&pairs, 1, &found));
	ck_assert_uint_eq(found.order, KINETO_PAIRS_MAX);
	ck_assert(kineto_pairs_end(&pairs, 2, &found));
	ck_assert(!kineto_pairs_end(&pairs, 2, &found));
	ck_assert_uint_eq(kineto_pairs_nr_open(&pairs), 0);
	kineto_pairs_fini(&pairs);
}
END_TEST

UNIT_SUITE("report/kineto_pair", random_pairs_end_as_the_plain_way_ends_them,
	too_many_are_refused_and_those_before_them_still_end)
