/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks that are off and drift, with ends that are near each other but not the same. */
#include "report/comm/nccl_match.h"

#include <stdlib.h>

#include "test/unit/unit.h"

#define START_NS  1000000000000ull
#define SECOND_NS 1000000000ull
#define NOISE_NS  4000
#define NEAR_NS	  20000

enum { NR_RANKS = 4, NR_STEPS = 600, NR = NR_RANKS * NR_STEPS };

struct host {
	int64_t ahead_ns;
	double ppm;
};

static struct nccl_op ops[NR];
static uint64_t true_wait[NR_STEPS][NR_RANKS];

static uint64_t host_time(const struct host *host, uint64_t ns)
{
	return ns + (uint64_t)host->ahead_ns +
	       (uint64_t)(int64_t)((double)(ns - START_NS) * host->ppm * 1e-6);
}

static int64_t noise(uint64_t *seed)
{
	return (int64_t)(unit_random(seed) % (2 * NOISE_NS)) - NOISE_NS;
}

/* A step each 50 ms; ranks come up to 3 ms after each other, and the rest takes 2 ms. */
static void make(const struct host hosts[NR_RANKS], uint64_t nr_spoilt)
{
	uint64_t seed = 5;

	for (uint32_t step = 0; step < NR_STEPS; step++) {
		uint64_t at = START_NS + step * (SECOND_NS / 20), last = 0;
		uint64_t begins[NR_RANKS];

		for (int rank = 0; rank < NR_RANKS; rank++) {
			begins[rank] = at + unit_random(&seed) % 3000000;
			last = begins[rank] > last ? begins[rank] : last;
		}
		for (int rank = 0; rank < NR_RANKS; rank++) {
			uint64_t end = last + 2000000 + (uint64_t)noise(&seed);

			/* As where a kernel is held by another one. */
			end += nr_spoilt && unit_random(&seed) % 100 < nr_spoilt ? 5000000 : 0;
			true_wait[step][rank] = last - begins[rank];
			ops[step * NR_RANKS + (uint32_t)rank] = (struct nccl_op){.key = 9,
				.bytes = 100,
				.begin_ns = host_time(&hosts[rank], begins[rank]),
				.end_ns = host_time(&hosts[rank], end),
				.sequence = step + 1,
				.nr_calls = 1,
				.nr_ranks = NR_RANKS,
				.rank = rank,
				.peer = -1,
				.boot = (uint32_t)rank + 1,
				.process = (uint32_t)rank,
				.kind = GPROF_NCCL_ALL_REDUCE};
		}
	}
}

static struct nccl_match match_all(size_t nr)
{
	struct nccl_ops all = {.ops = ops, .nr_ops = nr};
	struct nccl_match match;

	nccl_match(&all, &match);
	return match;
}

static void check_waits(uint64_t near_ns)
{
	for (size_t i = 0; i < NR; i++) {
		uint64_t want = true_wait[ops[i].sequence - 1][ops[i].rank];
		uint64_t off =
			want > ops[i].wait_ns ? want - ops[i].wait_ns : ops[i].wait_ns - want;

		ck_assert_uint_le(off, near_ns);
	}
}

static const struct host seconds_off[NR_RANKS] = {
	{0, 0}, {-3000000000, 100}, {7200000000000, -80}, {12345, 37.5}};

START_TEST(offsets_and_drifts_are_found)
{
	struct nccl_match match;

	make(seconds_off, 0);
	match = match_all(NR);
	ck_assert_uint_eq(match.nr_matched, NR_STEPS);
	ck_assert_uint_eq(match.nr_fitted, NR_RANKS - 1);
	ck_assert_uint_le(match.error_ns, 2 * NOISE_NS + 1000);
	ck_assert_uint_ge(match.error_ns, NOISE_NS / 2);
	check_waits(NEAR_NS);
}
END_TEST

/* Ends that are 5 ms off do not bend the line, and are in its error once they are many. */
START_TEST(ends_that_are_far_off_do_not_move_the_clocks)
{
	struct nccl_match match;

	make(seconds_off, 1);
	match = match_all(NR);
	ck_assert_uint_eq(match.nr_matched, NR_STEPS);
	check_waits(NEAR_NS);
	make(seconds_off, 10);
	match = match_all(NR);
	check_waits(NEAR_NS);
	ck_assert_uint_ge(match.error_ns, 4000000);
}
END_TEST

/* Ranks 0 and 1 have a group, 1 and 2, 2 and 3: clocks are known by way of others. */
START_TEST(clocks_are_known_by_way_of_others)
{
	struct nccl_match match;
	size_t nr = 0;

	make(seconds_off, 0);
	for (size_t step = 0; step < NR_STEPS; step++) {
		uint32_t first = step % 3;

		for (uint32_t i = 0; i < 2; i++) {
			struct nccl_op op = ops[step * NR_RANKS + first + i];

			op.key = 100 + first;
			op.rank = (int32_t)i;
			op.nr_ranks = 2;
			ops[nr++] = op;
		}
	}
	match = match_all(nr);
	ck_assert_uint_eq(match.nr_fitted, NR_RANKS - 1);
	ck_assert_uint_eq(match.nr_matched, NR_STEPS);
	ck_assert_uint_eq(match.nr_clocks, 0);
}
END_TEST

/* Its operations come first, as its communicator has the lowest key; it shares none. */
START_TEST(one_that_shares_nothing_keeps_no_others_apart)
{
	struct nccl_match match;

	make(seconds_off, 0);
	for (size_t i = 0; i < NR; i += NR_RANKS) {
		ops[i].key = 1;
		ops[i].nr_ranks = 1;
		for (uint32_t rank = 1; rank < NR_RANKS; rank++) {
			ops[i + rank].rank--;
			ops[i + rank].nr_ranks--;
		}
	}
	match = match_all(NR);
	ck_assert_uint_eq(match.nr_fitted, NR_RANKS - 2);
	ck_assert_uint_eq(match.nr_matched, 2 * NR_STEPS);
	ck_assert_uint_eq(match.nr_clocks, 0);
}
END_TEST

START_TEST(what_shares_too_little_stays_apart)
{
	struct nccl_match match;

	make(seconds_off, 0);
	match = match_all((size_t)NR_RANKS * 7);
	ck_assert_uint_eq(match.nr_clocks, 7);
	ck_assert_uint_eq(match.nr_matched + match.nr_fitted, 0);
	make(seconds_off, 0);
	for (size_t i = 0; i < NR; i++) {
		ops[i].kind = GPROF_NCCL_BROADCAST; /* the root may be done long before */
	}
	match = match_all(NR);
	ck_assert_uint_eq(match.nr_clocks, NR_STEPS);
}
END_TEST

/* Times that make no sense break nothing. */
START_TEST(any_times_are_taken)
{
	uint64_t seed = 3;

	for (int round = 0; round < 50; round++) {
		make(seconds_off, 0);
		for (size_t i = 0; i < NR; i++) {
			ops[i].begin_ns = unit_random(&seed) >> (unit_random(&seed) % 64);
			ops[i].end_ns = ops[i].begin_ns + (unit_random(&seed) >> 20);
		}
		match_all(NR);
	}
}
END_TEST

UNIT_SUITE("report/nccl_clock", offsets_and_drifts_are_found,
	ends_that_are_far_off_do_not_move_the_clocks, clocks_are_known_by_way_of_others,
	one_that_shares_nothing_keeps_no_others_apart, what_shares_too_little_stays_apart,
	any_times_are_taken)
