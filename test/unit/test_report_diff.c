/* SPDX-License-Identifier: Apache-2.0 */
/* diff: whose time, per step, how sure, and under which name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/diff.h"
#include "report/stats/welch_ttest.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

/* ---- Welch's test ---- */

/* The density of Student's t, added up in small pieces: slow and plain. */
static double t_tail(double t, double df)
{
	double scale = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * acos(-1)), sum = 0;
	int pieces = 200000;

	for (int i = 0; i < pieces; i++) { /* x = tan(u) maps 0 .. infinity to 0 .. pi/2 */
		double from = atan(t), u = from + (acos(0) - from) * (i + 0.5) / pieces;
		double x = tan(u);

		sum += scale * pow(1 + x * x / df, -(df + 1) / 2) * (1 + x * x) * (acos(0) - from) /
		       pieces;
	}
	return 2 * sum;
}

START_TEST(welch_is_the_tail_of_students_t)
{
	uint64_t seed = 7;

	for (int i = 0; i < 40; i++) {
		struct welch_sample a = {
			2 + unit_random(&seed) % 40, 100, 1 + (double)(unit_random(&seed) % 500)};
		struct welch_sample b = {2 + unit_random(&seed) % 40,
			95 + (double)(unit_random(&seed) % 100) / 10,
			1 + (double)(unit_random(&seed) % 500)};
		double va = a.variance / (double)a.nr, vb = b.variance / (double)b.nr, p;
		double t = fabs(b.mean - a.mean) / sqrt(va + vb);
		double df = (va + vb) * (va + vb) /
			    (va * va / (double)(a.nr - 1) + vb * vb / (double)(b.nr - 1));

		ck_assert(welch_p(&a, &b, &p));
		ck_assert_double_eq_tol(p, t_tail(t, df), 1e-6);
	}
}
END_TEST

START_TEST(welch_without_scatter_or_values)
{
	const struct welch_sample one = {1, 5, 0}, flat = {9, 5, 0}, other = {9, 6, 0};
	double p;

	ck_assert(!welch_p(&one, &flat, &p));
	ck_assert(welch_p(&flat, &flat, &p));
	ck_assert_double_eq(p, 1);
	ck_assert(welch_p(&flat, &other, &p));
	ck_assert_double_eq(p, 0);
}
END_TEST

/* ---- names ---- */

static struct diff_name name_of(const char *text, double weight)
{
	return (struct diff_name){string_pool_intern(text, strlen(text)), weight};
}

static enum diff_match match_of(const struct diff_pair *pairs, size_t nr, size_t a, size_t b)
{
	for (size_t i = 0; i < nr; i++) {
		if (pairs[i].a == a && pairs[i].b == b) {
			return pairs[i].match;
		}
	}
	return DIFF_ALONE;
}

START_TEST(names_that_changed_a_little_are_the_same)
{
	const struct diff_name a[] = {
		name_of("aten::mm", 5),
		name_of("sm80_gemm_f16_128x64_nn", 9),
		name_of("triton_poi_fused_add_mul_0", 4),
		name_of("void at::native::vectorized_elementwise_kernel<4, Add>(int)", 3),
		name_of("void flash::flash_fwd_kernel<Traits<64>, false>(Params)", 7),
		name_of("only_in_a", 1),
	};
	const struct diff_name b[] = {
		name_of("void at::native::vectorized_elementwise_kernel<8, Add>(int)", 3),
		name_of("something else", 2),
		name_of("triton_poi_fused_add_mul_3", 4),
		name_of("sm90_gemm_f16_256x128_nn", 8),
		name_of("aten::mm", 5),
		name_of("void flash::flash_fwd_splitkv_kernel<Traits<64>, false>(Params)", 7),
	};
	struct diff_pair *pairs;
	size_t nr = diff_match_names(a, 6, b, 6, &pairs);

	ck_assert_uint_eq(nr, 7);
	ck_assert_int_eq(match_of(pairs, nr, 0, 4), DIFF_EQUAL);
	ck_assert_int_eq(match_of(pairs, nr, 1, 3), DIFF_SHAPE);
	ck_assert_int_eq(match_of(pairs, nr, 2, 2), DIFF_SHAPE);
	ck_assert_int_eq(match_of(pairs, nr, 3, 0), DIFF_SHAPE);
	ck_assert_int_eq(match_of(pairs, nr, 4, 5), DIFF_WORDS);
	for (size_t i = 0; i < nr; i++) {
		ck_assert(pairs[i].a != 5 || pairs[i].b == SIZE_MAX);
		ck_assert(pairs[i].b != 1 || pairs[i].a == SIZE_MAX);
	}
	free(pairs);
}
END_TEST

START_TEST(every_name_is_in_one_pair)
{
	uint64_t seed = 3;

	for (int round = 0; round < 20; round++) {
		struct diff_name names[2][300];
		unsigned int seen[2][300] = {{0}};
		struct diff_pair *pairs;
		size_t nr;

		for (unsigned int s = 0; s < 2; s++) {
			for (unsigned int i = 0; i < 300; i++) {
				char text[64];

				snprintf(text, sizeof(text), "k%c_%c%c_%u<%u>", 'a' + (int)(i % 7),
					'a' + (int)(unit_random(&seed) % 4),
					'a' + (int)(unit_random(&seed) % 4), i,
					(unsigned int)(unit_random(&seed) % 3));
				names[s][i] = name_of(text, (double)(unit_random(&seed) % 100));
			}
		}
		nr = diff_match_names(names[0], 300, names[1], 300, &pairs);
		for (size_t i = 0; i < nr; i++) {
			ck_assert(pairs[i].a != SIZE_MAX || pairs[i].b != SIZE_MAX);
			if (pairs[i].a != SIZE_MAX) {
				seen[0][pairs[i].a]++;
			}
			if (pairs[i].b != SIZE_MAX) {
				seen[1][pairs[i].b]++;
			}
		}
		for (unsigned int i = 0; i < 300; i++) {
			ck_assert_uint_eq(seen[0][i], 1);
			ck_assert_uint_eq(seen[1][i], 1);
		}
		free(pairs);
	}
}
END_TEST

/* ---- sides ---- */

struct training {
	const char *kernel;
	uint64_t extra_ns; /* that each step, operator and kernel takes longer */
	unsigned int nr_steps;
	uint64_t seed;
	unsigned int nr_slow;	  /* steps that take 1 ms longer */
	unsigned int nr_warm_up;  /* first whole steps, that take 5 ms longer */
	unsigned int nr_outliers; /* from the tenth step on, that take 9 ms longer */
};

static uint32_t add_shape(struct gen *gen, const char *kernel)
{
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);

	shape->id = 1;
	shape->name = gen_string(gen, kernel);
	shape->grid_x = shape->grid_y = shape->grid_z = 1;
	shape->block_x = shape->block_y = shape->block_z = 1;
	return shape->id;
}

static void add_op(struct gen *gen, uint32_t name, uint64_t begin, uint64_t end)
{
	struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);

	op->begin = begin;
	op->dur = end;
	op->thread = op->end_thread = 1;
	op->op_name = name;
}

/* Steps of 1 ms and some; in each an operator of 100 us with a kernel of 50 us, and some. */
static const char *make_training(const char *file, const struct training *training)
{
	const char *path = streams_path(file);
	struct gen *gen = gen_open(path);
	uint32_t name = gen_op_name(gen, "aten::mm"), rare = gen_op_name(gen, "aten::rare"),
		 shape = add_shape(gen, training->kernel);
	uint32_t place = gen_place(gen, 0, 1, 7);
	uint16_t call = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	uint64_t seed = training->seed, begin = 1000;

	gen_anchor(gen, 0, 0, 0);
	for (uint32_t i = 0; i < training->nr_steps; i++) {
		uint64_t more = unit_random(&seed) % 2000 + training->extra_ns +
				(i > 2 && i <= 2 + training->nr_slow ? 1000000 : 0) +
				(i && i <= training->nr_warm_up ? 5000000 : 0) +
				(i > 9 && i <= 9 + training->nr_outliers ? 9000000 : 0);
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);
		struct gprof_row_api_launch *launch;
		struct gprof_row_kernel *kernel;

		step->time = begin;
		step->step = i;
		step->thread = 1;
		launch = gen_row(gen, GPROF_TABLE_api_launch);
		launch->begin = begin + 2000;
		launch->dur = begin + 3000;
		launch->thread = 1;
		launch->call = call;
		launch->correlation = i + 1;
		launch->shape = shape;
		kernel = gen_row(gen, GPROF_TABLE_kernel);
		kernel->begin = begin + 500000;
		kernel->dur = begin + 550000 + more;
		kernel->correlation = i + 1;
		kernel->shape = shape;
		kernel->place = place;
		add_op(gen, name, begin + 1000, begin + 101000 + more);
		if (i % 4 == 0) {
			add_op(gen, rare, begin + 200000, begin + 210000 + 10 * training->extra_ns);
		} else if (i % 4 < 3) {
			add_op(gen, rare, begin + 200000, begin + 200000); /* takes no time */
		}
		begin += 1000000 + more;
	}
	gen_anchor(gen, begin, begin, begin);
	gen_close(gen, "exit");
	return path;
}

static void read_side(struct diff_side *side, const char *path, bool has_steps)
{
	struct process *process = streams_process(path);
	const struct cmd_input input = {.processes = &process, .nr_processes = 1};

	ck_assert(diff_has_steps(&input));
	diff_side_read(side, &input, has_steps, UINT32_MAX);
	process_destroy(process);
}

static const struct diff_row *row_of(const struct diff_rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->nr_rows; i++) {
		if (strcmp(string_pool_text(rows->rows[i].name_b, NULL), name) == 0) {
			return &rows->rows[i];
		}
	}
	ck_abort_msg("no row %s", name);
}

struct comparison {
	struct diff_side a, b;
	struct diff_rows sections[NR_DIFF_SECTIONS];
};

static void compare(struct comparison *c, const struct training *a, const struct training *b)
{
	read_side(&c->a, make_training("a.gprof", a), true);
	read_side(&c->b, make_training("b.gprof", b), true);
	for (unsigned int s = 0; s < NR_DIFF_SECTIONS; s++) {
		c->sections[s] = diff_rows_make(&c->a, &c->b, (enum diff_section)s);
	}
}

static void finish(struct comparison *c)
{
	for (unsigned int s = 0; s < NR_DIFF_SECTIONS; s++) {
		free(c->sections[s].rows);
	}
	diff_side_fini(&c->a);
	diff_side_fini(&c->b);
}

static enum diff_verdict judge(const struct comparison *c, const char *condition)
{
	struct diff_check check;
	enum diff_verdict verdict;

	ck_assert(diff_check_parse(&check, condition));
	verdict = diff_check_judge(&check, &c->a, &c->b, c->sections).verdict;
	diff_check_fini(&check);
	return verdict;
}

START_TEST(what_takes_longer_per_step_is_found)
{
	const struct training before = {"gemm_128x64", 0, 30, 5, 0, 0, 0},
			      after = {"gemm_256x64", 20000, 20, 9, 0, 0, 0};
	const struct diff_row *step, *kernel, *op;
	struct comparison c;

	compare(&c, &before, &after);
	/* Of the first nobody knows where it begins, of the last where it ends. */
	ck_assert_uint_eq(c.a.nr_samples, 28);
	ck_assert_uint_eq(c.b.nr_samples, 18);
	ck_assert_uint_gt(c.a.nr_outside, 0);
	step = row_of(&c.sections[DIFF_STEP], "step_time");
	kernel = row_of(&c.sections[DIFF_KERNEL], "gemm_256x64");
	op = row_of(&c.sections[DIFF_OPERATOR], "aten::mm");
	ck_assert_int_eq(kernel->match, DIFF_SHAPE);
	ck_assert_uint_eq(kernel->calls_a, 28);
	ck_assert_uint_eq(kernel->calls_b, 18);
	ck_assert_double_eq_tol(diff_row_change_ns(kernel), 20000, 1000);
	ck_assert_double_eq_tol(diff_row_change_ns(op), 20000, 1000);
	ck_assert_double_eq_tol(diff_row_change_ns(step), 20000, 1000);
	ck_assert_str_eq(diff_row_significance(kernel), "significant");
	ck_assert_int_eq(judge(&c, "step_time>1%"), DIFF_FAILED);
	ck_assert_int_eq(judge(&c, "step_time>5%"), DIFF_PASSED);
	ck_assert_int_eq(judge(&c, "step_time>15us"), DIFF_FAILED);
	ck_assert_int_eq(judge(&c, "kernel:gemm*>30%"), DIFF_FAILED);
	ck_assert_int_eq(judge(&c, "kernel:*256*>50%"), DIFF_PASSED);
	ck_assert_int_eq(judge(&c, "operator:aten::bmm>1%"), DIFF_NOT_JUDGED);
	finish(&c);
}
END_TEST

START_TEST(noise_is_no_change)
{
	const struct training before = {"gemm", 0, 30, 5, 0, 0, 0},
			      after = {"gemm", 0, 30, 11, 0, 0, 0};
	const struct diff_row *kernel;
	struct comparison c;

	compare(&c, &before, &after);
	kernel = row_of(&c.sections[DIFF_KERNEL], "gemm");
	ck_assert(diff_row_change_ns(kernel) != 0);
	ck_assert_str_eq(diff_row_significance(kernel), "not significant");
	ck_assert_int_eq(judge(&c, "kernel:gemm>0%"), DIFF_INCONCLUSIVE);
	ck_assert_int_eq(judge(&c, "kernel:gemm>1%"), DIFF_PASSED);
	finish(&c);
}
END_TEST

/* Three of 28 steps take twice as long, so their mean grew by 11 %, and their median did not. */
START_TEST(a_few_slow_steps_do_not_matter)
{
	const struct training before = {"gemm", 0, 30, 5, 0, 0, 0},
			      after = {"gemm", 0, 30, 11, 3, 0, 0};
	struct diff_check check;
	struct diff_judgement judgement;
	struct comparison c;

	compare(&c, &before, &after);
	ck_assert(diff_check_parse(&check, "step_time>1%"));
	judgement = diff_check_judge(&check, &c.a, &c.b, c.sections);
	ck_assert_int_eq(judgement.verdict, DIFF_PASSED);
	ck_assert_double_gt(diff_row_change_ns(judgement.row), 100000);
	ck_assert_double_lt(judgement.change.high, 2000);
	ck_assert_uint_eq(judgement.nr_outliers_a, 0);
	ck_assert_uint_eq(judgement.nr_outliers_b, 3);
	diff_check_fini(&check);
	finish(&c);
}
END_TEST

/* Those of the first screen; what ran in the others is no event outside steps. */
START_TEST(steps_that_warm_up_do_not_count)
{
	const struct training training = {"gemm", 0, 30, 5, 0, 2, 0},
			      plain = {"gemm", 0, 30, 5, 0, 0, 0};
	struct diff_side side, other;
	const struct diff_entry *kernel;

	read_side(&side, make_training("a.gprof", &training), true);
	read_side(&other, make_training("b.gprof", &plain), true);
	ck_assert_uint_eq(side.nr_samples, 26);
	ck_assert_uint_eq(side.nr_excluded, 2);
	ck_assert_uint_eq(other.nr_excluded, 0);
	ck_assert_uint_eq(side.nr_outside, other.nr_outside);
	kernel = idmap_get(&side.entries[DIFF_KERNEL], string_pool_intern("gemm", 4));
	ck_assert_uint_eq(kernel->calls, 26);
	ck_assert_double_lt(diff_side_sample(&side, kernel).mean, 60000);
	diff_side_fini(&side);
	diff_side_fini(&other);
}
END_TEST

START_TEST(the_answer_names_the_steps_that_do_not_count)
{
	static const struct {
		struct training b;
		const char *says;
	} cases[] = {
		{{"gemm", 0, 30, 11, 0, 0, 0}, NULL},
		{{"gemm", 0, 30, 11, 0, 2, 0}, " ms a step, warm-up excluded"},
		{{"gemm", 0, 30, 11, 0, 0, 2}, " ms a step, outliers excluded"},
		{{"gemm", 0, 30, 11, 0, 2, 2}, " ms a step, warm-up and outliers excluded"},
	};
	const struct training a = {"gemm", 0, 30, 5, 0, 0, 0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process *processes[2] = {streams_process(make_training("a.gprof", &a)),
			streams_process(make_training("b.gprof", &cases[i].b))};
		const struct cmd_input inputs[2] = {{.processes = &processes[0], .nr_processes = 1},
			{.processes = &processes[1], .nr_processes = 1}};
		char *paths[2] = {(char[]){"a"}, (char[]){"b"}};
		struct diff diff = {0};
		struct table *table;
		const char *answer;

		diff_run(&diff, (const struct cmd_input *const[2]){&inputs[0], &inputs[1]}, paths,
			0);
		table = diff_answer_table(&diff, 0);
		answer = tables_cell(table, 0, "answer")->text;
		ck_assert_msg(cases[i].says ? strstr(answer, cases[i].says) != NULL
					    : !strstr(answer, "excluded"),
			"%s", answer);
		table_destroy(table);
		diff_fini(&diff);
		process_destroy(processes[0]);
		process_destroy(processes[1]);
	}
}
END_TEST

/* What a row says of its significance and what a condition says of it is by one test. */
START_TEST(each_row_has_one_test)
{
	const struct training before = {"gemm", 0, 30, 5, 0, 0, 0},
			      after = {"gemm", 500, 30, 11, 3, 0, 0},
			      few = {"gemm", 100000, 6, 11, 0, 0, 0};
	struct diff_check check;
	struct comparison c;

	ck_assert(diff_check_parse(&check, "step_time>0%"));
	for (unsigned int i = 0; i < 2; i++) {
		struct diff_judgement judgement;

		compare(&c, i ? &few : &before, i ? &few : &after);
		judgement = diff_check_judge(&check, &c.a, &c.b, c.sections);
		ck_assert(judgement.has_p && judgement.row->has_p);
		ck_assert_double_eq(judgement.change.p, judgement.row->p);
		ck_assert_int_eq(judgement.row->is_ranked, i == 0);
		ck_assert_int_eq(judgement.row->is_ranked, judgement.change.has_interval);
		finish(&c);
	}
	diff_check_fini(&check);
}
END_TEST

/* A few slow steps spoil Welch's test: the medians differ by the half of a range, and all say so.
 */
START_TEST(slow_steps_do_not_hide_a_change)
{
	const struct training before = {"gemm", 0, 30, 5, 0, 0, 0},
			      after = {"gemm", 5000, 30, 11, 3, 0, 0};
	const struct diff_row *kernel, *step;
	struct comparison c;

	compare(&c, &before, &after);
	step = row_of(&c.sections[DIFF_STEP], "step_time");
	kernel = row_of(&c.sections[DIFF_KERNEL], "gemm");
	ck_assert_str_eq(diff_row_significance(step), "significant");
	ck_assert_str_eq(diff_row_significance(kernel), "significant");
	ck_assert(step->has_medians && !kernel->has_medians);
	ck_assert_double_eq_tol(step->median_b - step->median_a, 5000, 1500);
	finish(&c);
}
END_TEST

/* Values are kept of a bounded number of steps, the same of all entries; sums are of all steps. */
START_TEST(many_steps_do_not_take_more_memory)
{
	const struct training training = {"gemm", 0, 3 * DIFF_MAX_VALUES, 5, 0, 0, 0};
	const struct diff_entry *op, *step;
	struct process *process = streams_process(make_training("a.gprof", &training));
	const struct cmd_input input = {.processes = &process, .nr_processes = 1};
	struct diff_values values;
	struct diff_side side;

	diff_side_read(&side, &input, true, 0);
	op = idmap_get(&side.entries[DIFF_OPERATOR], string_pool_intern("aten::mm", 8));
	step = idmap_get(&side.entries[DIFF_STEP], string_pool_intern("step_time", 9));
	ck_assert_uint_eq(op->calls, training.nr_steps - 2);
	ck_assert_uint_eq(step->values.nr, training.nr_steps - 2);
	ck_assert_uint_eq(op->values.nr, side.nr_drawn);
	ck_assert_uint_gt(side.nr_drawn, DIFF_MAX_VALUES * 9 / 10);
	ck_assert_uint_lt(side.nr_drawn, DIFF_MAX_VALUES * 11 / 10);
	values = diff_side_values(
		&side, DIFF_OPERATOR, idmap_get(&side.entries[DIFF_OPERATOR], op->name));
	ck_assert_uint_eq(values.nr, side.nr_drawn);
	ck_assert_double_eq_tol(diff_values_median(&values), 101000, 200);
	ck_assert(!values.is_rare);
	free(values.values);
	diff_side_fini(&side);
	process_destroy(process);
}
END_TEST

/* Slower than the limit, but by too few steps, or with a limit within the interval. */
START_TEST(what_the_steps_do_not_show_is_inconclusive)
{
	const struct training before = {"gemm", 0, 30, 5, 0, 0, 0},
			      few = {"gemm", 100000, 6, 11, 0, 0, 0},
			      after = {"gemm", 20000, 30, 11, 0, 0, 0};
	struct comparison c;

	compare(&c, &before, &few);
	ck_assert_int_eq(judge(&c, "step_time>5%"), DIFF_FAILED);
	finish(&c);
	compare(&c, &few, &few);
	ck_assert_int_eq(judge(&c, "step_time>0%"), DIFF_PASSED);
	finish(&c);
	compare(&c, &after, &few);
	ck_assert_int_eq(judge(&c, "step_time>7.8%"), DIFF_INCONCLUSIVE);
	ck_assert_int_eq(judge(&c, "step_time>5%"), DIFF_FAILED);
	ck_assert_int_eq(judge(&c, "step_time>9%"), DIFF_PASSED);
	finish(&c);
}
END_TEST

/* Above 0 in every fourth step: medians are 0, so means are compared. */
START_TEST(what_is_rare_is_compared_by_its_mean)
{
	const struct training before = {"gemm", 0, 40, 5, 0, 0, 0},
			      after = {"gemm", 2000, 40, 11, 0, 0, 0};
	struct diff_check check;
	struct diff_judgement judgement;
	struct diff_values values;
	struct comparison c;

	compare(&c, &before, &after);
	ck_assert(diff_check_parse(&check, "operator:aten::rare>5%"));
	values = diff_side_values(&c.a, DIFF_OPERATOR,
		idmap_get(&c.a.entries[DIFF_OPERATOR], string_pool_intern("aten::rare", 10)));
	ck_assert(values.is_rare);
	ck_assert_uint_eq(values.nr, 38);
	free(values.values);
	judgement = diff_check_judge(&check, &c.a, &c.b, c.sections);
	ck_assert(judgement.is_mean && judgement.change.has_interval);
	ck_assert_double_eq_tol(judgement.change.estimate, 5000, 500);
	ck_assert_int_eq(judgement.verdict, DIFF_INCONCLUSIVE);
	diff_check_fini(&check);
	finish(&c);
}
END_TEST

/* By adding up all that the generator wrote, in doubles. */
START_TEST(samples_are_those_of_a_plain_sum)
{
	const struct training training = {"gemm", 0, 30, 5, 0, 0, 0};
	struct diff_side side;
	struct welch_sample sample;
	uint64_t seed = 5;
	double mean = 0, squares = 0, values[28];

	read_side(&side, make_training("a.gprof", &training), true);
	unit_random(&seed); /* the first step */
	for (unsigned int i = 0; i < 28; i++) {
		values[i] = 50000 + (double)(unit_random(&seed) % 2000);
		mean += values[i] / 28;
	}
	for (unsigned int i = 0; i < 28; i++) {
		squares += (values[i] - mean) * (values[i] - mean);
	}
	sample = diff_side_sample(
		&side, idmap_get(&side.entries[DIFF_KERNEL], string_pool_intern("gemm", 4)));
	ck_assert_double_eq_tol(sample.mean, mean, 1e-6);
	ck_assert_double_eq_tol(sample.variance, squares / 27, 1e-3);
	ck_assert_double_eq(diff_side_sample(&side, NULL).mean, 0);
	diff_side_fini(&side);
}
END_TEST

START_TEST(without_steps_whole_processes_are_compared)
{
	const struct training training = {"gemm", 0, 30, 5, 0, 0, 0};
	const struct diff_entry *kernel;
	struct diff_side side;

	read_side(&side, make_training("a.gprof", &training), false);
	kernel = idmap_get(&side.entries[DIFF_KERNEL], string_pool_intern("gemm", 4));
	ck_assert_uint_eq(side.nr_samples, 1);
	ck_assert_uint_eq(kernel->calls, 30);
	ck_assert_uint_eq(side.nr_outside, 0);
	diff_side_fini(&side);
}
END_TEST

START_TEST(conditions_that_are_none)
{
	static const char *const none[] = {"", ">", "step_time", "step_time>", ">5%", "step_time>x",
		"step_time>5", "step_time>-1%", "speed>5%", "step_time>nan%", "step_time>5%%"};
	struct diff_check check;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		ck_assert_msg(!diff_check_parse(&check, none[i]), "%s", none[i]);
	}
	ck_assert(diff_check_parse(&check, "kernel:a<b>::c>2.5ms"));
	ck_assert_str_eq(check.pattern, "a<b>::c");
	ck_assert_double_eq(check.limit, 2.5e6);
	diff_check_fini(&check);
}
END_TEST

UNIT_SUITE("report_diff", welch_is_the_tail_of_students_t, welch_without_scatter_or_values,
	names_that_changed_a_little_are_the_same, every_name_is_in_one_pair,
	what_takes_longer_per_step_is_found, noise_is_no_change, a_few_slow_steps_do_not_matter,
	what_the_steps_do_not_show_is_inconclusive, what_is_rare_is_compared_by_its_mean,
	steps_that_warm_up_do_not_count, the_answer_names_the_steps_that_do_not_count,
	each_row_has_one_test, slow_steps_do_not_hide_a_change, many_steps_do_not_take_more_memory,
	samples_are_those_of_a_plain_sum, without_steps_whole_processes_are_compared,
	conditions_that_are_none)
