/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that share no communicator with others here, though they would have to. */
#include <stdio.h>
#include <stdlib.h>

#include "report/comm/job_clock.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

#define MOST 8u

static struct process *processes[MOST];
static size_t nr_processes;

/* A stream of a rank; nr_ranks: of the job, NULL unknown. */
static struct gen *begin(unsigned int rank, const char *nr_ranks)
{
	struct gen *gen = gen_open(streams_path("rank.gprof"));
	char number[16];

	snprintf(number, sizeof(number), "%u", rank);
	gen_info(gen, "rank.world", number);
	if (nr_ranks) {
		gen_info(gen, "rank.world_size", nr_ranks);
	}
	return gen;
}

static void add_comm(struct gen *gen, uint32_t id, uint64_t key, int32_t rank, uint32_t nr_ranks)
{
	struct gprof_row_nccl_comm *comm = gen_row(gen, GPROF_TABLE_nccl_comm);

	comm->id = id;
	comm->key = key;
	comm->rank = rank;
	comm->nr_ranks = nr_ranks;
}

/* how: as gen_close has it. */
static void end(struct gen *gen, const char *how)
{
	gen_close(gen, how);
	processes[nr_processes++] = streams_process(streams_path("rank.gprof"));
}

/* One of a job of four, with one communicator. */
static void add(unsigned int rank, uint64_t key, uint32_t nr_ranks)
{
	struct gen *gen = begin(rank, "4");

	add_comm(gen, 1, key, 0, nr_ranks);
	end(gen, "exit");
}

/* Which of those that were added are strangers, a sign each; they go. */
static const char *foreign_ranks(void)
{
	static char signs[MOST + 1];

	foreign_rank_mark(processes, nr_processes);
	signs[nr_processes] = 0;
	while (nr_processes) {
		nr_processes--;
		signs[nr_processes] = processes[nr_processes]->is_foreign ? 'x' : '-';
		process_destroy(processes[nr_processes]);
	}
	return signs;
}

START_TEST(one_among_others_that_share_theirs)
{
	add(0, 7, 4);
	add(1, 7, 4);
	add(2, 7, 4);
	add(3, 8, 4);
	ck_assert_str_eq(foreign_ranks(), "---x");
}
END_TEST

START_TEST(all_where_none_share)
{
	add(0, 7, 4);
	add(2, 8, 4);
	ck_assert_str_eq(foreign_ranks(), "xx");
}
END_TEST

START_TEST(one_alone_is_none)
{
	ck_assert_str_eq(foreign_ranks(), "");
	add(3, 8, 4);
	ck_assert_str_eq(foreign_ranks(), "-");
}
END_TEST

/* Of a communicator of two of four ranks the other one need not be among two others, but three. */
START_TEST(parts_of_a_job_may_have_no_common_one)
{
	add(0, 7, 2);
	add(1, 8, 2);
	add(2, 9, 2);
	ck_assert_str_eq(foreign_ranks(), "---");
	add(0, 7, 2);
	add(1, 8, 2);
	add(2, 9, 2);
	add(3, 9, 2);
	ck_assert_str_eq(foreign_ranks(), "xx--");
	add(0, 7, 1); /* nobody else is in it */
	add(1, 8, 4);
	add(2, 8, 4);
	ck_assert_str_eq(foreign_ranks(), "---");
	add(0, 7, 8); /* more than the job has ranks: these are no processes */
	add(1, 8, 8);
	ck_assert_str_eq(foreign_ranks(), "--");
}
END_TEST

/* Another process of a rank is no other rank, whose it could be. */
START_TEST(a_rank_that_is_there_twice_counts_once)
{
	struct gen *gen = begin(0, "4");

	add_comm(gen, 1, 9, 0, 3);
	end(gen, NULL);
	add(0, 8, 3);
	add(1, 7, 3);
	ck_assert_str_eq(foreign_ranks(), "---");
	add(0, 9, 3);
	add(0, 8, 3);
	add(1, 7, 3);
	add(2, 7, 3);
	ck_assert_str_eq(foreign_ranks(), "xx--");
}
END_TEST

/* A rank with another communicator beside the first of a job of four. */
static const char *strangers_of_two(
	const char *world, int32_t rank, uint32_t nr_ranks, const char *how)
{
	struct gen *gen;

	add(0, 8, 4);
	gen = begin(1, world);
	add_comm(gen, 1, 7, rank, nr_ranks);
	end(gen, how);
	return foreign_ranks();
}

/* What is not known of one rank may be what another one lacks. */
START_TEST(unknown_communicators_are_in_doubt)
{
	struct gen *gen;

	ck_assert_str_eq(strangers_of_two("4", 1, 4, "exit"), "xx");
	ck_assert_str_eq(strangers_of_two("4", -1, 4, "exit"), "--");
	ck_assert_str_eq(strangers_of_two(NULL, 1, 4, "exit"), "--");
	/* It may yet make that of the other one. */
	ck_assert_str_eq(strangers_of_two("4", 1, 4, NULL), "-x");
	add(0, 8, 4);
	gen = begin(1, "4");
	add_comm(gen, 1, 7, 1, 4);
	add_comm(gen, 2, 0, 1, 4);
	end(gen, "exit");
	ck_assert_str_eq(foreign_ranks(), "--");
}
END_TEST

/* That has a sentence of its own. */
START_TEST(jobs_of_several_sizes_are_not_compared)
{
	ck_assert_str_eq(strangers_of_two("2", 1, 2, "exit"), "--");
}
END_TEST

/* Its other ranks may be in as few others. */
START_TEST(several_devices_of_a_process)
{
	struct gen *gen = begin(0, "4");

	add_comm(gen, 1, 8, 0, 4);
	add_comm(gen, 2, 8, 1, 4);
	end(gen, "exit");
	add(1, 7, 4);
	add(2, 7, 4);
	ck_assert_str_eq(foreign_ranks(), "---");
}
END_TEST

UNIT_SUITE("stranger", one_among_others_that_share_theirs, all_where_none_share, one_alone_is_none,
	parts_of_a_job_may_have_no_common_one, a_rank_that_is_there_twice_counts_once,
	unknown_communicators_are_in_doubt, jobs_of_several_sizes_are_not_compared,
	several_devices_of_a_process)
