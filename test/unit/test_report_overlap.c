/* SPDX-License-Identifier: Apache-2.0 */
#include "report/gpu/overlap.h"

#include <string.h>

#include "report/model/select.h"
#include "report/ops/counted_steps.h"
#include "report/analysis/view.h"
#include "test/unit/report_scene.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

/* The plain way: for each moment what runs then. Nothing of a scene ends later. */
enum { TIMES = 40000 };

static unsigned char running[TIMES];
static uint64_t first, last;

static void mark(const struct scene *scene, uint32_t device)
{
	memset(running, 0, sizeof(running));
	first = TIMES;
	last = 0;
	for (uint32_t i = 0; i < scene->nr_activities; i++) {
		const struct scene_work *work = &scene->works[i];

		if (work->device != device) {
			continue;
		}
		ck_assert_uint_le(work->end, TIMES);
		first = work->begin < first ? work->begin : first;
		last = work->end > last ? work->end : last;
		for (uint64_t t = work->begin; t < work->end; t++) {
			running[t] |= (unsigned char)(1u << work->kind);
		}
	}
}

/* Moments of [begin, end) at which what runs has all of `has` and none of `lacks`. */
static uint64_t count(uint64_t begin, uint64_t end, unsigned int has, unsigned int lacks)
{
	uint64_t nr = 0;

	for (uint64_t t = begin; t < end && t < TIMES; t++) {
		nr += (running[t] & has) == has && !(running[t] & lacks);
	}
	return nr;
}

static size_t row_of(const struct table *table, uint32_t device, size_t n)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		if (tables_number(table, i, "device") == device && !n--) {
			return i;
		}
	}
	ck_abort_msg("no row of that device");
	return 0;
}

static void check_breakdown(const struct table *table, size_t row)
{
	double shares = 0;

	ck_assert_uint_eq(tables_number(table, row, "span_ns"), last - first);
	ck_assert_uint_eq(tables_number(table, row, "idle_ns"), count(first, last, 0, 7));
	ck_assert_uint_eq(tables_number(table, row, "computation_ns"), count(first, last, 1, 0));
	ck_assert_uint_eq(tables_number(table, row, "communication_kernels_alone_ns"),
		count(first, last, 2, 1));
	ck_assert_uint_eq(tables_number(table, row, "memory_alone_ns"), count(first, last, 4, 3));
	shares += tables_cell(table, row, "idle_pct")->number;
	shares += tables_cell(table, row, "computation_pct")->number;
	shares += tables_cell(table, row, "communication_kernels_alone_pct")->number;
	shares += tables_cell(table, row, "memory_alone_pct")->number;
	ck_assert_double_eq_tol(shares, 100, 1e-9);
}

static void check_distributed(const struct table *table, size_t row, uint64_t begin, uint64_t end)
{
	uint64_t communication = count(begin, end, 2, 0);

	ck_assert_uint_eq(tables_number(table, row, "time_ns"), end - begin);
	ck_assert_uint_eq(tables_number(table, row, "computation_ns"), count(begin, end, 1, 0));
	ck_assert_uint_eq(tables_number(table, row, "communication_ns"), communication);
	ck_assert_uint_eq(tables_number(table, row, "overlap_ns"), count(begin, end, 3, 0));
	ck_assert_uint_eq(
		tables_number(table, row, "computation_alone_ns"), count(begin, end, 1, 2));
	ck_assert_uint_eq(
		tables_number(table, row, "communication_alone_ns"), count(begin, end, 2, 1));
	ck_assert_uint_eq(tables_number(table, row, "other_ns"), count(begin, end, 0, 3));
	if (communication) {
		ck_assert_double_eq_tol(tables_cell(table, row, "overlap_pct")->number,
			100.0 * (double)count(begin, end, 3, 0) / (double)communication, 1e-9);
	} else {
		ck_assert(!tables_cell(table, row, "overlap_pct")->is_known);
	}
}

/* The row is the sum of those of the steps that count. */
static void check_counted(const struct table *table, size_t at, const struct table *steps,
	uint32_t device, const struct counted_steps *counted)
{
	static const char *const keys[] = {"time_ns", "computation_ns", "communication_ns",
		"overlap_ns", "computation_alone_ns", "communication_alone_ns", "other_ns"};

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		uint64_t sum = 0;

		for (size_t i = 0; i + 1 < SCENE_STEPS; i++) {
			if (counted->counts[i + 1]) {
				sum += tables_number(steps, row_of(steps, device, i), keys[k]);
			}
		}
		ck_assert_uint_eq(tables_number(table, at, keys[k]), sum);
	}
}

START_TEST(times_of_what_ran_at_once_are_those_of_a_flag_for_each_moment)
{
	uint64_t seed = 21;

	for (int round = 0; round < 60; round++) {
		struct table *breakdown, *whole, *steps;
		struct counted_steps counted;
		struct process *process;
		struct scene scene;
		const char *path;

		scene_make(&scene, &seed, round % 2);
		path = scene_write(&scene, "sweep", &seed);
		process = streams_process(path);
		counted_steps_init(&counted, process, false);
		breakdown = tables_of(&view_time_breakdown, path, false);
		whole = tables_of(&view_distributed, path, false);
		steps = tables_of(&view_distributed, path, true);
		ck_assert_uint_eq(breakdown->nr_rows, SCENE_DEVICES);
		ck_assert_uint_eq(steps->nr_rows, SCENE_DEVICES * (SCENE_STEPS - 1));
		for (uint32_t device = 0; device < SCENE_DEVICES; device++) {
			mark(&scene, device);
			check_breakdown(breakdown, row_of(breakdown, device, 0));
			check_counted(whole, row_of(whole, device, 0), steps, device, &counted);
			for (size_t i = 0; i + 1 < SCENE_STEPS; i++) {
				size_t row = row_of(steps, device, i);

				ck_assert_uint_eq(tables_number(steps, row, "step"), 10 + i);
				check_distributed(steps, row, scene.steps[i], scene.steps[i + 1]);
			}
		}
		counted_steps_fini(&counted);
		process_destroy(process);
		table_destroy(breakdown);
		table_destroy(whole);
		table_destroy(steps);
	}
}
END_TEST

/* Each kernel by itself: how many of its moments some computation runs at. */
START_TEST(collectives_are_overlapped_where_computation_runs)
{
	uint64_t seed = 25;

	for (int round = 0; round < 60; round++) {
		uint64_t overlap = 0, total = 0, calls = 0;
		struct table *table;
		struct scene scene;

		scene_make(&scene, &seed, round % 2);
		table = tables_of(
			&view_collectives, scene_write(&scene, "collectives", &seed), false);
		for (uint32_t device = 0; device < SCENE_DEVICES; device++) {
			mark(&scene, device);
			for (uint32_t i = 0; i < scene.nr_activities; i++) {
				const struct scene_work *work = &scene.works[i];

				if (work->device == device && work->kind == SCENE_COMMUNICATION) {
					overlap += count(work->begin, work->end, 1, 0);
					total += work->end - work->begin;
					calls++;
				}
			}
		}
		ck_assert_uint_eq(table->nr_rows, 1);
		ck_assert_uint_eq(tables_number(table, 0, "overlap_ns"), overlap);
		ck_assert_uint_eq(tables_number(table, 0, "total_ns"), total);
		ck_assert_uint_eq(tables_number(table, 0, "calls"), calls);
		table_destroy(table);
	}
}
END_TEST

START_TEST(processes_stand_by_themselves_and_those_without_work_have_no_rows)
{
	struct scene scene;
	uint64_t seed = 3;
	struct process *processes[3];
	struct table *table;

	scene_make(&scene, &seed, false);
	processes[0] = streams_process(scene_write(&scene, "one", &seed));
	processes[1] = streams_process(streams_ops("two"));
	processes[2] = streams_process(scene_write(&scene, "three", &seed));
	table = tables_make(&view_time_breakdown, processes, 3, false);
	for (size_t i = 0; i < SCENE_DEVICES; i++) { /* of the first and of the last process */
		size_t row = table->nr_rows - 1 - i;

		mark(&scene, (uint32_t)tables_number(table, i, "device"));
		check_breakdown(table, i);
		mark(&scene, (uint32_t)tables_number(table, row, "device"));
		check_breakdown(table, row);
	}
	table_destroy(table);
	for (int i = 0; i < 3; i++) {
		process_destroy(processes[i]);
	}
}
END_TEST

START_TEST(nonsense_is_no_harm)
{
	tables_of_nonsense(&view_time_breakdown, false);
	tables_of_nonsense(&view_distributed, true);
	tables_of_nonsense(&view_collectives, false);
}
END_TEST

/* Steps are the same among all as when they are chosen, though some work outlasts its own. */
START_TEST(chosen_steps_are_as_among_all)
{
	uint64_t seed = 5;

	for (unsigned int round = 0; round < 20; round++) {
		struct scene scene;
		const char *path;
		struct process *process;
		struct select_options ask = {{0}, {0}};
		struct table *all, *chosen;

		scene_make(&scene, &seed, true);
		path = scene_write(&scene, "chosen.gprof", &seed);
		process = streams_process(path);
		all = tables_make(&view_distributed, &process, 1, true);
		ck_assert(numbers_parse(&ask.steps, "11-12", false));
		select_make(process, &ask);
		chosen = tables_make(&view_distributed, &process, 1, true);
		ck_assert_uint_lt(chosen->nr_rows, all->nr_rows);
		for (size_t i = 0, k = 0; i < all->nr_rows; i++) {
			uint64_t step = tables_number(all, i, "step");

			if (step != 11 && step != 12) {
				continue;
			}
			for (unsigned int c = 0; c < all->nr_columns; c++) {
				const struct table_cell *x = &all->cells[i * all->nr_columns + c];
				const struct table_cell *y =
					&chosen->cells[k * all->nr_columns + c];

				ck_assert_uint_eq(x->is_known, y->is_known);
				ck_assert_uint_eq(x->integer, y->integer);
			}
			k++;
		}
		table_destroy(all);
		table_destroy(chosen);
		select_drop(process);
		numbers_fini(&ask.steps);
		process_destroy(process);
	}
}
END_TEST

UNIT_SUITE("report/overlap", times_of_what_ran_at_once_are_those_of_a_flag_for_each_moment,
	collectives_are_overlapped_where_computation_runs,
	processes_stand_by_themselves_and_those_without_work_have_no_rows, nonsense_is_no_harm,
	chosen_steps_are_as_among_all)
