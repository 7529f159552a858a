/* SPDX-License-Identifier: Apache-2.0 */
/* The view framework: a Paddle operator with its stages, and random loops added up again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/stats/min_max_sum.h"
#include "test/unit/report_played.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

/* ---- Paddle's stages ---- */

static void add_op(struct gen *gen, const char *name, uint64_t begin, uint64_t end, uint16_t depth,
	uint8_t type)
{
	struct gprof_row_op *row = gen_op(gen, name, begin, end);

	row->depth = depth;
	row->framework = GPROF_FRAMEWORK_PADDLE;
	row->scope = type;
}

static void add_copy(struct gen *gen, uint64_t begin, uint32_t correlation, uint8_t flags)
{
	struct gprof_row_api_copy *call = gen_row(gen, GPROF_TABLE_api_copy);
	struct gprof_row_memcpy *copy = gen_row(gen, GPROF_TABLE_memcpy);

	call->begin = begin;
	call->dur = begin + 10;
	call->thread = 1;
	call->correlation = copy->correlation = correlation;
	copy->begin = begin + 5;
	copy->dur = begin + 12;
	copy->copy_kind = 2;
	copy->src_kind = 3;
	copy->dst_kind = 1;
	copy->flags = flags;
}

/* A conditional block computes an assignment, which copies in its own compute stage. */
static const char *stages(void)
{
	const char *path = streams_path("stages.gprof");
	struct gen *gen = gen_open(path);

	add_op(gen, "conditional_block infer_meta", 110, 120, 1, 8);
	add_copy(gen, 160, 1, 1);
	add_op(gen, "assign compute", 150, 190, 3, 15);
	add_op(gen, "assign", 140, 200, 2, 0);
	add_op(gen, "conditional_block compute", 130, 250, 1, 8);
	add_op(gen, "conditional_block", 100, 300, 0, 0);
	add_copy(gen, 400, 2, 0);
	gen_close(gen, "exit");
	return path;
}

static void check_row(const struct table *table, const char *name, uint8_t level, uint64_t total)
{
	size_t row = tables_find(table, "name", name, 0);

	ck_assert_uint_eq(table_level(table, row), level);
	ck_assert_uint_eq(tables_number(table, row, "total_ns"), total);
}

START_TEST(computation_counts_once)
{
	struct table *table =
		tables_detailed(&view_framework, stages(), VIEW_DETAIL_DEFAULT, false);
	size_t outer = tables_find(table, "name", "conditional_block", 0);

	check_row(table, "Total time", 0, 200 + 7 + 10 + 7);
	check_row(table, "Computation time", 1, 120 + 7);
	check_row(table, "Framework overhead", 1, 97);
	check_row(table, "GpuMemcpy", 0, 34);
	check_row(table, "GpuMemcpyAsync", 1, 17);
	check_row(table, "GpuMemcpySync", 1, 17);
	/* Stages are left out, operators and copies within are not. */
	check_row(table, "conditional_block", 0, 207);
	check_row(table, "assign", 1, 67);
	check_row(table, "GpuMemcpyAsync:GPU->CPU", 2, 17);
	check_row(table, "GpuMemcpySync:GPU->CPU", 0, 17);
	ck_assert_double_eq_tol(
		table_find_cell(table, outer, "cpu_pct")->number, 100.0 * 200 / 207, 1e-9);
	ck_assert_double_eq_tol(
		table_find_cell(table, outer, "ratio_pct")->number, 100.0 * 207 / 224, 1e-9);
	ck_assert_uint_eq(table->nr_rows, 10);
	table_destroy(table);
	table = tables_detailed(&view_framework, stages(), VIEW_DETAIL_OP, true);
	check_row(table, "thread0::conditional_block", 0, 207);
	check_row(table, "conditional_block compute", 1, 127);
	check_row(table, "assign compute", 3, 47);
	table_destroy(table);
}
END_TEST

/* ---- the slow way ---- */

#define DEPTH 8

/* Names down to a row; place: of the first, -1 all. */
struct path {
	char names[DEPTH][64];
	unsigned int nr;
	int place;
};

/* Operators from the outermost to `op`, or the outermost alone. */
static void path_to(const struct played *played, int op, bool is_cut, struct path *path)
{
	int chain[DEPTH];
	unsigned int nr = 0;

	path->nr = 0;
	for (; op >= 0; op = played->ops[op].parent) {
		if (played->ops[op].kind == PLAYED_OP) {
			chain[nr++] = op;
		}
	}
	while (nr-- > 0 && (!path->nr || !is_cut)) {
		strcpy(path->names[path->nr++], played_names[played->ops[chain[nr]].name]);
	}
}

static bool is_same(
	const struct played *played, const struct path *want, const struct path *have, int op)
{
	for (unsigned int i = 0; i < want->nr; i++) {
		if (want->nr != have->nr || strcmp(want->names[i], have->names[i]) != 0) {
			return false;
		}
	}
	return want->nr == have->nr &&
	       (want->place < 0 ||
		       played_place(played, played_outermost(played, op)) == want->place);
}

static uint64_t both_of(const struct played *played, int op)
{
	return played->ops[op].end - played->ops[op].begin + played_gpu_ns(played, op);
}

static struct min_max_sum add_up(const struct played *played, const struct path *want, bool is_cut)
{
	struct min_max_sum sum = {0};
	struct path have;

	for (int i = 0; i < (int)played->nr_ops; i++) {
		if (played->ops[i].kind != PLAYED_OP ||
			(is_cut && played_outermost(played, i) != i)) {
			continue;
		}
		path_to(played, i, is_cut, &have);
		if (is_same(played, want, &have, i)) {
			min_max_sum_add(&sum, both_of(played, i));
		}
	}
	for (unsigned int c = 0; c < played->nr_calls; c++) {
		const struct played_call *call = &played->calls[c];

		if (call->work != PLAYED_COPY || call->begin == UINT64_MAX) {
			continue;
		}
		path_to(played, call->op, is_cut, &have);
		snprintf(have.names[have.nr++], 64, "GpuMemcpy%s:CPU->GPU",
			call->is_async ? "Async" : "Sync");
		if (is_same(played, want, &have, call->op)) {
			min_max_sum_add(
				&sum, call->end - call->begin + call->work_end - call->work_begin);
		}
	}
	return sum;
}

/* ---- the table's rows ---- */

static void follow(const struct table *table, size_t row, struct path *path)
{
	const char *name = table_find_cell(table, row, "name")->text;
	uint8_t level = table_level(table, row);

	if (level == 0) {
		path->place = -1;
	}
	for (unsigned int i = 0; i < 4; i++) {
		size_t length = strlen(played_names[i]);

		if (level == 1 && strncmp(name, played_names[i], length) == 0 && name[length]) {
			path->place = atoi(name + length);
			path->nr = 1;
			return;
		}
	}
	if (level == 1) {
		path->place = -1;
	}
	path->nr = level + (path->place < 0);
	snprintf(path->names[path->nr - 1], 64, "%s", name);
}

static void check_rows(const struct played *played, const struct table *table, bool is_cut)
{
	struct path path = {.place = -1};
	uint64_t total = 0;

	for (size_t row = 6; row < table->nr_rows; row++) {
		struct min_max_sum sum;

		follow(table, row, &path);
		sum = add_up(played, &path, is_cut);
		ck_assert_uint_eq(tables_number(table, row, "calls"), sum.nr);
		ck_assert_uint_eq(tables_number(table, row, "total_ns"), sum.sum);
		ck_assert_uint_eq(tables_number(table, row, "min_ns"), sum.min);
		ck_assert_uint_eq(tables_number(table, row, "max_ns"), sum.max);
		total += table_level(table, row) ? 0 : sum.sum;
	}
	ck_assert_uint_eq(tables_number(table, 0, "total_ns"), total);
	for (unsigned int i = 0; i < played->nr_ops; i++) {
		if (played_outermost(played, (int)i) == (int)i) {
			total -= both_of(played, (int)i);
		}
	}
	for (unsigned int c = 0; c < played->nr_calls; c++) {
		const struct played_call *call = &played->calls[c];

		if (call->work == PLAYED_COPY && call->begin != UINT64_MAX &&
			played_outermost(played, call->op) < 0) {
			total -= call->end - call->begin + call->work_end - call->work_begin;
		}
	}
	ck_assert_uint_eq(total, 0); /* no row is missing */
}

START_TEST(random_loops_added_up_again)
{
	struct played *played = calloc(1, sizeof(*played));

	for (uint64_t seed = 1; seed < 10; seed++) {
		const char *path = streams_path("played.gprof");

		played_make(played, seed, path);
		for (unsigned int detail = 0; detail < 3; detail++) {
			struct table *table = tables_detailed(
				&view_framework, path, (enum view_detail)detail, false);

			ck_assert_uint_ge(table->nr_rows, 10);
			check_rows(played, table, detail == VIEW_DETAIL_DEFAULT);
			table_destroy(table);
		}
	}
	free(played);
}
END_TEST

UNIT_SUITE("report/framework", computation_counts_once, random_loops_added_up_again)
