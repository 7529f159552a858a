/* SPDX-License-Identifier: Apache-2.0 */
/* The views of idle time are the time budget, and all gaps together, too. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/budget/budget.h"
#include "report/reduce/reduced.h"
#include "test/unit/report_made.h"
#include "test/unit/report_scene.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

static uint64_t sum_of(const struct table *table, const char *key)
{
	uint64_t sum = 0;

	for (size_t row = 0; row < table->nr_rows; row++) {
		sum += tables_number(table, row, key);
	}
	return sum;
}

/* Of the rows whose column has that text. */
static uint64_t sum_with(
	const struct table *table, const char *key, const char *text, const char *of)
{
	uint64_t sum = 0;

	for (size_t row = 0; row < table->nr_rows; row++) {
		if (strcmp(tables_cell(table, row, key)->text, text) == 0) {
			sum += tables_number(table, row, of);
		}
	}
	return sum;
}

/* Times in us, so that what takes 10 us is told apart. Several steps, or one that all work is in.
 */
static void make_slow(struct scene *scene, uint64_t *seed)
{
	bool is_one = unit_random(seed) % 2;

	scene_make(scene, seed, unit_random(seed) % 2);
	for (uint32_t i = 0; i < SCENE_STEPS; i++) {
		scene->steps[i] = !is_one		 ? scene->steps[i] * 1000
				  : i + 1 == SCENE_STEPS ? 20 * 1000 * 1000
							 : 0;
	}
	for (uint32_t i = 0; i < scene->nr_activities; i++) {
		struct scene_work *work = &scene->works[i];

		work->begin *= 1000;
		work->end *= 1000;
		work->call_begin *= 1000;
		work->call_end *= 1000;
		if (unit_random(seed) % 8 == 0) { /* waits for something; out of turn, too */
			work->begin += 40000;
			work->end += 40000;
		}
	}
}

/* The budget cuts such work off, so what is no gap is idle there. */
static bool outlasts_its_step(const struct table *table)
{
	return table->note && strstr(table->note, "outlasted");
}

START_TEST(idle_parts_and_all_gaps_are_those_of_the_budget)
{
	uint64_t seed = 51, nr_gaps = 0, nr_exact = 0;

	for (int round = 0; round < 60; round++) {
		struct table *budget, *idle, *gaps;
		struct scene scene;
		const char *path;

		make_slow(&scene, &seed);
		path = scene_write(&scene, "idle", &seed);
		budget = tables_of(&view_budget, path, false);
		idle = tables_of(&view_idle, path, false);
		gaps = tables_of(&view_idle_gaps, path, false);
		for (unsigned int part = 0; part < NR_BUDGET_PARTS; part++) {
			const char *title = budget_part_texts[part].title;
			uint64_t ns = sum_with(idle, "part", title, "total_ns");

			ck_assert_uint_eq(ns,
				part < BUDGET_HOST ? 0
						   : sum_with(budget, "part", title, "total_ns"));
			ck_assert_uint_le(sum_with(gaps, "cause", title, "cause_ns"), ns);
			if (part < BUDGET_LATENCY && ns) {
				ck_assert_uint_le(sum_with(idle, "part", title, "drained_ns"), ns);
			}
		}
		ck_assert_uint_lt(gaps->nr_rows, 256);
		nr_gaps += gaps->nr_rows;
		ck_assert_uint_le(sum_of(gaps, "duration_ns"), sum_of(idle, "total_ns"));
		if (!outlasts_its_step(idle)) {
			ck_assert_uint_eq(sum_of(gaps, "duration_ns"), sum_of(idle, "total_ns"));
			nr_exact++;
		}
		table_destroy(budget);
		table_destroy(idle);
		table_destroy(gaps);
	}
	ck_assert_uint_gt(nr_gaps, 300);
	ck_assert_uint_gt(nr_exact, 20);
}
END_TEST

/* Does a work end a gap of that length, so long after its call? */
static bool is_ended_by(
	const struct scene_work *work, uint64_t duration_ns, uint64_t before_call_ns)
{
	uint64_t begin = work->begin - duration_ns;
	uint64_t until = work->call_begin > begin ? work->call_begin - begin : 0;

	return work->has_call && work->begin > duration_ns && before_call_ns == until;
}

/* Where the last step ends, a gap may be cut off. */
START_TEST(the_longest_gaps_say_what_ended_them)
{
	uint64_t seed = 61, nr_cut = 0;
	struct scene scene;
	struct table *table;

	make_slow(&scene, &seed);
	table = tables_of(&view_idle_gaps, scene_write(&scene, "gaps", &seed), false);
	for (size_t i = 0; i < table->nr_rows; i++) {
		uint64_t duration = tables_number(table, i, "duration_ns");
		bool is_known = tables_cell(table, i, "call")->is_known;
		bool is_found = !is_known;

		for (uint32_t k = 0; k < scene.nr_activities && is_known; k++) {
			is_found |= is_ended_by(&scene.works[k], duration,
				tables_number(table, i, "before_call_ns"));
		}
		nr_cut += !is_found;
		ck_assert(!is_known || tables_cell(table, i, "activity")->is_known);
		ck_assert(!i || duration <= tables_number(table, i - 1, "duration_ns"));
	}
	ck_assert_uint_le(nr_cut, 1);
	table_destroy(table);
}
END_TEST

static void put_op(struct gen *gen, uint32_t thread, const char *name, uint64_t begin, uint64_t end,
	uint16_t depth)
{
	uint32_t id = gen_op_name(gen, name);
	struct gprof_row_op *row = gen_row(gen, GPROF_TABLE_op);

	row->begin = SCENE_BASE_NS + begin;
	row->dur = SCENE_BASE_NS + end;
	row->thread = thread;
	row->op_name = id;
	row->depth = depth;
	row->framework = 1;
}

static void put_call(struct gen *gen, unsigned int table, uint32_t thread, uint16_t call,
	uint64_t begin, uint64_t end, uint32_t correlation)
{
	struct gprof_row_api *row = gen_row(gen, table);

	row->begin = SCENE_BASE_NS + begin;
	row->dur = SCENE_BASE_NS + end;
	row->thread = thread;
	row->call = call;
	row->correlation = correlation;
}

static void put_kernel(
	struct gen *gen, uint32_t place, uint64_t begin, uint64_t end, uint32_t correlation)
{
	struct gprof_row_kernel *row = gen_row(gen, GPROF_TABLE_kernel);

	row->begin = SCENE_BASE_NS + begin;
	row->dur = SCENE_BASE_NS + end;
	row->place = place;
	row->correlation = correlation;
}

/* Of that gap, which began while the host waited, and of those before and behind all kernels. */
static void check_after_a_wait(const char *path)
{
	struct table *table = tables_of(&view_idle, path, false);

	ck_assert_uint_eq(sum_with(table, "part", "Idle: waits", "drained_ns"), 220);
	ck_assert_uint_eq(sum_with(table, "part", "Idle: operators", "drained_ns"), 80 + 360 + 10);
	ck_assert_uint_eq(sum_with(table, "part", "Idle: user code", "drained_ns"), 100 + 230);
	ck_assert_uint_eq(sum_with(table, "part", "Idle: launches", "drained_ns"), 10);
	table_destroy(table);
}

/*
 * Between two kernels the host is in an operator for 300 of 1,000 ns, in one with another in it for
 * 360 (of which 250 in the inner one), and waits for 220 in a call.
 */
START_TEST(what_the_host_did_is_the_operator_itself_and_the_call_that_took_most)
{
	const char *path = streams_path("host");
	struct gen *gen = gen_open(path);
	uint16_t launch = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	uint16_t wait = gen_call(gen, "cudaStreamSynchronize", GPROF_API_RUNTIME);
	uint32_t place = gen_place(gen, 0, 1, 7);
	struct table *table;

	gen_anchor(gen, SCENE_BASE_NS, SCENE_BASE_NS, SCENE_BASE_NS);
	put_call(gen, GPROF_TABLE_api_launch, 1, launch, 10, 20, 1);
	put_call(gen, GPROF_TABLE_api_sync, 1, wait, 50, 320, 2);
	put_op(gen, 1, "long", 50, 400, 0);
	put_op(gen, 1, "inner", 550, 800, 1);
	put_op(gen, 1, "outer", 500, 860, 0);
	put_call(gen, GPROF_TABLE_api_launch, 1, launch, 1100, 1110, 3);
	put_op(gen, 1, "launching", 1090, 1200, 0);
	put_kernel(gen, place, 30, 100, 1);
	put_kernel(gen, place, 1120, 1200, 3);
	gen_close(gen, "exit");
	table = tables_of(&view_idle_gaps, path, false);
	ck_assert_uint_eq(tables_number(table, 0, "duration_ns"), 1020);
	ck_assert_uint_eq(tables_number(table, 0, "before_call_ns"), 1000);
	ck_assert_str_eq(tables_cell(table, 0, "cause")->text, "Idle: operators");
	ck_assert_uint_eq(tables_number(table, 0, "cause_ns"), 80 + 360 + 10);
	ck_assert_uint_eq(tables_find(table, "call", "cudaLaunchKernel", 0), 0);
	ck_assert_uint_eq(tables_find(table, "op", "launching", 0), 0);
	ck_assert_uint_eq(tables_find(table, "host_op", "long", 0), 0);
	ck_assert_uint_eq(tables_number(table, 0, "host_op_ns"), 300);
	ck_assert_uint_eq(tables_find(table, "host_call", "cudaStreamSynchronize", 0), 0);
	ck_assert_uint_eq(tables_number(table, 0, "host_call_ns"), 220);
	table_destroy(table);
	check_after_a_wait(path);
}
END_TEST

/* ---- waits of another thread ---- */

enum { NOTHING, LAUNCH, WAIT, WORK, MOST_EVENTS = 6 };

/*
 * Thread 1 launches a kernel, which ends at 100, and waits for it; thread 2 launches the next one,
 * which begins at 220, from 200 to 210. Up to 210 the gap counts for what the host did.
 */
static const struct turn {
	const char *name;
	struct {
		unsigned int kind, thread;
		uint64_t begin, end;
	} events[MOST_EVENTS]; /* by their ends */
	uint64_t drained_ns;
} turns[] = {
	{"the other one takes over",
		{{LAUNCH, 1, 10, 20}, {WAIT, 1, 50, 120}, {LAUNCH, 2, 200, 210}}, 110},
	{"having worked before",
		{{WORK, 2, 2, 8}, {LAUNCH, 1, 10, 20}, {WAIT, 1, 50, 120}, {LAUNCH, 2, 200, 210}},
		110},
	{"after more work of the first",
		{{LAUNCH, 1, 10, 20}, {WAIT, 1, 50, 120}, {WORK, 1, 130, 150}, {WORK, 2, 160, 190},
			{LAUNCH, 2, 200, 210}},
		110},
	{"the wait ended before the gap",
		{{LAUNCH, 1, 10, 20}, {WAIT, 1, 50, 90}, {LAUNCH, 2, 200, 210}}, 0},
	{"the wait goes on", {{LAUNCH, 1, 10, 20}, {WAIT, 1, 50, 205}, {LAUNCH, 2, 200, 210}}, 0},
	{"the other one works meanwhile",
		{{LAUNCH, 1, 10, 20}, {WORK, 2, 105, 110}, {WAIT, 1, 50, 120},
			{LAUNCH, 2, 200, 210}},
		0},
	{"and when the gap begins",
		{{LAUNCH, 1, 10, 20}, {WORK, 2, 90, 115}, {WAIT, 1, 50, 120},
			{LAUNCH, 2, 200, 210}},
		0},
	{"and since the first one launched",
		{{LAUNCH, 1, 10, 20}, {WORK, 2, 30, 35}, {WAIT, 1, 50, 120}, {LAUNCH, 2, 200, 210}},
		0},
	{"the first one goes on beside it",
		{{LAUNCH, 1, 10, 20}, {WAIT, 1, 50, 120}, {WORK, 2, 150, 160}, {WORK, 1, 165, 170},
			{LAUNCH, 2, 200, 210}},
		0},
	{"the first one does nothing but wait",
		{{LAUNCH, 2, 10, 20}, {WAIT, 1, 50, 120}, {LAUNCH, 2, 200, 210}}, 0},
	{"behind all kernels the thread counts that launched last",
		{{LAUNCH, 2, 10, 20}, {LAUNCH, 1, 200, 210}, {WAIT, 1, 250, 320},
			{WORK, 2, 330, 400}},
		100},
};

static const char *write_turn(const struct turn *turn)
{
	const char *path = streams_path("turn");
	struct gen *gen = gen_open(path);
	uint16_t launch = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	uint16_t wait = gen_call(gen, "cudaDeviceSynchronize", GPROF_API_RUNTIME);
	uint32_t place = gen_place(gen, 0, 1, 7), correlation = 0;

	gen_anchor(gen, SCENE_BASE_NS, SCENE_BASE_NS, SCENE_BASE_NS);
	for (unsigned int i = 0; i < MOST_EVENTS && turn->events[i].kind; i++) {
		uint32_t thread = turn->events[i].thread;
		uint64_t begin = turn->events[i].begin, end = turn->events[i].end;

		if (turn->events[i].kind == LAUNCH) {
			put_call(gen, GPROF_TABLE_api_launch, thread, launch, begin, end,
				++correlation);
		} else if (turn->events[i].kind == WAIT) {
			put_call(gen, GPROF_TABLE_api_sync, thread, wait, begin, end,
				100 + correlation);
		} else {
			put_op(gen, thread, "work", begin, end, 0);
		}
	}
	put_kernel(gen, place, 30, 100, 1);
	put_kernel(gen, place, 220, 300, 2);
	gen_close(gen, "exit");
	return path;
}

/* Latency is of no host. */
static uint64_t drained_ns(const char *path)
{
	struct table *table = tables_of(&view_idle, path, false);
	uint64_t sum = 0;

	for (size_t row = 0; row < table->nr_rows; row++) {
		sum += tables_cell(table, row, "drained_ns")->is_known
			       ? tables_number(table, row, "drained_ns")
			       : 0;
	}
	table_destroy(table);
	return sum;
}

START_TEST(a_wait_opens_the_gap_of_a_thread_that_takes_over)
{
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		uint64_t ns = drained_ns(write_turn(&turns[i]));

		ck_assert_msg(ns == turns[i].drained_ns, "%s: %" PRIu64, turns[i].name, ns);
	}
}
END_TEST

/* ---- lost launches ---- */

/* Launches of which nothing ran lie beside the others; they share the thread's time. */
static const char *write_launches(uint64_t seed, unsigned int nr_lost)
{
	struct made made = made_open(nr_lost ? "lost.gprof" : "whole.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	uint64_t at = 1000000;

	for (unsigned int i = 0; i < 100; i++) {
		uint64_t call_ns = 1000 + unit_below(&seed, 20000);
		uint64_t begin = at + call_ns + unit_below(&seed, 30000);

		if (i % 20 == 0) {
			made_step(&made, at, i / 20);
		}
		if (i < nr_lost) {
			struct gprof_row_api_launch *row =
				gen_row(made.gen, GPROF_TABLE_api_launch);

			row->begin = at;
			row->dur = at + 500;
			row->thread = 1;
			row->call = made.launch;
			row->correlation = 1000 + i;
		}
		made_launch(
			&made, shape, at + 1000, call_ns, begin, begin + unit_below(&seed, 40000));
		at += 10000 + unit_below(&seed, 100000);
	}
	made_step(&made, at, 5);
	gen_close(made.gen, "exit");
	return made.path;
}

/* Of 102 launches 2 are below 2 %, of 103 3 are above it. */
START_TEST(of_a_process_that_lost_launches_all_idle_time_is_unknown)
{
	const char *unknown = budget_part_texts[BUDGET_UNKNOWN].title;

	for (uint64_t seed = 1; seed < 20; seed++) {
		struct table *whole = tables_of(&view_budget, write_launches(seed, 0), false);
		struct table *few = tables_of(&view_budget, write_launches(seed, 2), false);
		const char *path = write_launches(seed, 3);
		struct table *lost = tables_of(&view_budget, path, false);
		struct table *idle = tables_of(&view_idle, path, false);
		struct table *gaps = tables_of(&view_idle_gaps, path, false);
		struct reduced reduced = streams_reduced(path);
		const uint64_t *facts = reduced.processes[0].who.facts;
		uint64_t busy_ns = sum_with(
			whole, "part", budget_part_texts[BUDGET_COMPUTING].title, "total_ns");

		ck_assert_uint_eq(sum_with(few, "part", unknown, "total_ns"), 0);
		ck_assert_uint_gt(few->nr_rows, 2);
		ck_assert_uint_eq(lost->nr_rows, 2);
		ck_assert_uint_eq(sum_of(lost, "total_ns"), sum_of(whole, "total_ns"));
		ck_assert_uint_eq(sum_with(lost, "part", unknown, "total_ns"),
			sum_of(whole, "total_ns") - busy_ns);
		ck_assert_uint_eq(idle->nr_rows, 1);
		ck_assert_uint_eq(
			sum_with(idle, "part", unknown, "total_ns"), sum_of(idle, "total_ns"));
		ck_assert_uint_eq(
			sum_with(gaps, "cause", unknown, "cause_ns"), sum_of(gaps, "duration_ns"));
		ck_assert_uint_gt(gaps->nr_rows, 10);
		for (unsigned int i = 0; i < NR_BUDGET_LONE_PARTS; i++) {
			ck_assert_uint_eq(facts[REDUCED_PARTS + i],
				sum_with(lost, "part", budget_part_texts[budget_lone_part(i)].title,
					"total_ns"));
		}
		ck_assert_uint_eq(reduced_launches(&reduced.processes[0].who).all, 103);
		ck_assert_uint_eq(reduced_launches(&reduced.processes[0].who).lost, 3);
		reduced_fini(&reduced);
		table_destroy(whole);
		table_destroy(few);
		table_destroy(lost);
		table_destroy(idle);
		table_destroy(gaps);
	}
}
END_TEST

START_TEST(nonsense_is_no_harm)
{
	tables_of_nonsense(&view_idle, false);
	tables_of_nonsense(&view_idle_gaps, false);
}
END_TEST

UNIT_SUITE("report/idle", idle_parts_and_all_gaps_are_those_of_the_budget,
	the_longest_gaps_say_what_ended_them,
	what_the_host_did_is_the_operator_itself_and_the_call_that_took_most,
	a_wait_opens_the_gap_of_a_thread_that_takes_over,
	of_a_process_that_lost_launches_all_idle_time_is_unknown, nonsense_is_no_harm)
