/* SPDX-License-Identifier: Apache-2.0 */
#include "report/comm/nccl_match.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/report_ranks.h"

extern const struct view_class view_communication;

static struct process *rank_process(uint32_t rank)
{
	const char *path = streams_path(rank ? "rank1.gprof" : "rank0.gprof");
	struct gen *gen = gen_open(path);

	gen_nccl(gen, rank, false);
	gen_close(gen, "exit");
	return streams_process(path);
}

/* See gen_nccl.c for what happened. */
START_TEST(waiting_and_bandwidths_are_those_of_the_streams)
{
	struct process *processes[] = {rank_process(0), rank_process(1)};
	struct table *table = tables_make(&view_communication, processes, 2, false);
	size_t reduce = tables_find(table, "name", "AllReduce", 0);
	size_t gather = tables_find(table, "name", "AllGather", 0);
	size_t send = tables_find(table, "name", "Send", 0);

	ck_assert_uint_eq(table->nr_rows, 4);
	ck_assert_uint_eq(tables_number(table, reduce, "calls"), 6);
	ck_assert_uint_eq(tables_number(table, reduce, "bytes"), 6000000);
	ck_assert_uint_eq(tables_number(table, reduce, "time_ns"), 800000);
	ck_assert_uint_eq(tables_number(table, reduce, "waiting_ns"), 400000);
	ck_assert_uint_eq(tables_number(table, reduce, "transfer_ns"), 400000);
	ck_assert_double_eq_tol(tables_cell(table, reduce, "algbw_bytes_per_s")->number, 15e9, 1);
	ck_assert_double_eq_tol(tables_cell(table, reduce, "busbw_bytes_per_s")->number, 15e9, 1);
	ck_assert_uint_eq(tables_number(table, reduce, "late_rank"), 1);
	ck_assert_double_eq_tol(tables_cell(table, reduce, "late_pct")->number, 50, 1e-9);
	ck_assert_uint_eq(tables_number(table, reduce, "late_wait_ns"), 300000);

	ck_assert_uint_eq(tables_number(table, gather, "bytes"), 4000000);
	ck_assert_uint_eq(tables_number(table, gather, "waiting_ns"), 0);
	ck_assert_uint_eq(tables_number(table, gather, "transfer_ns"), 400000);
	ck_assert_double_eq_tol(tables_cell(table, gather, "algbw_bytes_per_s")->number, 10e9, 1);
	ck_assert_double_eq_tol(tables_cell(table, gather, "busbw_bytes_per_s")->number, 5e9, 1);
	ck_assert(!tables_cell(table, gather, "late_rank")->is_known);

	ck_assert_uint_eq(tables_number(table, send, "time_ns"), 100000);
	ck_assert_uint_eq(tables_number(table, send, "waiting_ns"), 0);
	ck_assert_uint_eq(tables_number(table, send, "transfer_ns"), 100000);
	ck_assert_double_eq_tol(tables_cell(table, send, "algbw_bytes_per_s")->number, 20e9, 1);
	ck_assert(!tables_cell(table, send, "late_rank")->is_known);
	table_destroy(table);
	process_destroy(processes[0]);
	process_destroy(processes[1]);
}
END_TEST

START_TEST(of_one_rank_alone_waiting_is_unknown_and_said)
{
	struct process *process = rank_process(0);
	struct table *table = tables_make(&view_communication, &process, 1, false);
	size_t reduce = tables_find(table, "name", "AllReduce", 0);

	ck_assert_uint_eq(tables_number(table, reduce, "time_ns"), 500000);
	ck_assert(!tables_cell(table, reduce, "waiting_ns")->is_known);
	ck_assert_double_eq_tol(tables_cell(table, reduce, "algbw_bytes_per_s")->number, 6e9, 1);
	ck_assert_msg(
		strstr(table->note, "3 of 3 collectives lack the calls of some ranks.") != NULL,
		"%s", table->note);
	ck_assert_msg(strstr(table->note, "1 of 1 sends and receives lack the other side") != NULL,
		"%s", table->note);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

/* One that a damaged stream has may be any number: it is a name, not a size. */
START_TEST(the_late_rank_may_be_any)
{
	static const uint32_t ranks[] = {0, INT32_MAX - 1};
	struct process *processes[2];
	struct table *table;
	size_t send;

	for (int i = 0; i < 2; i++) {
		struct made made = ranks_open(ranks[i], INT32_MAX);
		uint64_t begin = 2000 + (uint64_t)i * 300;

		made_shape(&made, "ncclDevKernel_SendRecv", 1, 32, 16, 0);
		ranks_launch(&made,
			ranks_call(&made, i ? GPROF_NCCL_RECV : GPROF_NCCL_SEND, (int32_t)ranks[!i],
				1, 100, 1000),
			1, begin, 3000);
		processes[i] = ranks_close(&made);
	}
	table = tables_make(&view_communication, processes, 2, false);
	send = tables_find(table, "name", "Send", 0);
	ck_assert_uint_eq(tables_number(table, send, "late_rank"), INT32_MAX - 1);
	ck_assert_uint_eq(tables_number(table, send, "late_wait_ns"), 300);
	table_destroy(table);
	process_destroy(processes[0]);
	process_destroy(processes[1]);
}
END_TEST

START_TEST(nonsense_breaks_nothing)
{
	tables_of_nonsense(&view_communication, false);
	tables_of_nonsense(&view_communication, true);
}
END_TEST

/* ---- matching ---- */

enum { NR = 3 };

/* The same collective on three ranks of one host, 10 ns each, one begun after the other. */
static void make(struct nccl_op *ops, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		ops[i] = (struct nccl_op){.key = 9,
			.bytes = 100,
			.begin_ns = 1000 + i,
			.end_ns = 1010 + i,
			.sequence = 4,
			.nr_calls = 1,
			.nr_ranks = NR,
			.rank = (int32_t)i,
			.peer = -1,
			.boot = 1,
			.process = (uint32_t)i,
			.kind = GPROF_NCCL_ALL_REDUCE};
	}
}

static struct nccl_match match_of(struct nccl_op *items, size_t nr)
{
	struct nccl_ops ops = {.ops = items, .nr_ops = nr};
	struct nccl_match match;

	nccl_match(&ops, &match);
	return match;
}

START_TEST(the_last_rank_waits_for_nobody)
{
	struct nccl_op ops[NR];
	struct nccl_match match;

	make(ops, NR);
	ops[1].begin_ns = 1005;
	ops[0].end_ns = 1004; /* over before the last began: it waited all the time, no more */
	match = match_of(ops, NR);
	ck_assert_uint_eq(match.nr_matched, 1);
	ck_assert_uint_eq(ops[0].wait_ns, 4);
	ck_assert_uint_eq(ops[1].wait_ns, 0);
	ck_assert_uint_eq(ops[2].wait_ns, 3);
	ck_assert(ops[1].is_last && !ops[0].is_last && !ops[2].is_last);
	ck_assert_uint_eq(ops[1].caused_ns, 7);
	ck_assert_uint_eq(ops[1].transfer_ns, 1012 - 1005);
}
END_TEST

START_TEST(what_is_not_the_same_on_all_ranks_is_told)
{
	static const char *const what[] = {"kind", "size", "root"};

	for (int i = 0; i < 3; i++) {
		struct nccl_op ops[NR];
		struct nccl_match match;

		make(ops, NR);
		ops[2].kind = i == 0 ? GPROF_NCCL_ALL_GATHER : ops[2].kind;
		ops[2].bytes += i == 1;
		ops[2].peer += i == 2;
		match = match_of(ops, NR);
		ck_assert_msg(match.nr_differing == 1 && !match.nr_matched, "%s", what[i]);
		ck_assert_int_eq(match.differing[0]->rank, 0);
		ck_assert_int_eq(match.differing[1]->rank, 2);
	}
}
END_TEST

START_TEST(what_cannot_be_compared_is_counted_by_its_reason)
{
	struct nccl_op ops[NR];
	struct nccl_match match;

	make(ops, NR);
	match = match_of(ops, NR - 1);
	ck_assert_uint_eq(match.nr_missing, 1);
	make(ops, NR);
	ops[1].rank = 0; /* a rank twice */
	ck_assert_uint_eq(match_of(ops, NR).nr_missing, 1);
	make(ops, NR);
	ops[1].begin_ns = UINT64_MAX;
	ck_assert_uint_eq(match_of(ops, NR).nr_untimed, 1);
	make(ops, NR);
	ops[1].boot = 2;
	ck_assert_uint_eq(match_of(ops, NR).nr_clocks, 1);
	make(ops, NR);
	ops[0].nr_calls = 2; /* put together with others there alone */
	ops[0].bytes = 500;
	match = match_of(ops, NR);
	ck_assert(match.nr_missing == 1 && !match.nr_differing);
	make(ops, NR);
	ops[0].key = ops[1].key = ops[2].key = 0;
	ck_assert_uint_eq(match_of(ops, NR).nr_collectives, 0);
}
END_TEST

/* doc/PERFORMANCE.md of nccl-tests. */
START_TEST(bus_bandwidths_are_those_of_nccl_tests)
{
	ck_assert_double_eq_tol(nccl_op_bus_factor(GPROF_NCCL_ALL_REDUCE, 4), 1.5, 1e-12);
	ck_assert_double_eq_tol(nccl_op_bus_factor(GPROF_NCCL_ALL_GATHER, 4), 0.75, 1e-12);
	ck_assert_double_eq_tol(nccl_op_bus_factor(GPROF_NCCL_REDUCE_SCATTER, 8), 0.875, 1e-12);
	ck_assert_double_eq_tol(nccl_op_bus_factor(GPROF_NCCL_ALL_TO_ALL, 2), 0.5, 1e-12);
	ck_assert_double_eq_tol(nccl_op_bus_factor(GPROF_NCCL_BROADCAST, 4), 1, 1e-12);
	ck_assert_double_eq_tol(nccl_op_bus_factor(GPROF_NCCL_REDUCE, 4), 1, 1e-12);
	ck_assert_double_eq_tol(nccl_op_bus_factor(GPROF_NCCL_SEND, 4), 1, 1e-12);
}
END_TEST

UNIT_SUITE("report/nccl", waiting_and_bandwidths_are_those_of_the_streams,
	of_one_rank_alone_waiting_is_unknown_and_said, the_late_rank_may_be_any,
	nonsense_breaks_nothing, the_last_rank_waits_for_nobody,
	what_is_not_the_same_on_all_ranks_is_told, what_cannot_be_compared_is_counted_by_its_reason,
	bus_bandwidths_are_those_of_nccl_tests)
