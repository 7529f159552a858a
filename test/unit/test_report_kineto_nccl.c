/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of collectives in traces: what was asked for becomes rows of NCCL's table. */
#include "report/import/kineto/convert.h"

#include <stdio.h>

#include "report/util/string_pool.h"
#include "report/comm/nccl_names.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/report_traces.h"
#include "test/unit/unit.h"

extern const struct view_class view_communication;

/* A launch at 10 us and its kernel, which is what `args` says, at 20 us. */
#define LAUNCH                                                                           \
	"{\"ph\":\"X\",\"cat\":\"cuda_driver\",\"name\":\"cuLaunchKernelEx\",\"pid\":7," \
	"\"tid\":9,\"ts\":10,\"dur\":2,\"args\":{\"correlation\":5}}"
#define KERNEL(args)                                                                       \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel\",\"pid\":0,\"tid\":7," \
	"\"ts\":20,\"dur\":4,\"args\":{\"device\":0,\"stream\":7,\"correlation\":5," args "}}"
#define TRACE(rank, args)                                                                    \
	"{\"distributedInfo\":{\"rank\":" rank ",\"world_size\":8},\"traceEvents\":[" LAUNCH \
	"," KERNEL(args) "]}"
#define WHAT(name, type, in, out)                                                       \
	"\"Collective name\":\"" name "\",\"dtype\":\"" type "\",\"In msg nelems\":" in \
	",\"Out msg nelems\":" out ",\"Group size\":4"
#define GROUP ",\"Process Group Name\":\"2\",\"Process Group Ranks\":\"[1, 3, 5, 7]\""

static uint64_t column(struct process *process, unsigned int column_id)
{
	struct batch batch;

	traces_load(process, GPROF_TABLE_nccl, &batch);
	ck_assert_uint_eq(batch.nr_rows, 1);
	return batch.col[column_id][0];
}

START_TEST(a_collective_is_called_where_its_kernel_was_launched)
{
	struct process *process = traces_read(
		TRACE("5", WHAT("_allgather_base", "BFloat16", "100", "400") GROUP ",\"Seq\":11"));
	const struct model_nccl_comm *comm;

	ck_assert_uint_eq(column(process, COL_nccl_begin), 10000);
	ck_assert_uint_eq(column(process, COL_nccl_dur), 0);
	ck_assert_uint_eq(column(process, COL_nccl_kind), GPROF_NCCL_ALL_GATHER);
	ck_assert_uint_eq(column(process, COL_nccl_bytes), 200);
	ck_assert_uint_eq(column(process, COL_nccl_datatype), 9);
	ck_assert_uint_eq(column(process, COL_nccl_correlation_before), 4);
	ck_assert_uint_eq(column(process, COL_nccl_correlation), 5);
	ck_assert_uint_eq(column(process, COL_nccl_sequence), 12);
	comm = idmap_get(&process->nccl_comms, (uint32_t)column(process, COL_nccl_comm));
	ck_assert_ptr_nonnull(comm);
	ck_assert_uint_ne(comm->key, 0);
	ck_assert_uint_eq(comm->nr_ranks, 4);
	ck_assert_int_eq(comm->rank, 2);
	ck_assert(process_is_complete(process));
	process_destroy(process);
}
END_TEST

START_TEST(names_and_counts_are_those_of_pytorch)
{
	static const struct {
		const char *text;
		uint64_t kind, bytes;
	} cases[] = {
		{TRACE("0", WHAT("allreduce", "Float", "8", "8")), GPROF_NCCL_ALL_REDUCE, 32},
		{TRACE("0", WHAT("allreduce_coalesced", "Half", "8", "8")), GPROF_NCCL_ALL_REDUCE,
			16},
		{TRACE("0", WHAT("all_gather", "Int", "8", "32")), GPROF_NCCL_ALL_GATHER, 32},
		{TRACE("0", WHAT("_reduce_scatter_base", "Float", "32", "8")),
			GPROF_NCCL_REDUCE_SCATTER, 32},
		{TRACE("0", WHAT("all_to_allv", "Double", "32", "32")), GPROF_NCCL_ALL_TO_ALL, 64},
		{TRACE("0", WHAT("_reduce_oop", "Long", "8", "8")), GPROF_NCCL_REDUCE, 64},
		{TRACE("0", WHAT("broadcast", "Bool", "8", "8")), GPROF_NCCL_BROADCAST, 8},
		/* Its number counts what all of the group send and receive. */
		{TRACE("0", WHAT("recv", "Byte", "0", "8") ",\"Seq\":5"), GPROF_NCCL_RECV, 8},
		{TRACE("0", WHAT("gather", "Strange", "8", "32")), GPROF_NCCL_GATHER, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process *process = traces_read(cases[i].text);

		ck_assert_uint_eq(column(process, COL_nccl_kind), cases[i].kind);
		ck_assert_uint_eq(column(process, COL_nccl_bytes), cases[i].bytes);
		ck_assert_uint_eq(column(process, COL_nccl_sequence), 0);
		process_destroy(process);
	}
}
END_TEST

START_TEST(what_moves_nothing_is_no_collective)
{
	static const char *const texts[] = {TRACE("0", WHAT("wait", "Float", "8", "8")),
		TRACE("0", "\"Collective name\":7"), TRACE("0", "\"dtype\":\"Float\"")};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct process *process = traces_read(texts[i]);

		ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_nccl), 0);
		ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_kernel), 1);
		process_destroy(process);
	}
}
END_TEST

/* The same group on two ranks; a long list leaves ranks out. */
START_TEST(groups_are_known_by_name_and_ranks)
{
	static const char *const texts[] = {TRACE("1", WHAT("allreduce", "Float", "8", "8") GROUP),
		TRACE("7", WHAT("allreduce", "Float", "9", "9") GROUP),
		TRACE("7", WHAT("allreduce", "Float", "9",
				   "9") ",\"Process Group Name\":\"2\","
					"\"Process Group Ranks\":\"[0, ..., 7]\""),
		TRACE("7", WHAT("allreduce", "Float", "9", "9"))};
	const struct model_nccl_comm *comms[4];
	struct process *processes[4];

	for (size_t i = 0; i < 4; i++) {
		processes[i] = traces_read(texts[i]);
		comms[i] = idmap_get(&processes[i]->nccl_comms, 1);
		ck_assert_ptr_nonnull(comms[i]);
	}
	ck_assert_uint_eq(comms[0]->key, comms[1]->key);
	ck_assert_uint_ne(comms[0]->key, comms[2]->key);
	ck_assert_uint_eq(comms[3]->key, 0);
	ck_assert_int_eq(comms[0]->rank, 0);
	ck_assert_int_eq(comms[1]->rank, 3);
	ck_assert_int_eq(comms[2]->rank, -1);
	for (size_t i = 0; i < 4; i++) {
		process_destroy(processes[i]);
	}
}
END_TEST

/* PyTorch's number of a group and what the program calls it; "undefined" is no name. */
START_TEST(communicators_are_called_as_their_groups)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{TRACE("5", WHAT("allreduce", "Float", "8", "8") GROUP), "group 2, rank 2 of 4"},
		{TRACE("5", WHAT("allreduce", "Float", "8", "8") GROUP
			 ",\"Process Group Description\":\"mesh_dp\""),
			"group 2, mesh_dp, rank 2 of 4"},
		{TRACE("5", WHAT("allreduce", "Float", "8", "8") GROUP
			 ",\"Process Group Description\":\"undefined\""),
			"group 2, rank 2 of 4"},
		{TRACE("5", WHAT("allreduce", "Float", "8", "8")), "(unknown)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process *process = traces_read(cases[i].text);

		ck_assert_str_eq(
			string_pool_text(nccl_names_comm(process, 1), NULL), cases[i].name);
		ck_assert_str_eq(string_pool_text(nccl_names_comm(process, 77), NULL), "(unknown)");
		process_destroy(process);
	}
}
END_TEST

START_TEST(the_view_has_the_kernel_s_time)
{
	struct process *process =
		traces_read(TRACE("5", WHAT("_allgather_base", "BFloat16", "1000", "4000") GROUP));
	struct table *table = tables_make(&view_communication, &process, 1, false);

	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "bytes"), 8000);
	ck_assert_uint_eq(tables_number(table, 0, "time_ns"), 4000);
	ck_assert_double_eq_tol(tables_cell(table, 0, "algbw_bytes_per_s")->number, 2e9, 1);
	ck_assert_double_eq_tol(tables_cell(table, 0, "busbw_bytes_per_s")->number, 1.5e9, 1);
	ck_assert_msg(strstr(table->note, "1 call has no number or") != NULL, "%s", table->note);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/kineto_nccl", a_collective_is_called_where_its_kernel_was_launched,
	names_and_counts_are_those_of_pytorch, what_moves_nothing_is_no_collective,
	groups_are_known_by_name_and_ranks, communicators_are_called_as_their_groups,
	the_view_has_the_kernel_s_time)
