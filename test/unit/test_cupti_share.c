/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/cupti/cupti_share.h"

#include <pthread.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/cupti/client_kinds.h"
#include "collector/util/notice.h"
#include "test/unit/unit.h"

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

UNIT_SUITE("cupti_share", the_last_flush_that_cannot_be_is_counted,
	the_last_flush_waits_for_who_is_in_cupti,
	client_is_there_while_a_kind_is_on_whatever_its_number,
	client_is_there_until_the_last_of_its_profilers_has_ended,
	profiler_that_was_finalised_is_forgotten)
