/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and windows that are chosen: what of a stream is left, for scans and for walks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/op_walk.h"
#include "report/scan.h"
#include "report/select_ask.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define MOST 8192u

/* How often rows were seen, by a number that each has. */
static struct {
	unsigned int calls[MOST], works[MOST], marks[MOST], allocs[MOST];
	unsigned int walked_calls[MOST], walked_works[MOST], ops[MOST], ranges[MOST];
} seen;

/* ---- what is seen ---- */

#define CALL_MASK (COL_BIT(COL_api_begin) | COL_BIT(COL_api_thread))
#define WORK_MASK COL_BIT(COL_kernel_graph_node)

static const struct scan_want wants[] = {
	{GPROF_TABLE_api, CALL_MASK, 0},
	{GPROF_TABLE_api_launch, CALL_MASK, COL_BIT(COL_api_thread)},
	{GPROF_TABLE_kernel, WORK_MASK, 0},
	{GPROF_TABLE_memset, WORK_MASK, 0},
	{GPROF_TABLE_untimed, COL_BIT(COL_untimed_graph_node), 0},
	{GPROF_TABLE_nvtx, COL_BIT(COL_nvtx_payload), 0},
	{GPROF_TABLE_alloc, COL_BIT(COL_alloc_bytes), COL_BIT(COL_alloc_bytes)},
};

static void take(void *context, struct process *process, const struct batch *b)
{
	(void)context;
	(void)process;
	ck_assert_uint_gt(b->nr_rows, 0);
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		switch (b->table) {
		case GPROF_TABLE_kernel:
		case GPROF_TABLE_memset:
			seen.works[b->col[COL_kernel_graph_node][i] % MOST]++;
			break;
		case GPROF_TABLE_untimed:
			seen.works[b->col[COL_untimed_graph_node][i] % MOST]++;
			break;
		case GPROF_TABLE_nvtx:
			seen.marks[b->col[COL_nvtx_payload][i] % MOST]++;
			break;
		case GPROF_TABLE_alloc:
			seen.allocs[(b->small[COL_alloc_bytes] ? b->small[COL_alloc_bytes][i]
							       : b->col[COL_alloc_bytes][i]) %
				    MOST]++;
			break;
		default:
			seen.calls[b->col[COL_api_begin][i] % MOST]++;
			break;
		}
	}
}

static void walk_op(void *context, const struct op *op)
{
	(void)context;
	seen.ops[op->begin % MOST]++;
}

static void walk_range(void *context, const struct op_range *range)
{
	(void)context;
	seen.ranges[range->begin % MOST]++;
}

static void walk_call(void *context, const struct op_call *call, const struct op *op)
{
	(void)context;
	(void)op;
	seen.walked_calls[call->begin % MOST]++;
}

static void walk_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	(void)context;
	(void)call;
	(void)op;
	seen.walked_works[record->graph_node % MOST]++;
}

static void see(struct process *process)
{
	static const struct scan_view scan = {
		.wants = wants, .nr_wants = sizeof(wants) / sizeof(wants[0]), .take = take};
	static const struct op_view ops = {
		.op = walk_op, .range = walk_range, .call = walk_call, .record = walk_record};
	const struct scan scans = {&scan, NULL};
	const struct op_walk walks = {&ops, NULL};

	memset(&seen, 0, sizeof(seen));
	scan_run(&process, 1, &scans, 1);
	op_walk_run(&process, 1, &walks, 1);
}

/* "" is no choice. Returns what is wrong, "" if nothing. */
static const char *choose(struct process *process, const char *steps, const char *windows)
{
	static char text[512];
	struct select_ask ask = {0};
	struct buf why = {0};

	ck_assert(!*steps || numbers_parse(&ask.steps, steps, true));
	ck_assert(!*windows || numbers_parse(&ask.windows, windows, false));
	select_drop(process);
	ck_assert_int_eq(select_all(&process, 1, &ask, &why), why.nr_bytes == 0);
	snprintf(text, sizeof(text), "%.*s", (int)why.nr_bytes, why.bytes ? why.bytes : "");
	buf_fini(&why);
	numbers_fini(&ask.steps);
	numbers_fini(&ask.windows);
	return text;
}

static void finish(struct process *process)
{
	select_drop(process);
	process_destroy(process);
}

/* ---- lists of numbers ---- */

static bool parses(const char *list, bool has_last)
{
	struct numbers numbers = {0};
	bool is_good = numbers_parse(&numbers, list, has_last);

	numbers_fini(&numbers);
	return is_good;
}

START_TEST(lists_of_numbers)
{
	static const char *const bad[] = {"", ",", "1,", ",1", "-", "1--2", "5-3", "a", "1a", "1-a",
		"+1", " 1", "1 ", "-0", "--1", "1-2-3", "18446744073709551616", "-"};
	struct numbers numbers = {0};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(!parses(bad[i], true), "'%s'", bad[i]);
		ck_assert_msg(!parses(bad[i], false), "'%s'", bad[i]);
	}
	ck_assert(parses("-2", true) && !parses("-2", false));
	ck_assert(numbers_is_empty(&numbers));
	ck_assert(numbers_parse(&numbers, "0,3-5,-2,9-", true));
	ck_assert(numbers_has(&numbers, 0) && !numbers_has(&numbers, 1));
	ck_assert(numbers_has(&numbers, 5) && !numbers_has(&numbers, 6));
	ck_assert(!numbers_has(&numbers, 8) && numbers_has(&numbers, UINT64_MAX));
	ck_assert_uint_eq(numbers.nr_last, 2);
	numbers_fini(&numbers);
}
END_TEST

START_TEST(lists_of_numbers_are_printed_short)
{
	uint64_t array[] = {7, 3, 4, 4, 5, 9, 0, UINT64_MAX, UINT64_MAX - 1};
	struct buf out = {0};

	numbers_print(array, 9, 9, &out);
	buf_char(&out, ' ');
	numbers_print(array, 9, 2, &out);
	buf_char(&out, 0);
	ck_assert_str_eq(
		out.bytes, "0,3-5,7,9,18446744073709551614-18446744073709551615 0,3-5,...");
	buf_fini(&out);
}
END_TEST

/* ---- streams ---- */

static void add_step(struct gen *gen, uint64_t tick, uint64_t number)
{
	struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

	step->time = tick;
	step->step = number;
}

static void add_call(struct gen *gen, uint32_t thread, uint64_t begin, uint32_t correlation)
{
	struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);

	call->begin = begin;
	call->dur = begin + 2;
	call->thread = thread;
	call->correlation = correlation;
}

static void add_kernel(struct gen *gen, uint64_t begin, uint32_t correlation, uint64_t number)
{
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	kernel->begin = begin;
	kernel->dur = begin + 5;
	kernel->correlation = correlation;
	kernel->graph_node = number;
}

static void add_mark(struct gen *gen, uint32_t thread, uint64_t time, uint8_t op, uint64_t range,
	uint64_t number)
{
	struct gprof_row_nvtx *nvtx = gen_row(gen, GPROF_TABLE_nvtx);

	nvtx->time = time;
	nvtx->thread = thread;
	nvtx->op = op;
	nvtx->range = range;
	nvtx->payload = number;
}

/* Steps 4, 5 and 6 from 100, 200 and 300 on; 6 has no end. */
static struct process *three_steps(const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	struct gprof_row_untimed *untimed;

	for (uint64_t i = 0; i < 3; i++) {
		add_step(gen, 100 + 100 * i, 4 + i);
	}
	add_call(gen, 1, 50, 11);  /* before all steps */
	add_call(gen, 2, 199, 12); /* ends in the next one */
	add_call(gen, 1, 200, 13);
	add_call(gen, 2, 205, 0); /* unknown */
	add_call(gen, 2, 300, 14);
	add_kernel(gen, 160, 11, 1); /* runs in a step, and was launched in none */
	add_kernel(gen, 260, 12, 2); /* runs one step later */
	add_kernel(gen, 310, 13, 3);
	add_kernel(gen, 250, 0, 4); /* launched by nobody */
	add_kernel(gen, 250, 77, 5);
	untimed = gen_row(gen, GPROF_TABLE_untimed);
	untimed->correlation = 13;
	untimed->graph_node = 6;
	add_mark(gen, 1, 150, GPROF_NVTX_PUSH, 0, 1);
	add_mark(gen, 1, 160, GPROF_NVTX_PUSH, 0, 2);
	add_mark(gen, 1, 170, GPROF_NVTX_POP, 0, 3);
	add_mark(gen, 1, 210, GPROF_NVTX_PUSH, 0, 4);
	add_mark(gen, 1, 220, GPROF_NVTX_POP, 0, 5);
	add_mark(gen, 1, 230, GPROF_NVTX_POP, 0, 6); /* of the first push */
	add_mark(gen, 2, 180, GPROF_NVTX_START, 9, 7);
	add_mark(gen, 3, 280, GPROF_NVTX_END, 9, 8);
	add_mark(gen, 2, 10, GPROF_NVTX_STRING, 0, 9);
	add_mark(gen, 2, 240, GPROF_NVTX_MARK, 0, 10);
	gen_close(gen, "exit");
	return streams_process(path);
}

START_TEST(work_goes_with_its_launch_and_ends_with_their_begin)
{
	struct process *process = three_steps("three.gprof");

	ck_assert_str_eq(choose(process, "4", ""), "");
	see(process);
	ck_assert(!seen.calls[50] && seen.calls[199] && !seen.calls[200] && !seen.calls[300]);
	ck_assert(!seen.works[1] && seen.works[2] && !seen.works[3]);
	ck_assert(!seen.works[4] && !seen.works[5] && !seen.works[6]);
	for (unsigned int i = 1; i <= 10; i++) {
		bool is_fourth = i <= 3 || (i >= 6 && i <= 9);

		ck_assert_uint_eq(seen.marks[i], is_fourth);
	}
	ck_assert(seen.ranges[150] && seen.ranges[160] && !seen.ranges[210]);
	ck_assert_uint_eq(process->select->nr_works, 6);
	ck_assert_uint_eq(process->select->nr_lone, 2);
	ck_assert_str_eq(choose(process, "5", ""), "");
	see(process);
	ck_assert(!seen.works[2] && seen.works[3] && seen.works[6] && !seen.works[4]);
	ck_assert(seen.walked_works[6] && !seen.walked_works[5] && !seen.walked_works[4]);
	ck_assert(seen.marks[4] && seen.marks[5] && !seen.marks[6] && seen.marks[10]);
	finish(process);
}
END_TEST

START_TEST(a_step_without_an_end_is_none)
{
	struct process *process = three_steps("open.gprof");

	ck_assert_str_eq(choose(process, "6", ""), "--steps: there are steps 4-5");
	ck_assert_ptr_null(process->select);
	ck_assert_str_eq(choose(process, "4,7-9", ""), "--steps: there are steps 4-5");
	ck_assert_str_eq(choose(process, "-1", ""), "");
	ck_assert(!select_has_step(process, 0) && select_has_step(process, 1) &&
		  !select_has_step(process, 2));
	ck_assert_str_eq(choose(process, "-99", ""), "");
	ck_assert_uint_eq(process->select->nr_steps, 2);
	ck_assert_str_eq(choose(process, "5-", ""), "");
	ck_assert_uint_eq(process->select->nr_steps, 1);
	ck_assert_str_eq(choose(process, "4", "1"), "--window: the schedule has no windows");
	ck_assert_str_eq(choose(process, "", ""), "");
	ck_assert_ptr_null(process->select);
	finish(process);
}
END_TEST

START_TEST(without_steps_there_is_one_sentence)
{
	const char *path = streams_path("none.gprof");
	struct gen *gen = gen_open(path);
	struct process *process;

	add_step(gen, 100, 0); /* says only where recording began */
	add_call(gen, 1, 150, 1);
	gen_close(gen, "exit");
	process = streams_process(path);
	ck_assert_str_eq(
		choose(process, "0", ""), "--steps: no step is known to have begun and ended");
	ck_assert_str_eq(
		choose(process, "-1", ""), "--steps: no step is known to have begun and ended");
	finish(process);
}
END_TEST

START_TEST(a_view_may_take_all)
{
	static const struct op_view all = {.takes_all = true,
		.op = walk_op,
		.range = walk_range,
		.call = walk_call,
		.record = walk_record};
	struct process *process = three_steps("all.gprof");
	const struct op_walk walk = {&all, NULL};

	ck_assert_str_eq(choose(process, "4", ""), "");
	memset(&seen, 0, sizeof(seen));
	op_walk_run(&process, 1, &walk, 1);
	ck_assert(seen.walked_calls[50] && seen.walked_calls[199] && seen.walked_calls[300]);
	for (unsigned int i = 1; i <= 6; i++) {
		ck_assert_uint_eq(seen.walked_works[i], 1);
	}
	ck_assert(seen.ranges[150] && seen.ranges[210]);
	finish(process);
}
END_TEST

/* The clock goes back in step 1; steps 0, 2 and 3 have their length. */
START_TEST(steps_of_no_length_have_nothing)
{
	static const uint64_t ticks[] = {500, 900, 100, 300, 400};
	const char *path = streams_path("back.gprof");
	struct gen *gen = gen_open(path);
	struct process *process;
	struct table *table;

	for (uint64_t i = 0; i < 5; i++) {
		add_step(gen, ticks[i], i);
	}
	add_call(gen, 1, 150, 1);
	add_call(gen, 1, 950, 2);
	gen_close(gen, "exit");
	process = streams_process(path);
	ck_assert_str_eq(choose(process, "1", ""), "--steps: these steps have no length");
	ck_assert_str_eq(choose(process, "1-2", ""), "");
	ck_assert_uint_eq(process->select->nr_empty, 1);
	see(process);
	ck_assert(seen.calls[150] && !seen.calls[950]);
	table = select_table(&process, 1);
	ck_assert_ptr_nonnull(strstr(table->note, "steps of no length"));
	ck_assert_uint_eq(tables_number(table, 0, "duration_ns"), 200);
	ck_assert_uint_eq(tables_number(table, 0, "steps"), 2);
	table_destroy(table);
	finish(process);
}
END_TEST

static void add_window(
	struct gen *gen, uint64_t time, uint64_t step, uint32_t window, uint8_t state)
{
	struct gprof_row_window *row = gen_row(gen, GPROF_TABLE_window);

	row->time = time;
	row->step = step;
	row->window = window;
	row->state = state;
}

/* Steps of 100 from 0 on; windows are the steps 2 to 3, and 6 on. Rows come a little late. */
static struct process *two_windows(const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);

	for (uint64_t i = 0; i < 9; i++) {
		add_step(gen, 100 * i, i);
		add_call(gen, 1, 100 * i + 50, (uint32_t)i + 1);
	}
	add_window(gen, 1, 0, 0, GPROF_WINDOW_CLOSED);
	add_window(gen, 101, 1, 0, GPROF_WINDOW_READY);
	add_window(gen, 201, 2, 1, GPROF_WINDOW_RECORD);
	add_window(gen, 401, 4, 1, GPROF_WINDOW_CLOSED);
	add_window(gen, 601, 6, 2, GPROF_WINDOW_RECORD);
	gen_close(gen, "exit");
	return streams_process(path);
}

START_TEST(windows_of_the_schedule)
{
	struct process *process = two_windows("windows.gprof");

	ck_assert_str_eq(choose(process, "", "3"), "--window: there are windows 1-2");
	ck_assert_str_eq(choose(process, "", "1"), "");
	see(process);
	for (unsigned int i = 0; i < 9; i++) {
		ck_assert_uint_eq(seen.calls[100 * i + 50], i == 2 || i == 3);
		ck_assert_int_eq(select_has_step(process, i), i == 2 || i == 3);
	}
	ck_assert_str_eq(choose(process, "", "2"), "");
	see(process);
	for (unsigned int i = 0; i < 9; i++) {
		ck_assert_uint_eq(seen.calls[100 * i + 50], i >= 6);
	}
	ck_assert_str_eq(choose(process, "3,7", "1-2"), "");
	see(process);
	for (unsigned int i = 0; i < 9; i++) {
		ck_assert_uint_eq(seen.calls[100 * i + 50], i == 3 || i == 7);
	}
	ck_assert_str_eq(
		choose(process, "3", "2"), "--steps and --window: they have nothing in common");
	finish(process);
}
END_TEST

/* ---- views ---- */

static void same_rows(const struct table *some, const struct table *all, size_t from)
{
	for (size_t i = 0; i < some->nr_rows; i++) {
		for (unsigned int c = 0; c < all->nr_columns; c++) {
			const struct table_cell *a = &some->cells[i * all->nr_columns + c];
			const struct table_cell *b = &all->cells[(from + i) * all->nr_columns + c];

			ck_assert_int_eq(a->is_known, b->is_known);
			ck_assert_uint_eq(a->integer, b->integer);
		}
	}
}

START_TEST(a_step_has_the_same_phases_alone_as_among_others)
{
	struct process *process = streams_process(streams_ops("phases.gprof"));
	struct table *all = tables_make(&view_steps, &process, 1, false), *some;

	ck_assert_str_eq(choose(process, "1-2", ""), "");
	some = tables_make(&view_steps, &process, 1, false);
	ck_assert_uint_eq(some->nr_rows, 2);
	same_rows(some, all, 1);
	table_destroy(some);
	ck_assert_str_eq(choose(process, "2", ""), "");
	some = tables_make(&view_steps, &process, 1, false);
	ck_assert_uint_eq(some->nr_rows, 1);
	same_rows(some, all, 2);
	table_destroy(some);
	some = tables_make(&view_model, &process, 1, false);
	ck_assert_uint_eq(tables_number(some, 0, "calls"), 1);
	ck_assert_uint_eq(tables_number(some, 0, "total_ns"), 1000000);
	ck_assert_uint_eq(
		tables_number(some, tables_find(some, "name", "Backward", 0), "calls"), 1);
	table_destroy(some);
	some = tables_make(&view_dataprep, &process, 1, false);
	ck_assert_uint_eq(tables_number(some, 0, "batches"), 1);
	table_destroy(some);
	table_destroy(all);
	finish(process);
}
END_TEST

START_TEST(the_parts_of_tables_by_step_add_up)
{
	struct process *process = streams_process(streams_ops("sums.gprof"));
	uint64_t calls = 0, ns = 0, all_calls = 0, all_ns = 0;

	for (int step = -1; step < 3; step++) {
		char list[16] = "";
		struct table *kernels, *ops;

		if (step >= 0) {
			snprintf(list, sizeof(list), "%d", step);
		}
		ck_assert_str_eq(choose(process, list, ""), "");
		kernels = tables_make(&view_kernel, &process, 1, false);
		ops = tables_make(&view_operator, &process, 1, false);
		*(step < 0 ? &all_ns : &ns) += tables_number(kernels, 0, "total_ns");
		*(step < 0 ? &all_calls : &calls) +=
			tables_number(ops, tables_find(ops, "name", "aten::mm", 0), "calls");
		table_destroy(kernels);
		table_destroy(ops);
	}
	ck_assert_uint_eq(calls, all_calls);
	ck_assert_uint_eq(ns, all_ns);
	ck_assert_uint_gt(ns, 0);
	finish(process);
}
END_TEST

#define MS 1000000u

static double busy_share(struct process *process, const char *steps)
{
	struct table *table;
	double share;

	ck_assert_str_eq(choose(process, steps, ""), "");
	table = tables_make(&view_utilization, &process, 1, false);
	share = tables_cell(table, 0, "avg")->number;
	table_destroy(table);
	return share;
}

/* By time, whoever launched it: half of step 0, all of step 1, a tenth of step 2. */
START_TEST(utilization_is_of_the_time_of_the_steps)
{
	const char *path = streams_path("busy.gprof");
	struct gen *gen = gen_open(path);
	struct process *process;
	struct gprof_row_kernel *kernel;

	for (uint64_t i = 0; i < 5; i++) {
		add_step(gen, 100 * MS * (1 + i), i);
	}
	add_call(gen, 1, 110 * MS, 1);
	kernel = gen_row(gen, GPROF_TABLE_kernel);
	kernel->begin = 150 * MS;
	kernel->dur = 310 * MS;
	kernel->correlation = 1;
	kernel->place = gen_place(gen, 0, 1, 7);
	gen_close(gen, "exit");
	process = streams_process(path);
	ck_assert_double_eq_tol(busy_share(process, "0"), 50, 1e-6);
	ck_assert_double_eq_tol(busy_share(process, "1"), 100, 1e-6);
	ck_assert_double_eq_tol(busy_share(process, "0-1"), 75, 1e-6);
	finish(process);
}
END_TEST

/* ---- at random, against the definition ---- */

#define NR_STEPS  20u
#define NR_CALLS  600u
#define NR_WORKS  900u
#define LAST_TICK 4000u

static struct {
	uint64_t step_ticks[NR_STEPS], call_begin[NR_CALLS], pushes[NR_CALLS], ops[NR_CALLS];
	uint32_t call_of[NR_WORKS]; /* NR_CALLS: none */
	uint64_t seed;
} made;

static uint64_t any(uint64_t below)
{
	return unit_random(&made.seed) % below;
}

static void make_works(struct gen *gen)
{
	for (uint32_t i = 0; i < NR_WORKS; i++) {
		made.call_of[i] = (uint32_t)any(NR_CALLS + 20);
		add_kernel(gen, any(LAST_TICK), made.call_of[i] + 1000, i);
	}
}

/* Rows of several blocks: a flush now and then. Begins rise, each is one row's alone. */
static const char *make_random(const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	uint64_t tick = 3;

	for (uint32_t i = 0; i < NR_STEPS; i++) {
		tick += any(300);
		made.step_ticks[i] = tick;
		add_step(gen, tick, i + 7);
	}
	for (uint32_t i = 0; i < NR_CALLS; i++) {
		struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);

		made.call_begin[i] = 6 * i + any(3);
		add_call(gen, 1 + (uint32_t)any(3), made.call_begin[i], i + 1000);
		made.pushes[i] = 6 * i + any(3);
		add_mark(gen, 1, made.pushes[i], GPROF_NVTX_PUSH, 0, 2 * i);
		add_mark(gen, 1, made.pushes[i] + 3, GPROF_NVTX_POP, 0, 2 * i + 1);
		made.ops[i] = 6 * i + any(4);
		op->begin = made.ops[i];
		op->dur = op->begin + any(400);
		op->thread = 5;
		op->end_thread = i % 2 ? 5 : 6;
		if (!any(50)) {
			gen_flush(gen);
		}
	}
	make_works(gen);
	gen_close(gen, "exit");
	return path;
}

static bool is_chosen(uint64_t tick, uint64_t steps)
{
	for (uint32_t i = 0; i + 1 < NR_STEPS; i++) {
		if (steps >> i & 1 && tick >= made.step_ticks[i] && tick < made.step_ticks[i + 1]) {
			return true;
		}
	}
	return false;
}

static void check(uint64_t steps)
{
	for (uint32_t i = 0; i < NR_CALLS; i++) {
		bool is_call = is_chosen(made.call_begin[i], steps);
		bool is_push = is_chosen(made.pushes[i], steps);

		ck_assert_uint_eq(seen.calls[made.call_begin[i]], is_call);
		ck_assert_uint_eq(seen.walked_calls[made.call_begin[i]], is_call);
		ck_assert_uint_eq(seen.marks[2 * i], is_push);
		ck_assert_uint_eq(seen.marks[2 * i + 1], is_push);
		ck_assert_uint_eq(seen.ranges[made.pushes[i]], is_push);
		ck_assert_uint_eq(seen.ops[made.ops[i]], is_chosen(made.ops[i], steps));
	}
	for (uint32_t i = 0; i < NR_WORKS; i++) {
		bool is_work = made.call_of[i] < NR_CALLS &&
			       is_chosen(made.call_begin[made.call_of[i]], steps);

		ck_assert_uint_eq(seen.works[i], is_work);
		ck_assert_uint_eq(seen.walked_works[i], is_work);
	}
}

START_TEST(any_choice_is_what_its_definition_says)
{
	for (uint64_t seed = 1; seed <= 15; seed++) {
		struct process *process;
		char list[256] = "";
		uint64_t steps = 0;

		made.seed = seed * 104729;
		process = streams_process(make_random("random.gprof"));
		for (uint32_t i = 0; i + 1 < NR_STEPS; i++) {
			if (any(3) == 0 && made.step_ticks[i + 1] > made.step_ticks[i]) {
				steps |= 1ull << i;
				snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%u",
					*list ? "," : "", i + 7);
			}
		}
		ck_assert(*list);
		ck_assert_str_eq(choose(process, list, ""), "");
		see(process);
		check(steps);
		finish(process);
	}
}
END_TEST

UNIT_SUITE("select", lists_of_numbers, lists_of_numbers_are_printed_short,
	work_goes_with_its_launch_and_ends_with_their_begin, a_step_without_an_end_is_none,
	a_view_may_take_all, without_steps_there_is_one_sentence, steps_of_no_length_have_nothing,
	windows_of_the_schedule, a_step_has_the_same_phases_alone_as_among_others,
	the_parts_of_tables_by_step_add_up, utilization_is_of_the_time_of_the_steps,
	any_choice_is_what_its_definition_says)
