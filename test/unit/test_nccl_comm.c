/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/nccl/nccl_comm.h"

#include <string.h>

#include "test/unit/unit.h"

/* Handles are addresses of something. */
static char things[2000];

START_TEST(a_key_is_the_same_for_the_same_ids_alone)
{
	nccl_unique_id ids[2] = {{"one"}, {"two"}}, again = {"one"};

	ck_assert_uint_ne(nccl_comm_key(&ids[0], 1), 0);
	ck_assert_uint_eq(nccl_comm_key(&ids[0], 1), nccl_comm_key(&again, 1));
	ck_assert_uint_ne(nccl_comm_key(&ids[0], 1), nccl_comm_key(&ids[1], 1));
	ck_assert_uint_ne(nccl_comm_key(&ids[0], 1), nccl_comm_key(ids, 2));
	ck_assert_uint_eq(nccl_comm_key(NULL, 1), 0);
	ck_assert_uint_ne(nccl_comm_own_key(), nccl_comm_own_key());
}
END_TEST

/* Two ranks split alike: what has one color has one key, and no other split has it. */
START_TEST(splits_have_keys_by_parent_time_and_color)
{
	struct nccl_comm_entry *ranks[] = {nccl_comm_add(&things[0], 77, 0, 2, NULL),
		nccl_comm_add(&things[1], 77, 1, 2, NULL)};
	uint64_t first = nccl_comm_split_key(ranks[0], 0);
	uint64_t second = nccl_comm_split_key(ranks[0], 0);

	ck_assert_uint_eq(nccl_comm_split_key(ranks[1], 0), first);
	ck_assert_uint_ne(first, second);
	ck_assert_uint_ne(nccl_comm_split_key(ranks[1], 1), second);
	ck_assert_uint_eq(nccl_comm_split_key(NULL, 1), 0);
}
END_TEST

START_TEST(operations_are_counted_by_communicator_and_by_peer)
{
	struct nccl_comm_entry *comm = nccl_comm_add(&things[0], 5, 0, 4, NULL);
	struct nccl_comm_entry *other = nccl_comm_add(&things[1], 6, 0, 4, NULL);

	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_ALL_REDUCE, -1), 1);
	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_BROADCAST, 3), 2);
	ck_assert_uint_eq(nccl_comm_count(other, GPROF_NCCL_BROADCAST, 3), 1);
	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_SEND, 1), 1);
	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_SEND, 1), 2);
	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_SEND, 2), 1);
	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_RECV, 1), 1);
	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_SEND, NCCL_COMM_PEERS), 0);
	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_SEND, -1), 0);
	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_INIT, -1), 0);
	ck_assert_uint_eq(nccl_comm_count(NULL, GPROF_NCCL_ALL_REDUCE, -1), 0);
}
END_TEST

/* A handle that comes again is another communicator, which counts from 1. */
START_TEST(handles_that_come_again_are_new)
{
	struct nccl_comm_entry *comm = nccl_comm_add(&things[0], 5, 3, 4, NULL);
	uint32_t id = comm->id;

	ck_assert_ptr_eq(nccl_comm_find(&things[0]), comm);
	nccl_comm_count(comm, GPROF_NCCL_ALL_REDUCE, -1);
	nccl_comm_drop(&things[0]);
	comm = nccl_comm_find(&things[0]);
	ck_assert_ptr_nonnull(comm);
	ck_assert_uint_ne(comm->id, id);
	ck_assert_uint_eq(comm->key, 0);
	ck_assert_int_eq(comm->rank, -1);
	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_ALL_REDUCE, -1), 1);
	ck_assert_ptr_eq(nccl_comm_add(&things[0], 5, 3, 4, NULL), nccl_comm_find(&things[0]));
	ck_assert_ptr_null(nccl_comm_find(NULL));
}
END_TEST

/* Many come and go; too many at once are told from those that are known. */
START_TEST(the_table_holds_many_and_says_when_it_is_full)
{
	uint32_t nr = 0;

	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 500; i++) {
			ck_assert_ptr_nonnull(
				nccl_comm_add(&things[i], (uint64_t)i + 1, 0, 1, NULL));
		}
		for (int i = 0; i < 500; i++) {
			ck_assert_uint_eq(nccl_comm_find(&things[i])->key, (uint64_t)i + 1);
			nccl_comm_drop(&things[i]);
		}
	}
	for (size_t i = 0; i < sizeof(things); i++) {
		nr += nccl_comm_add(&things[i], i + 1, 0, 1, NULL) != NULL;
	}
	ck_assert_uint_eq(nr, 512);
	for (uint32_t i = 0; i < nr; i++) {
		ck_assert_uint_eq(nccl_comm_find(&things[i])->key, i + 1);
	}
}
END_TEST

/* Of one device no two ranks are of one communicator. */
START_TEST(what_has_a_hash_has_numbers_while_there_is_one_device)
{
	struct nccl_comm_entry *comm = nccl_comm_find_hash(99);

	ck_assert_uint_eq(comm->key, 99);
	ck_assert_int_eq(comm->rank, -1);
	nccl_comm_use_device(3);
	nccl_comm_use_device(3);
	nccl_comm_know(comm, 2, 4);
	nccl_comm_know(comm, -1, 0);
	ck_assert_int_eq(comm->rank, 2);
	ck_assert_uint_eq(comm->nr_ranks, 4);
	ck_assert_ptr_eq(nccl_comm_find_hash(99), comm);
	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_ALL_REDUCE, -1), 1);
	nccl_comm_use_device(0);
	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_ALL_REDUCE, -1), 0);
	/* A handle is of one rank. */
	comm = nccl_comm_add(&things[0], 5, 3, 4, NULL);
	ck_assert_uint_eq(nccl_comm_count(comm, GPROF_NCCL_ALL_REDUCE, -1), 1);
	nccl_comm_drop_hash(99);
	ck_assert_uint_eq(nccl_comm_find_hash(99)->nr_ranks, 0);
	ck_assert_ptr_null(nccl_comm_find_hash(0));
}
END_TEST

UNIT_SUITE("nccl_comm", a_key_is_the_same_for_the_same_ids_alone,
	splits_have_keys_by_parent_time_and_color,
	operations_are_counted_by_communicator_and_by_peer, handles_that_come_again_are_new,
	what_has_a_hash_has_numbers_while_there_is_one_device,
	the_table_holds_many_and_says_when_it_is_full)
