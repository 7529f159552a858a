/* SPDX-License-Identifier: Apache-2.0 */
/* Which long calls are start-up, and that both errors are avoided. */
#include "report/budget/long_calls.h"

#include <string.h>

#include "report/budget/budget.h"
#include "report/util/string_pool.h"
#include "report/verdict/verdict.h"
#include "test/unit/report_made.h"

#define MS	1000000ull
#define STEP_MS 1000ull

/* Steps count from 1; step 0 lies before the first, the one after the last is not complete. */
struct planted {
	uint32_t step, at_ms, ms;
	const char *name;
};

static void add_call(struct made *made, const struct planted *planted, uint64_t begin, bool is_os)
{
	uint8_t api = is_os ? GPROF_API_THREAD : GPROF_API_RUNTIME;
	uint16_t call = gen_call(made->gen, planted->name, api);
	struct gprof_row_api *row = gen_row(made->gen, GPROF_TABLE_api);

	row->begin = begin;
	row->dur = begin + planted->ms * MS;
	row->thread = 1;
	row->call = call;
	row->correlation = ++made->correlation;
}

/* A kernel ends each step. Calls of cudaLaunchKernel launch one. */
static struct made make(uint32_t nr_steps, const struct planted *planted, size_t nr)
{
	struct made made = made_open("long.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);

	for (uint32_t step = 0; step <= nr_steps + 1; step++) {
		uint64_t begin = (10 + step * STEP_MS) * MS;

		if (step) {
			made_step(&made, begin, step);
		}
		for (size_t i = 0; i < nr; i++) {
			uint64_t at = begin + planted[i].at_ms * MS;

			if (planted[i].step != step) {
				continue;
			}
			if (strcmp(planted[i].name, "cudaLaunchKernel") == 0) {
				made_launch(&made, shape, at, planted[i].ms * MS,
					at + planted[i].ms * MS, at + planted[i].ms * MS + MS);
			} else {
				add_call(&made, &planted[i], at, planted[i].name[0] == 'n');
			}
		}
		made_launch(&made, shape, begin + (STEP_MS - 20) * MS, 1000,
			begin + (STEP_MS - 19) * MS, begin + (STEP_MS - 10) * MS);
	}
	gen_close(made.gen, "exit");
	return made;
}

static uint32_t *steps_of(const struct process *process)
{
	uint32_t *step_of = mem_zeroed(process->nr_steps + 1, sizeof(*step_of));

	for (uint32_t i = 1; i < process->nr_steps; i++) {
		step_of[i] = i;
	}
	return step_of;
}

/* Checks, call by call, whether it is start-up: 's', or not: '-'. */
static void check_calls(struct made made, uint32_t nr_steps, bool has_steps,
	const struct planted *planted, const char *want)
{
	struct process *process = streams_process(made.path);
	uint32_t *step_of = steps_of(process);
	struct long_calls calls = {0};

	long_calls_find(&calls, process, has_steps ? step_of : NULL, nr_steps);
	for (size_t i = 0; want[i]; i++) {
		uint32_t name = string_pool_intern(planted[i].name, strlen(planted[i].name));
		uint64_t at = 10 + planted[i].step * STEP_MS + planted[i].at_ms;
		bool is_startup = long_calls_has_startup(&calls, at * MS, name);

		ck_assert_msg(is_startup == (want[i] == 's'), "%u steps, call %zu (%s, %u ms): %d",
			nr_steps, i, planted[i].name, planted[i].ms, is_startup);
	}
	long_calls_fini(&calls);
	free(step_of);
	process_destroy(process);
}

static void check(uint32_t nr_steps, const struct planted *planted, const char *want)
{
	check_calls(make(nr_steps, planted, strlen(want)), nr_steps, nr_steps != 0, planted, want);
}

START_TEST(a_call_in_every_step_is_no_start_up)
{
	const struct planted every[] = {{1, 10, 25, "cudaMalloc"}, {2, 10, 20, "cudaMalloc"},
		{3, 10, 60, "cudaMalloc"}, {4, 10, 25, "cudaMalloc"}};

	check(2, every, "--");
	check(3, every, "---");
	check(4, every, "----");
}
END_TEST

START_TEST(a_call_in_one_step_is_start_up_wherever_it_is)
{
	for (uint32_t step = 1; step <= 4; step++) {
		const struct planted once[] = {
			{step, 10, 25, "cudaMalloc"}, {step, 50, 30, "cudaMalloc"}};

		check(4, once, "ss");
	}
	check(1, (struct planted[]){{1, 10, 25, "cudaMalloc"}}, "s");
	check(2, (struct planted[]){{1, 10, 25, "cudaMalloc"}}, "s");
	check(2, (struct planted[]){{2, 10, 25, "cudaMalloc"}}, "s");
	check(3, (struct planted[]){{1, 10, 1337, "cudaLaunchKernel"}}, "s");
}
END_TEST

/* The first call creates the context. */
START_TEST(one_that_takes_much_longer_is_of_another_kind)
{
	const struct planted first[] = {{1, 10, 300, "cudaMalloc"}, {2, 10, 25, "cudaMalloc"},
		{3, 10, 25, "cudaMalloc"}, {1, 400, 25, "cudaMalloc"}};

	check(3, first, "s---");
}
END_TEST

START_TEST(what_has_ended_since_is_start_up)
{
	const struct planted early[] = {{1, 10, 25, "cudaMalloc"}, {2, 10, 25, "cudaMalloc"}};
	const struct planted now_and_then[] = {
		{10, 10, 25, "cudaMalloc"}, {20, 10, 25, "cudaMalloc"}, {30, 10, 25, "cudaMalloc"}};

	check(3, early, "--");
	check(4, early, "ss");
	check(40, now_and_then, "---");
	check(51, now_and_then, "sss");
}
END_TEST

/* Two steps may load different code; in three, or in one with others, it goes on. */
START_TEST(code_is_loaded_once)
{
	const struct planted launches[] = {{1, 10, 300, "cudaLaunchKernel"},
		{2, 10, 80, "cudaLaunchKernel"}, {3, 10, 80, "cudaLaunchKernel"}};
	const struct planted loads[] = {{1, 10, 80, "cuModuleLoadData"},
		{1, 100, 80, "cuModuleLoadData"}, {1, 200, 80, "cuModuleLoadData"}};

	check(2, launches, "ss");
	check(3, launches, "---");
	check(1, loads, "sss");
}
END_TEST

START_TEST(in_one_step_the_first_of_a_kind_is_start_up)
{
	const struct planted calls[] = {{1, 10, 25, "cudaMalloc"}, {1, 40, 25, "cudaFree"},
		{1, 70, 30, "cudaMalloc"}, {1, 110, 20, "cudaFree"}};
	const struct planted before[] = {{0, 10, 30, "cudaMalloc"}, {1, 10, 25, "cudaMalloc"}};

	check(1, calls, "ss--");
	check(0, calls, "ss--");
	check(1, before, "s-");
}
END_TEST

/* Before the first step everything is set up, after the last it is torn down. */
START_TEST(only_complete_steps_show_that_a_call_comes_again)
{
	const struct planted around[] = {
		{1, 10, 25, "cudaFree"}, {0, 10, 25, "cudaFree"}, {4, 10, 25, "cudaFree"}};

	check(3, around, "s");
}
END_TEST

START_TEST(waits_copies_and_calls_of_the_system_are_none)
{
	const struct planted calls[] = {{1, 10, 25, "cudaDeviceSynchronize"},
		{1, 50, 25, "nanosleep"}, {1, 90, 19, "cudaMalloc"}};

	check(3, calls, "---");
}
END_TEST

static double part_ns(const struct table *table, unsigned int part)
{
	size_t row = tables_find(table, "part", budget_part_texts[part].title, 0);

	return tables_cell(table, row, "total_ns")->number;
}

/* The parts of all whole steps are right, also that of the last one. The first is none. */
START_TEST(the_budget_has_what_recurs_in_each_step)
{
	const struct planted every[] = {{1, 10, 30, "cudaMalloc"}, {2, 10, 30, "cudaMalloc"},
		{3, 10, 30, "cudaMalloc"}, {4, 10, 30, "cudaMalloc"},
		{2, 100, 200, "cuModuleLoadData"}};
	struct made made = make(4, every, 5);
	struct table *table = tables_of(&view_budget, made.path, false);

	ck_assert_double_eq(part_ns(table, BUDGET_HOST + HOST_ALLOCATION), 90e6);
	ck_assert_double_eq(part_ns(table, BUDGET_HOST + HOST_STARTUP), 200e6);
	table_destroy(table);
}
END_TEST

/* A call that takes longest before the first step is not what took long in the steps. */
START_TEST(start_up_in_steps_names_a_call_in_them)
{
	const struct planted calls[] = {
		{0, 10, 900, "cudaMalloc"}, {2, 10, 500, "cuModuleLoadData"}};
	struct made made = make(3, calls, 2);
	struct table *table = tables_of(&view_findings, made.path, false);
	size_t row = tables_find(table, "cause", "startup", 0);

	ck_assert_ptr_nonnull(
		strstr(tables_cell(table, row, "sentence")->text, "Start-up takes 500.0 ms"));
	ck_assert_ptr_nonnull(
		strstr(tables_cell(table, row, "sentence")->text, "most in cuModuleLoadData"));
	table_destroy(table);
}
END_TEST

UNIT_SUITE("report/long calls", a_call_in_every_step_is_no_start_up,
	a_call_in_one_step_is_start_up_wherever_it_is,
	one_that_takes_much_longer_is_of_another_kind, what_has_ended_since_is_start_up,
	code_is_loaded_once, in_one_step_the_first_of_a_kind_is_start_up,
	only_complete_steps_show_that_a_call_comes_again,
	waits_copies_and_calls_of_the_system_are_none, the_budget_has_what_recurs_in_each_step,
	start_up_in_steps_names_a_call_in_them)
