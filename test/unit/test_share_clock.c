/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/cupti/share_clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "collector/util/clock.h"
#include "test/unit/unit.h"

/* Clocks of a client: the CPU's counter of 2.8 GHz, and one that is nearly ours. */
static uint64_t read_fast(void)
{
	return (uint64_t)((unsigned __int128)clock_realtime_ns() * 14 / 5 - 3000000000000000000u);
}

static uint64_t read_near(void)
{
	return clock_realtime_ns() - 3600000000000u;
}

static uint64_t read_later(void)
{
	return clock_realtime_ns() + 3600000000000u;
}

static void pause_ms(long ms)
{
	const struct timespec t = {.tv_nsec = ms * 1000000};

	nanosleep(&t, NULL);
}

static uint64_t far(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

START_TEST(without_a_client_times_stay)
{
	share_clock_look();
	ck_assert_uint_eq(share_clock_time(123), 123);
	ck_assert_uint_eq(share_clock_time(0), 0);
}
END_TEST

/* Within, before and behind the pairs, also after hundreds of them; 20 us for a busy machine. */
START_TEST(times_of_the_client_become_ours)
{
	uint64_t theirs[40], ours[40], worst = 0;

	share_clock_set(read_fast);
	for (int i = 0; i < 40; i++) {
		ours[i] = clock_realtime_ns();
		theirs[i] = (uint64_t)((unsigned __int128)ours[i] * 14 / 5 - 3000000000000000000u);
		pause_ms(3);
		for (int n = 0; n < 10; n++) {
			share_clock_look();
		}
	}
	for (int i = 0; i < 40; i++) {
		uint64_t error = far(share_clock_time(theirs[i]), ours[i]);

		worst = error > worst ? error : worst;
	}
	ck_assert_uint_lt(worst, 20000);
	/* A second ahead, as of a kernel that still runs when its record is made. */
	ck_assert_uint_lt(
		far(share_clock_time(theirs[39] + 2800000000u), ours[39] + 1000000000u), 5000000);
}
END_TEST

START_TEST(times_in_the_old_clock_stay)
{
	uint64_t now;

	share_clock_set(read_fast);
	pause_ms(2);
	share_clock_look();
	now = clock_realtime_ns();
	ck_assert_uint_eq(share_clock_time(now), now);
	ck_assert_uint_eq(share_clock_time(now - 60000000000u), now - 60000000000u);
	ck_assert_uint_eq(share_clock_time(0), 0);
}
END_TEST

START_TEST(the_clock_may_change_and_go)
{
	uint64_t now;

	share_clock_set(read_fast);
	share_clock_look();
	share_clock_set(read_near);
	pause_ms(2);
	share_clock_look();
	now = clock_realtime_ns();
	ck_assert_uint_lt(far(share_clock_time(now - 3600000000000u), now), 1000000);
	share_clock_set(NULL);
	share_clock_look();
	ck_assert_uint_eq(share_clock_time(77), 77);
}
END_TEST

/* A client that sets its clock anew for each of its sessions, between two looks. */
START_TEST(only_the_last_of_many_clocks_counts)
{
	uint64_t now;

	share_clock_set(read_fast);
	share_clock_look();
	for (int i = 0; i < 7; i++) {
		share_clock_set(i % 2 ? read_near : read_later);
	}
	share_clock_set(read_near);
	pause_ms(2);
	share_clock_look();
	now = clock_realtime_ns();
	/* The end of a kernel that still runs when CUPTI makes its record. */
	ck_assert_uint_lt(
		far(share_clock_time(now - 3600000000000u + 1000000000u), now + 1000000000u),
		5000000);
}
END_TEST

/* A thread of the client changes the clock at the worst moments of a reading of CUPTI's. */
static share_clock_fn cuptis = clock_realtime_ns;
static bool client_calls_meanwhile;

static void set_clock(share_clock_fn read)
{
	share_clock_change_begins();
	cuptis = read;
	share_clock_set(read);
	share_clock_change_ends();
}

static uint64_t read_cuptis(void)
{
	if (client_calls_meanwhile) {
		client_calls_meanwhile = false;
		set_clock(read_fast);
	}
	return cuptis();
}

START_TEST(a_pair_is_of_one_clock)
{
	struct clock_pair pair;

	set_clock(NULL);
	cuptis = clock_realtime_ns;
	share_clock_look();
	ck_assert(share_clock_read_pair(clock_realtime_ns, read_cuptis, &pair));
	ck_assert_uint_lt(far(pair.theirs, pair.ours), 1000000);
	/* Set, and nobody has looked since. */
	set_clock(read_near);
	ck_assert(share_clock_read_pair(clock_realtime_ns, read_cuptis, &pair));
	ck_assert_uint_lt(far(pair.theirs, pair.ours), 1000000);
	/* CUPTI has it already, and the client's thread has not said so. */
	share_clock_change_begins();
	cuptis = read_fast;
	ck_assert(!share_clock_read_pair(clock_realtime_ns, read_cuptis, &pair));
	share_clock_set(read_fast);
	share_clock_change_ends();
	ck_assert(share_clock_read_pair(clock_realtime_ns, read_cuptis, &pair));
	ck_assert_uint_lt(far(pair.theirs, pair.ours), 1000000);
	set_clock(read_later);
	client_calls_meanwhile = true;
	ck_assert(!share_clock_read_pair(clock_realtime_ns, read_cuptis, &pair));
	ck_assert(share_clock_read_pair(clock_realtime_ns, read_cuptis, &pair));
	ck_assert_uint_lt(far(pair.theirs, pair.ours), 1000000);
}
END_TEST

START_TEST(a_forked_child_has_no_change_going_on)
{
	struct clock_pair pair;

	set_clock(read_fast);
	share_clock_change_begins();
	ck_assert(!share_clock_read_pair(clock_realtime_ns, cuptis, &pair));
	share_clock_forget();
	ck_assert(share_clock_read_pair(clock_realtime_ns, cuptis, &pair));
	ck_assert_uint_lt(far(pair.theirs, pair.ours), 1000000);
}
END_TEST

/* One that moves only once in a while. */
static uint64_t read_coarse(void)
{
	return clock_realtime_ns() / 3600000000000u * 3600000000000u / 2;
}

START_TEST(a_clock_that_has_not_moved_yet_is_converted_too)
{
	uint64_t before = clock_realtime_ns(), time, after;

	set_clock(read_coarse);
	share_clock_look();
	after = clock_realtime_ns();
	time = share_clock_time(read_coarse());
	ck_assert_uint_ge(time, before - 1000000);
	ck_assert_uint_le(time, after + 1000000);
}
END_TEST

UNIT_SUITE("share_clock", without_a_client_times_stay, times_of_the_client_become_ours,
	times_in_the_old_clock_stay, the_clock_may_change_and_go,
	only_the_last_of_many_clocks_counts, a_pair_is_of_one_clock,
	a_forked_child_has_no_change_going_on, a_clock_that_has_not_moved_yet_is_converted_too)
