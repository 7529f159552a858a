/* SPDX-License-Identifier: Apache-2.0 */
/* The view overview: known answers, and random loops against a map of every moment. */
#include <stdlib.h>
#include <string.h>

#include "report/model/select.h"
#include "test/unit/report_played.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

START_TEST(what_overlaps_counts_once_and_only_in_steps)
{
	struct table *table = tables_of(&view_overview, streams_ops("ops.gprof"), false);
	size_t operator= tables_find(table, "name", "Operator", 0);
	size_t kernel = tables_find(table, "name", "Kernel", 0);

	ck_assert_str_eq(table_find_cell(table, 0, "name")->text, "ProfileStep");
	ck_assert_uint_eq(tables_number(table, 0, "calls"), 3);
	ck_assert_uint_eq(tables_number(table, 0, "total_ns"), 2710000);
	ck_assert_uint_eq(tables_number(table, operator, "total_ns"), 1335000);
	/* Two of the twelve run after the last step. */
	ck_assert_uint_eq(tables_number(table, kernel, "calls"), 10);
	ck_assert_uint_eq(tables_number(table, kernel, "total_ns"), 440000);
	table_destroy(table);
}
END_TEST

/* ---- every moment ---- */

struct counted {
	uint64_t nr, ns;
	bool is_busy[PLAYED_TIME];
};

static void count(
	struct counted *counted, const struct played *played, uint64_t begin, uint64_t end)
{
	counted->nr += played_step(played, begin) != 0;
	for (uint64_t t = begin; t < end; t++) {
		ck_assert_uint_lt(t, PLAYED_TIME);
		if (!counted->is_busy[t] && played_step(played, t)) {
			counted->is_busy[t] = true;
			counted->ns++;
		}
	}
}

static bool lies_in_operator(const struct played *played, int op)
{
	for (int i = played->ops[op].parent; i >= 0; i = played->ops[i].parent) {
		if (played->ops[i].kind == PLAYED_OP) {
			return true;
		}
	}
	return false;
}

static void check(const struct table *table, const char *name, size_t n, const struct counted *want)
{
	size_t row = tables_find(table, "name", name, n);

	ck_assert_uint_eq(tables_number(table, row, "calls"), want->nr);
	ck_assert_uint_eq(tables_number(table, row, "total_ns"), want->ns);
	ck_assert(table_find_cell(table, row, "ratio_pct")->number <= 100);
}

static void check_ops(const struct table *table, const struct played *played)
{
	struct counted *operators = calloc(1, sizeof(*operators)),
		       *inner = calloc(1, sizeof(*inner)), *user = calloc(1, sizeof(*user)),
		       *calls = calloc(1, sizeof(*calls));

	for (unsigned int i = 0; i < played->nr_ops; i++) {
		const struct played_op *op = &played->ops[i];

		if (op->kind != PLAYED_LOADER) {
			count(op->kind == PLAYED_USER		   ? user
				: lies_in_operator(played, (int)i) ? inner
								   : operators,
				played, op->begin, op->end);
		}
	}
	for (unsigned int i = 0; i < played->nr_calls; i++) {
		if (played->calls[i].begin != UINT64_MAX) {
			count(calls, played, played->calls[i].begin, played->calls[i].end);
		}
	}
	check(table, "Operator", 0, operators);
	check(table, "OperatorInner", 0, inner);
	check(table, "UserDefined", 0, user);
	check(table, "CudaRuntime", 0, calls);
	free(operators);
	free(inner);
	free(user);
	free(calls);
}

static void check_work(const struct table *table, const struct played *played)
{
	static const char *const names[] = {"Kernel", "Communication", "Memcpy", "Memset"};
	struct counted *kinds = calloc(4, sizeof(*kinds)), *devices = calloc(2, sizeof(*devices));
	struct counted *computation = calloc(1, sizeof(*computation));

	for (unsigned int i = 0; i < played->nr_calls; i++) {
		const struct played_call *call = &played->calls[i];

		if (call->work) {
			count(&kinds[call->work - PLAYED_KERNEL], played, call->work_begin,
				call->work_end);
		}
		if (call->work == PLAYED_NCCL) {
			count(&kinds[0], played, call->work_begin, call->work_end);
		}
		if (call->work == PLAYED_KERNEL) {
			count(computation, played, call->work_begin, call->work_end);
		}
		if (call->work == PLAYED_KERNEL || call->work == PLAYED_NCCL) {
			count(&devices[call->device], played, call->work_begin, call->work_end);
		}
	}
	for (unsigned int i = 0; i < 4; i++) {
		check(table, names[i], 0, &kinds[i]);
	}
	for (size_t row = tables_find(table, "name", "Kernel of one GPU", 0); row < table->nr_rows;
		row++) {
		check(table, "Kernel of one GPU",
			row - tables_find(table, "name", "Kernel of one GPU", 0),
			&devices[tables_number(table, row, "device")]);
	}
	check(table, "Computation", 0, computation);
	free(computation);
	free(kinds);
	free(devices);
}

START_TEST(random_loops_moment_by_moment)
{
	struct played *played = calloc(1, sizeof(*played));

	for (uint64_t seed = 1; seed < 40; seed++) {
		struct counted *steps = calloc(1, sizeof(*steps));
		const char *path = streams_path("played.gprof");
		struct table *table;

		played_make(played, seed, path);
		table = tables_of(&view_overview, path, false);
		count(steps, played, 0, PLAYED_TIME);
		ck_assert_uint_eq(tables_number(table, 0, "total_ns"), steps->ns);
		ck_assert_uint_eq(tables_number(table, 0, "calls"),
			played->nr_steps - 1 - (played->closed != 0));
		check_ops(table, played);
		check_work(table, played);
		table_destroy(table);
		free(steps);
	}
	free(played);
}
END_TEST

/* The work of a chosen step is what it launched, also what runs after it. */
START_TEST(chosen_steps_have_their_work)
{
	struct process *process = streams_process(streams_ops("ops.gprof"));
	struct select_options ask = {0};
	struct table *table;

	ck_assert(numbers_parse(&ask.steps, "2", false));
	select_make(process, &ask);
	table = tables_make(&view_overview, &process, 1, false);
	ck_assert_uint_eq(tables_number(table, 0, "total_ns"), 1000000);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "name", "Operator", 0), "calls"), 7);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "name", "Kernel", 0), "calls"), 4);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "name", "Kernel", 0), "total_ns"), 180000);
	table_destroy(table);
	select_drop(process);
	numbers_fini(&ask.steps);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/overview", what_overlaps_counts_once_and_only_in_steps,
	random_loops_moment_by_moment, chosen_steps_have_their_work)
