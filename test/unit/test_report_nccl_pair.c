/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and their receives, of one clock and of several. */
#include "report/comm/nccl_match.h"

#include <stdlib.h>

#include "test/unit/unit.h"

#define KEY	  9
#define START_NS  1000000000000ull
#define SECOND_NS 1000000000ull
#define NOISE_NS  4000
#define NEAR_NS	  20000

enum { MOST = 2000 };

static struct nccl_op items[MOST];
static struct nccl_side sides[2 * MOST];
static struct nccl_ops ops;

static void start(void)
{
	ops = (struct nccl_ops){.ops = items, .sides = sides};
}

static struct nccl_op *add_op(int32_t rank, uint64_t begin_ns, uint64_t end_ns)
{
	items[ops.nr_ops] = (struct nccl_op){.key = KEY,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.id = (uint32_t)ops.nr_ops,
		.nr_ranks = 4,
		.rank = rank,
		.boot = 1,
		.process = (uint32_t)rank,
		.kind = NCCL_OPS_SEND_RECV};
	return &items[ops.nr_ops++];
}

/* Of what goes to or comes from the other rank, 100 bytes. */
static struct nccl_side *add_side(
	struct nccl_op *op, int32_t other, uint32_t sequence, bool is_receive)
{
	op->nr_calls++;
	op->bytes += 100;
	sides[ops.nr_sides] = (struct nccl_side){.key = op->key,
		.bytes = 100,
		.from = is_receive ? other : op->rank,
		.to = is_receive ? op->rank : other,
		.sequence = sequence,
		.op = op->id,
		.is_receive = is_receive};
	return &sides[ops.nr_sides++];
}

static void add_pair(uint32_t sequence, uint64_t send_ns, uint64_t receive_ns, uint64_t end_ns)
{
	add_side(add_op(0, send_ns, end_ns), 1, sequence, false);
	add_side(add_op(1, receive_ns, end_ns), 0, sequence, true);
}

static struct nccl_match match_all(void)
{
	struct nccl_match match;

	nccl_match(&ops, &match);
	return match;
}

static const struct nccl_op *find(uint32_t id)
{
	for (size_t i = 0; i < ops.nr_ops; i++) {
		if (items[i].id == id) {
			return &items[i];
		}
	}
	ck_abort_msg("no operation %u", id);
}

START_TEST(each_side_waits_for_the_other_one)
{
	struct nccl_match match;

	start();
	add_pair(2, 3000, 3200, 3500);
	add_pair(1, 1700, 1000, 2000);
	match = match_all();
	ck_assert_uint_eq(match.nr_p2p, 4);
	ck_assert_uint_eq(match.nr_p2p_matched, 4);
	ck_assert_uint_eq(find(0)->wait_ns, 200);
	ck_assert_uint_eq(find(0)->late_rank, 1 + 1);
	ck_assert_uint_eq(find(1)->wait_ns, 0);
	ck_assert_uint_eq(find(1)->late_rank, 0);
	ck_assert_uint_eq(find(2)->wait_ns, 0);
	ck_assert_uint_eq(find(3)->wait_ns, 700);
	ck_assert_uint_eq(find(3)->late_rank, 1 + 0);
}
END_TEST

/* A send may be over before anybody receives: then it waited all the time, no more. */
START_TEST(nobody_waits_longer_than_its_kernels_ran)
{
	start();
	add_side(add_op(0, 1000, 1100), 1, 1, false);
	add_side(add_op(1, 9000, 9100), 0, 1, true);
	match_all();
	ck_assert_uint_eq(find(0)->wait_ns, 100);
}
END_TEST

/* Around a ring: rank r sends to r + 1 and receives of r - 1. */
START_TEST(a_group_waits_for_the_last_of_its_other_sides)
{
	static const uint64_t begins[] = {1000, 1400, 1100};

	start();
	for (int32_t rank = 0; rank < 3; rank++) {
		struct nccl_op *op = add_op(rank, begins[rank], 2000);

		add_side(op, (rank + 1) % 3, 1, false);
		add_side(op, (rank + 2) % 3, 1, true);
	}
	ck_assert_uint_eq(match_all().nr_p2p_matched, 3);
	ck_assert_uint_eq(find(0)->wait_ns, 400);
	ck_assert_uint_eq(find(0)->late_rank, 1 + 1);
	ck_assert_uint_eq(find(1)->wait_ns, 0);
	ck_assert_uint_eq(find(2)->wait_ns, 300);
}
END_TEST

START_TEST(sizes_that_differ_are_told)
{
	struct nccl_match match;

	start();
	add_pair(1, 1000, 1000, 2000);
	add_pair(2, 3000, 3000, 4000);
	sides[3].bytes = 96;
	match = match_all();
	ck_assert_uint_eq(match.nr_p2p_differing, 1);
	ck_assert_uint_eq(match.p2p_differing[0]->sequence, 2);
	ck_assert_uint_eq(match.p2p_differing[0]->bytes, 100);
	ck_assert_uint_eq(match.p2p_differing[1]->bytes, 96);
	ck_assert_uint_eq(match.nr_p2p_matched, 2);
}
END_TEST

START_TEST(what_lacks_an_other_side_is_not_known)
{
	start();
	add_side(add_op(0, 1000, 2000), 1, 1, false);
	ck_assert_uint_eq(match_all().nr_p2p_matched, 0);
	start();
	add_pair(1, 1000, 1000, 2000);
	add_side(add_op(1, 1000, 2000), 0, 1, true); /* a rank twice */
	ck_assert_uint_eq(match_all().nr_p2p_matched, 0);
	start();
	add_pair(1, 1000, 1000, 2000);
	items[0].begin_ns = UINT64_MAX; /* no kernel */
	ck_assert_uint_eq(match_all().nr_p2p_matched, 0);
	start();
	add_pair(1, 1000, 1000, 2000);
	items[1].boot = 2;
	ck_assert_uint_eq(match_all().nr_p2p_matched, 0);
	start();
	add_pair(1, 1000, 1000, 2000);
	add_side(&items[0], 3, 1, false); /* of its two other sides one is here */
	ck_assert_uint_eq(match_all().nr_p2p_matched, 1);
}
END_TEST

/* ---- two hosts that share no collective ---- */

static uint64_t other_time(uint64_t ns)
{
	return ns - 3 * SECOND_NS + (uint64_t)((double)(ns - START_NS) * 100e-6);
}

/* A step each 50 ms: forward to rank 1, and back. */
static struct nccl_match play(uint32_t nr_steps, bool is_both_ways)
{
	uint64_t seed = 7;

	start();
	for (uint32_t step = 0; step < nr_steps; step++) {
		for (int32_t from = 0; from < 1 + is_both_ways; from++) {
			uint64_t at =
				START_NS + step * (SECOND_NS / 20) + (uint64_t)from * 20000000;
			uint64_t end = at + 3000000;

			for (int32_t rank = 0; rank < 2; rank++) {
				uint64_t begin = at + (rank == 1) * 1000000;
				uint64_t late = unit_random(&seed) % NOISE_NS;
				struct nccl_op *op = add_op(rank, begin, end + late);

				add_side(op, 1 - rank, step + 1, rank != from);
				if (rank == 1) {
					op->boot = 2;
					op->begin_ns = other_time(begin);
					op->end_ns = other_time(end + late);
				}
			}
		}
	}
	return match_all();
}

START_TEST(clocks_are_found_by_what_goes_both_ways)
{
	struct nccl_match match = play(400, true);

	ck_assert_uint_eq(match.nr_fitted, 1);
	ck_assert_uint_le(match.error_ns, NOISE_NS);
	ck_assert_uint_eq(match.nr_p2p_matched, ops.nr_ops);
	for (size_t i = 0; i < ops.nr_ops; i++) {
		uint64_t want = items[i].rank == 0 ? 1000000 : 0;

		ck_assert_uint_le(items[i].wait_ns, want + NEAR_NS);
		ck_assert_uint_ge(items[i].wait_ns + NEAR_NS, want);
	}
}
END_TEST

START_TEST(one_way_or_too_few_tell_no_clock)
{
	ck_assert_uint_eq(play(400, false).nr_fitted, 0);
	ck_assert_uint_eq(play(3, true).nr_fitted, 0);
	ck_assert_uint_eq(play(4, true).nr_fitted, 1);
}
END_TEST

UNIT_SUITE("report/nccl_pair", each_side_waits_for_the_other_one,
	nobody_waits_longer_than_its_kernels_ran, a_group_waits_for_the_last_of_its_other_sides,
	sizes_that_differ_are_told, what_lacks_an_other_side_is_not_known,
	clocks_are_found_by_what_goes_both_ways, one_way_or_too_few_tell_no_clock)
