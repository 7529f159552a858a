/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/step/schedule.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test/unit/unit.h"

/* The recorded steps below `end`, as "4 5 6". */
static const char *recorded(const char *text, uint64_t end)
{
	static char steps[512];
	struct schedule schedule;
	size_t used = 0;

	steps[0] = 0;
	ck_assert_int_eq(schedule_parse(&schedule, text), 0);
	for (uint64_t step = 0; step < end; step++) {
		if (schedule_state(&schedule, step) == GPROF_WINDOW_RECORD) {
			used += (size_t)snprintf(steps + used, sizeof(steps) - used, "%s%u",
				used ? " " : "", (unsigned int)step);
		}
	}
	return steps;
}

/* One letter a step: - closed, r ready, R record. */
static const char *states(const char *text, uint64_t end)
{
	static char letters[128];
	struct schedule schedule;

	ck_assert_int_eq(schedule_parse(&schedule, text), 0);
	for (uint64_t step = 0; step < end; step++) {
		letters[step] = "-rR"[schedule_state(&schedule, step)];
	}
	letters[end] = 0;
	return letters;
}

START_TEST(cycle_of_six_after_three_records_steps_6_to_8_12_to_14_and_18_on)
{
	ck_assert_str_eq(
		recorded("skip_first=3,closed=2,ready=1,record=3", 20), "6 7 8 12 13 14 18 19");
	ck_assert_str_eq(
		states("skip_first=3,closed=2,ready=1,record=3", 20), "-----rRRR--rRRR--rRR");
}
END_TEST

START_TEST(range_4_to_10_records_steps_4_to_9_once)
{
	ck_assert_str_eq(recorded("4-10", 40), "4 5 6 7 8 9");
	ck_assert_str_eq(states("4-10", 12), "---rRRRRRR--");
}
END_TEST

START_TEST(pair_in_brackets_is_the_same_range)
{
	struct schedule schedule;
	static const char *const bad[] = {"(4,10", "(4,10)x", "(4-10)", "4,10", "(4,4)", "(,10)",
		"(4,)", "()", "(", "( 4,10)", "(4,  10)", "4-10)"};

	ck_assert_str_eq(states("(4,10)", 12), "---rRRRRRR--");
	ck_assert_str_eq(states("(3, 10)", 12), "--rRRRRRRR--");
	ck_assert_str_eq(states("(0,2)", 5), "RR---");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(schedule_parse(&schedule, bad[i]), -EINVAL);
	}
}
END_TEST

START_TEST(range_from_0_records_from_the_first_step)
{
	ck_assert_str_eq(states("0-2", 5), "RR---");
	ck_assert_str_eq(states("1-2", 5), "rR---");
}
END_TEST

START_TEST(all_records_every_step)
{
	struct schedule schedule;

	ck_assert_int_eq(schedule_parse(&schedule, "all"), 0);
	ck_assert_int_eq(schedule_state(&schedule, 0), GPROF_WINDOW_RECORD);
	ck_assert_int_eq(schedule_state(&schedule, UINT64_MAX), GPROF_WINDOW_RECORD);
}
END_TEST

START_TEST(steps_until_the_next_open_one_are_those_that_the_states_show)
{
	static const char *const texts[] = {"skip_first=3,closed=2,ready=1,record=3", "4-10", "0-2",
		"all", "closed=5,record=1,repeat=3", "skip_first=7,record=2,repeat=1"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct schedule schedule;

		ck_assert_int_eq(schedule_parse(&schedule, texts[i]), 0);
		for (uint64_t step = 0; step < 40; step++) {
			uint64_t wanted = 0;

			while (wanted < 100 &&
				schedule_state(&schedule, step + wanted) == GPROF_WINDOW_CLOSED) {
				wanted++;
			}
			wanted = wanted < 100 ? wanted : UINT64_MAX;
			ck_assert_uint_eq(schedule_until_open(&schedule, step), wanted);
		}
	}
}
END_TEST

START_TEST(wait_warmup_and_active_are_synonyms)
{
	struct schedule ours, theirs;

	ck_assert_int_eq(
		schedule_parse(&ours, "skip_first=1,closed=2,ready=3,record=4,repeat=5"), 0);
	ck_assert_int_eq(
		schedule_parse(&theirs, "repeat=5,active=4,warmup=3,wait=2,skip_first=1"), 0);
	ck_assert_mem_eq(&ours, &theirs, sizeof(ours));
}
END_TEST

START_TEST(repeat_ends_after_so_many_cycles)
{
	ck_assert_str_eq(states("closed=1,record=1,repeat=2", 8), "-R-R----");
	ck_assert_str_eq(states("closed=1,record=1,repeat=0", 8), "-R-R-R-R");
}
END_TEST

START_TEST(span_is_the_range_of_that_text_and_an_empty_one_records_nothing)
{
	struct schedule parsed, span = schedule_span(4, 10);

	ck_assert_int_eq(schedule_parse(&parsed, "4-10"), 0);
	ck_assert_mem_eq(&parsed, &span, sizeof(span));
	span = schedule_span(7, 7);
	for (uint64_t step = 0; step < 20; step++) {
		ck_assert_int_eq(schedule_state(&span, step), GPROF_WINDOW_CLOSED);
		ck_assert(schedule_until_open(&span, step) > 1000000);
	}
	span = schedule_span(0, SCHEDULE_NO_END);
	ck_assert_int_eq(schedule_state(&span, UINT32_MAX), GPROF_WINDOW_RECORD);
}
END_TEST

START_TEST(what_is_not_a_schedule_is_refused)
{
	static const char *const texts[] = {"", " ", "All", "4", "4-", "-4", "10-4", "4-4", "4-10x",
		"record", "record=", "record=x", "record=0", "closed=2", "record=3,",
		"record=3,,ready=1", "record=3;ready=1", "records=3", "record=-1",
		"record=999999999999999999999999", "record=281474976710656", "4-281474976710656"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct schedule schedule;

		ck_assert_msg(schedule_parse(&schedule, texts[i]) == -EINVAL, "'%s'", texts[i]);
	}
}
END_TEST

START_TEST(largest_numbers_do_not_overflow)
{
	struct schedule schedule;

	ck_assert_int_eq(
		schedule_parse(&schedule, "skip_first=281474976710655,closed=281474976710655,"
					  "ready=281474976710655,record=281474976710655"),
		0);
	ck_assert_int_eq(schedule_state(&schedule, 281474976710654), GPROF_WINDOW_CLOSED);
	ck_assert_int_eq(schedule_state(&schedule, 3u * 281474976710655u), GPROF_WINDOW_RECORD);
}
END_TEST

UNIT_SUITE("schedule", steps_until_the_next_open_one_are_those_that_the_states_show,
	cycle_of_six_after_three_records_steps_6_to_8_12_to_14_and_18_on,
	range_4_to_10_records_steps_4_to_9_once, range_from_0_records_from_the_first_step,
	pair_in_brackets_is_the_same_range, all_records_every_step,
	wait_warmup_and_active_are_synonyms, repeat_ends_after_so_many_cycles,
	what_is_not_a_schedule_is_refused,
	span_is_the_range_of_that_text_and_an_empty_one_records_nothing,
	largest_numbers_do_not_overflow)
