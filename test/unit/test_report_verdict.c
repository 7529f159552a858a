/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of the budget idle time belongs to, and what the verdict makes of it. */
#include <string.h>

#include "report/budget/budget.h"
#include "test/unit/report_made.h"

static void add_wait(struct made *made, uint64_t begin, uint64_t end)
{
	struct gprof_row_api *row = gen_row(made->gen, GPROF_TABLE_api);

	row->begin = begin;
	row->dur = end;
	row->thread = 1;
	row->call = made->sync;
	row->correlation = ++made->correlation;
}

/* Two steps of 1,000 ns. A wait opens the gap before the second kernel. */
static struct made make(const char *name)
{
	struct made made = made_open(name);
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);

	made_step(&made, 1000, 7);
	made_step(&made, 2000, 8);
	made_step(&made, 3000, 9);
	made_op(&made, "enumerate(DataLoader)#x.__next__", 1000, 1100, 0);
	made_launch(&made, shape, 1150, 30, 1200, 1300);
	made_op(&made, "aten::mm", 1120, 1190, 0);
	add_wait(&made, 1250, 1420);
	made_launch(&made, shape, 1500, 20, 1530, 1600);
	made_launch(&made, shape, 2100, 20, 2150, 2250);
	gen_close(made.gen, "exit");
	return made;
}

static double part_ns(const struct table *table, unsigned int part)
{
	size_t row = tables_find(table, "part", budget_part_texts[part].title, 0);

	return tables_cell(table, row, "total_ns")->number;
}

START_TEST(idle_time_belongs_to_what_the_launching_thread_did)
{
	struct made made = make("budget.gprof");
	struct table *table = tables_of(&view_budget, made.path, false);
	double sum = 0;

	ck_assert_double_eq(part_ns(table, BUDGET_COMPUTING), 100 + 70 + 100);
	ck_assert_double_eq(part_ns(table, BUDGET_HOST + HOST_LOADER), 100);
	ck_assert_double_eq(part_ns(table, BUDGET_HOST + HOST_OPERATOR), 1150 - 1120);
	ck_assert_double_eq(part_ns(table, BUDGET_HOST + HOST_LAUNCH), 30 + 20 + 20);
	ck_assert_double_eq(part_ns(table, BUDGET_HOST + HOST_WAIT), 1420 - 1300);
	ck_assert_double_eq(part_ns(table, BUDGET_LATENCY), 20 + 10 + 30);
	ck_assert_double_eq(part_ns(table, BUDGET_USER), 20 + 80 + 400 + 100 + 750);
	for (size_t row = 0; row < table->nr_rows; row++) {
		sum += tables_cell(table, row, "total_ns")->number;
	}
	ck_assert_double_eq(sum, 2000);
	table_destroy(table);
}
END_TEST

/* What lies behind a wait is the wait's, not the host's; nothing saves more than it costs. */
START_TEST(a_cause_costs_its_parts_and_saves_no_more)
{
	struct made made = make("verdict.gprof");
	struct table *table = tables_of(&view_findings, made.path, false);
	size_t user = tables_find(table, "cause", "python_host", 0);

	ck_assert_uint_eq(user, 0);
	ck_assert_double_eq(tables_cell(table, user, "reach_ns")->number, (1350 - 80) / 2.0);
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *saved = tables_cell(table, row, "saved_ns");
		double reach_ns = tables_cell(table, row, "reach_ns")->number;

		ck_assert(!saved->is_known || saved->number <= reach_ns);
		ck_assert_double_le(reach_ns, tables_cell(table, row, "step_ns")->number);
	}
	table_destroy(table);
}
END_TEST

static void add_lost_launch(struct made *made, uint64_t begin)
{
	struct gprof_row_api_launch *row = gen_row(made->gen, GPROF_TABLE_api_launch);

	row->begin = begin;
	row->dur = begin + 10;
	row->thread = 1;
	row->call = made->launch;
	row->correlation = ++made->correlation;
}

START_TEST(of_lost_activities_nothing_is_said_but_that)
{
	struct made made = made_open("lost.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	struct table *table;

	made_step(&made, 1000, 7);
	made_step(&made, 2000, 8);
	made_step(&made, 3000, 9);
	made_launch(&made, shape, 1150, 30, 1200, 1300);
	add_lost_launch(&made, 1400);
	made_launch(&made, shape, 2150, 30, 2200, 2300);
	gen_close(made.gen, "exit");
	table = tables_of(&view_findings, made.path, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_find(table, "cause", "lost_data", 0), 0);
	table_destroy(table);
	table = tables_of(&view_headline, made.path, false);
	ck_assert_ptr_nonnull(strstr(table->figure, "% idle or not recorded"));
	ck_assert_ptr_nonnull(strstr(table->figure, "1 of 3 launches have no GPU activity"));
	table_destroy(table);
}
END_TEST

/* A long call that comes in one step alone is start-up; one that comes again is not. */
START_TEST(what_comes_once_is_start_up)
{
	const uint64_t ms = 1000000;
	struct made made = made_open("startup.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	struct table *table;

	for (uint64_t step = 0; step < 4; step++) {
		uint64_t at = (100 + 100 * step) * ms;

		made_step(&made, at, step);
		if (step == 1) {
			made_launch(&made, shape, at + ms, 30 * ms, at + 31 * ms, at + 90 * ms);
		} else {
			made_launch(&made, shape, at + ms, 1000, at + 2 * ms, at + 90 * ms);
		}
	}
	made_step(&made, 500 * ms, 4);
	gen_close(made.gen, "exit");
	table = tables_of(&view_budget, made.path, false);
	ck_assert_double_eq(part_ns(table, BUDGET_HOST + HOST_STARTUP), 30e6);
	table_destroy(table);
}
END_TEST

/* Steps whose operators launch small kernels; the first screen. */
static struct table *launching(const char *name, const char *call)
{
	struct made made = made_open(name);
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);

	made.launch = gen_call(made.gen, call, GPROF_API_RUNTIME);
	for (uint64_t step = 0; step < 4; step++) {
		uint64_t at = 1000000 * (step + 1);

		made_step(&made, at, step);
		for (uint64_t i = 0; i < 9; i++) {
			uint64_t begin = at + 100000 * i;

			made_launch(
				&made, shape, begin + 80000, 5000, begin + 88000, begin + 90000);
			made_op(&made, "aten::mm", begin, begin + 90000, 0);
		}
	}
	made_step(&made, 5000000, 4);
	gen_close(made.gen, "exit");
	return tables_of(&view_headline, made.path, false);
}

START_TEST(a_remedy_fits_the_device)
{
	struct table *table = launching("cuda.gprof", "cudaLaunchKernel");

	ck_assert_ptr_nonnull(
		strstr(table->figure, "to launch work; CUDA graphs or torch.compile"));
	table_destroy(table);
	table = launching("hip.gprof", "hipLaunchKernel");
	ck_assert_ptr_nonnull(strstr(table->figure, "to launch work; HIP graphs or torch.compile"));
	ck_assert_ptr_null(strstr(table->figure, "CUDA"));
	table_destroy(table);
}
END_TEST

UNIT_SUITE("report/verdict", idle_time_belongs_to_what_the_launching_thread_did,
	a_cause_costs_its_parts_and_saves_no_more, of_lost_activities_nothing_is_said_but_that,
	what_comes_once_is_start_up, a_remedy_fits_the_device)
