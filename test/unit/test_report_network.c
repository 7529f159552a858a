/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers of pairs of ranks and of communicators, of which one becomes slow; and of streams. */
#include "report/comm/slow_links.h"

#include <stdlib.h>

#include "test/unit/unit.h"

#define STEP_NS	    100000000
#define TRANSFER_NS 2000000
#define DELAY_NS    30000000

enum { NR_RANKS = 8, NR_STEPS = 20, SLOW = 4, NR_LONG = 256 };

static struct transfer moves[2 * NR_RANKS * NR_STEPS + NR_LONG];
static size_t nr_moves;
static struct slow_links network;

static void add(struct transfer_path path, uint64_t step, uint64_t bytes)
{
	static uint64_t seed = 5;

	moves[nr_moves++] = (struct transfer){.path = path,
		.bytes = bytes,
		.nr_calls = 1,
		.nr_ranks = NR_RANKS,
		.step = step,
		.transfer_ns = TRANSFER_NS + (int64_t)(unit_random(&seed) % 100000),
		.step_ns = STEP_NS,
		.most_ns = STEP_NS / 2};
}

/* Around a ring of ranks, there and back; the last steps first. */
static void make_ring(void)
{
	nr_moves = 0;
	for (uint64_t step = NR_STEPS; step >= 1; step--) {
		for (int32_t rank = 0; rank < NR_RANKS - 1; rank++) {
			for (int way = 0; way < 2; way++) {
				add((struct transfer_path){.key = 9, .a = rank, .b = rank + 1},
					step, 1000);
			}
		}
	}
}

/* A communicator, whose collectives are of two sizes. */
static void add_collectives(uint64_t key)
{
	for (uint64_t step = 1; step <= NR_STEPS; step++) {
		add((struct transfer_path){.key = key, .a = -1, .b = -1}, step, 1000);
		add((struct transfer_path){.key = key, .a = -1, .b = -1}, step, 7000);
	}
}

static void slow_down(uint64_t key, int32_t a, uint64_t since, uint64_t bytes)
{
	for (size_t i = 0; i < nr_moves; i++) {
		if (moves[i].path.key == key && moves[i].path.a == a && moves[i].step >= since &&
			moves[i].bytes == bytes) {
			moves[i].transfer_ns += DELAY_NS;
		}
	}
}

static void find(void)
{
	slow_links_fini(&network);
	slow_links_find(&network, moves, nr_moves);
}

static const struct slow_link *find_one(enum slow_links_basis basis, uint64_t since)
{
	find();
	ck_assert_uint_eq(network.nr, 1);
	ck_assert_int_eq(network.slow[0].basis, basis);
	ck_assert_uint_eq(network.slow[0].nr_ranks, NR_RANKS);
	ck_assert_int_eq(network.slow[0].straggler.cause, STRAGGLER_NETWORK);
	ck_assert_uint_eq(network.slow[0].straggler.since, since);
	return &network.slow[0];
}

static double delay_of(const struct slow_link *slow)
{
	return (double)slow->straggler.delay_ns / (double)slow->straggler.nr_delayed;
}

START_TEST(a_slow_pair_is_told_by_the_others)
{
	const struct slow_link *slow;

	make_ring();
	slow_down(9, SLOW, 1, 1000);
	for (size_t i = 0; i < nr_moves; i++) {
		moves[i].most_ns = STEP_NS;
	}
	slow = find_one(SLOW_LINKS_OTHERS, 1);
	ck_assert_int_eq(slow->path.a, SLOW);
	ck_assert_int_eq(slow->path.b, SLOW + 1);
	ck_assert_uint_eq(slow->straggler.nr_delayed, NR_STEPS);
	ck_assert_double_eq_tol(delay_of(slow), 2 * DELAY_NS, 0.05 * DELAY_NS);
}
END_TEST

START_TEST(a_slow_communicator_is_told_by_its_own_steps)
{
	const struct slow_link *slow;

	nr_moves = 0;
	add_collectives(7);
	slow_down(7, -1, 13, 7000);
	slow = find_one(SLOW_LINKS_OWN, 13);
	ck_assert_int_eq(slow->path.a, -1);
	ck_assert_uint_eq(slow->straggler.nr_delayed, NR_STEPS - 12);
	ck_assert_double_eq_tol(delay_of(slow), DELAY_NS, 0.05 * DELAY_NS);
	nr_moves = 0;
	add_collectives(7);
	add_collectives(8); /* as many ranks: both are compared */
	slow_down(8, -1, 1, 1000);
	slow = find_one(SLOW_LINKS_OTHERS, 1);
	ck_assert_uint_eq(slow->path.key, 8);
	ck_assert_double_eq_tol(delay_of(slow), DELAY_NS, 0.05 * DELAY_NS);
}
END_TEST

/* What is always slow is not slower than before, and others that are not alike tell nothing. */
START_TEST(what_is_not_alike_is_not_compared)
{
	for (int what = 0; what < 4; what++) {
		make_ring();
		slow_down(9, SLOW, 1, 1000);
		for (size_t i = 0; i < nr_moves; i++) {
			bool is_it = moves[i].path.a == SLOW;

			moves[i].spans_hosts = is_it && what == 0;
			moves[i].bytes += is_it && what == 1;
			moves[i].nr_calls += is_it && what == 2;
			moves[i].kind = is_it && what == 3;
		}
		find();
		ck_assert_msg(network.nr == 0, "%d", what);
	}
	nr_moves = 0;
	add_collectives(7);
	slow_down(7, -1, 1, 1000);
	find();
	ck_assert_uint_eq(network.nr, 0);
}
END_TEST

START_TEST(what_computation_hides_delays_nobody)
{
	make_ring();
	slow_down(9, SLOW, 1, 1000);
	for (size_t i = 0; i < nr_moves; i++) {
		moves[i].most_ns = STEP_NS / 10;
	}
	ck_assert_double_eq_tol(delay_of(find_one(SLOW_LINKS_OTHERS, 1)), STEP_NS / 10, 1);
	for (size_t i = 0; i < nr_moves; i++) {
		moves[i].most_ns = STEP_NS / 20;
	}
	find();
	ck_assert_uint_eq(network.nr, 0);
}
END_TEST

/* A damaged stream's, as long as network_moves.h lets them be: so many of them are no less. */
START_TEST(very_long_transfers_add_up)
{
	const struct slow_link *slow;

	make_ring();
	slow_down(9, SLOW, NR_STEPS, 1000);
	slow_down(9, SLOW, NR_STEPS - 1, 1000);
	for (size_t i = 0; i < NR_LONG; i++) {
		add((struct transfer_path){.key = 9, .a = SLOW, .b = SLOW + 1}, NR_STEPS, 1000);
		moves[nr_moves - 1].transfer_ns = 1ll << 56;
	}
	slow = find_one(SLOW_LINKS_OTHERS, NR_STEPS - 1);
	ck_assert_int_eq(slow->path.a, SLOW);
	ck_assert_uint_eq(slow->straggler.nr_delayed, 2);
}
END_TEST

START_TEST(once_is_no_habit)
{
	make_ring();
	slow_down(9, SLOW, NR_STEPS, 1000);
	find();
	ck_assert_uint_eq(network.nr, 0);
	slow_down(9, SLOW, NR_STEPS - 1, 1000);
	find_one(SLOW_LINKS_OTHERS, NR_STEPS - 1);
	slow_links_fini(&network);
	slow_links_find(&network, moves, 0);
	ck_assert_uint_eq(network.nr, 0);
}
END_TEST

UNIT_SUITE("report/network", a_slow_pair_is_told_by_the_others,
	a_slow_communicator_is_told_by_its_own_steps, what_is_not_alike_is_not_compared,
	what_computation_hides_delays_nobody, very_long_transfers_add_up, once_is_no_habit)
