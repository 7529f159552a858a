/* SPDX-License-Identifier: Apache-2.0 */
/* Operators taken apart: random loops, each row added up again from all there is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/stats/min_max_sum.h"
#include "test/unit/report_played.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

START_TEST(operators_have_rows_of_what_lies_in_them)
{
	struct table *table = tables_detailed(
		&view_operator_detail, streams_ops("ops.gprof"), VIEW_DETAIL_OP, false);
	size_t node = tables_find(table, "name", "MmBackward0", 1); /* by itself */

	ck_assert_uint_eq(table_level(table, node), 0);
	ck_assert_uint_eq(tables_number(table, node, "gpu_total_ns"), 270000);
	ck_assert_str_eq(table_find_cell(table, node + 1, "name")->text, "aten::mm");
	ck_assert_uint_eq(table_level(table, node + 1), 1);
	ck_assert_uint_eq(tables_number(table, node + 1, "calls"), 3);
	ck_assert_double_eq_tol(
		table_find_cell(table, node + 1, "ratio_pct")->number, 100.0 * 90 / 135, 1e-9);
	ck_assert_uint_eq(table_level(table, node + 2), 2);
	ck_assert(!table_find_cell(table, node + 2, "total_ns")->is_known);
	ck_assert_uint_eq(tables_number(table, node + 2, "gpu_total_ns"), 270000);
	table_destroy(table);
}
END_TEST

/* ---- the slow way ---- */

/* What a row is of; -1: not told apart. */
struct path {
	int name, place, inner, thread;
	int work; /* enum played_work */
};

struct sums {
	struct min_max_sum cpu, gpu;
	uint64_t nr;
};

static void add_times(struct sums *sums, const struct played *played, int op)
{
	sums->nr++;
	min_max_sum_add(&sums->cpu, played->ops[op].end - played->ops[op].begin);
	min_max_sum_add(&sums->gpu, played_gpu_ns(played, op));
}

static void add_works(
	struct sums *sums, const struct played *played, const struct path *path, int op)
{
	for (unsigned int c = 0; c < played->nr_calls; c++) {
		const struct played_call *call = &played->calls[c];
		int at = played_operator(played, call->op), within = -1;

		if (!played_has_work(call) || (int)call->work != path->work) {
			continue;
		}
		while (at >= 0 && at != op) {
			within = at;
			at = played_outer(played, at);
		}
		if (at == op && (within < 0 ? -1 : (int)played->ops[within].name) == path->inner) {
			sums->nr++;
			min_max_sum_add(&sums->gpu, call->work_end - call->work_begin);
		}
	}
}

static struct sums add_up(const struct played *played, const struct path *path)
{
	struct sums sums = {0};

	for (int i = 0; i < (int)played->nr_ops; i++) {
		const struct played_op *op = &played->ops[i];

		if (op->kind != PLAYED_OP || (int)op->name != path->name ||
			(path->thread >= 0 && (int)op->thread != path->thread) ||
			(path->place >= 0 && played_place(played, i) != path->place)) {
			continue;
		}
		if (path->work) {
			add_works(&sums, played, path, i);
		} else if (path->inner < 0) {
			add_times(&sums, played, i);
		}
		for (int k = 0; !path->work && path->inner >= 0 && k < (int)played->nr_ops; k++) {
			if (played->ops[k].kind == PLAYED_OP &&
				(int)played->ops[k].name == path->inner &&
				played_outer(played, k) == i) {
				add_times(&sums, played, k);
			}
		}
	}
	return sums;
}

/* ---- the table's rows ---- */

static int name_number(const char *name, int *place)
{
	for (int i = 0; i < 4; i++) {
		size_t length = strlen(played_names[i]);

		if (strncmp(name, played_names[i], length) == 0) {
			*place = name[length] ? atoi(name + length) : -1;
			return i;
		}
	}
	return -1;
}

static int work_number(const char *name)
{
	return strncmp(name, "void gemm", 9) == 0 ? PLAYED_KERNEL
	       : strncmp(name, "nccl", 4) == 0	  ? PLAYED_NCCL
	       : strncmp(name, "Memcpy", 6) == 0  ? PLAYED_COPY
						  : PLAYED_SET;
}

/* Goes on from the path of the row before. */
static void follow(const struct table *table, size_t row, struct path *path)
{
	const char *name = table_find_cell(table, row, "name")->text;
	const char *kind = table_find_cell(table, row, "kind")->text;
	uint8_t level = table_level(table, row);
	int place;

	path->work = 0;
	if (level == 0) {
		path->name = name_number(name, &path->place);
		path->place = path->inner = -1;
	} else if (strcmp(kind, "place") == 0) {
		name_number(name, &path->place);
		path->inner = -1;
	} else {
		path->place = level == 1 ? -1 : path->place;
		path->inner = level == (path->place < 0 ? 1 : 2) ? -1 : path->inner;
		if (strcmp(kind, "work") == 0) {
			path->work = work_number(name);
		} else {
			path->inner = name_number(name, &place);
		}
	}
}

static void check(const struct min_max_sum *want, const struct table *table, size_t row,
	const char *const *keys)
{
	static const size_t nr = 3;
	const uint64_t values[] = {want->sum, want->max, want->min};

	for (size_t i = 0; i < nr; i++) {
		const struct table_cell *cell = table_find_cell(table, row, keys[i]);

		ck_assert_int_eq(cell->is_known, want->nr != 0);
		ck_assert_uint_eq(cell->integer, want->nr ? values[i] : 0);
	}
}

static void check_rows(const struct played *played, const struct table *table, bool is_per_thread)
{
	static const char *const cpu[] = {"total_ns", "max_ns", "min_ns"};
	static const char *const gpu[] = {"gpu_total_ns", "gpu_max_ns", "gpu_min_ns"};
	struct path path = {0};
	uint64_t nr_calls = 0, nr_ops = 0;

	for (size_t row = 0; row < table->nr_rows; row++) {
		struct sums sums;

		follow(table, row, &path);
		path.thread = is_per_thread ? (int)tables_number(table, row, "tid") : -1;
		sums = add_up(played, &path);
		ck_assert_uint_eq(tables_number(table, row, "calls"), sums.nr);
		check(&sums.cpu, table, row, cpu);
		check(&sums.gpu, table, row, gpu);
		nr_calls += table_level(table, row) == 0 ? sums.nr : 0;
	}
	for (unsigned int i = 0; i < played->nr_ops; i++) {
		nr_ops += played->ops[i].kind == PLAYED_OP;
	}
	ck_assert_uint_eq(nr_calls, nr_ops); /* no row is missing */
}

/* Rows within another add up to its GPU time, but for those that have a sum of their own. */
static void check_sums(const struct table *table)
{
	for (size_t row = 0; row < table->nr_rows; row++) {
		uint8_t level = table_level(table, row);
		uint64_t sum = 0;

		for (size_t i = row + 1; i < table->nr_rows && table_level(table, i) > level; i++) {
			if (table_level(table, i) == level + 1 &&
				strcmp(table_find_cell(table, i, "kind")->text, "place") != 0) {
				sum += table_find_cell(table, i, "gpu_total_ns")->integer;
			}
		}
		if (sum || level == 0) {
			ck_assert_uint_eq(tables_number(table, row, "gpu_total_ns"), sum);
		}
	}
}

START_TEST(random_loops_added_up_again)
{
	struct played *played = calloc(1, sizeof(*played));

	for (uint64_t seed = 1; seed < 13; seed++) {
		const char *path = streams_path("played.gprof");
		struct table *table;

		played_make(played, seed, path);
		table = tables_detailed(&view_operator_detail, path, VIEW_DETAIL_OP, false);
		ck_assert_uint_ge(table->nr_rows, 20);
		check_rows(played, table, false);
		check_sums(table);
		table_destroy(table);
		table = tables_detailed(&view_operator_detail, path, VIEW_DETAIL_ALL, false);
		check_rows(played, table, false);
		check_sums(table);
		table_destroy(table);
		table = tables_detailed(&view_operator_detail, path, VIEW_DETAIL_ALL, true);
		check_rows(played, table, true);
		table_destroy(table);
	}
	free(played);
}
END_TEST

UNIT_SUITE("report/operator_detail", operators_have_rows_of_what_lies_in_them,
	random_loops_added_up_again)
