/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/format/block.h"
#include "test/unit/unit.h"

START_TEST(raw_clock_never_goes_back)
{
	uint64_t before;

	clock_init(NULL);
	before = clock_raw();
	for (int i = 0; i < 100000; i++) {
		uint64_t now = clock_raw();

		ck_assert_uint_ge(now, before);
		before = now;
	}
}
END_TEST

START_TEST(a_stream_has_no_time_before_its_clock)
{
	uint64_t before, after;

	clock_init(NULL); /* finds the counter */
	before = clock_raw();
	clock_init(NULL);
	after = clock_raw();
	ck_assert_uint_ge(clock_raw_of_stream(before), before);
	ck_assert_uint_le(clock_raw_of_stream(before), after);
	ck_assert_uint_eq(clock_raw_of_stream(0), clock_raw_of_stream(before));
	ck_assert_uint_eq(clock_raw_of_stream(after), after);
}
END_TEST

START_TEST(anchor_reads_all_clocks_close_together)
{
	struct clock_anchor one, two;
	struct timespec pause = {.tv_nsec = 20000000};
	int64_t drift_ns;

	clock_init(NULL);
	one = clock_take_anchor();
	nanosleep(&pause, NULL);
	two = clock_take_anchor();
	ck_assert_uint_gt(two.raw, one.raw);
	ck_assert_uint_ge(two.monotonic_ns - one.monotonic_ns, 20000000);
	ck_assert_uint_lt(one.error_ns, 100000000);
	drift_ns = (int64_t)(two.realtime_ns - one.realtime_ns) -
		   (int64_t)(two.monotonic_ns - one.monotonic_ns);
	/* As close as the clocks could be read beside other work. */
	ck_assert_int_le(llabs(drift_ns), 10000000 + (int64_t)(one.error_ns + two.error_ns));
}
END_TEST

START_TEST(ticks_are_nanoseconds_within_a_percent)
{
	struct block_ticks ticks;
	struct timespec pause = {.tv_nsec = 100000000};
	struct clock_anchor one, two;
	uint64_t ns, nr_ticks, error_ns;

	clock_init(NULL);
	ticks.mult = clock_calibrate();
	ticks.base = clock_raw();
	one = clock_take_anchor();
	nanosleep(&pause, NULL);
	two = clock_take_anchor();
	ns = two.monotonic_ns - one.monotonic_ns;
	nr_ticks = block_tick(&ticks, two.raw) - block_tick(&ticks, one.raw);
	error_ns = ns / 100 + one.error_ns + two.error_ns;
	ck_assert_uint_ge(nr_ticks, ns - error_ns);
	ck_assert_uint_le(nr_ticks, ns + error_ns);
}
END_TEST

static int clock_that_stands_still(clockid_t id, struct timespec *now)
{
	(void)id;
	*now = (struct timespec){.tv_sec = 1000000000};
	return 0;
}

START_TEST(nobody_waits_for_a_clock_that_stands_still)
{
	clock_init(clock_that_stands_still);
	ck_assert_uint_eq(clock_calibrate(), (uint64_t)1 << 32);
	clock_init(NULL);
}
END_TEST

START_TEST(ticks_hold_for_a_year)
{
	/* a counter of 3 GHz: 2^32 / 3 */
	struct block_ticks ticks = {.base = 12345, .mult = 1431655765};
	uint64_t year_ns = (uint64_t)365 * 86400 * 1000000000u;
	uint64_t tick = block_tick(&ticks, ticks.base + year_ns * 3);

	ck_assert_uint_ge(tick, year_ns - year_ns / 1000000);
	ck_assert_uint_le(tick, year_ns + year_ns / 1000000);
}
END_TEST

START_TEST(name_says_which_clock_it_is)
{
	clock_init(NULL);
	if (!clock_has_counter) {
		ck_assert_str_eq(clock_name(), "monotonic");
		ck_assert_uint_eq(clock_calibrate(), (uint64_t)1 << 32);
		return;
	}
#if defined(__aarch64__)
	ck_assert_str_eq(clock_name(), "cntvct");
#else
	ck_assert_str_eq(clock_name(), "tsc");
#endif
}
END_TEST

/* Two clocks of one time. Reading the other one is interrupted, but for the fifth time. */
static uint64_t time_now, nr_readings;

static uint64_t our_clock(void)
{
	return time_now += 10;
}

static uint64_t other_clock(void)
{
	uint64_t time = time_now + 1000000;

	time_now += ++nr_readings == 5 ? 10 : 5000;
	return time;
}

START_TEST(of_two_clocks_the_quickest_reading_counts)
{
	struct clock_pair pair = clock_read_pair(our_clock, other_clock);

	ck_assert_uint_eq(pair.apart, 20);
	ck_assert_uint_eq(pair.theirs - pair.ours, 1000000 - 10);
	ck_assert_uint_gt(nr_readings, 5);
}
END_TEST

UNIT_SUITE("clock", raw_clock_never_goes_back, a_stream_has_no_time_before_its_clock,
	anchor_reads_all_clocks_close_together, ticks_are_nanoseconds_within_a_percent,
	nobody_waits_for_a_clock_that_stands_still, ticks_hold_for_a_year,
	name_says_which_clock_it_is, of_two_clocks_the_quickest_reading_counts)
