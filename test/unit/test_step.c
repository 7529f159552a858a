/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/step/step.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "collector/collector.h"
#include "collector/util/config.h"
#include "collector/util/notice.h"
#include "collector/ring/correlation_ids.h"
#include "collector/step/step_reports.h"
#include "collector/stream/batch.h"
#include "collector/step/window.h"
#include "collector/util/loss.h"
#include "collector/util/memory.h"
#include "test/unit/unit.h"

/* What the rings got, as text: "s3" a step row, "w1:R" a window row. */
static char rows[4096];
static uint64_t last_end;     /* of the step rows */
static unsigned int nr_falls; /* steps that ended before the one before them */

static uint32_t find_call(const char *name)
{
	return !strcmp(name, "cudaDeviceSynchronize") ? 42 : 0;
}

static void see(void *context, struct ring_thread *thread, const struct gprof_row_head *head)
{
	size_t used = strlen(rows);

	(void)context;
	(void)thread;
	if (head->table == GPROF_TABLE_step) {
		const struct gprof_row_step *row = (const struct gprof_row_step *)head;

		snprintf(rows + used, sizeof(rows) - used, "s%u ", (unsigned int)row->step);
		nr_falls += row->time < last_end;
		last_end = row->time;
	} else if (head->table == GPROF_TABLE_window) {
		const struct gprof_row_window *row = (const struct gprof_row_window *)head;

		snprintf(rows + used, sizeof(rows) - used, "w%u:%c ", row->window,
			"-rR"[row->state]);
	}
}

static const char *written(void)
{
	rows[0] = 0;
	ring_read(see, NULL);
	ring_release();
	return rows;
}

static void start(const char *step, const char *schedule, const char *capture)
{
	setenv("GPROF_STEP", step, 1);
	setenv("GPROF_SCHEDULE", schedule, 1);
	setenv("GPROF_CAPTURE", capture, 1);
	config_init();
	clock_init(NULL);
	ck_assert_int_eq(ring_start(NULL, 1, 1 << 20), 0);
	step_init(find_call);
	collector_mode = 0;
	step_start();
}

START_TEST(schedule_opens_and_closes_windows_as_steps_go_by)
{
	char modes[32] = "";

	start("auto", "skip_first=3,closed=2,ready=1,record=3", "none");
	for (int step = 0; step < 20; step++) {
		modes[step] = collector_mode & COLLECTOR_RECORD ? 'R' : '-';
		step_mark(GPROF_STEP_CALL);
	}
	ck_assert_str_eq(modes, "------RRR---RRR---RR");
	ck_assert_str_eq(written(), "w0:- s0 s1 s2 s3 s4 s5 w0:r s6 w1:R s7 s8 s9 w1:- s10 s11 "
				    "w1:r s12 w2:R s13 s14 s15 "
				    "w2:- s16 s17 w2:r s18 w3:R s19 s20 ");
}
END_TEST

START_TEST(only_the_rule_in_force_ends_steps)
{
	start("nvtx:train step", "all", "none");
	step_mark(GPROF_STEP_CALL);
	step_mark(GPROF_STEP_API);
	ck_assert_str_eq(written(), "w1:R s0 ");
	step_mark(GPROF_STEP_NVTX);
	ck_assert_str_eq(written(), "s1 ");
	ck_assert(step_is_range("train step", 10));
	ck_assert(!step_is_range("train step 2", 12));
	ck_assert(!step_is_range("train", 5));
}
END_TEST

START_TEST(names_of_ranges_are_compared_to_their_end)
{
	char rule[800];

	snprintf(rule, sizeof(rule), "nvtx:%0700d", 1);
	start(rule, "all", "none");
	ck_assert(step_is_range(rule + 5, 700));
	ck_assert(!step_is_range(rule + 5, 699));
	ck_assert(!step_is_range(rule + 5, 255));
}
END_TEST

START_TEST(no_step_ends_before_it_begins)
{
	uint64_t now;

	start("auto", "all", "none");
	now = clock_raw();
	step_range("Optimizer.step#SGD.step", 0, 0);
	step_range("Optimizer.step#SGD.step", now + 1000, now + 2000);
	step_range("Optimizer.step#SGD.step", now + 1100, now + 1200);
	step_range("Optimizer.step#SGD.step", now + 3000, now + 4000);
	nr_falls = 0;
	last_end = 0;
	ck_assert_str_eq(written(), "w1:R s0 s1 s2 s3 s4 ");
	ck_assert_uint_eq(nr_falls, 0);
	ck_assert_uint_eq(last_end, now + 4000);
}
END_TEST

START_TEST(without_steps_there_is_one_window_and_no_step_row)
{
	start("none", "all", "none");
	step_mark(GPROF_STEP_CALL);
	ck_assert_str_eq(written(), "w1:R ");
}
END_TEST

START_TEST(api_rule_tells_hooks_which_call_to_look_for)
{
	start("api:cudaDeviceSynchronize", "all", "none");
	ck_assert_uint_eq(collector_step_call, 42);
	ck_assert_uint_eq(collector_mode, COLLECTOR_RECORD | COLLECTOR_STEP_API);
	step_mark(GPROF_STEP_API);
	ck_assert_str_eq(written(), "w1:R s0 s1 ");
}
END_TEST

START_TEST(api_rule_stays_on_while_closed)
{
	start("api:cudaDeviceSynchronize", "2-3", "none");
	ck_assert_uint_eq(collector_mode, COLLECTOR_STEP_API);
}
END_TEST

START_TEST(kernel_rule_is_a_regular_expression)
{
	start("kernel:^adam.*(step|update)", "5-6", "none");
	ck_assert(step_is_kernel("adam_update_kernel"));
	ck_assert(!step_is_kernel("gemm_adam_update"));
	ck_assert(!step_is_kernel(NULL));
	ck_assert(step_wants_activity()); /* closed, but kernels must be seen */
}
END_TEST

START_TEST(kernel_rule_may_repeat)
{
	start("kernel:^gemm.{1,1000}_x[0-9]{2}$", "5-6", "none");
	ck_assert(step_is_kernel("gemm_128_x64"));
}
END_TEST

START_TEST(interval_rule_has_its_milliseconds)
{
	start("interval:250", "all", "none");
	ck_assert_uint_eq(step_interval_ms(), 250);
}
END_TEST

START_TEST(wrong_rules_and_schedules_become_notices_and_defaults)
{
	char deep[256] = "kernel:";
	const char *const rules[] = {"api:noSuchCall", "nvtx:", "interval:0", "interval:x",
		"kernel:(", deep,
		/* a million copies of a state, and more than a gigabyte */
		"kernel:(((a{1,100}){1,100}){1,100})", "sometimes", ""};
	struct notice notice;

	/* The C library recurses for each level, so hundreds of them exceed the drain's stack. */
	memset(deep + strlen(deep), '(', 100);
	memset(deep + strlen(deep), ')', 100);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		setenv("GPROF_STEP", rules[i], 1);
		setenv("GPROF_SCHEDULE", "all", 1);
		config_init();
		step_init(find_call);
		ck_assert_msg(notice_take(&notice), "%s", rules[i]);
		ck_assert_str_eq(notice.cause, "wrong setting");
		ck_assert(!notice_take(&notice));
	}
	start("auto", "4-2", "none");
	ck_assert(notice_take(&notice));
	ck_assert_ptr_nonnull(strstr(notice.text, "GPROF_SCHEDULE=4-2"));
	ck_assert_uint_eq(collector_mode, COLLECTOR_RECORD);
}
END_TEST

START_TEST(capture_opens_windows_between_start_and_stop)
{
	start("auto", "all", "cudaprofiler");
	ck_assert_uint_eq(collector_mode, 0);
	step_capture(true);
	ck_assert_uint_eq(collector_mode, COLLECTOR_RECORD);
	step_capture(false);
	step_capture(true);
	step_capture(true);
	step_capture(false);
	ck_assert_str_eq(written(), "w0:r s0 w1:R w1:r w2:R w2:r ");
}
END_TEST

START_TEST(capture_calls_count_only_where_they_were_asked_for)
{
	start("auto", "all", "none");
	step_capture(false);
	ck_assert_uint_eq(collector_mode, COLLECTOR_RECORD);
}
END_TEST

START_TEST(timer_only_records_steps_and_nothing_else)
{
	setenv("GPROF_TIMER_ONLY", "1", 1);
	start("auto", "all", "none");
	ck_assert_uint_eq(collector_mode, 0);
	ck_assert(!step_wants_activity());
	step_mark(GPROF_STEP_CALL);
	ck_assert_str_eq(written(), "w1:R s0 s1 ");
}
END_TEST

START_TEST(late_records_are_told_by_the_window_of_their_call)
{
	start("auto", "1-2", "none");
	correlation_ids_saw(10);
	ck_assert(!step_is_recorded(10));
	step_mark(GPROF_STEP_CALL); /* step 1: recorded */
	correlation_ids_saw(11);
	correlation_ids_saw(20);
	ck_assert(step_is_recorded(11));
	step_mark(GPROF_STEP_CALL); /* step 2: closed */
	correlation_ids_saw(21);
	ck_assert(!step_is_recorded(10));
	ck_assert(step_is_recorded(11));
	ck_assert(step_is_recorded(20));
	ck_assert(!step_is_recorded(21));
}
END_TEST

START_TEST(correlation_ids_may_wrap_within_a_window)
{
	start("auto", "1-2", "none");
	correlation_ids_saw(0x7ffffff0u);
	correlation_ids_saw(0xffffffe0u);
	correlation_ids_saw(0xfffffff0u);
	step_mark(GPROF_STEP_CALL);
	correlation_ids_saw(0xfffffffeu);
	correlation_ids_saw(5);
	step_mark(GPROF_STEP_CALL);
	correlation_ids_saw(6);
	ck_assert(!step_is_recorded(0xfffffff0u));
	ck_assert(step_is_recorded(0xfffffff1u));
	ck_assert(step_is_recorded(0));
	ck_assert(step_is_recorded(5));
	ck_assert(!step_is_recorded(6));
}
END_TEST

static void make_windows(uint32_t nr, uint32_t first)
{
	for (uint32_t i = 0; i < nr; i++) {
		window_open();
		correlation_ids_saw(first + 2 * i);
		window_close();
		correlation_ids_saw(first + 2 * i + 1);
	}
}

START_TEST(no_window_is_forgotten_before_two_flushes)
{
	window_init();
	correlation_ids_saw(10);
	make_windows(100000, 11);
	ck_assert_uint_eq(window_newest(), 100000);
	window_flush_begins();
	for (uint32_t i = 0; i < 100000; i++) {
		ck_assert(window_has(11 + 2 * i));
		ck_assert(!window_has(12 + 2 * i));
	}
	/* Between the two, their records arrive; some thousand remain for those that run on. */
	window_flush_begins();
	ck_assert_uint_eq(loss_take(LOSS_LATE), 0);
	ck_assert(!window_has(11));
	ck_assert_uint_eq(loss_take(LOSS_LATE), 1);
	ck_assert(window_has(11 + 2 * (100000 - WINDOW_NR_KEPT)));
	make_windows(100000, 11 + 200000);
	for (uint32_t i = 100000 - WINDOW_NR_KEPT; i < 200000; i++) {
		ck_assert(window_has(11 + 2 * i));
		ck_assert(!window_has(12 + 2 * i));
	}
}
END_TEST

START_TEST(more_windows_than_there_is_room_for_become_one)
{
	window_init();
	correlation_ids_saw(10);
	make_windows(300000, 11);
	for (uint32_t i = 0; i < 300000; i += 7) {
		ck_assert(window_has(11 + 2 * i));
	}
	ck_assert_uint_eq(window_newest(), 300000);
	window_init();
}
END_TEST

START_TEST(without_memory_for_windows_all_records_count)
{
	struct rlimit before, none = {0, RLIM_INFINITY};

	window_init();
	ck_assert(!window_has(5));
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
	none.rlim_max = before.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
	if (memory_map(1)) {
		return; /* qemu knows no such limit */
	}
	window_open();
	window_close();
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
	ck_assert(window_has(5));
}
END_TEST

START_TEST(windows_may_be_longer_than_ids_have_bits)
{
	window_init();
	correlation_ids_saw(100);
	window_open();
	for (uint64_t id = 101; id < 3ull << 32; id += 0x3fffffff) {
		correlation_ids_saw((uint32_t)id);
		ck_assert(window_has((uint32_t)id));
		ck_assert(window_has((uint32_t)id - 1000) == (id > 1100));
		/* Another thread is late. */
		correlation_ids_saw((uint32_t)id - 5);
		ck_assert(window_has((uint32_t)id));
	}
	ck_assert_uint_eq(correlation_ids_newest() >> 32, 2);
}
END_TEST

START_TEST(ids_that_nobody_saw_are_older)
{
	static const uint32_t next[] = {1000, 5000, 900, 0x70000000, 0x60000000, 3};

	window_init();
	for (size_t i = 0; i < sizeof(next) / sizeof(next[0]); i++) {
		correlation_ids_missed();
		window_open();
		correlation_ids_saw(next[i]);
		correlation_ids_saw(next[i] + 10);
		correlation_ids_saw(next[i] - 2);
		window_close();
		ck_assert(window_has(next[i]));
		ck_assert(window_has(next[i] + 10));
		ck_assert(!window_has(next[i] + 11));
	}
}
END_TEST

START_TEST(commands_hold_in_place_of_schedule_and_capture)
{
	start("auto", "4-6", "cudaprofiler");
	step_command(0, STEP_NO_END);
	ck_assert_uint_eq(collector_mode, COLLECTOR_RECORD);
	step_capture(false);
	ck_assert_uint_eq(collector_mode, COLLECTOR_RECORD);
	step_mark(GPROF_STEP_CALL);
	step_command(1, 1);
	ck_assert_uint_eq(collector_mode, 0);
	step_capture(true);
	for (int step = 1; step < 8; step++) {
		step_mark(GPROF_STEP_CALL);
	}
	ck_assert_str_eq(written(), "w0:- s0 w1:R s1 w1:- s2 s3 s4 s5 s6 s7 s8 ");
	step_command(10, 12);
	for (int step = 8; step < 14; step++) {
		step_mark(GPROF_STEP_CALL);
	}
	ck_assert_str_eq(written(), "s9 w1:r s10 w2:R s11 s12 w2:- s13 s14 ");
}
END_TEST

START_TEST(late_records_are_told_apart_once_there_was_a_command)
{
	start("auto", "all", "none");
	correlation_ids_saw(5);
	ck_assert(step_is_recorded(5));
	step_command(1, 1);
	correlation_ids_saw(6);
	ck_assert(step_is_recorded(5));
	ck_assert(!step_is_recorded(6));
	step_command(0, STEP_NO_END);
	correlation_ids_saw(7);
	ck_assert(!step_is_recorded(6));
	ck_assert(step_is_recorded(7));
}
END_TEST

START_TEST(activity_is_wanted_before_the_window_of_a_command_opens)
{
	start("auto", "1000000-1000001", "none");
	ck_assert(!step_wants_activity());
	step_prepare(1, 1);
	step_prepare(50, 60);
	ck_assert(!step_wants_activity());
	step_prepare(0, STEP_NO_END);
	ck_assert(step_wants_activity());
	ck_assert(!step_is_open());
	step_command(0, STEP_NO_END);
	ck_assert(step_wants_activity());
	step_command(1, 1);
	ck_assert(!step_wants_activity());
}
END_TEST

/*
 * What another thread does in the very moment that a window opens or closes: it finds the one that
 * sets the state in the midst of it, and does not wait. Here it is the same thread, by the linker's
 * --wrap.
 */
static void (*meanwhile)(void);

void __real_window_open(void);
void __real_window_close(void);
void __wrap_window_open(void);
void __wrap_window_close(void);

static void do_meanwhile(void)
{
	void (*what)(void) = meanwhile;

	meanwhile = NULL;
	if (what) {
		what();
	}
}

void __wrap_window_open(void)
{
	__real_window_open();
	do_meanwhile();
}

void __wrap_window_close(void)
{
	__real_window_close();
	do_meanwhile();
}

static void command_on(void)
{
	step_command(0, STEP_NO_END);
}

static void command_off(void)
{
	step_command(1, 1);
}

START_TEST(command_stands_that_comes_while_a_step_opens_the_window)
{
	start("auto", "1-3", "none");
	written();
	meanwhile = command_off;
	step_mark(GPROF_STEP_CALL);
	ck_assert_ptr_null(meanwhile);
	ck_assert(!step_is_open());
	ck_assert_uint_eq(collector_mode, 0);
	ck_assert_str_eq(written(), "s1 w1:R w1:- ");
}
END_TEST

START_TEST(command_stands_that_comes_while_a_step_closes_the_window)
{
	start("auto", "0-1", "none");
	written();
	meanwhile = command_on;
	step_mark(GPROF_STEP_CALL);
	ck_assert_ptr_null(meanwhile);
	ck_assert(step_is_open());
	ck_assert_uint_eq(collector_mode, COLLECTOR_RECORD);
	ck_assert_str_eq(written(), "s1 w1:- w2:R ");
}
END_TEST

/* Threads that report the end of a step while another one is at work on one. */
static int nr_late;

static void *report_late(void *ignored)
{
	uint64_t now = clock_raw();

	(void)ignored;
	for (int i = 0; i < nr_late; i++) {
		step_range("Optimizer.step#SGD.step", now + 1 + 2 * (uint64_t)i,
			now + 2 + 2 * (uint64_t)i);
	}
	return NULL;
}

/* That thread waits for none of them, and lets them wait as long as it has no core. */
static void have_no_core(void)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, report_late, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

START_TEST(no_end_of_a_step_is_missed_while_another_thread_reports_one)
{
	start("auto", "skip_first=1,record=1000", "none");
	written();
	nr_late = 3;
	meanwhile = have_no_core;
	step_range("Optimizer.step#SGD.step", 1, 2);
	ck_assert_ptr_null(meanwhile);
	ck_assert_str_eq(written(), "s1 w1:R s2 s3 s4 ");
}
END_TEST

static void *call_once(void *ignored)
{
	step_mark(GPROF_STEP_CALL);
	return ignored;
}

static void have_call(void)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, call_once, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* The range has ended the step of the first call; no range ends one after it. */
START_TEST(call_of_the_program_counts_once_beside_a_range_of_another_thread)
{
	start("auto", "skip_first=1,record=1000", "none");
	written();
	meanwhile = have_call;
	step_range("Optimizer.step#SGD.step", 1, 2);
	step_range("Optimizer.step#SGD.step", 3, 4);
	ck_assert_str_eq(written(), "s1 w1:R ");
	step_mark(GPROF_STEP_CALL);
	ck_assert_str_eq(written(), "s2 ");
}
END_TEST

static void have_period(void)
{
	step_found(5, 80);
}

START_TEST(step_by_the_period_is_not_missed_while_another_thread_is_at_work)
{
	start("auto", "skip_first=1,record=1000", "none");
	written();
	meanwhile = have_period;
	step_found(4, 80);
	ck_assert_ptr_null(meanwhile);
	ck_assert_str_eq(written(), "s1 w1:R s2 ");
}
END_TEST

START_TEST(ends_of_steps_that_have_no_room_are_counted)
{
	struct notice notice;

	start("auto", "skip_first=1,record=1000", "none");
	while (notice_take(&notice)) {
	}
	ck_assert_int_eq(batch_init(), 0);
	nr_late = STEP_REPORTS_MAX + 2;
	meanwhile = have_no_core;
	step_range("Optimizer.step#SGD.step", 1, 2);
	step_add_facts(true);
	ck_assert_uint_eq(step_now(), 1 + STEP_REPORTS_MAX);
	ck_assert(notice_take(&notice));
	ck_assert_str_eq(notice.cause, "steps lost");
	ck_assert_ptr_nonnull(strstr(notice.text, "2 ranges or calls that may end steps"));
	step_add_facts(true);
	ck_assert(!notice_take(&notice));
}
END_TEST

UNIT_SUITE("step", schedule_opens_and_closes_windows_as_steps_go_by,
	only_the_rule_in_force_ends_steps, names_of_ranges_are_compared_to_their_end,
	no_step_ends_before_it_begins, without_steps_there_is_one_window_and_no_step_row,
	api_rule_tells_hooks_which_call_to_look_for, api_rule_stays_on_while_closed,
	kernel_rule_is_a_regular_expression, kernel_rule_may_repeat,
	interval_rule_has_its_milliseconds, wrong_rules_and_schedules_become_notices_and_defaults,
	capture_opens_windows_between_start_and_stop,
	capture_calls_count_only_where_they_were_asked_for,
	timer_only_records_steps_and_nothing_else,
	late_records_are_told_by_the_window_of_their_call, correlation_ids_may_wrap_within_a_window,
	no_window_is_forgotten_before_two_flushes, more_windows_than_there_is_room_for_become_one,
	without_memory_for_windows_all_records_count, windows_may_be_longer_than_ids_have_bits,
	ids_that_nobody_saw_are_older, commands_hold_in_place_of_schedule_and_capture,
	late_records_are_told_apart_once_there_was_a_command,
	activity_is_wanted_before_the_window_of_a_command_opens,
	command_stands_that_comes_while_a_step_opens_the_window,
	no_end_of_a_step_is_missed_while_another_thread_reports_one,
	ends_of_steps_that_have_no_room_are_counted,
	call_of_the_program_counts_once_beside_a_range_of_another_thread,
	step_by_the_period_is_not_missed_while_another_thread_is_at_work,
	command_stands_that_comes_while_a_step_closes_the_window)
