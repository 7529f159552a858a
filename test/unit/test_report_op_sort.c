/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/op_load.h"

#include <stdlib.h>

#include "test/unit/unit.h"

#define MOST 5000u

static struct op_event events[MOST];
static uint32_t places[MOST];

/* Where a kind stands among those of one end: pushes and pops are as good as the same. */
static const int ranks[] = {[OP_EVENT_OP] = 4,
	[OP_EVENT_CALL] = 3,
	[OP_EVENT_ALLOC] = 2,
	[OP_EVENT_PUSH] = 1,
	[OP_EVENT_POP] = 1};

/* By end, what is no operator first, then as written: the plain way. */
static int compare(const void *a, const void *b)
{
	const struct op_event *x = &events[*(const uint32_t *)a],
			      *y = &events[*(const uint32_t *)b];

	if (x->end != y->end) {
		return x->end < y->end ? -1 : 1;
	}
	if (ranks[x->kind] != ranks[y->kind]) {
		return ranks[x->kind] - ranks[y->kind];
	}
	return x->order < y->order ? -1 : 1;
}

static void check(struct op_sort *sort, uint32_t nr)
{
	uint32_t nr_wrong = 0;

	for (uint32_t i = 0; i < nr; i++) {
		places[i] = i;
	}
	qsort(places, nr, sizeof(*places), compare);
	op_sort_begin(sort);
	for (uint32_t i = 0; i < nr; i += 1 + nr / 3) {
		op_sort_add(sort, events, i);
	}
	op_sort_add(sort, events, nr);
	op_sort_end(sort, events);
	for (uint32_t i = 0; i < nr; i++) {
		nr_wrong += sort->keys[i].place != places[i] ||
			    sort->keys[i].end != events[places[i]].end;
	}
	ck_assert_uint_eq(nr_wrong, 0);
}

/* Runs of rising ends, as threads and tables write them; few ends are many that are the same. */
static void fill(uint64_t *seed, uint32_t nr, uint32_t run, uint64_t nr_ends)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < nr; i++) {
		end = i % run ? end + unit_random(seed) % 3 : unit_random(seed) % nr_ends;
		events[i] = (struct op_event){.end = end,
			.kind = (uint8_t)(unit_random(seed) % 5),
			.order = unit_random(seed)};
	}
}

START_TEST(random_runs_come_out_as_the_plain_way_sorts_them)
{
	static const uint32_t runs[] = {1, 2, 7, 100, MOST};
	struct op_sort sort = {0};
	uint64_t seed = 5;

	for (uint32_t i = 0; i < 200; i++) {
		uint32_t nr = (uint32_t)(unit_random(&seed) % MOST);

		fill(&seed, nr, runs[i % 5], i % 2 ? 10 : 1u << 20);
		check(&sort, nr);
	}
	op_sort_fini(&sort);
}
END_TEST

START_TEST(none_one_and_the_highest_ends)
{
	struct op_sort sort = {0};
	uint64_t seed = 9;

	check(&sort, 0);
	fill(&seed, 1, 1, 10);
	check(&sort, 1);
	fill(&seed, 50, 3, 10);
	for (uint32_t i = 0; i < 50; i += 7) {
		events[i].end = UINT64_MAX;
	}
	check(&sort, 50);
	op_sort_fini(&sort);
}
END_TEST

UNIT_SUITE("report/op_sort", random_runs_come_out_as_the_plain_way_sorts_them,
	none_one_and_the_highest_ends)
