/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/target.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "test/unit/unit.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Somebody has cancelled this thread, which has not come to a place where it may be yet. */
static void *pause_once(void *is_through)
{
	pthread_cancel(pthread_self());
	target_pause(1000);
	*(bool *)is_through = true;
	pthread_testcancel();
	return NULL;
}

START_TEST(no_thread_is_cancelled_in_a_pause)
{
	bool is_through = false;
	pthread_t thread;
	void *result;

	ck_assert_int_eq(pthread_create(&thread, NULL, pause_once, &is_through), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert(is_through);
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);
}
END_TEST

START_TEST(a_pause_lasts_and_keeps_errno)
{
	uint64_t begin = now_ns();

	errno = ERANGE;
	target_pause(5000000);
	ck_assert_int_eq(errno, ERANGE);
	ck_assert_uint_ge(now_ns() - begin, 5000000);
}
END_TEST

START_TEST(cancellation_is_held_and_given_back)
{
	int before = target_hold_cancellation(), state;

	ck_assert_int_eq(before, PTHREAD_CANCEL_ENABLE);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	ck_assert_int_eq(state, PTHREAD_CANCEL_DISABLE);
	target_release_cancellation(&before);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	ck_assert_int_eq(state, PTHREAD_CANCEL_ENABLE);
}
END_TEST

static int spoil(int *inside)
{
	TARGET_LEAVE_ALONE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, inside);
	errno = ENOENT;
	return errno;
}

START_TEST(a_block_leaves_the_target_alone)
{
	int inside = -1, behind = -1;

	errno = ERANGE;
	ck_assert_int_eq(spoil(&inside), ENOENT);
	ck_assert_int_eq(errno, ERANGE);
	ck_assert_int_eq(inside, PTHREAD_CANCEL_DISABLE);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &behind);
	ck_assert_int_eq(behind, PTHREAD_CANCEL_ENABLE);
}
END_TEST

UNIT_SUITE("target", no_thread_is_cancelled_in_a_pause, a_pause_lasts_and_keeps_errno,
	cancellation_is_held_and_given_back, a_block_leaves_the_target_alone)
