/* SPDX-License-Identifier: Apache-2.0 */
/* The view of the critical path: streams where it is known, and sums over random ones. */
#include <string.h>

#include "report/analysis/view.h"
#include "report/stats/step_series.h"
#include "test/unit/report_scene.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

/*
 * Steps of 1,000 ns, the first that counts from 1,000 on: it is not known where the one before it
 * begins. The last row only ends one.
 */
static void put_steps(struct gen *gen, unsigned int nr_rows)
{
	gen_anchor(gen, SCENE_BASE_NS, SCENE_BASE_NS, SCENE_BASE_NS);
	for (unsigned int i = 0; i <= nr_rows; i++) {
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

		step->time = SCENE_BASE_NS + 1000 * i;
		step->step = i;
		step->thread = 1;
	}
}

static void put_call(struct gen *gen, unsigned int table, const char *name, uint64_t begin,
	uint64_t end, uint32_t correlation)
{
	uint16_t call = gen_call(gen, name, GPROF_API_RUNTIME);
	struct gprof_row_api *row = gen_row(gen, table);

	row->begin = SCENE_BASE_NS + begin;
	row->dur = SCENE_BASE_NS + end;
	row->thread = 1;
	row->call = call;
	row->correlation = correlation;
}

static void put_kernel(struct gen *gen, uint32_t place, const char *name, uint64_t begin,
	uint64_t end, uint32_t correlation)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);
	struct gprof_row_kernel *row;

	shape->id = correlation;
	shape->name = string;
	row = gen_row(gen, GPROF_TABLE_kernel);
	row->begin = SCENE_BASE_NS + begin;
	row->dur = SCENE_BASE_NS + end;
	row->place = place;
	row->correlation = correlation;
	row->shape = correlation;
}

static void put_sync(
	struct gen *gen, uint32_t place, uint8_t type, uint32_t event, uint32_t correlation)
{
	struct gprof_row_sync *row = gen_row(gen, GPROF_TABLE_sync);

	row->begin = row->dur = SCENE_BASE_NS;
	row->place = place;
	row->correlation = correlation;
	row->event = event;
	row->type = type;
}

/*
 * A step of 1,000 ns. "first" runs on one stream until 500; an event behind it is what another
 * stream waits for, where "second" runs from 510 to 800; the host waits for that stream until 820.
 * A kernel on a third stream, which ends while the host waits, is nothing to it.
 */
static const char *write_known(bool has_syncs)
{
	const char *path = streams_path("known");
	struct gen *gen = gen_open(path);
	uint32_t one = gen_place(gen, 0, 1, 7), two = gen_place(gen, 0, 1, 8);
	uint32_t three = gen_place(gen, 0, 1, 9);
	uint32_t op = gen_op_name(gen, "aten::mm");
	struct gprof_row_event *event;
	struct gprof_row_op *row;

	put_steps(gen, 2);
	put_call(gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", 1050, 1060, 1);
	put_call(gen, GPROF_TABLE_api, "cudaEventRecord", 1070, 1080, 2);
	put_call(gen, GPROF_TABLE_api_sync, "cudaStreamWaitEvent", 1090, 1100, 3);
	put_call(gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", 1110, 1120, 4);
	put_call(gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", 1130, 1140, 5);
	put_call(gen, GPROF_TABLE_api_sync, "cudaStreamSynchronize", 1200, 1820, 6);
	row = gen_row(gen, GPROF_TABLE_op);
	row->begin = SCENE_BASE_NS + 1040;
	row->dur = SCENE_BASE_NS + 1065;
	row->thread = 1;
	row->op_name = op;
	row->framework = 1;
	put_kernel(gen, one, "first", 1062, 1500, 1);
	put_kernel(gen, two, "second", 1510, 1800, 4);
	put_kernel(gen, three, "third", 1150, 1815, 5);
	if (has_syncs) {
		event = gen_row(gen, GPROF_TABLE_event);
		event->time = SCENE_BASE_NS + 1500;
		event->place = one;
		event->correlation = 2;
		event->event = 33;
		put_sync(gen, two, 2, 33, 3);
		put_sync(gen, two, 3, 0, 6);
	}
	gen_close(gen, "exit");
	return path;
}

static uint64_t total_of(const struct table *table, const char *name)
{
	return tables_number(table, tables_find(table, "name", name, 0), "total_ns");
}

START_TEST(the_path_goes_through_waits_streams_and_events)
{
	struct table *table = tables_of(&view_critical_path, write_known(true), false);

	ck_assert_uint_eq(total_of(table, "kernel"), 290 + 438);
	ck_assert_uint_eq(total_of(table, "second"), 290);
	ck_assert_uint_eq(total_of(table, "first"), 438);
	ck_assert_uint_eq(total_of(table, "stream delay"), 10);
	ck_assert_uint_eq(total_of(table, "return of a wait"), 20);
	ck_assert_uint_eq(total_of(table, "launch delay"), 2);
	ck_assert_uint_eq(total_of(table, "API call"), 10);
	ck_assert_uint_eq(total_of(table, "operator"), 10);
	ck_assert_uint_eq(total_of(table, "host, no operator"), 180 + 40);
	table_destroy(table);
	/* Nothing says what is waited for: what ended last meanwhile. */
	table = tables_of(&view_critical_path, write_known(false), false);
	ck_assert_uint_eq(total_of(table, "third"), 665);
	ck_assert_uint_eq(total_of(table, "return of a wait"), 5);
	table_destroy(table);
}
END_TEST

/*
 * In the second step the host waits for what it launched in the first one, and that for what was
 * launched before it.
 */
START_TEST(what_was_launched_in_the_step_before_is_seen)
{
	const char *path = streams_path("before");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, 0, 1, 7);
	struct table *table;

	put_steps(gen, 3);
	put_call(gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", 1100, 1110, 1);
	put_call(gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", 1120, 1130, 2);
	put_call(gen, GPROF_TABLE_api, "cudaFuncGetAttributes", 1900, 1910, 3);
	put_call(gen, GPROF_TABLE_api_sync, "cudaDeviceSynchronize", 2010, 2850, 4);
	put_kernel(gen, place, "first", 1200, 2500, 1);
	put_kernel(gen, place, "second", 2510, 2800, 2);
	gen_close(gen, "exit");
	table = tables_of(&view_critical_path, path, false);
	ck_assert_uint_eq(total_of(table, "second"), 290);
	ck_assert_uint_eq(total_of(table, "first"), 500);
	ck_assert_uint_eq(total_of(table, "return of a wait"), 50);
	ck_assert_uint_eq(total_of(table, "host, no operator"), 150 + 1000 - 30);
	table_destroy(table);
}
END_TEST

/* Without steps the recording is the path, to the end of what nobody waited for. */
START_TEST(a_recording_without_steps_ends_with_its_last_activity)
{
	const char *path = streams_path("without");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, 0, 1, 7);
	struct table *table;

	gen_anchor(gen, SCENE_BASE_NS, SCENE_BASE_NS, SCENE_BASE_NS);
	put_call(gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", 1100, 1110, 1);
	put_call(gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", 1120, 1130, 2);
	put_kernel(gen, place, "first", 1200, 2500, 1);
	put_kernel(gen, place, "second", 2510, 2800, 2);
	gen_close(gen, "exit");
	table = tables_of(&view_critical_path, path, false);
	ck_assert_uint_eq(total_of(table, "second"), 290);
	ck_assert_uint_eq(total_of(table, "first"), 1300);
	ck_assert_uint_eq(total_of(table, "launch delay"), 90);
	ck_assert_uint_eq(total_of(table, "API call"), 10);
	ck_assert_ptr_nonnull(strstr(table->note, "No steps were found"));
	ck_assert_ptr_nonnull(strstr(table->note, "0.002 ms"));
	ck_assert_str_eq(table->columns[0].title, "% of path");
	table_destroy(table);
}
END_TEST

/* A thread that waits for work, the last one in the recording, is not what the loop waits for. */
START_TEST(threads_that_wait_for_work_are_not_on_the_path)
{
	const char *path = streams_path("idle");
	struct gen *gen = gen_open(path);
	struct table *table;

	gen_anchor(gen, SCENE_BASE_NS, SCENE_BASE_NS, SCENE_BASE_NS);
	put_call(gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", 1100, 1110, 1);
	put_kernel(gen, gen_place(gen, 0, 1, 7), "first", 1120, 1500, 1);
	put_call(gen, GPROF_TABLE_api_sync, "cudaDeviceSynchronize", 1130, 1510, 2);
	gen_os_call(gen, "read", 1, SCENE_BASE_NS + 1600, SCENE_BASE_NS + 1700);
	put_call(gen, GPROF_TABLE_api, "cudaFree", 1800, 1900, 3);
	for (uint64_t at = SCENE_BASE_NS + 1000; at < SCENE_BASE_NS + 2000; at += 100) {
		gen_os_call(gen, "poll", 2, at, at + 99);
	}
	gen_os_call(gen, "read", 3, SCENE_BASE_NS + 1720, SCENE_BASE_NS + 1790);
	gen_close(gen, "exit");
	table = tables_of(&view_critical_path, path, false);
	for (size_t i = 0; i < table->nr_rows; i++) {
		ck_assert_str_ne(tables_name(table, i), "poll");
	}
	ck_assert_uint_eq(total_of(table, "read"), 100 + 70);
	ck_assert_uint_eq(total_of(table, "first"), 380);
	ck_assert_uint_eq(total_of(table, "cudaFree"), 100);
	table_destroy(table);
}
END_TEST

/* The steps that count: but for the first, that warm-up and outliers, and those with nothing in. */
static uint64_t counted_ns(const struct scene *scene)
{
	uint64_t ns[SCENE_STEPS], sum = 0;
	struct step_series series;

	for (unsigned int i = 1; i + 1 < SCENE_STEPS; i++) {
		ns[i - 1] = scene->steps[i + 1] - scene->steps[i];
	}
	series = step_series_of(ns, SCENE_STEPS - 2);
	for (unsigned int i = 1; i + 1 < SCENE_STEPS; i++) {
		bool has_any = false;

		for (uint32_t k = 0; k < scene->nr_activities; k++) {
			has_any |= scene->works[k].has_call &&
				   scene->works[k].call_begin < scene->steps[i + 1] &&
				   scene->works[k].call_end > scene->steps[i];
		}
		sum += has_any && step_series_counts(&series, i - 1, ns[i - 1]) ? ns[i - 1] : 0;
	}
	return sum;
}

/* Kinds add up to the steps that count, and the names in a kind to at most that. */
START_TEST(pieces_add_up_to_the_steps)
{
	uint64_t seed = 91;

	for (int round = 0; round < 40; round++) {
		struct scene scene;
		struct table *table;
		uint64_t sum = 0, names_sum = 0;

		scene_make(&scene, &seed, round % 2);
		table = tables_of(
			&view_critical_path, scene_write(&scene, "critical", &seed), round % 4 < 2);
		for (size_t i = 0; i < table->nr_rows; i++) {
			*(table_level(table, i) ? &names_sum : &sum) +=
				tables_number(table, i, "total_ns");
		}
		ck_assert_uint_le(names_sum, sum);
		ck_assert_uint_eq(sum, counted_ns(&scene));
		table_destroy(table);
	}
}
END_TEST

#define MANY_LAUNCHES 2100u /* more than the path of the next step looks back at */

/*
 * Steps of 9,000 ns from the loader on, 9,000, 5,000, 1,000 and 1,000 ns. So many launches in the
 * third that those behind it are taken before the first one comes.
 */
static const char *write_warm_up(void)
{
	static const uint32_t marks[] = {0, 10000, 19000, 24000, 25000, 26000};
	const char *path = streams_path("warm");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, 0, 1, 7);
	uint32_t loader = gen_op_name(gen, "enumerate(DataLoader)#x.__next__");
	uint32_t correlation = 0;
	struct gprof_row_op *row;

	gen_anchor(gen, SCENE_BASE_NS, SCENE_BASE_NS, SCENE_BASE_NS);
	for (unsigned int i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

		step->time = SCENE_BASE_NS + marks[i];
		step->step = i;
		step->thread = 1;
		put_call(gen, GPROF_TABLE_api, "cudaFuncGetAttributes", marks[i] + 200,
			marks[i] + 210, ++correlation);
	}
	row = gen_row(gen, GPROF_TABLE_op);
	row->begin = SCENE_BASE_NS + 1000;
	row->dur = SCENE_BASE_NS + 1100;
	row->thread = 1;
	row->op_name = loader;
	for (uint32_t begin = 19300; begin < 19300 + 2 * MANY_LAUNCHES; begin += 2) {
		put_call(gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", begin, begin + 1,
			++correlation);
		put_kernel(gen, place, "k", begin + 1, begin + 2, correlation);
	}
	gen_close(gen, "exit");
	return path;
}

/* With the first step there are five: the second half has the third, and that warms up no more. */
START_TEST(the_path_is_of_the_steps_that_count_from_the_last_one_on)
{
	struct table *table = tables_of(&view_critical_path, write_warm_up(), false);
	uint64_t sum = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		sum += table_level(table, i) ? 0 : tables_number(table, i, "total_ns");
	}
	ck_assert_uint_eq(sum, 5000 + 1000 + 1000);
	ck_assert_ptr_nonnull(strstr(table->note, "The path covers 3 steps"));
	ck_assert_ptr_nonnull(strstr(table->note, "2 steps that warm up are excluded"));
	table_destroy(table);
}
END_TEST

START_TEST(nonsense_is_no_harm)
{
	tables_of_nonsense(&view_critical_path, true);
}
END_TEST

UNIT_SUITE("report/critical_view", the_path_goes_through_waits_streams_and_events,
	what_was_launched_in_the_step_before_is_seen,
	a_recording_without_steps_ends_with_its_last_activity,
	threads_that_wait_for_work_are_not_on_the_path, pieces_add_up_to_the_steps,
	the_path_is_of_the_steps_that_count_from_the_last_one_on, nonsense_is_no_harm)
