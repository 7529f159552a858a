/* SPDX-License-Identifier: Apache-2.0 */
/* Steps in parts, their statistics, and types of operators. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/stats/step_series.h"
#include "report/stats/samples.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define MOST_STEPS 64u

/* ---- statistics ---- */

/* By counting: how many are not above a value. */
static uint64_t slow_quantile(const uint64_t *values, size_t nr, double share)
{
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < nr; i++) {
		size_t nr_below = 0;

		for (size_t k = 0; k < nr; k++) {
			nr_below += values[k] <= values[i];
		}
		if ((double)nr_below >= share * (double)nr && values[i] < best) {
			best = values[i];
		}
	}
	return best;
}

START_TEST(quantiles_are_values_that_were_there)
{
	uint64_t seed = 7;

	for (unsigned int round = 0; round < 200; round++) {
		size_t nr = 1 + unit_random(&seed) % 130;
		uint64_t values[130];
		struct samples dist = {0};
		long double sum = 0, squares = 0;

		for (size_t i = 0; i < nr; i++) {
			values[i] = unit_random(&seed) % (round % 2 ? 20 : 1000000000000);
			samples_add(&dist, values[i]);
			sum += (long double)values[i];
		}
		for (size_t i = 0; i < nr; i++) {
			long double off = (long double)values[i] - sum / (long double)nr;

			squares += off * off;
		}
		for (unsigned int percent = 1; percent <= 100; percent++) {
			double share = percent / 100.0;

			ck_assert_uint_eq(
				samples_quantile(&dist, share), slow_quantile(values, nr, share));
		}
		ck_assert_double_eq_tol(samples_mean(&dist), (double)(sum / (long double)nr), 1e-3);
		ck_assert_double_eq_tol(samples_deviation(&dist),
			nr > 1 ? sqrt((double)squares / (double)(nr - 1)) : 0, 1e-3);
		samples_fini(&dist);
	}
}
END_TEST

START_TEST(large_values_do_not_overflow)
{
	struct samples dist = {0};

	ck_assert_double_eq(samples_mean(&dist), 0);
	ck_assert_uint_eq(samples_quantile(&dist, 0.5), 0);
	samples_add(&dist, UINT64_MAX);
	ck_assert_double_eq(samples_deviation(&dist), 0);
	samples_add(&dist, UINT64_MAX);
	ck_assert_uint_eq(samples_sum(&dist), UINT64_MAX);
	ck_assert_double_eq(samples_mean(&dist), 18446744073709551615.0);
	ck_assert_double_eq(samples_median(&dist), 18446744073709551615.0);
	ck_assert_double_eq(samples_deviation(&dist), 0);
	samples_fini(&dist);
}
END_TEST

/* ---- steps of any shape ---- */

struct plain {
	uint64_t loader, wait, forward, backward, optimizer, rest; /* ns, in that order */
};

static uint64_t add_op(struct gen *gen, uint32_t name, uint32_t thread, uint64_t begin, uint64_t ns)
{
	struct gprof_row_op *op;

	if (!ns) {
		return begin;
	}
	op = gen_row(gen, GPROF_TABLE_op);
	op->begin = begin;
	op->dur = begin + ns;
	op->thread = op->end_thread = thread;
	op->op_name = name;
	return begin + ns;
}

/* A loop of such steps; the row of the last one's end is there if it is closed. */
static const char *loop(const struct plain *steps, size_t nr_steps, bool is_closed)
{
	const char *path = streams_path("loop.gprof");
	struct gen *gen = gen_open(path);
	uint32_t loader = gen_op_name(gen, "enumerate(DataLoader)#x.__next__");
	uint32_t mm = gen_op_name(gen, "aten::mm");
	uint32_t node = gen_op_name(gen, "autograd::engine::evaluate_function: MmBackward0");
	uint32_t step = gen_op_name(gen, "Optimizer.step#SGD.step");
	uint64_t now = 1000000;

	for (size_t i = 0; i < nr_steps + is_closed; i++) {
		struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

		row->time = now;
		row->step = i;
		row->how = GPROF_STEP_OPTIMIZER;
		if (i < nr_steps) {
			now = add_op(gen, loader, 1, now, steps[i].loader) + steps[i].wait;
			now = add_op(gen, mm, 1, now, steps[i].forward);
			now = add_op(gen, node, 2, now, steps[i].backward);
			now = add_op(gen, step, 1, now, steps[i].optimizer) + steps[i].rest;
		}
	}
	gen_close(gen, "exit");
	return path;
}

/* Of the steps behind those that warm up, without outliers. */
static void check_part(const struct table *table, const char *part, const uint64_t *all_values,
	size_t nr_all, const uint64_t *steps)
{
	struct step_series series = step_series_of(steps, nr_all);
	uint64_t values[MOST_STEPS];
	size_t nr = 0;
	double steps_ns = 0;
	size_t row = tables_find(table, "part", part, 0);
	struct samples dist = {0};

	for (size_t i = 0; i < nr_all; i++) {
		if (step_series_counts(&series, i, steps[i])) {
			values[nr++] = all_values[i];
			samples_add(&dist, all_values[i]);
			steps_ns += (double)steps[i];
		}
	}
	ck_assert_uint_eq(tables_number(table, row, "steps"), nr);
	ck_assert_uint_eq(tables_number(table, row, "total_ns"), samples_sum(&dist));
	ck_assert_uint_eq(tables_number(table, row, "p99_ns"), slow_quantile(values, nr, 0.99));
	ck_assert_uint_eq(tables_number(table, row, "min_ns"), slow_quantile(values, nr, 0));
	ck_assert_double_eq_tol(
		tables_cell(table, row, "avg_ns")->number, samples_mean(&dist), 1e-6);
	ck_assert_double_eq_tol(tables_cell(table, row, "share_pct")->number,
		100 * (double)samples_sum(&dist) / steps_ns, 1e-9);
	samples_fini(&dist);
}

START_TEST(the_parts_of_random_steps_are_those_they_were_made_of)
{
	uint64_t seed = 99;

	for (unsigned int round = 0; round < 12; round++) {
		size_t nr = 2 + unit_random(&seed) % (MOST_STEPS - 2);
		uint64_t whole[MOST_STEPS], interval[MOST_STEPS], compute[MOST_STEPS],
			tail[MOST_STEPS];
		struct plain steps[MOST_STEPS];
		struct table *stats, *rows;

		for (size_t i = 0; i < nr; i++) {
			uint64_t *parts = &steps[i].loader;

			for (unsigned int k = 0; k < 6; k++) {
				parts[k] = 1 + unit_random(&seed) % 100000;
			}
			interval[i] = steps[i].loader + steps[i].wait;
			compute[i] = steps[i].forward + steps[i].backward;
			tail[i] = steps[i].optimizer + steps[i].rest;
			whole[i] = interval[i] + compute[i] + tail[i];
		}
		stats = tables_of(&view_step_stats, loop(steps, nr, true), false);
		check_part(stats, "Step", whole, nr, whole);
		check_part(stats, "Iteration interval", interval, nr, whole);
		check_part(stats, "Forward+Backward", compute, nr, whole);
		check_part(stats, "Tail", tail, nr, whole);
		rows = tables_of(&view_steps, streams_path("loop.gprof"), false);
		for (size_t i = 0; i < nr; i++) {
			ck_assert_uint_eq(tables_number(rows, i, "step"), i);
			ck_assert_uint_eq(tables_number(rows, i, "duration_ns"), whole[i]);
			ck_assert_uint_eq(tables_number(rows, i, "interval_ns"), interval[i]);
			ck_assert_uint_eq(tables_number(rows, i, "fp_bp_ns"), compute[i]);
			ck_assert_uint_eq(tables_number(rows, i, "tail_ns"), tail[i]);
		}
		table_destroy(stats);
		table_destroy(rows);
	}
}
END_TEST

START_TEST(a_step_without_an_end_is_shown_and_not_counted)
{
	static const struct plain steps[] = {
		{100, 10, 200, 300, 50, 40}, {90, 10, 200, 300, 50, 0}};
	struct table *stats = tables_of(&view_step_stats, loop(steps, 2, false), false);
	struct table *rows = tables_of(&view_steps, streams_path("loop.gprof"), false);

	ck_assert_uint_eq(tables_number(stats, 0, "steps"), 1);
	ck_assert_uint_eq(tables_number(stats, 0, "total_ns"), 700);
	ck_assert(!tables_cell(stats, 0, "stddev_ns")->is_known);
	ck_assert_ptr_nonnull(strstr(stats->note, "1 step without a known start or end"));
	ck_assert_uint_eq(rows->nr_rows, 2);
	ck_assert(!tables_cell(rows, 1, "duration_ns")->is_known);
	ck_assert(!tables_cell(rows, 1, "tail_ns")->is_known);
	table_destroy(stats);
	table_destroy(rows);
}
END_TEST

START_TEST(a_step_without_forward_and_backward_has_no_trace)
{
	static const struct plain steps[] = {{100, 10, 0, 0, 50, 40}, {90, 10, 0, 0, 50, 0}};
	struct table *stats = tables_of(&view_step_stats, loop(steps, 2, true), false);
	struct table *rows = tables_of(&view_steps, streams_path("loop.gprof"), false);

	for (size_t i = 0; i < stats->nr_rows; i++) {
		ck_assert_str_ne(tables_cell(stats, i, "part")->text, "Tail");
	}
	ck_assert(!tables_cell(rows, 0, "interval_ns")->is_known);
	table_destroy(stats);
	table_destroy(rows);
}
END_TEST

/* ---- types ---- */

START_TEST(types_are_names_without_what_tells_calls_apart)
{
	static const struct {
		const char *name, *type;
		uint64_t begin, end;
		uint16_t depth;
		uint8_t scope;
	} ops[] = {
		{"aten::mm", "mm", 10, 30, 1, 0},
		{"aten::mm_", "mm", 40, 45, 1, 0},
		{"aten::linear", "linear", 0, 100, 0, 0},
		{"autograd::engine::evaluate_function: MmBackward0", "evaluate_function", 200, 210,
			0, 0},
		{"MmBackward12", "MmBackward", 300, 310, 0, 1},
		{"torch::autograd::AccumulateGrad", "AccumulateGrad", 400, 410, 0, 1},
		{"x::__and__", "__and__", 500, 510, 0, 0},
		{"conv2d_grad", "conv2d_grad", 600, 610, 0, 0},
		{"bmm2", "bmm2", 700, 710, 0, 0},
		{"the user's", NULL, 800, 810, 0, 7},
	};
	const char *path = streams_path("types.gprof");
	struct gen *gen = gen_open(path);
	struct table *types, *singles;
	uint64_t self_ns = 0;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		uint32_t name = gen_op_name(gen, ops[i].name);
		struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);

		op->begin = 1000 + ops[i].begin;
		op->dur = 1000 + ops[i].end;
		op->thread = op->end_thread = 1;
		op->op_name = name;
		op->depth = ops[i].depth;
		op->scope = ops[i].scope;
	}
	gen_close(gen, "exit");
	types = tables_of(&view_operator_types, path, false);
	singles = tables_of(&view_operator_types, path, true);
	ck_assert_uint_eq(types->nr_rows, 8);
	ck_assert_uint_eq(singles->nr_rows, 9);
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]) && ops[i].type; i++) {
		size_t single = tables_find(singles, "name", ops[i].name, 0);
		uint32_t type = (uint32_t)tables_number(singles, single, "type");

		ck_assert_str_eq(string_pool_text(type, NULL), ops[i].type);
		ck_assert_uint_eq(tables_number(singles, single, "calls"), 1);
		self_ns += tables_number(singles, single, "self_ns");
	}
	ck_assert_uint_eq(self_ns, 100 + 6 * 10);
	ck_assert_uint_eq(tables_number(types, tables_find(types, "type", "mm", 0), "calls"), 2);
	ck_assert_uint_eq(
		tables_number(types, tables_find(types, "type", "mm", 0), "operators"), 2);
	ck_assert_uint_eq(tables_number(types, 0, "self_ns"), 75); /* linear, without both mm */
	ck_assert_double_eq_tol(tables_cell(types, 0, "share_pct")->number, 100.0 * 75 / 160, 1e-9);
	table_destroy(types);
	table_destroy(singles);
}
END_TEST

START_TEST(types_have_the_time_of_what_they_launched_themselves)
{
	struct table *types = tables_of(&view_operator_types, streams_ops("ops.gprof"), false);
	struct table *singles = tables_of(&view_single_operators, streams_ops("ops.gprof"), false);
	size_t mm = tables_find(types, "type", "mm", 0);
	size_t single = tables_find(singles, "name", "aten::mm", 0);
	double share = 0;

	ck_assert_uint_eq(tables_number(types, mm, "gpu_self_ns"), 330000);
	ck_assert_uint_eq(tables_number(types, mm, "gpu_activities"), 6);
	ck_assert_double_eq_tol(tables_cell(types, mm, "gpu_avg_ns")->number, 55000, 1e-9);
	for (size_t i = 0; i < types->nr_rows; i++) {
		double mean = tables_cell(types, i, "time_avg_ns")->number;

		share += tables_cell(types, i, "share_pct")->number;
		ck_assert(!i || mean <= tables_cell(types, i - 1, "time_avg_ns")->number);
	}
	ck_assert_double_eq_tol(share, 100, 1e-9);
	ck_assert_str_eq(string_pool_text((uint32_t)tables_number(singles, single, "shapes"), NULL),
		"float32[4,16], float32[16,10]");
	for (size_t i = 0; i < singles->nr_rows; i++) {
		ck_assert_str_eq(tables_cell(singles, i, "side")->text,
			tables_number(singles, i, "gpu_activities") ? "Device" : "Host");
	}
	table_destroy(types);
	table_destroy(singles);
}
END_TEST

UNIT_SUITE("report/steps", quantiles_are_values_that_were_there, large_values_do_not_overflow,
	the_parts_of_random_steps_are_those_they_were_made_of,
	a_step_without_an_end_is_shown_and_not_counted,
	a_step_without_forward_and_backward_has_no_trace,
	types_are_names_without_what_tells_calls_apart,
	types_have_the_time_of_what_they_launched_themselves)
