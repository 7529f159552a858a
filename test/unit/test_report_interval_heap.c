/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/interval_queue.h"

#include <string.h>

#include "test/unit/unit.h"

#define MOMENTS 400u

static unsigned char covered[MOMENTS]; /* the plain way: each moment of what is in the heap */

static void pop(struct intervals *heap, unsigned char *seen, uint64_t *last_end)
{
	struct interval item = interval_heap_pop(heap);

	ck_assert_uint_le(item.end, *last_end);
	*last_end = item.end;
	memset(seen + item.begin, 1, item.end - item.begin);
}

START_TEST(the_last_ends_come_out_first)
{
	struct intervals heap = {0};
	uint64_t seed = 4;

	for (uint32_t round = 0; round < 3000; round++) {
		unsigned char seen[MOMENTS] = {0};
		uint64_t last_end = MOMENTS;

		memset(covered, 0, sizeof(covered));
		for (uint64_t i = unit_random(&seed) % 40; i > 0; i--) {
			uint64_t begin = unit_random(&seed) % MOMENTS;
			uint64_t end = begin + 1 + unit_random(&seed) % (MOMENTS - begin);

			interval_heap_push(&heap, (struct interval){begin, end});
			memset(covered + begin, 1, end - begin);
			if (unit_random(&seed) % 16 == 0) {
				interval_heap_join(&heap);
			}
		}
		while (heap.nr) {
			pop(&heap, seen, &last_end);
		}
		ck_assert_mem_eq(seen, covered, sizeof(seen));
	}
	intervals_fini(&heap);
}
END_TEST

UNIT_SUITE("report/interval_heap", the_last_ends_come_out_first)
