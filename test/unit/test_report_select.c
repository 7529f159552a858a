/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and windows that are chosen: what of a stream is left, for scans and for walks. */
#include <string.h>

#include "report/timeline/chrome.h"
#include "report/timeline/perfetto.h"
#include "report/model/select.h"
#include "test/unit/report_chosen.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

/* Steps 4, 5 and 6 from 100, 200 and 300 on; 6 has no end. */
static struct process *three_steps(const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	struct gprof_row_untimed *untimed;

	for (uint64_t i = 0; i < 3; i++) {
		chosen_step(gen, 100 + 100 * i, 4 + i);
	}
	chosen_call(gen, 1, 50, 11);  /* before all steps */
	chosen_call(gen, 2, 199, 12); /* ends in the next one */
	chosen_call(gen, 1, 200, 13);
	chosen_call(gen, 2, 205, 0); /* unknown */
	chosen_call(gen, 2, 300, 14);
	chosen_kernel(gen, 160, 11, 1); /* runs in a step, and was launched in none */
	chosen_kernel(gen, 260, 12, 2); /* runs one step later */
	chosen_kernel(gen, 310, 13, 3);
	chosen_kernel(gen, 250, 0, 4); /* launched by nobody */
	chosen_kernel(gen, 250, 77, 5);
	untimed = gen_row(gen, GPROF_TABLE_untimed);
	untimed->correlation = 13;
	untimed->graph_node = 6;
	chosen_mark(gen, 1, 150, GPROF_NVTX_PUSH, 0, 1);
	chosen_mark(gen, 1, 160, GPROF_NVTX_PUSH, 0, 2);
	chosen_mark(gen, 1, 170, GPROF_NVTX_POP, 0, 3);
	chosen_mark(gen, 1, 210, GPROF_NVTX_PUSH, 0, 4);
	chosen_mark(gen, 1, 220, GPROF_NVTX_POP, 0, 5);
	chosen_mark(gen, 1, 230, GPROF_NVTX_POP, 0, 6); /* of the first push */
	chosen_mark(gen, 2, 180, GPROF_NVTX_START, 9, 7);
	chosen_mark(gen, 3, 280, GPROF_NVTX_END, 9, 8);
	chosen_mark(gen, 2, 10, GPROF_NVTX_STRING, 0, 9);
	chosen_mark(gen, 2, 240, GPROF_NVTX_MARK, 0, 10);
	gen_close(gen, "exit");
	return streams_process(path);
}

START_TEST(work_goes_with_its_launch_and_ends_with_their_begin)
{
	struct process *process = three_steps("three.gprof");

	ck_assert_str_eq(chosen_by(process, "4", ""), "");
	chosen_see(process);
	ck_assert(
		!chosen.calls[50] && chosen.calls[199] && !chosen.calls[200] && !chosen.calls[300]);
	ck_assert(!chosen.works[1] && chosen.works[2] && !chosen.works[3]);
	ck_assert(!chosen.works[4] && !chosen.works[5] && !chosen.works[6]);
	for (unsigned int i = 1; i <= 10; i++) {
		bool is_fourth = i <= 3 || (i >= 6 && i <= 9);

		ck_assert_uint_eq(chosen.marks[i], is_fourth);
	}
	ck_assert(chosen.ranges[150] && chosen.ranges[160] && !chosen.ranges[210]);
	ck_assert_uint_eq(process->select->nr_activities, 6);
	ck_assert_uint_eq(process->select->nr_no_call, 2);
	ck_assert_str_eq(chosen_by(process, "5", ""), "");
	chosen_see(process);
	ck_assert(!chosen.works[2] && chosen.works[3] && chosen.works[6] && !chosen.works[4]);
	ck_assert(chosen.walked_works[6] && !chosen.walked_works[5] && !chosen.walked_works[4]);
	ck_assert(chosen.marks[4] && chosen.marks[5] && !chosen.marks[6] && chosen.marks[10]);
	chosen_end(process);
}
END_TEST

START_TEST(a_step_without_an_end_is_none)
{
	struct process *process = three_steps("open.gprof");

	ck_assert_str_eq(chosen_by(process, "6", ""), "--steps: there are steps 4-5");
	ck_assert_ptr_null(process->select);
	ck_assert_str_eq(chosen_by(process, "4,7-9", ""), "--steps: there are steps 4-5");
	ck_assert_str_eq(chosen_by(process, "-1", ""), "");
	ck_assert(!select_has_step(process, 0) && select_has_step(process, 1) &&
		  !select_has_step(process, 2));
	ck_assert_str_eq(chosen_by(process, "-99", ""), "");
	ck_assert_uint_eq(process->select->nr_steps, 2);
	ck_assert_str_eq(chosen_by(process, "5-", ""), "");
	ck_assert_uint_eq(process->select->nr_steps, 1);
	ck_assert_str_eq(chosen_by(process, "4", "1"), "--window: the schedule has no windows");
	ck_assert_str_eq(chosen_by(process, "", ""), "");
	ck_assert_ptr_null(process->select);
	chosen_end(process);
}
END_TEST

START_TEST(without_steps_there_is_one_sentence)
{
	const char *path = streams_path("none.gprof");
	struct gen *gen = gen_open(path);
	struct process *process;

	chosen_step(gen, 100, 0); /* says only where recording began */
	chosen_call(gen, 1, 150, 1);
	gen_close(gen, "exit");
	process = streams_process(path);
	ck_assert_str_eq(chosen_by(process, "0", ""), "--steps: no step has a known start and end");
	ck_assert_str_eq(
		chosen_by(process, "-1", ""), "--steps: no step has a known start and end");
	chosen_end(process);
}
END_TEST

START_TEST(a_view_may_take_all)
{
	struct op_view all = chosen_view;
	struct process *process = three_steps("all.gprof");
	const struct op_walk walk = {&all, NULL};

	all.ignores_selection = true;
	ck_assert_str_eq(chosen_by(process, "4", ""), "");
	memset(&chosen, 0, sizeof(chosen));
	op_walk_run(&process, 1, &walk, 1);
	ck_assert(chosen.walked_calls[50] && chosen.walked_calls[199] && chosen.walked_calls[300]);
	for (unsigned int i = 1; i <= 6; i++) {
		ck_assert_uint_eq(chosen.walked_works[i], 1);
	}
	ck_assert(chosen.ranges[150] && chosen.ranges[210]);
	chosen_end(process);
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
		chosen_step(gen, ticks[i], i);
	}
	chosen_call(gen, 1, 150, 1);
	chosen_call(gen, 1, 950, 2);
	gen_close(gen, "exit");
	process = streams_process(path);
	ck_assert_str_eq(
		chosen_by(process, "1", ""), "--steps: the selected steps have zero length");
	ck_assert_str_eq(chosen_by(process, "1-2", ""), "");
	ck_assert_uint_eq(process->select->nr_empty, 1);
	chosen_see(process);
	ck_assert(chosen.calls[150] && !chosen.calls[950]);
	table = select_table(&process, 1);
	ck_assert_ptr_nonnull(strstr(table->note, "Steps of zero length"));
	ck_assert_uint_eq(tables_number(table, 0, "duration_ns"), 200);
	ck_assert_uint_eq(tables_number(table, 0, "steps"), 2);
	table_destroy(table);
	chosen_end(process);
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
		chosen_step(gen, 100 * i, i);
		chosen_call(gen, 1, 100 * i + 50, (uint32_t)i + 1);
	}
	add_window(gen, 1, 0, 0, GPROF_WINDOW_CLOSED);
	add_window(gen, 101, 1, 0, GPROF_WINDOW_READY);
	add_window(gen, 201, 2, 1, GPROF_WINDOW_RECORD);
	add_window(gen, 401, 4, 1, GPROF_WINDOW_CLOSED);
	add_window(gen, 601, 6, 2, GPROF_WINDOW_RECORD);
	gen_close(gen, "exit");
	return streams_process(path);
}

static size_t count_of(const char *text, const char *what)
{
	size_t nr = 0;

	for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) {
		nr++;
	}
	return nr;
}

START_TEST(timelines_have_the_window)
{
	struct process *process = two_windows("windows.gprof");
	const struct timeline_filter calls = {.tracks = TIMELINE_API};
	struct buf json = {0}, packets = {0};

	ck_assert_str_eq(chosen_by(process, "", "1"), "");
	chrome_write(&process, 1, &(struct chrome_file){.name = "x"}, &json);
	buf_char(&json, '\0');
	ck_assert_uint_eq(count_of(json.bytes, "\"correlation\": "), 2);
	ck_assert_uint_eq(count_of(json.bytes, "\"correlation\": 3}"), 1);
	ck_assert_uint_eq(count_of(json.bytes, "\"correlation\": 4}"), 1);
	ck_assert_uint_eq(count_of(json.bytes, "\"ProfilerStep#"), 2);
	ck_assert_uint_eq(count_of(json.bytes, "\"ProfilerStep#2\""), 1);
	ck_assert_uint_eq(count_of(json.bytes, "\"ProfilerStep#3\""), 1);
	ck_assert_uint_eq(perfetto_write(&process, 1, &calls, &packets).nr_slices, 2);
	buf_fini(&json);
	buf_fini(&packets);
	chosen_end(process);
}
END_TEST

/* What a walk reports of record windows, and what is no slice of them. */
static struct buf windows;

static void take_slice(void *context, const struct track_slice *event, bool is_instant)
{
	const char *name = string_pool_text(event->name, NULL);

	(void)context;
	if (!is_instant && strstr(name, "window")) {
		buf_printf(&windows, "%s: %llu; ", name, (unsigned long long)event->dur_ns);
	}
}

static void take_track(void *context, const struct track *track)
{
	(void)context;
	(void)track;
}

static void take_end(void *context, uint64_t track, uint64_t ns)
{
	(void)context;
	(void)track;
	(void)ns;
}

static void take_begin(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns)
{
	(void)context;
	(void)base_ns;
	ck_assert_uint_le(first_ns, last_ns);
}

static const char *windows_of(struct process *process, const char *steps)
{
	const struct timeline_filter filter = {.tracks = TIMELINE_STEPS};
	const struct track_sink sink = {.track = take_track,
		.slice = take_slice,
		.slice_end = take_end,
		.begin = take_begin};

	windows.nr_bytes = 0;
	ck_assert_str_eq(chosen_by(process, steps, ""), "");
	tracks_walk(&process, 1, &filter, &sink);
	buf_char(&windows, '\0');
	return windows.bytes;
}

START_TEST(windows_are_cut_to_the_steps)
{
	struct process *process = two_windows("windows.gprof");

	ck_assert_str_eq(windows_of(process, "3"), "window 1: 100; ");
	ck_assert_str_eq(windows_of(process, "1,6"),
		"closed, after window 0: 1; ready for window 0: 99; "
		"closed, after window 1: 1; window 2: 99; ");
	ck_assert_str_eq(windows_of(process, "4"), "window 1: 1; closed, after window 1: 99; ");
	buf_fini(&windows);
	chosen_end(process);
}
END_TEST

static uint64_t duration_of(struct process *process)
{
	struct table *table = select_table(&process, 1);
	uint64_t duration_ns = tables_number(table, 0, "duration_ns");

	table_destroy(table);
	return duration_ns;
}

START_TEST(windows_of_the_schedule)
{
	struct process *process = two_windows("windows.gprof");

	ck_assert_str_eq(chosen_by(process, "", "3"), "--window: there are windows 1-2");
	ck_assert_str_eq(chosen_by(process, "", "1"), "");
	chosen_see(process);
	for (unsigned int i = 0; i < 9; i++) {
		ck_assert_uint_eq(chosen.calls[100 * i + 50], i == 2 || i == 3);
		ck_assert_int_eq(select_has_step(process, i), i == 2 || i == 3);
	}
	ck_assert_str_eq(chosen_by(process, "", "2"), "");
	chosen_see(process);
	for (unsigned int i = 0; i < 9; i++) {
		ck_assert_uint_eq(chosen.calls[100 * i + 50], i >= 6);
	}
	ck_assert_uint_eq(duration_of(process), 852 - 601); /* open: to the end of the last call */
	ck_assert_str_eq(chosen_by(process, "", "1-2"), "");
	ck_assert_uint_eq(duration_of(process), 401 - 201 + 852 - 601);
	ck_assert_str_eq(chosen_by(process, "3,7", "1-2"), "");
	chosen_see(process);
	for (unsigned int i = 0; i < 9; i++) {
		ck_assert_uint_eq(chosen.calls[100 * i + 50], i == 3 || i == 7);
	}
	ck_assert_str_eq(
		chosen_by(process, "3", "2"), "--steps and --window select no common step");
	chosen_end(process);
}
END_TEST

UNIT_SUITE("report/select", work_goes_with_its_launch_and_ends_with_their_begin,
	a_step_without_an_end_is_none, a_view_may_take_all, without_steps_there_is_one_sentence,
	steps_of_no_length_have_nothing, windows_of_the_schedule, timelines_have_the_window,
	windows_are_cut_to_the_steps)
