/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank did not call, or did not finish, which collective. */
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

extern const struct view_class view_missing_collectives;

enum { ALLREDUCE_BYTES = 1000, MOST = 3 };

/* A rank of three: collectives 1 to last were called, the kernels of the first `done` ended. */
struct told {
	uint32_t last, done;
	const char *how; /* it ended, NULL: by a signal */
};

static void add_collective(struct gen *gen, uint32_t number, bool has_kernel)
{
	struct gprof_row_nccl *call = gen_row(gen, GPROF_TABLE_nccl);

	call->begin = 1000 * number;
	call->dur = 1000 * number + 10;
	call->thread = 1;
	call->correlation_before = number;
	call->correlation = number + 1;
	call->comm = 1;
	call->sequence = number;
	call->group = number;
	call->bytes = ALLREDUCE_BYTES * number;
	call->peer = -1;
	call->kind = number % 2 ? GPROF_NCCL_ALL_REDUCE : GPROF_NCCL_BROADCAST;
	if (has_kernel) {
		uint32_t place = gen_place(gen, 0, 1, 7);
		struct gprof_row_api *api = gen_row(gen, GPROF_TABLE_api);
		struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

		api->begin = 1000 * number + 1;
		api->dur = 1000 * number + 2;
		api->thread = 1;
		api->correlation = number + 1;
		kernel->begin = 1000 * number + 100;
		kernel->dur = 1000 * number + 200;
		kernel->place = place;
		kernel->correlation = number + 1;
	}
}

static struct process *make_rank(int32_t rank, const struct told *told)
{
	static const char *const names[MOST] = {"rank0.gprof", "rank1.gprof", "rank2.gprof"};
	const char *path = streams_path(names[rank]);
	struct gen *gen = gen_open(path);
	struct gprof_row_nccl_comm *comm = gen_row(gen, GPROF_TABLE_nccl_comm);

	gen_anchor(gen, 1, 1, 1);
	gen_anchor(gen, 100000, 100000, 100000);
	comm->tick = 1;
	comm->id = 1;
	comm->key = 0xabc;
	comm->rank = rank;
	comm->nr_ranks = MOST;
	for (uint32_t number = 1; number <= told->last; number++) {
		add_collective(gen, number, number <= told->done);
	}
	gen_close(gen, told->how);
	return streams_process(path);
}

static struct table *make(const struct told *told, size_t nr)
{
	struct process *processes[MOST];
	struct table *table;

	for (size_t i = 0; i < nr; i++) {
		processes[i] = make_rank((int32_t)i, &told[i]);
	}
	table = tables_make(&view_missing_collectives, processes, nr, false);
	for (size_t i = 0; i < nr; i++) {
		process_destroy(processes[i]);
	}
	return table;
}

/* The only row; a list that is not there is "". */
static void check(struct table *table, uint64_t number, const char *name, const char *lists)
{
	static const char *const keys[] = {"arrived", "absent", "unknown", "unfinished"};
	struct buf text = {0};

	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "number"), number);
	ck_assert_uint_eq(tables_number(table, 0, "ranks"), MOST);
	ck_assert_uint_eq(tables_number(table, 0, "bytes"), ALLREDUCE_BYTES * number);
	ck_assert_uint_eq(tables_find(table, "name", name, 0), 0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct table_cell *cell = tables_cell(table, 0, keys[i]);

		buf_text(&text, i ? "|" : "");
		if (cell->is_known) {
			buf_add(&text, cell->text, cell->nr_text);
		}
	}
	buf_char(&text, '\0');
	ck_assert_str_eq(text.bytes, lists);
	buf_fini(&text);
	table_destroy(table);
}

START_TEST(rank_that_did_not_call_is_named_with_the_first_collective_that_it_lacks)
{
	static const struct told told[] = {{6, 3, NULL}, {5, 3, NULL}, {3, 3, NULL}};

	check(make(told, 3), 4, "Broadcast", "0-1|2||0-1");
}
END_TEST

START_TEST(rank_without_a_stream_or_a_collective_is_not_recorded)
{
	static const struct told told[] = {{3, 2, NULL}, {3, 2, NULL}, {0, 0, NULL}};

	check(make(told, 3), 3, "AllReduce", "0-1||2|0-1");
	check(make(told, 2), 3, "AllReduce", "0-1||2|0-1");
}
END_TEST

START_TEST(last_collective_that_all_called_waits_if_not_all_finished_it)
{
	static const struct told told[] = {{3, 3, NULL}, {3, 2, NULL}, {3, 3, NULL}};

	check(make(told, 3), 3, "AllReduce", "0-2|||1");
}
END_TEST

START_TEST(without_kernels_or_after_a_good_end_nothing_waits)
{
	static const struct told cases[][MOST] = {
		{{3, 0, NULL}, {3, 0, NULL}, {3, 0, NULL}},
		{{3, 3, NULL}, {3, 3, NULL}, {3, 3, NULL}},
		{{4, 3, "exit"}, {3, 3, "exit"}, {3, 3, "exit"}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *table = make(cases[i], MOST);

		ck_assert_uint_eq(table->nr_rows, 0);
		table_destroy(table);
	}
}
END_TEST

START_TEST(a_rank_that_aborted_counts_as_one_that_was_killed)
{
	static const struct told told[] = {{4, 3, "abort"}, {3, 3, "exit"}, {4, 3, "exit"}};

	check(make(told, 3), 4, "Broadcast", "0,2|1||0,2");
}
END_TEST

START_TEST(nonsense_breaks_nothing)
{
	tables_of_nonsense(&view_missing_collectives, false);
}
END_TEST

UNIT_SUITE("report/pending",
	rank_that_did_not_call_is_named_with_the_first_collective_that_it_lacks,
	rank_without_a_stream_or_a_collective_is_not_recorded,
	last_collective_that_all_called_waits_if_not_all_finished_it,
	without_kernels_or_after_a_good_end_nothing_waits,
	a_rank_that_aborted_counts_as_one_that_was_killed, nonsense_breaks_nothing)
