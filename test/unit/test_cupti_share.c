/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/cupti/cupti_share.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/cupti/client_kinds.h"
#include "collector/util/clock.h"
#include "collector/util/notice.h"
#include "test/unit/unit.h"

/* In place of CUPTI's side, which is there and accepts everything; what it was asked for. */
static bool is_live;
static atomic_uint nr_flushes, nr_settings, nr_yields;

bool __real_cupti_is_live(void);
bool __wrap_cupti_is_live(void)
{
	return is_live || __real_cupti_is_live();
}

bool __wrap_callback_start(void)
{
	return true;
}

void __wrap_callback_set_enabled(bool is_wanted)
{
	(void)is_wanted;
}

bool __wrap_cupti_probe_again(void)
{
	return true;
}

void __wrap_activity_start(uint64_t pool_bytes)
{
	(void)pool_bytes;
}

void __wrap_activity_set_enabled(bool is_wanted)
{
	(void)is_wanted;
}

void __wrap_activity_flush(bool is_last)
{
	(void)is_last;
	atomic_fetch_add(&nr_flushes, 1);
}

void __wrap_activity_set_ours(void)
{
	atomic_fetch_add(&nr_settings, 1);
}

void __wrap_activity_yield(void)
{
	atomic_fetch_add(&nr_yields, 1);
}

static void attach(void)
{
	clock_init(NULL);
	is_live = true;
	cupti_share_attach(1 << 20, true);
}

static void *set_types(void *stop)
{
	while (!atomic_load((atomic_bool *)stop)) {
		cupti_share_end_thread_id_type(0);
	}
	return NULL;
}

/* Whoever leaves CUPTI in the moment in which we look has not flushed for us. */
START_TEST(each_last_flush_comes_or_is_counted)
{
	const unsigned int nr = 200000;
	static atomic_bool stop;
	pthread_t thread;

	attach();
	ck_assert_int_eq(pthread_create(&thread, NULL, set_types, &stop), 0);
	while (!nr_settings) {
		usleep(1000);
	}
	for (unsigned int i = 0; i < nr; i++) {
		cupti_share_flush(true);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(nr_flushes + loss_take(LOSS_SHARED), nr);
}
END_TEST

static void *set_type(void *is_over)
{
	cupti_share_end_thread_id_type(0);
	atomic_store((atomic_bool *)is_over, true);
	return NULL;
}

START_TEST(our_settings_are_put_back_though_our_thread_is_in_cupti)
{
	static atomic_bool is_over;
	pthread_t thread;

	attach();
	ck_assert(cupti_share_begin_call());
	ck_assert_int_eq(pthread_create(&thread, NULL, set_type, &is_over), 0);
	for (int i = 0; i < 100 && !atomic_load(&is_over); i++) {
		usleep(1000);
	}
	cupti_share_end_call();
	pthread_join(thread, NULL);
	ck_assert_uint_eq(nr_settings, 1);
}
END_TEST

START_TEST(client_that_waited_in_vain_gets_the_turn_later)
{
	attach();
	ck_assert(cupti_share_begin_call()); /* for longer than any client waits */
	cupti_share_begin_enable(3, false, NULL);
	ck_assert_uint_eq(nr_yields, 0);
	cupti_share_end_call();
	cupti_share_set_enabled(true);
	ck_assert_uint_eq(nr_yields, 1);
	cupti_share_set_enabled(true);
	ck_assert_uint_eq(nr_yields, 1);
	ck_assert(!cupti_share_begin_call());
}
END_TEST

/*
 * While it sets its clock, nothing reads the clocks. That leaves no record of ours without one: the
 * turn stays with the client, and what is missing is counted.
 */
START_TEST(client_that_never_returns_from_setting_its_clock_keeps_the_turn)
{
	attach();
	collector_mode = COLLECTOR_RECORD;
	cupti_share_hold(NULL);
	ck_assert_uint_eq(nr_yields, 1);
	for (int i = 0; i < 10; i++) {
		cupti_share_set_enabled(true);
		ck_assert(!cupti_share_begin_call());
	}
	cupti_share_flush(true);
	ck_assert_uint_eq(nr_flushes, 0);
	ck_assert_uint_eq(loss_take(LOSS_SHARED), 1);
}
END_TEST

START_TEST(the_last_flush_that_cannot_be_is_counted)
{
	ck_assert(cupti_share_begin_call()); /* by a thread that does not come back */
	cupti_share_flush(false);
	ck_assert_uint_eq(loss_take(LOSS_SHARED), 0);
	cupti_share_flush(true);
	ck_assert_uint_eq(loss_take(LOSS_SHARED), 1);
}
END_TEST

static void *end_call(void *unused)
{
	usleep(1000);
	cupti_share_end_call();
	return unused;
}

START_TEST(the_last_flush_waits_for_who_is_in_cupti)
{
	pthread_t thread;

	ck_assert(cupti_share_begin_call());
	ck_assert_int_eq(pthread_create(&thread, NULL, end_call, NULL), 0);
	cupti_share_flush(true);
	/* On a busy machine the other may have come late. */
	ck_assert_uint_le(loss_take(LOSS_SHARED), 1);
	pthread_join(thread, NULL);
	cupti_share_flush(true);
	ck_assert_uint_eq(loss_take(LOSS_SHARED), 0);
}
END_TEST

/* Kinds 300 and 301 are those of a later CUPTI. */
START_TEST(client_is_there_while_a_kind_is_on_whatever_its_number)
{
	for (uint32_t kind = 3; kind <= 300; kind += 297) {
		client_kinds_add(kind, false);
		client_kinds_add(kind + 1, true);
		ck_assert(client_kinds_any());
		client_kinds_remove(kind + 1, true);
		ck_assert(client_kinds_any());
		client_kinds_remove(kind, false);
		ck_assert(!client_kinds_any());
		client_kinds_remove(kind, false); /* was off */
		ck_assert(!client_kinds_any());
		client_kinds_add(kind, false);
		client_kinds_clear();
		client_kinds_remove(kind, false);
		ck_assert(!client_kinds_any());
	}
}
END_TEST

/* Does another client use CUPTI while we are not attached? */
static bool is_client_there(void)
{
	if (cupti_share_begin_call()) {
		cupti_share_end_call();
		return false;
	}
	return true;
}

START_TEST(client_is_there_until_the_last_of_its_profilers_has_ended)
{
	static char subscribers[20];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 20; i++) {
			cupti_share_begin_own("tool", NULL);
			cupti_share_end_own(&subscribers[i], CUPTI_OK);
		}
		cupti_share_begin_own("tool", NULL);
		cupti_share_end_own(NULL, CUPTI_UNKNOWN); /* refused */
		for (int i = 0; i < 20; i++) {
			ck_assert(is_client_there());
			cupti_share_drop_own(&subscribers[i]);
		}
		ck_assert(!is_client_there());
		cupti_share_drop_own(&subscribers[0]); /* not one of those */
		ck_assert(!is_client_there());
	}
}
END_TEST

/* CUPTI may give out the same handle again. */
START_TEST(profiler_that_was_finalised_is_forgotten)
{
	static char subscriber;

	for (int round = 0; round < 20; round++) {
		cupti_share_begin_own("tool", NULL);
		cupti_share_end_own(&subscriber, CUPTI_OK);
		ck_assert(is_client_there());
		cupti_share_end_finalize();
		ck_assert(!is_client_there());
		cupti_share_drop_own(&subscriber);
		ck_assert(!is_client_there());
	}
}
END_TEST

UNIT_SUITE("cupti_share", each_last_flush_comes_or_is_counted,
	our_settings_are_put_back_though_our_thread_is_in_cupti,
	client_that_waited_in_vain_gets_the_turn_later,
	client_that_never_returns_from_setting_its_clock_keeps_the_turn,
	the_last_flush_that_cannot_be_is_counted, the_last_flush_waits_for_who_is_in_cupti,
	client_is_there_while_a_kind_is_on_whatever_its_number,
	client_is_there_until_the_last_of_its_profilers_has_ended,
	profiler_that_was_finalised_is_forgotten)
