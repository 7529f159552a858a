/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of the budget idle time belongs to, and what the verdict makes of it. */
#include <string.h>

#include "report/budget/budget.h"
#include "report/util/string_pool.h"
#include "report/verdict/verdict.h"
#include "test/unit/report_made.h"
#include "test/unit/report_scene.h"

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

/*
 * What lies behind a wait is the host's where the replay, here of the last step alone, says that
 * the loop is as slow without the wait. Nothing saves more than it costs.
 */
START_TEST(a_cause_costs_its_parts_and_saves_no_more)
{
	struct made made = make("verdict.gprof");
	struct table *table = tables_of(&view_findings, made.path, false);
	size_t user = tables_find(table, "cause", "python_host", 0);

	ck_assert_uint_eq(user, 0);
	ck_assert_double_eq(tables_cell(table, user, "reach_ns")->number, 1350 / 2.0);
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *saved = tables_cell(table, row, "saved_ns");
		double reach_ns = tables_cell(table, row, "reach_ns")->number;

		ck_assert(!saved->is_known || saved->number <= reach_ns);
		ck_assert_double_le(reach_ns, tables_cell(table, row, "step_ns")->number);
	}
	table_destroy(table);
}
END_TEST

static void check_places(const struct table *table, const char *cause, const char *places)
{
	ck_assert_str_eq(
		tables_cell(table, tables_find(table, "cause", cause, 0), "places")->text, places);
}

/* Time in gaps is of the launch that ends them. */
START_TEST(places_of_a_finding_are_what_it_costs)
{
	struct made made = make("places.gprof");
	struct table *table = tables_of(&view_findings, made.path, false);

	check_places(table, "python_host",
		"375 ns per step (nothing launched later); 250 ns per step, once in 2 steps: "
		"cudaLaunchKernel; 10 ns per step, once in 2 steps: cudaLaunchKernel in aten::mm");
	table_destroy(table);
}
END_TEST

struct costs {
	uint64_t ns[NR_GAP_COSTS];
};

static struct costs costs_of(const struct headline_step *step)
{
	const uint64_t *ns = &step->parts[BUDGET_HOST], *drained = step->drained;
	struct costs costs = {
		.ns = {[GAP_COST_LATENCY] = step->parts[BUDGET_LATENCY],
			[GAP_COST_WAIT] = ns[HOST_WAIT] + step->parts[BUDGET_DOWNLOAD],
			[GAP_COST_UPLOAD] = ns[HOST_STAGING] + step->parts[BUDGET_UPLOAD],
			[GAP_COST_COMMUNICATION] =
				step->parts[BUDGET_TRANSFER] + step->parts[BUDGET_COMMUNICATION],
			[GAP_COST_LOADER] = ns[HOST_LOADER],
			[GAP_COST_ALLOCATION] = ns[HOST_ALLOCATION],
			[GAP_COST_STARTUP] = ns[HOST_STARTUP]}};

	costs.ns[GAP_COST_USER] =
		ns[HOST_RANGE] + ns[HOST_USER] - drained[HOST_RANGE] - drained[HOST_USER];
	costs.ns[GAP_COST_HOST] = costs.ns[GAP_COST_USER];
	for (unsigned int i = 0; i < NR_BUDGET_IDLE; i++) {
		bool is_code = i == HOST_LAUNCH || i == HOST_CALL || i == HOST_OPERATOR;
		bool is_own = i == HOST_WAIT || i == HOST_STARTUP || i == HOST_LOADER;

		costs.ns[GAP_COST_ALL] += ns[i];
		costs.ns[GAP_COST_HOST] += is_code ? ns[i] - drained[i] : 0;
		costs.ns[GAP_COST_WAIT] += i <= NR_HOST_STATES && !is_own ? drained[i] : 0;
	}
	return costs;
}

/* Of steps behind the first one. */
static struct costs costs_in(const struct gap_places *places, bool counts)
{
	struct costs costs = {{0}};

	for (size_t i = 0; i < places->nr_sums; i++) {
		const struct gap_place_sum *sum = &places->sums[i];

		if (sum->group.when == ADVICE_LATER && sum->group.counts == counts) {
			costs.ns[sum->cost] += sum->ns;
		}
	}
	return costs;
}

static struct costs costs_of_all(const struct headline_process *of, bool counts, uint64_t *nr)
{
	struct costs sum = {{0}};

	for (size_t i = 0; i < of->nr_steps; i++) {
		const struct headline_step *step = &of->steps[i];

		if (step->place != 1 && step->counts == counts) {
			const struct costs costs = costs_of(step);

			for (unsigned int k = 0; k < NR_GAP_COSTS; k++) {
				sum.ns[k] += costs.ns[k];
			}
			++*nr;
		}
	}
	return sum;
}

/* The view's state, with the process that it is of. */
static struct verdict *verdict_of(const char *path, struct process **process)
{
	const struct view_class *class = &view_advice;
	const struct view_input input = {.processes = process, .nr_processes = 1};
	void *state;

	*process = streams_process(path);
	view_run(&input, &class, 1, &state);
	return state;
}

/* nr: adds so many steps that do not count, and that do. */
static void check_costs(const struct verdict *verdict, uint64_t nr[2])
{
	for (int counts = 0; counts < 2; counts++) {
		struct costs want =
			costs_of_all(&verdict->headline.processes[0], counts, &nr[counts]);
		struct costs have = costs_in(&verdict->advice.facts[0].gap_places, counts);

		ck_assert_mem_eq(&have, &want, sizeof(have));
	}
}

START_TEST(all_places_have_all_of_the_parts)
{
	uint64_t seed = 77, nr[2] = {0};

	for (int round = 0; round < 40; round++) {
		struct scene scene;
		struct process *process;
		struct verdict *verdict;

		scene_make(&scene, &seed, round % 2);
		verdict = verdict_of(scene_write(&scene, "places", &seed), &process);
		check_costs(verdict, nr);
		view_destroy(&view_advice, verdict);
		process_destroy(process);
	}
	ck_assert_uint_gt(nr[true], 100);
}
END_TEST

/* Steps of 1,000 ns with two launches in an operator; the second one and the eighth take longer. */
static size_t nr_sums_of(unsigned int nr_steps)
{
	struct made made = made_open("steps.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	uint64_t begin = 1000;
	struct process *process;
	struct verdict *verdict;
	uint64_t nr[2] = {0};
	size_t nr_sums;

	for (unsigned int i = 0; i < nr_steps; i++) {
		made_step(&made, begin, i);
		made_launch(&made, shape, begin + 100, 30, begin + 200, begin + 300);
		made_launch(&made, shape, begin + 400, 20, begin + 430, begin + 500);
		made_op(&made, "aten::mm", begin + 50, begin + 600, 0);
		begin += i == 1 || i == 7 ? 5000 : 1000;
	}
	made_step(&made, begin, nr_steps);
	gen_close(made.gen, "exit");
	verdict = verdict_of(made.path, &process);
	check_costs(verdict, nr);
	ck_assert_uint_eq(nr[true], nr_steps - 1 - 2);
	ck_assert_uint_eq(nr[false], 2);
	nr_sums = verdict->advice.facts[0].gap_places.nr_sums;
	view_destroy(&view_advice, verdict);
	process_destroy(process);
	return nr_sums;
}

START_TEST(more_steps_take_no_more_memory_for_places)
{
	size_t nr_sums = nr_sums_of(20);

	ck_assert_uint_gt(nr_sums, 0);
	ck_assert_uint_eq(nr_sums_of(2000), nr_sums);
}
END_TEST

/* A wait has its own time and what it opened, a loader its own. */
START_TEST(what_keeps_the_host_is_the_place)
{
	static const struct {
		enum gap_cost cost;
		const char *what;
		uint64_t ns;
	} wants[] = {{GAP_COST_WAIT, "cudaDeviceSynchronize", 120 + 20 + 80},
		{GAP_COST_LOADER, "enumerate(DataLoader)#x.__next__", 100}};
	struct process *process;
	struct verdict *verdict = verdict_of(make("owners.gprof").path, &process);
	const struct gap_places *places = &verdict->advice.facts[0].gap_places;

	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		size_t nr = 0;

		for (size_t k = 0; k < places->nr_sums; k++) {
			const struct gap_place_sum *sum = &places->sums[k];

			if (sum->cost == wants[i].cost) {
				uint32_t what = gap_places_key(places, sum->place)->what;

				ck_assert_str_eq(string_pool_text(what, NULL), wants[i].what);
				ck_assert_uint_eq(sum->ns, wants[i].ns);
				ck_assert_uint_eq(sum->nr, 1);
				nr++;
			}
		}
		ck_assert_uint_eq(nr, 1);
	}
	view_destroy(&view_advice, verdict);
	process_destroy(process);
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
	ck_assert_ptr_nonnull(
		strstr(table->figure, "\nINCOMPLETE: 1 of 3 launches have no GPU activity\nStep"));
	ck_assert_ptr_nonnull(
		strstr(table->figure, "\n1. 1 of 3 launches have no GPU activity, so idle"));
	ck_assert_double_eq(tables_cell(table, 0, "incomplete")->number, 1);
	table_destroy(table);
	table = tables_of(&view_budget, made.path, false);
	ck_assert_ptr_nonnull(strstr(table->note, "have no GPU activity, so idle time is unknown"));
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

enum { COMPILED_STEPS = 20 };

/*
 * The findings of steps of 10 ms whose GPU works for 8 of them, from 1 ms on. Those whose bit is
 * set in `which` first compile for 30 ms, with an operator and a call of CUDA.
 */
static struct table *compiling(const char *name, uint32_t which, bool has_steps, bool is_jax)
{
	const uint64_t ms = 1000000;
	struct made made = made_open(name);
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	uint64_t at = 100 * ms;

	for (unsigned int step = 0; step < COMPILED_STEPS; step++) {
		if (has_steps) {
			made_step(&made, at, step);
		}
		if (which >> step & 1) {
			made_op(&made, "aten::mm", at + 2 * ms, at + 3 * ms, 2);
			add_wait(&made, at + 4 * ms, at + 5 * ms);
			made_op(&made, "compile_fx_inner (dynamo_timed)", at + ms, at + 20 * ms, 1);
			gen_op(made.gen,
				is_jax ? "backend_compile_and_load"
				       : "_compile.compile_inner (dynamo_timed)",
				at, at + 30 * ms)
				->framework = is_jax ? GPROF_FRAMEWORK_XLA : GPROF_FRAMEWORK_TORCH;
			at += 30 * ms;
		}
		made_launch(&made, shape, at + ms / 2, 1000, at + ms, at + 9 * ms);
		at += 10 * ms;
	}
	if (has_steps) {
		made_step(&made, at, COMPILED_STEPS);
	}
	gen_close(made.gen, "exit");
	return tables_of(&view_findings, made.path, false);
}

static void check_finding(
	const struct table *table, const char *cause, double reach_ns, const char *sentence)
{
	size_t row = tables_find(table, "cause", cause, 0);

	ck_assert_double_eq_tol(tables_cell(table, row, "reach_ns")->number, reach_ns, 1e-3);
	ck_assert_str_eq(tables_cell(table, row, "sentence")->text, sentence);
}

/* Steps that compile are outliers, and cost all the same; all that lies within is compilation. The
 * first step is not whole. */
START_TEST(compiling_again_is_a_finding)
{
	struct table *table = compiling("again.gprof", 1u << 5 | 1u << 9 | 1u << 16, true, false);

	ck_assert_uint_eq(tables_find(table, "cause", "compilation", 0), 0);
	check_finding(table, "compilation", 3 * 30e6 / (COMPILED_STEPS - 1),
		"PyTorch compiles in 3 of 19 steps, 30.00 ms in each (TORCH_LOGS=recompiles says "
		"why); compiling once can save at most 4.737 ms per step (32.1 %)");
	table_destroy(table);
	table = compiling("always.gprof", ~0u, true, false);
	check_finding(table, "compilation", 30e6,
		"PyTorch compiles in every step, 30.00 ms in each (TORCH_LOGS=recompiles says "
		"why); "
		"compiling once can save at most 30.00 ms per step (75.0 %)");
	table_destroy(table);
	table = compiling("jax.gprof", 1u << 5, true, true);
	check_finding(table, "compilation", 30e6 / (COMPILED_STEPS - 1),
		"JAX compiles in 1 of 19 steps, 30.00 ms in each (JAX_EXPLAIN_CACHE_MISSES=1 says "
		"why); compiling once can save at most 1.579 ms per step (13.6 %)");
	table_destroy(table);
}
END_TEST

START_TEST(compiling_without_steps_is_start_up)
{
	struct table *table = compiling("stepless.gprof", 1u << 1, false, false);

	ck_assert_uint_eq(tables_find(table, "cause", "startup", 0), 0);
	ck_assert_ptr_nonnull(strstr(tables_cell(table, 0, "sentence")->text,
		"Start-up and allocation take 30.00 ms (13.1 % of the recording), most of it in "
		"torch.compile"));
	for (size_t row = 0; row < table->nr_rows; row++) {
		ck_assert_str_ne(tables_cell(table, row, "cause")->text, "compilation");
	}
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

	ck_assert_ptr_nonnull(strstr(table->figure, "to launch work, 96.2 % of that for aten::mm; "
						    "CUDA graphs or torch.compile"));
	table_destroy(table);
	table = launching("hip.gprof", "hipLaunchKernel");
	ck_assert_ptr_nonnull(strstr(table->figure, "aten::mm; HIP graphs or torch.compile"));
	ck_assert_ptr_null(strstr(table->figure, "CUDA"));
	table_destroy(table);
}
END_TEST

START_TEST(no_graphs_where_graphs_run)
{
	struct table *table = launching("graphs.gprof", "cudaGraphLaunch");

	ck_assert_ptr_nonnull(
		strstr(table->figure, "aten::mm; less work on the host between graphs"));
	ck_assert_ptr_null(strstr(table->figure, "CUDA graphs"));
	table_destroy(table);
}
END_TEST

/* No graph saves what HIP takes to free memory. */
START_TEST(freeing_is_allocation)
{
	const uint64_t ms = 1000000;
	struct made made = made_open("free.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	uint16_t call = gen_call(made.gen, "hipFree", GPROF_API_RUNTIME);
	struct table *table;

	made.launch = gen_call(made.gen, "hipLaunchKernel", GPROF_API_RUNTIME);
	for (uint64_t step = 0; step < 4; step++) {
		uint64_t at = 20 * (step + 1) * ms;
		struct gprof_row_api *row = gen_row(made.gen, GPROF_TABLE_api);

		made_step(&made, at, step);
		*row = (struct gprof_row_api){
			.begin = at + ms, .dur = at + 16 * ms, .thread = 1, .call = call};
		made_launch(&made, shape, at + 17 * ms, 1000, at + 18 * ms, at + 19 * ms);
	}
	made_step(&made, 100 * ms, 4);
	gen_close(made.gen, "exit");
	table = tables_of(&view_findings, made.path, false);
	ck_assert_uint_eq(tables_find(table, "cause", "alloc_free", 0), 0);
	ck_assert_double_eq(tables_cell(table, 0, "reach_ns")->number, 15e6);
	for (size_t i = 0; i < table->nr_rows; i++) {
		ck_assert_ptr_null(strstr(tables_cell(table, i, "sentence")->text, "graphs"));
	}
	table_destroy(table);
}
END_TEST

/* Steps of 1,000 ns, of which an operator takes so many. */
static struct table *on_the_cpu(const char *name, uint64_t operator_ns)
{
	struct made made = made_open(name);

	for (uint64_t step = 1; step < 6; step++) {
		made_step(&made, 1000 * step, step);
		made_op(&made, "aten::mm", 1000 * step, 1000 * step + operator_ns, 0);
	}
	made_step(&made, 6000, 6);
	gen_close(made.gen, "exit");
	return tables_of(&view_findings, made.path, false);
}

START_TEST(on_the_cpu_code_outside_of_operators_is_a_cause)
{
	struct table *table = on_the_cpu("cpu.gprof", 600);

	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_find(table, "cause", "python_host", 0), 0);
	ck_assert_double_eq(tables_cell(table, 0, "reach_ns")->number, 400);
	table_destroy(table);
	table = on_the_cpu("computing.gprof", 980);
	ck_assert_uint_eq(table->nr_rows, 0);
	table_destroy(table);
	table = on_the_cpu("idle.gprof", 0);
	ck_assert_uint_eq(table->nr_rows, 0);
	table_destroy(table);
}
END_TEST

/*
 * Steps of 1 ms and an outlier of 20 ms without any GPU: aten::linear takes so much of them, and
 * a quarter of it lies in the aten::addmm that it contains. A thread `side` runs aten::mm
 * meanwhile.
 */
static const char *without_gpus(const char *name, uint64_t linear_ns, uint32_t side)
{
	const uint64_t us = 1000;
	struct made made = {.path = streams_path(name)};
	uint64_t at = 1000 * us;

	made.gen = gen_open(made.path);
	gen_anchor(made.gen, 0, 0, 0);
	gen_anchor(made.gen, 1000000000, 1000000000, 1000000000);
	for (uint64_t step = 0; step < 12; step++) {
		uint64_t length = step == 8 ? 20000 * us : 1000 * us;

		made_step(&made, at, step);
		if (side) {
			gen_op(made.gen, "aten::mm", at, at + linear_ns)->thread = side;
		}
		made_op(&made, "aten::addmm", at, at + linear_ns / 4, 1);
		made_op(&made, "aten::linear", at, at + linear_ns, 0);
		if (step == 8) {
			made_op(&made, "aten::save", at + 1000 * us, at + length, 0);
		}
		at += length;
	}
	made_step(&made, at, 12);
	gen_close(made.gen, "exit");
	return made.path;
}

/* More operators than are held at once, in steps of fewer: these are replayed all the same. */
START_TEST(long_runs_on_the_cpu_are_predicted)
{
	struct made made = made_open("long.gprof");
	struct verdict *verdict;
	struct process *process;
	uint64_t at = 1000;

	for (uint64_t step = 0; step < 60; step++, at += 100000) {
		made_step(&made, at, step);
		made_op(&made, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at,
			at + 40000, 0);
		for (uint64_t i = 0; i < 9000; i++) {
			made_op(&made, i < 4500 ? "aten::mm" : "MmBackward0", at + 40000 + 5 * i,
				at + 40004 + 5 * i, 0);
		}
		made_op(&made, "Optimizer.step#SGD.step", at + 90000, at + 99000, 0);
	}
	made_step(&made, at, 60);
	gen_close(made.gen, "exit");
	verdict = verdict_of(made.path, &process);
	verdict_find(verdict);
	ck_assert_uint_eq(verdict->findings[0].cause, VERDICT_LOADER);
	ck_assert_double_eq_tol(verdict->findings[0].saved_ns, 40000, 500);
	/* Thinned out. */
	ck_assert_uint_ge(prediction_of(&verdict->prediction, 0)->nr_steps, 29);
	view_destroy(&view_advice, verdict);
	process_destroy(process);
}
END_TEST

/*
 * A loop that loads data in one of `period` steps, which are too many to be replayed all: the
 * replayed ones are a sample of them. Returns what the loader costs, and what replacing it saves.
 */
static struct verdict_finding loading_each(const char *name, uint64_t period)
{
	struct made made = made_open(name);
	struct verdict_finding finding;
	struct verdict *verdict;
	struct process *process;
	uint64_t at = 100000;

	for (uint64_t step = 0; step < 20480; step++) {
		bool loads = step % period == 1;

		made_step(&made, at, step);
		made_op(&made, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at,
			at + (loads ? 50000 : 10000), 0);
		at += loads ? 50000 : 10000;
		for (uint64_t i = 0; i < 4; i++) {
			made_op(&made, "aten::mm", at + 1000 * i, at + 1000 * i + 1000, 0);
		}
		at += 5000;
	}
	made_step(&made, at, 20480);
	gen_close(made.gen, "exit");
	verdict = verdict_of(made.path, &process);
	verdict_find(verdict);
	finding = verdict->findings[0];
	ck_assert_uint_eq(finding.cause, VERDICT_LOADER);
	ck_assert_uint_ge(prediction_of(&verdict->prediction, 0)->nr_steps, 5000);
	ck_assert_uint_lt(prediction_of(&verdict->prediction, 0)->nr_steps, 15000);
	view_destroy(&view_advice, verdict);
	process_destroy(process);
	return finding;
}

START_TEST(steps_that_are_replayed_are_a_fair_sample)
{
	for (uint64_t period = 2; period <= 4; period++) {
		struct verdict_finding finding = loading_each("sample.gprof", period);
		double steps_ns = (double)(50000 + (period - 1) * 10000) / (double)period;

		ck_assert_double_eq_tol(finding.reach_ns, steps_ns, steps_ns / 100);
		ck_assert_double_eq_tol(finding.saved_ns, steps_ns, steps_ns / 100);
	}
}
END_TEST

/* Own times are means of the steps that count; those of two threads at once are no parts. */
START_TEST(operators_that_take_nearly_all_without_gpus_are_a_verdict)
{
	struct table *table =
		tables_of(&view_findings, without_gpus("cpu.gprof", 960000, 0), false);

	ck_assert_uint_eq(tables_find(table, "cause", "operators_cpu_bound", 0), 0);
	ck_assert_uint_eq(tables_find(table, "cause", "python_host", 0), 1);
	ck_assert_str_eq(tables_cell(table, 0, "sentence")->text,
		"No change outside of operators saves much; they take 960.0 us per step (96.0 %); "
		"longest: aten::linear (720.0 us)");
	ck_assert_double_eq(tables_cell(table, 0, "reach_ns")->number, 960000);
	ck_assert(!tables_cell(table, 0, "saved_ns")->is_known);
	check_places(table, "operators_cpu_bound",
		"720.0 us per step, 1 x aten::linear; 240.0 us per step, 1 x aten::addmm");
	table_destroy(table);
	table = tables_of(&view_findings, without_gpus("less.gprof", 890000, 0), false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_find(table, "cause", "python_host", 0), 0);
	table_destroy(table);
	table = tables_of(&view_findings, without_gpus("threads.gprof", 960000, 2), false);
	ck_assert_str_eq(tables_cell(table, 0, "sentence")->text,
		"No change outside of operators saves much; they take 960.0 us per step (96.0 %); "
		"longest: aten::mm");
	check_places(table, "operators_cpu_bound", "aten::mm; aten::linear; aten::addmm");
	table_destroy(table);
}
END_TEST

/*
 * Steps of 1 ms and an outlier of 20 ms in which a GPU computes. Communication is hidden, and one
 * kernel has no launch. A second stream runs the first kernel, too, for so long.
 */
static const char *on_the_gpu(const char *name, unsigned int nr_steps, uint64_t second_ns)
{
	const uint64_t us = 1000;
	struct made made = made_open(name);
	uint32_t gemm = made_shape(&made, "volta_sgemm_128x64_nn", 9, 128, 16, 0);
	uint32_t add = made_shape(&made,
		"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add"
		"<float>, std::array<char*, 3ul> >(int, float, std::array<char*, 3ul>)",
		9, 128, 16, 0);
	uint32_t reduce = made_shape(&made, "ncclDevKernel_AllReduce", 9, 128, 16, 0);
	uint32_t long_one = made_shape(&made, "save_all", 9, 128, 16, 0);
	uint32_t second = gen_place(made.gen, 0, 1, 8);
	uint64_t at = 1000 * us;

	for (unsigned int step = 0; step < nr_steps; step++) {
		uint64_t length = step == 8 ? 20000 * us : 1000 * us;

		made_step(&made, at, step);
		made_launch(&made, gemm, at + 5 * us, us, at + 10 * us, at + 610 * us);
		made_launch(&made, reduce, at + 7 * us, us, at + 100 * us, at + 900 * us);
		made_launch(&made, add, at + 9 * us, us, at + 610 * us, at + 910 * us);
		if (second_ns) {
			made_kernel(&made, gemm, 0, at + 300 * us, at + 300 * us + second_ns)
				->place = second;
		}
		made_kernel(&made, gemm, 0, at + 910 * us, at + 960 * us);
		if (step == 8) {
			made_kernel(&made, long_one, 0, at + 970 * us, at + length);
		}
		at += length;
	}
	made_step(&made, at, nr_steps);
	gen_close(made.gen, "exit");
	return made.path;
}

/* Times are means of the steps that count; those of two streams at once are no parts. */
START_TEST(kernels_that_take_nearly_all_are_named)
{
	struct table *table = tables_of(&view_findings, on_the_gpu("gpu.gprof", 12, 0), false);

	ck_assert_uint_eq(tables_find(table, "cause", "kernels_gpu_bound", 0), 0);
	ck_assert_str_eq(tables_cell(table, 0, "sentence")->text,
		"Only faster kernels save much; the GPU computes 950.0 us per step (95.0 %); "
		"largest: gemm f32 128x64 (650.0 us), elementwise<add> (300.0 us)");
	ck_assert_double_eq(tables_cell(table, 0, "reach_ns")->number, 950000);
	check_places(table, "kernels_gpu_bound",
		"650.0 us per step, 2 x gemm f32 128x64; 300.0 us per step, 1 x elementwise<add>");
	table_destroy(table);
	table = tables_of(&view_findings, on_the_gpu("streams.gprof", 12, 200000), false);
	ck_assert_str_eq(tables_cell(table, 0, "sentence")->text,
		"Only faster kernels save much; the GPU computes 950.0 us per step (95.0 %); "
		"largest: gemm f32 128x64, elementwise<add>");
	check_places(table, "kernels_gpu_bound", "gemm f32 128x64; elementwise<add>");
	table_destroy(table);
}
END_TEST

/* As many are named as two lines of a terminal hold. */
START_TEST(names_of_kernels_fit_two_lines)
{
	struct made made = made_open("names.gprof");
	uint32_t first =
		made_shape(&made, "Cijk_Ailk_Bljk_SB_MT128x128x16_SN_WG32_8_1", 9, 9, 9, 0);
	uint32_t second =
		made_shape(&made, "Cijk_Ailk_Bljk_SB_MT64x64x16_SN_WG16_16_1", 9, 9, 9, 0);
	struct table *table;

	made_launch(&made, first, 1000, 10, 1020, 601020);
	made_launch(&made, second, 1010, 10, 601020, 1001020);
	gen_close(made.gen, "exit");
	table = tables_of(&view_findings, made.path, false);
	ck_assert_str_eq(tables_cell(table, 0, "sentence")->text,
		"Only faster kernels save much; the GPU computes 1.000 ms of the recording (100.0 "
		"%); largest: Cijk_Ailk_..._WG32_8_1 (600.0 us)");
	table_destroy(table);
}
END_TEST

/* Of which the recording has none: the number in the table of kernels tells nobody anything. */
START_TEST(kernels_without_names_are_said_to_be_that)
{
	struct made made = made_open("nameless.gprof");
	uint32_t named = made_shape(&made, "gemm", 9, 9, 9, 0);
	struct table *table;

	made_launch(&made, 0, 1000, 10, 1020, 601020);
	made_launch(&made, named, 1010, 10, 601020, 1001020);
	gen_close(made.gen, "exit");
	table = tables_of(&view_findings, made.path, false);
	ck_assert_str_eq(tables_cell(table, 0, "sentence")->text,
		"Only faster kernels save much; the GPU computes 1.000 ms of the recording (100.0 "
		"%); largest: a kernel without a name (600.0 us), gemm (400.0 us)");
	check_places(table, "kernels_gpu_bound",
		"600.0 us, 1 x a kernel without a name; 400.0 us, 1 x gemm");
	table_destroy(table);
}
END_TEST

/* A loop over a loader with a kernel in each step, and neither backward nor optimizer. */
START_TEST(a_loader_is_a_cause_also_where_nothing_is_trained)
{
	const uint64_t us = 1000;
	struct made made = made_open("inference.gprof");
	struct table *table;

	for (uint64_t step = 0; step < 12; step++) {
		uint64_t at = (1000 + 1000 * step) * us;

		made_step(&made, at, step);
		made_op(&made, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
			at + 10 * us, at + 600 * us, 0);
		made_launch(&made, 0, at + 610 * us, 10 * us, at + 630 * us, at + 1000 * us);
	}
	made_step(&made, 13000 * us, 12);
	gen_close(made.gen, "exit");
	table = tables_of(&view_findings, made.path, false);
	ck_assert_uint_eq(tables_find(table, "cause", "loader", 0), 0);
	ck_assert_double_eq_tol(tables_cell(table, 0, "reach_ns")->number, 590000, 20000);
	table_destroy(table);
}
END_TEST

static size_t nr_times_of(const char *path)
{
	struct process *process;
	struct verdict *verdict = verdict_of(path, &process);
	size_t nr = verdict->work_times.nr;

	view_destroy(&view_advice, verdict);
	process_destroy(process);
	return nr;
}

START_TEST(more_steps_take_no_more_memory_for_times)
{
	ck_assert_uint_eq(nr_times_of(on_the_gpu("few.gprof", 12, 0)), 2);
	ck_assert_uint_eq(nr_times_of(on_the_gpu("many.gprof", 120, 0)), 2);
	ck_assert_uint_eq(nr_times_of(without_gpus("cpu.gprof", 960000, 0)), 2);
}
END_TEST

UNIT_SUITE("report/verdict", idle_time_belongs_to_what_the_launching_thread_did,
	a_cause_costs_its_parts_and_saves_no_more, places_of_a_finding_are_what_it_costs,
	all_places_have_all_of_the_parts, more_steps_take_no_more_memory_for_places,
	what_keeps_the_host_is_the_place, of_lost_activities_nothing_is_said_but_that,
	what_comes_once_is_start_up, compiling_again_is_a_finding,
	compiling_without_steps_is_start_up, a_remedy_fits_the_device, no_graphs_where_graphs_run,
	freeing_is_allocation, on_the_cpu_code_outside_of_operators_is_a_cause,
	operators_that_take_nearly_all_without_gpus_are_a_verdict,
	kernels_that_take_nearly_all_are_named, long_runs_on_the_cpu_are_predicted,
	steps_that_are_replayed_are_a_fair_sample, kernels_without_names_are_said_to_be_that,
	a_loader_is_a_cause_also_where_nothing_is_trained, names_of_kernels_fit_two_lines,
	more_steps_take_no_more_memory_for_times)
