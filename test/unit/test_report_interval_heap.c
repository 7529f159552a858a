/* SPDX-License-Identifier: Apache-2.0 */
#include "report/interval_heap.h"

#include <string.h>

#include "test/unit/unit.h"

#define MOMENTS 400u

static unsigned char covered[MOMENTS]; /* the plain way: each moment of what is in the heap */

static void check(const struct intervals *out, uint64_t begin)
{
	uint64_t at = begin;

	for (size_t i = 0; i < out->nr; i++) {
		for (; at < out->items[i].begin; at++) {
			ck_assert(!covered[at]);
		}
		for (; at < out->items[i].end; at++) {
			ck_assert(covered[at]);
		}
	}
	for (; at < MOMENTS; at++) {
		ck_assert(!covered[at]);
	}
	memset(covered + begin, 0, MOMENTS - begin);
}

START_TEST(what_is_late_comes_out_and_the_rest_stays)
{
	struct intervals heap = {0}, out = {0};
	uint64_t seed = 4;

	for (uint32_t round = 0; round < 3000; round++) {
		for (uint64_t i = unit_random(&seed) % 9; i > 0; i--) {
			uint64_t begin = unit_random(&seed) % MOMENTS;
			uint64_t end = begin + 1 + unit_random(&seed) % (MOMENTS - begin);

			interval_heap_push(&heap, (struct busy_interval){begin, end});
			memset(covered + begin, 1, end - begin);
		}
		if (unit_random(&seed) % 3 == 0) {
			interval_heap_join(&heap);
		} else {
			uint64_t begin = unit_random(&seed) % MOMENTS;

			interval_heap_take(&heap, begin, &out);
			check(&out, begin);
		}
	}
	interval_heap_take(&heap, 0, &out);
	check(&out, 0);
	ck_assert_uint_eq(heap.nr, 0);
	intervals_fini(&heap);
	intervals_fini(&out);
}
END_TEST

UNIT_SUITE("report/interval_heap", what_is_late_comes_out_and_the_rest_stays)
