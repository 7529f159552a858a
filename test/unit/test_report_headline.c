/* SPDX-License-Identifier: Apache-2.0 */
/* The first lines of a report, of streams whose steps are known. */
#include <stdio.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/reduce/reduced_view.h"
#include "test/unit/report_lines.h"
#include "test/unit/report_made.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define LOADER "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
#define NODE   "autograd::engine::evaluate_function: AddmmBackward0"
#define STEP   "Optimizer.step#Adam.step"

enum { NR_STEPS = 12, MOST_LINES = 4 * NR_STEPS };

static struct line lines[MOST_LINES];
static uint64_t steps[NR_STEPS + 2];
static size_t nr_lines;

static void add(uint32_t begin, uint32_t end, const char *name, uint32_t kernel_ns)
{
	lines[nr_lines++] = (struct line)LINE(1, begin, end, 0, name, .kernel_ns = kernel_ns);
}

/* 10 % data loader, 30 % forward, 40 % backward, 10 % optimizer, 10 % nothing. */
static void make(uint32_t first_ns, uint32_t ns, uint32_t growth_ns)
{
	uint32_t now = 1000;

	nr_lines = 0;
	for (size_t i = 0; i < NR_STEPS; i++) {
		uint32_t tenth = (i ? ns + growth_ns * (uint32_t)i : first_ns) / 10;

		steps[i] = now;
		add(now, now + tenth, LOADER, 0);
		add(now + tenth, now + 4 * tenth, "aten::mm", 0);
		add(now + 4 * tenth, now + 8 * tenth, NODE, 0);
		add(now + 8 * tenth, now + 9 * tenth, STEP, 0);
		now += 10 * tenth;
	}
	steps[NR_STEPS] = now;
	steps[NR_STEPS + 1] = 0;
}

static struct table *headline(void)
{
	return tables_of(&view_headline, lines_write(lines, nr_lines, steps), false);
}

static double number(const struct table *table, const char *key)
{
	return tables_cell(table, 0, key)->number;
}

static const char *text(const struct table *table, size_t row, const char *key)
{
	return tables_cell(table, row, key)->text;
}

static const char *verdict_of(const struct table *advice, const char *rule)
{
	return text(advice, tables_find(advice, "rule", rule, 0), "verdict");
}

/* Batches, and operators without backward or optimizer. */
START_TEST(inference_is_no_training)
{
	struct table *table, *model, *advice;
	const char *path;

	make(1000, 1000, 0);
	for (size_t i = 0; i < nr_lines; i++) {
		lines[i].name = i % 4 ? "aten::mm" : LOADER;
	}
	path = lines_write(lines, nr_lines, steps);
	table = tables_of(&view_headline, path, false);
	ck_assert_uint_eq(tables_number(table, 0, "steps"), NR_STEPS);
	ck_assert(!tables_cell(table, 0, "forward_pct")->is_known);
	ck_assert_ptr_null(strstr(table->figure, "forward"));
	ck_assert_ptr_nonnull(strstr(table->figure, "\nCPU     80.0 % in operators, "));
	table_destroy(table);
	model = tables_of(&view_model, path, false);
	ck_assert(model->is_aside);
	ck_assert_str_eq(model->title, "Phases");
	ck_assert_uint_eq(model->nr_rows, 4);
	ck_assert_str_eq(text(model, 1, "name"), "Dataloader");
	ck_assert_str_eq(text(model, 2, "name"), "Forward");
	ck_assert_str_eq(text(model, 3, "name"), "Others");
	table_destroy(model);
	advice = tables_of(&view_advice, path, true);
	ck_assert_str_eq(verdict_of(advice, "tb-dataloader"), "not judged");
	table_destroy(advice);
	make(1000, 1000, 0); /* the same with backward and optimizer */
	path = lines_write(lines, nr_lines, steps);
	model = tables_of(&view_model, path, false);
	ck_assert(!model->is_aside);
	ck_assert_str_eq(model->title, "Training phases");
	table_destroy(model);
	advice = tables_of(&view_advice, path, true);
	ck_assert_str_eq(verdict_of(advice, "tb-dataloader"), "no time to gain");
	table_destroy(advice);
}
END_TEST

START_TEST(without_gpus_there_are_phases)
{
	struct table *table;

	make(1000, 1000, 0);
	table = headline();
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert(table->is_figure_only);
	ck_assert_uint_eq(tables_number(table, 0, "steps"), NR_STEPS);
	ck_assert_uint_eq(tables_number(table, 0, "warm_up_steps"), 0);
	ck_assert_double_eq_tol(number(table, "median_ns"), 1000, 1e-9);
	ck_assert_double_eq_tol(number(table, "forward_pct"), 30, 1e-9);
	ck_assert_double_eq_tol(number(table, "backward_pct"), 40, 1e-9);
	ck_assert_double_eq_tol(number(table, "dataloader_pct"), 10, 1e-9);
	ck_assert_double_eq_tol(number(table, "optimization_ns"), 100, 1e-9);
	ck_assert_double_eq_tol(number(table, "cpu_operators_pct"), 80, 1e-9);
	ck_assert_double_eq_tol(number(table, "cpu_other_pct"), 10, 1e-9);
	ck_assert(!tables_cell(table, 0, "computing_pct")->is_known);
	ck_assert(!tables_cell(table, 0, "mfu_pct")->is_known);
	ck_assert_ptr_nonnull(strstr(table->figure, "no GPU, 12 steps in"));
	ck_assert_ptr_nonnull(
		strstr(table->figure, "\nStep    median 1.000 us, p99 1.000 us, no trend\n"));
	ck_assert_ptr_nonnull(strstr(table->figure,
		"\nTime    30.0 % forward, 40.0 % backward, 10.0 % optimizer, 10.0 % data loader, "
		"10.0 % other\n"));
	ck_assert_ptr_nonnull(strstr(table->figure,
		"\nCPU     80.0 % in operators, 10.0 % in the data loader, 10.0 % elsewhere\n"));
	table_destroy(table);
}
END_TEST

static void add_call(struct gen *gen, const char *name, uint8_t api)
{
	struct gprof_row_api *row;
	uint16_t call = gen_call(gen, name, api);

	row = gen_row(gen, GPROF_TABLE_api);
	row->begin = 1000;
	row->dur = 2000;
	row->thread = 1;
	row->call = call;
}

/* A recording without activities does not show that there is no GPU. */
START_TEST(no_gpu_is_said_where_nothing_shows_one)
{
	static const struct {
		const char *call, *says;
		uint8_t api;
		unsigned int nr_devices;
	} cases[] = {
		{"poll", ", no GPU, ", GPROF_API_THREAD, 0},
		{"ncclAllReduce", ", no GPU, ", GPROF_API_NCCL, 0},
		{"cudaGetDeviceCount", ", no GPU activity recorded, ", GPROF_API_RUNTIME, 0},
		{"cuInit", ", no GPU activity recorded, ", GPROF_API_DRIVER, 0},
		{"cudaFree", ", 1 GPU without recorded activity, ", GPROF_API_RUNTIME, 1},
		{"poll", ", 2 GPUs without recorded activity, ", GPROF_API_THREAD, 2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *path = streams_path("no-gpu.gprof");
		struct gen *gen = gen_open(path);
		struct table *table;

		gen_anchor(gen, 0, 0, 0);
		for (uint32_t k = 0; k < cases[i].nr_devices; k++) {
			struct gprof_row_device *device = gen_row(gen, GPROF_TABLE_device);

			device->id = k;
			device->name = gen_string(gen, "GPU X");
		}
		add_call(gen, cases[i].call, cases[i].api);
		gen_anchor(gen, 3000, 3000, 3000);
		gen_close(gen, "exit");
		table = tables_of(&view_headline, path, false);
		ck_assert_msg(strstr(table->figure, cases[i].says), "%s", table->figure);
		table_destroy(table);
	}
}
END_TEST

/* A trace may describe other GPUs than it numbers. */
START_TEST(a_gpu_that_is_not_described_has_the_name_that_all_have)
{
	static const struct {
		const char *second, *says;
	} cases[] = {{"NVIDIA H100", ", NVIDIA H100, "}, {"NVIDIA A100", ", GPU 5, "}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made made = made_open("other.gprof");
		uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
		struct table *table;

		gen_device(made.gen, 1, cases[i].second);
		made.place = gen_place(made.gen, 5, 1, 7);
		made_launch(&made, shape, 1000, 100, 1500, 2000);
		gen_close(made.gen, "exit");
		table = tables_of(&view_headline, made.path, false);
		ck_assert_msg(strstr(table->figure, cases[i].says), "%s", table->figure);
		table_destroy(table);
	}
}
END_TEST

START_TEST(steps_that_warm_up_are_excluded)
{
	struct reduced reduced;
	struct table *table;

	make(5000, 1000, 0);
	table = headline();
	ck_assert_uint_eq(tables_number(table, 0, "steps"), NR_STEPS - 1);
	ck_assert_uint_eq(tables_number(table, 0, "warm_up_steps"), 1);
	ck_assert_double_eq_tol(number(table, "mean_ns"), 1000, 1e-9);
	ck_assert_uint_eq(tables_number(table, 0, "p99_ns"), 1000);
	ck_assert_double_eq_tol(number(table, "backward_ns"), 400, 1e-9);
	ck_assert_ptr_nonnull(strstr(table->figure, ", 1 warm-up step excluded\n"));
	table_destroy(table);
	/* Statistics of the steps exclude the same ones. */
	table = tables_of(&view_step_stats, streams_path("lines.gprof"), false);
	ck_assert_uint_eq(tables_number(table, 0, "steps"), NR_STEPS - 1);
	ck_assert_double_eq_tol(number(table, "avg_ns"), 1000, 1e-9);
	ck_assert_ptr_nonnull(strstr(table->note, "warm"));
	table_destroy(table);
	/* So do phases, kinds of events, and what ranks compute and communicate. */
	for (size_t i = 0; i < 2; i++) {
		table = tables_of(
			i ? &view_overview : &view_model, streams_path("lines.gprof"), false);
		ck_assert_uint_eq(tables_number(table, 0, "calls"), NR_STEPS - 1);
		ck_assert_uint_eq(tables_number(table, 0, "total_ns"), (NR_STEPS - 1) * 1000);
		ck_assert_uint_eq(
			tables_number(table, tables_find(table, "name", "Backward", 0), "total_ns"),
			(NR_STEPS - 1) * 400);
		ck_assert_ptr_nonnull(strstr(table->note, "warm"));
		table_destroy(table);
	}
	reduced = streams_reduced(streams_path("lines.gprof"));
	table = reduced_distributed_table(&reduced, 0);
	ck_assert_uint_eq(tables_number(table, 0, "steps"), NR_STEPS - 1);
	ck_assert_uint_eq(tables_number(table, 0, "duration_ns"), (NR_STEPS - 1) * 1000);
	table_destroy(table);
	reduced_fini(&reduced);
}
END_TEST

/* A validation is forward: without it the shares and the median are those of the other steps. */
START_TEST(outliers_are_excluded_and_named)
{
	struct table *table, *stats;
	const char *path;

	make(1000, 1000, 0);
	/* The 6th step takes 9,000 ns longer, all of it forward. */
	for (size_t i = 0; i < nr_lines; i++) {
		lines[i].begin += i > 4 * 5 + 1 ? 9000 : 0;
		lines[i].end += i > 4 * 5 ? 9000 : 0;
	}
	for (size_t i = 6; i <= NR_STEPS; i++) {
		steps[i] += 9000;
	}
	path = lines_write(lines, nr_lines, steps);
	table = tables_of(&view_headline, path, false);
	ck_assert_uint_eq(tables_number(table, 0, "steps"), NR_STEPS - 1);
	ck_assert_uint_eq(tables_number(table, 0, "outlier_steps"), 1);
	ck_assert_uint_eq(tables_number(table, 0, "outliers_ns"), 10000);
	ck_assert_uint_eq(tables_number(table, 0, "p99_ns"), 1000);
	ck_assert_double_eq_tol(number(table, "mean_ns"), 1000, 1e-9);
	ck_assert_double_eq_tol(number(table, "forward_pct"), 30, 1e-9);
	ck_assert_double_eq_tol(number(table, "backward_ns"), 400, 1e-9);
	ck_assert_ptr_nonnull(strstr(table->figure, "no GPU, 12 steps in"));
	ck_assert_ptr_nonnull(strstr(table->figure,
		"\nSlow    1 of 12 steps took 10 times the median (48 % of the time), mostly "
		"forward (validation?), excluded above\n"));
	table_destroy(table);
	stats = tables_of(&view_step_stats, path, false);
	ck_assert_uint_eq(tables_number(stats, 0, "steps"), NR_STEPS - 1);
	ck_assert_uint_eq(tables_number(stats, 0, "max_ns"), 1000);
	ck_assert_ptr_nonnull(strstr(stats->note, "1 outlier is excluded, of more than twice"));
	table_destroy(stats);
}
END_TEST

static uint64_t sum_of(const struct table *table, const char *key)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		sum += tables_number(table, i, key);
	}
	return sum;
}

/* The steps of a rank take so long; one of them takes so much longer. op: the only one, or NULL. */
static struct process *rank_with(
	const char *name, uint64_t ns, size_t slow, uint64_t more_ns, const char *op)
{
	struct gen *gen = gen_open(streams_path(name));
	uint64_t now = 1000;
	char rank[24];

	snprintf(rank, sizeof(rank), "%llu", (unsigned long long)ns); /* another one each */
	gen_info(gen, "rank.world", rank);
	for (size_t i = 0; i <= NR_STEPS; i++) {
		struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

		row->time = now;
		row->step = i;
		row->how = GPROF_STEP_API;
		now += ns + (i == slow ? more_ns : 0);
	}
	if (op) {
		gen_op(gen, op, 1000, 1100);
	}
	gen_close(gen, "exit");
	return streams_process(streams_path(name));
}

/* All of it is user code. */
static struct process *rank_of(const char *name, uint64_t ns, size_t slow, uint64_t more_ns)
{
	return rank_with(name, ns, slow, more_ns, NULL);
}

/* A checkpoint of one rank is an outlier of that rank: all screens leave out the same step. */
START_TEST(each_rank_leaves_out_its_own_steps)
{
	struct process *ranks[] = {
		rank_of("checks.gprof", 1000, 6, 9000), rank_of("not.gprof", 500, 0, 0)};
	struct table *table = tables_make(&view_headline, ranks, 2, false);
	struct table *budget = tables_make(&view_budget, ranks, 2, false);
	struct table *stats = tables_make(&view_step_stats, ranks, 2, false);
	double nr = (double)sum_of(stats, "steps");

	ck_assert_uint_eq(tables_number(stats, 0, "steps"), NR_STEPS - 2);
	ck_assert_uint_eq(tables_number(stats, 1, "steps"), NR_STEPS - 1);
	ck_assert_uint_eq(sum_of(budget, "total_ns"), (NR_STEPS - 2) * 1000 + (NR_STEPS - 1) * 500);
	ck_assert_double_eq_tol(
		number(table, "cpu_other_ns") * nr, (double)sum_of(budget, "total_ns"), 0.5);
	table_destroy(table);
	table_destroy(budget);
	table_destroy(stats);
	process_destroy(ranks[0]);
	process_destroy(ranks[1]);
}
END_TEST

/* PyTorch may have been found in time in some ranks alone. */
START_TEST(a_rank_without_operators_is_no_helper)
{
	struct process *ranks[] = {rank_with("with.gprof", 1000, 0, 0, "aten::mm"),
		rank_of("without.gprof", 1500, 0, 0)};
	struct table *table = tables_make(&view_headline, ranks, 2, false);

	ck_assert_uint_eq(tables_number(table, 0, "processes"), 2);
	ck_assert_uint_eq(tables_number(table, 0, "helpers"), 0);
	ck_assert_double_eq(number(table, "median_ns"), 1500);
	table_destroy(table);
	process_destroy(ranks[0]);
	process_destroy(ranks[1]);
}
END_TEST

/*
 * Its steps are those of the job, in summaries, too: not the longest one of each, which may be of
 * another rank, and the slow one itself takes no longer than the others in a step of two.
 */
START_TEST(a_job_is_as_slow_as_its_slowest_rank)
{
	static const char *const names[] = {"quick.gprof", "slow.gprof", "middle.gprof"};
	struct process *ranks[] = {rank_of(names[0], 1000, 6, 900), rank_of(names[1], 1500, 0, 0),
		rank_of(names[2], 1200, 0, 0)};
	struct table *table = tables_make(&view_headline, ranks, 3, false);
	struct reduced all = {0};

	ck_assert_double_eq(number(table, "median_ns"), 1500);
	ck_assert_double_eq(number(table, "mean_ns"), 1500);
	ck_assert_uint_eq(tables_number(table, 0, "p99_ns"), 1500);
	table_destroy(table);
	for (size_t i = 0; i < 3; i++) {
		struct reduced one = streams_reduced(streams_path(names[i]));

		process_destroy(ranks[i]);
		ck_assert_int_eq(reduced_merge(&all, &one), 0);
	}
	reduced_sort(&all);
	table = reduced_headline_table(&all, 0);
	ck_assert_uint_eq(tables_number(table, 0, "steps"), NR_STEPS - 1);
	ck_assert_double_eq(number(table, "median_ns"), 1500);
	ck_assert_double_eq(number(table, "mean_ns"), 1500);
	/* Shares are of the job's step, as those of findings. */
	ck_assert_double_eq(number(table, "delay_ns"), 400);
	ck_assert_double_eq_tol(number(table, "delay_pct"), 100 * 400 / 1500.0, 1e-6);
	table_destroy(table);
	reduced_fini(&all);
}
END_TEST

START_TEST(steps_that_get_longer_have_a_trend)
{
	struct table *table;

	make(1000, 1000, 50);
	table = headline();
	ck_assert(number(table, "trend_pct") > 25 && number(table, "trend_pct") < 40);
	ck_assert_ptr_nonnull(strstr(table->figure, ", trend +"));
	table_destroy(table);
}
END_TEST

START_TEST(what_is_missing_comes_first)
{
	struct table *table;
	struct gen *gen;
	struct gprof_row_loss *loss;

	gen = gen_open(streams_path("loss.gprof"));
	loss = gen_row(gen, GPROF_TABLE_loss);
	loss->cause = gen_string(gen, "a full ring");
	loss->count = 12;
	gen_close(gen, "exit");
	table = tables_of(&view_headline, streams_path("loss.gprof"), false);
	ck_assert_uint_eq(tables_number(table, 0, "incomplete"), 1);
	ck_assert_ptr_nonnull(
		strstr(table->figure, "\nINCOMPLETE: 12 events missing\nStep    no steps"));
	table_destroy(table);
}
END_TEST

/* Commands have their arguments with a 0 between them. */
START_TEST(the_program_has_no_interpreter)
{
	static const struct {
		const char *command, *program;
		size_t nr_bytes;
	} cases[] = {
#define COMMAND(text, program) {text, program, sizeof(text) - 1}
		COMMAND("/opt/a/train", "train"),
		COMMAND("train\0--lr\0/a/b", "train --lr /a/b"),
		COMMAND("/usr/bin/python3\0/home/me/train.py\0--lr", "train.py --lr"),
		COMMAND("python3\0-u\0train.py", "train.py"),
		COMMAND("python3.11\0-m\0torch.distributed.run\0x.py",
			"torch.distributed.run x.py"),
		COMMAND("python\0-c\0print(1)", "python -c print(1)"),
		COMMAND("python", "python"),
#undef COMMAND
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gen *gen = gen_open(streams_path("program.gprof"));
		struct gprof_row_info *info = gen_row(gen, GPROF_TABLE_info);
		struct table *table;

		info->key = (struct gprof_text){"process.command", 15};
		info->value = (struct gprof_text){cases[i].command, cases[i].nr_bytes};
		gen_close(gen, "exit");
		table = tables_of(&view_headline, streams_path("program.gprof"), false);
		ck_assert_str_eq(tables_cell(table, 0, "program")->text, cases[i].program);
		table_destroy(table);
	}
}
END_TEST

START_TEST(nonsense_is_no_harm)
{
	tables_of_nonsense(&view_headline, false);
}
END_TEST

UNIT_SUITE("report/headline", inference_is_no_training, without_gpus_there_are_phases,
	no_gpu_is_said_where_nothing_shows_one,
	a_gpu_that_is_not_described_has_the_name_that_all_have, steps_that_warm_up_are_excluded,
	outliers_are_excluded_and_named, each_rank_leaves_out_its_own_steps,
	a_job_is_as_slow_as_its_slowest_rank, a_rank_without_operators_is_no_helper,
	steps_that_get_longer_have_a_trend, what_is_missing_comes_first,
	the_program_has_no_interpreter, nonsense_is_no_harm)
