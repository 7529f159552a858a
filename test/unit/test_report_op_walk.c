/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/op_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/report_lines.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

#define LOOP  1
#define OTHER 2

/* What the view got. */
static struct {
	char ops[16][96]; /* "name in parent: self, gpu self, gpu total" */
	size_t nr_ops;
	char allocs[4][64];
	size_t nr_allocs;
} seen;

static void see_op(void *context, const struct op *op)
{
	(void)context;
	ck_assert_uint_lt(seen.nr_ops, 16);
	snprintf(seen.ops[seen.nr_ops++], sizeof(seen.ops[0]), "%s in %s: %u, %u, %u",
		string_pool_text(op->name, NULL),
		op->parent ? string_pool_text(op->parent->name, NULL) : "-",
		(unsigned int)(op->end - op->begin - op->child_ticks),
		(unsigned int)op->gpu_self_ns, (unsigned int)op->gpu_total_ns);
}

static void see_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	(void)context;
	ck_assert_uint_lt(seen.nr_allocs, 4);
	snprintf(seen.allocs[seen.nr_allocs++], sizeof(seen.allocs[0]), "%d in %s",
		(int)alloc->bytes, op ? string_pool_text(op->name, NULL) : "-");
}

static void walk(const char *path)
{
	static const struct op_view view = {.op = see_op, .alloc = see_alloc};
	struct process *process = streams_process(path);
	const struct op_walk walk = {&view, NULL};

	op_walk_run(&process, 1, &walk, 1);
	process_destroy(process);
}

static void check_ops(const char *const *wanted, unsigned int nr)
{
	ck_assert_uint_eq(seen.nr_ops, nr);
	for (unsigned int i = 0; i < nr; i++) {
		ck_assert_str_eq(seen.ops[i], wanted[i]);
	}
}

START_TEST(operators_nest_by_their_times_and_work_by_its_call)
{
	static const struct line lines[] = {
		LINE(LOOP, 110, 120, 2, "b", .kernel_ns = 3),
		LINE(LOOP, 120, 120, 2, "empty"),
		LINE(LOOP, 120, 120, 2, "empty"),
		LINE(OTHER, 105, 125, 0, "elsewhere", .kernel_ns = 100),
		LINE(LOOP, 105, 130, 1, "a"),
		LINE(LOOP, 130, 140, 1, "c", .kernel_ns = 4),
		LINE(LOOP, 100, 150, 0, "top"),
		LINE(LOOP, 60, 145, 0, "async", .end_thread = OTHER),
	};

	walk(lines_write(lines, sizeof(lines) / sizeof(lines[0]), NULL));
	check_ops(
		(const char *const[]){"async in -: 85, 0, 0", "c in top: 10, 4, 4",
			"empty in a: 0, 0, 0", "empty in a: 0, 0, 0", "b in a: 10, 3, 3",
			"a in top: 15, 0, 3", "top in -: 15, 0, 7", "elsewhere in -: 20, 100, 100"},
		8);
}
END_TEST

/* Written in three groups: a checkpoint closes each. What is open goes on in the next one. */
START_TEST(operators_are_joined_over_groups)
{
	const char *path = streams_path("groups.gprof");
	struct gen *gen = gen_open(path);
	static const struct line lines[] = {
		LINE(LOOP, 110, 120, 1, "first", .kernel_ns = 3),
		LINE(OTHER, 50, 125, 0, "elsewhere"),
		LINE(LOOP, 130, 140, 1, "second", .kernel_ns = 4),
		LINE(LOOP, 100, 150, 0, "top"),
	};
	struct gprof_row_kernel *early;

	early = gen_row(gen, GPROF_TABLE_kernel); /* its call comes with the next group */
	early->dur = 5;
	early->correlation = 77;
	for (uint32_t i = 0; i < 4; i++) {
		if (i == 1) {
			struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);

			call->begin = call->dur = 118;
			call->thread = LOOP;
			call->correlation = 77;
		}
		lines_add(gen, &lines[i], i);
		gen_row(gen, GPROF_TABLE_checkpoint);
		gen_flush(gen);
	}
	gen_close(gen, "exit");
	walk(path);
	check_ops((const char *const[]){"second in top: 10, 4, 4", "first in top: 10, 8, 8",
			  "top in -: 30, 0, 12", "elsewhere in -: 75, 0, 0"},
		4);
}
END_TEST

START_TEST(allocations_belong_to_the_innermost_operator)
{
	const char *path = streams_path("alloc.gprof");
	struct gen *gen = gen_open(path);
	static const struct line lines[] = {
		LINE(LOOP, 110, 120, 1, "in"),
		LINE(LOOP, 100, 150, 0, "out"),
	};
	static const uint32_t times[] = {90, 115, 130, 160};

	for (uint32_t i = 0; i < 4; i++) {
		struct gprof_row_alloc *row = gen_row(gen, GPROF_TABLE_alloc);

		row->time = times[i];
		row->thread = LOOP;
		row->bytes = i == 3 ? -64 : 64 * (int64_t)(i + 1);
	}
	lines_add(gen, &lines[0], 0);
	lines_add(gen, &lines[1], 1);
	gen_close(gen, "exit");
	walk(path);
	ck_assert_uint_eq(seen.nr_allocs, 4);
	ck_assert_str_eq(seen.allocs[0], "-64 in -");
	ck_assert_str_eq(seen.allocs[1], "192 in out");
	ck_assert_str_eq(seen.allocs[2], "128 in in");
	ck_assert_str_eq(seen.allocs[3], "64 in -");
}
END_TEST

static void see_name(void *context, const struct op *op)
{
	strcat(context, string_pool_text(op->name, NULL));
}

static void add_kind(struct gen *gen, const char *name, uint64_t begin, uint64_t end,
	uint16_t depth, uint8_t framework, uint8_t scope)
{
	struct gprof_row_op *row = gen_op(gen, name, begin, end);

	row->depth = depth;
	row->framework = framework;
	row->scope = scope;
	row->py_stack = name[0] == 'r';
	row->end_thread = name[0] == 'a' ? row->thread + 1 : row->thread;
}

static bool wants_n(uint32_t name, uint8_t framework, uint8_t scope)
{
	(void)framework;
	(void)scope;
	return string_pool_text(name, NULL)[0] == 'n';
}

static bool wants_none(uint32_t name, uint8_t framework, uint8_t scope)
{
	(void)name;
	(void)framework;
	(void)scope;
	return false;
}

/* M a module, i in it, n in that, u what the user named, r an operator with a Python stack,
 * a one that ends on another thread. */
/* ---- operators that overlap in part ---- */

#define NR_LINES  24u
#define ALL_TICKS 400u

static uint64_t self_ticks[2]; /* by thread */

static void add_self(void *context, const struct op *op)
{
	(void)context;
	ck_assert_uint_le(op->child_ticks, op->end - op->begin);
	ck_assert_uint_le(op->taken_ticks, op->child_ticks);
	self_ticks[op->thread - 1] += op->end - op->begin - op->child_ticks;
}

static int by_end(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->end != y->end) {
		return x->end < y->end ? -1 : 1;
	}
	return x->begin > y->begin ? -1 : x->begin < y->begin;
}

/* Returns the number of ticks in which any operator of the thread is open. */
static uint64_t covered(const struct line *lines, uint32_t thread)
{
	uint64_t nr = 0;

	for (uint32_t tick = 0; tick < ALL_TICKS; tick++) {
		bool is_in = false;

		for (unsigned int i = 0; i < NR_LINES; i++) {
			is_in |= lines[i].thread == thread && lines[i].begin <= tick &&
				 tick < lines[i].end;
		}
		nr += is_in;
	}
	return nr;
}

/* How many operators of the thread are open when it begins: what the recorder counts as depth. */
static uint16_t depth_of(const struct line *lines, unsigned int at)
{
	uint16_t depth = 0;

	for (unsigned int i = 0; i < NR_LINES; i++) {
		depth += lines[i].thread == lines[at].thread && i != at &&
			 (lines[i].begin < lines[at].begin ||
				 (lines[i].begin == lines[at].begin && i > at)) &&
			 lines[i].end > lines[at].begin;
	}
	return depth;
}

START_TEST(times_of_their_own_sum_to_the_time_in_which_any_is_open)
{
	static const struct op_view view = {.op = add_self};
	uint64_t seed = 3, nr_overlapping = 0;

	for (unsigned int round = 0; round < 200; round++) {
		struct line lines[NR_LINES];
		struct process *process;
		const struct op_walk walk = {&view, NULL};

		for (unsigned int i = 0; i < NR_LINES; i++) {
			uint32_t begin = 1 + unit_below(&seed, ALL_TICKS - 60);
			bool has_launch = unit_below(&seed, 3) == 0;

			lines[i] = (struct line)LINE(1 + unit_below(&seed, 2), begin,
				begin + unit_below(&seed, 60), 0, "op",
				.kernel_ns = has_launch ? 3 : 0);
		}
		qsort(lines, NR_LINES, sizeof(lines[0]), by_end);
		for (unsigned int i = 0; i < NR_LINES; i++) {
			lines[i].depth = depth_of(lines, i);
			nr_overlapping += i && lines[i].thread == lines[i - 1].thread &&
					  lines[i].begin < lines[i - 1].end &&
					  lines[i].begin > lines[i - 1].begin;
		}
		memset(self_ticks, 0, sizeof(self_ticks));
		process = streams_process(lines_write(lines, NR_LINES, NULL));
		op_walk_run(&process, 1, &walk, 1);
		process_destroy(process);
		ck_assert_uint_eq(self_ticks[0], covered(lines, 1));
		ck_assert_uint_eq(self_ticks[1], covered(lines, 2));
	}
	ck_assert_uint_gt(nr_overlapping, 500);
}
END_TEST

/* What began later, and outlasts, has the time in which both are open. */
START_TEST(an_overlap_is_of_the_operator_that_began_later)
{
	static const struct line lines[] = {
		LINE(LOOP, 103, 178, 1, "copy"),
		LINE(LOOP, 111, 189, 2, "copy2"),
		LINE(LOOP, 100, 220, 0, "to"),
		LINE(LOOP, 220, 340, 0, "relu"),
		LINE(LOOP, 232, 352, 1, "clamp"),
	};

	walk(lines_write(lines, sizeof(lines) / sizeof(lines[0]), NULL));
	check_ops((const char *const[]){"clamp in -: 120, 0, 0", "relu in -: 12, 0, 0",
			  "copy2 in to: 78, 0, 0", "copy in to: 8, 0, 0", "to in -: 34, 0, 0"},
		5);
}
END_TEST

START_TEST(views_that_want_few_operators_get_those)
{
	const char *path = streams_path("few.gprof");
	struct gen *gen = gen_open(path);
	static const struct op_view by_name[] = {
		{.op = see_name, .op_wants = wants_n},
		{.op = see_name, .op_wants = wants_n, .op_is = OP_IS_MODULE},
		{.enter = see_name},
		{.enter = see_name, .enter_wants = wants_n},
		{.enter = see_name, .enter_wants = wants_none},
		{.enter = see_name, .op = see_name, .enter_wants = wants_n, .op_wants = wants_n},
	};
	static const char *const names_of[] = {"n", "", "aruMin", "aruMin", "aruMi", "aruMinn"};
	static const struct {
		uint8_t op_is;
		const char *names;
	} wants[] = {
		{0, "aruniM"},
		{OP_IS_ALL, "aruniM"},
		{OP_IS_OPERATOR, "arni"},
		{OP_IS_USER, "u"},
		{OP_IS_MODULE, "M"},
		{OP_IS_IN_MODULE, "ni"},
		{OP_IS_MODULE | OP_IS_IN_MODULE, "niM"},
		{OP_IS_STACKED, "r"},
	};

	add_kind(gen, "n", 112, 118, 1, GPROF_FRAMEWORK_TORCH, 0);
	add_kind(gen, "i", 110, 120, 0, GPROF_FRAMEWORK_TORCH, 0);
	add_kind(gen, "M", 100, 130, 0, GPROF_FRAMEWORK_PYTHON, GPROF_PYTHON_MODULE);
	add_kind(gen, "u", 140, 150, 0, GPROF_FRAMEWORK_TORCH, OP_TORCH_USER);
	add_kind(gen, "r", 160, 170, 0, GPROF_FRAMEWORK_TORCH, 0);
	add_kind(gen, "a", 105, 190, 0, GPROF_FRAMEWORK_TORCH, 0);
	gen_close(gen, "exit");
	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		const struct op_view view = {.op = see_name, .op_is = wants[i].op_is};
		struct process *process = streams_process(path);
		char names[16] = "";
		const struct op_walk walk = {&view, names};

		op_walk_run(&process, 1, &walk, 1);
		ck_assert_str_eq(names, wants[i].names);
		process_destroy(process);
	}
	for (size_t i = 0; i < sizeof(by_name) / sizeof(by_name[0]); i++) {
		struct process *process = streams_process(path);
		char names[2][16] = {"", ""};
		/* Another view that wants all gets all. */
		const struct op_view all = {.op = see_name};
		const struct op_walk walks[] = {{&by_name[i], names[0]}, {&all, names[1]}};

		op_walk_run(&process, 1, walks, 2);
		ck_assert_str_eq(names[0], names_of[i]);
		ck_assert_str_eq(names[1], "aruniM");
		process_destroy(process);
	}
}
END_TEST

UNIT_SUITE("report/op_walk", operators_nest_by_their_times_and_work_by_its_call,
	operators_are_joined_over_groups, allocations_belong_to_the_innermost_operator,
	times_of_their_own_sum_to_the_time_in_which_any_is_open,
	an_overlap_is_of_the_operator_that_began_later, views_that_want_few_operators_get_those)
