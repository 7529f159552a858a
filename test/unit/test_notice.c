/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/notice.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "collector/util/loss.h"
#include "test/unit/unit.h"

START_TEST(notice_keeps_cause_code_and_text_in_order)
{
	struct notice notice;

	ck_assert(!notice_take(&notice));
	notice_add("first", 15, "no %s", "driver");
	notice_add("second", -2, "%s", "x");
	ck_assert(notice_take(&notice));
	ck_assert_str_eq(notice.cause, "first");
	ck_assert_int_eq(notice.code, 15);
	ck_assert_str_eq(notice.text, "no driver");
	ck_assert(notice_take(&notice));
	ck_assert_str_eq(notice.cause, "second");
	ck_assert(!notice_take(&notice));
}
END_TEST

static sigjmp_buf before;

static void jump(int number)
{
	siglongjmp(before, number);
}

START_TEST(notice_that_is_never_finished_keeps_no_other_back)
{
	struct notice notice;

	signal(SIGSEGV, jump);
	notice_add("first", 0, "text");
	if (!sigsetjmp(before, 1)) {
		notice_add("left", 0, "%s", (const char *)1);
	}
	signal(SIGSEGV, SIG_DFL);
	notice_add("third", 0, "text");
	ck_assert(notice_take(&notice));
	ck_assert_str_eq(notice.cause, "first");
	ck_assert(notice_take(&notice));
	ck_assert_str_eq(notice.cause, "third");
	ck_assert(!notice_take(&notice));
}
END_TEST

START_TEST(the_65th_notice_is_refused)
{
	struct notice notice;

	for (int i = 0; i < 64; i++) {
		notice_add("cause", i, "text %d", i);
	}
	ck_assert_uint_eq(loss_take(LOSS_NOTICE), 0);
	notice_add("cause", 64, "text");
	ck_assert_uint_eq(loss_take(LOSS_NOTICE), 1);
	for (int i = 0; i < 64; i++) {
		ck_assert(notice_take(&notice));
		ck_assert_int_eq(notice.code, i);
	}
	ck_assert(!notice_take(&notice));
}
END_TEST

START_TEST(long_texts_are_cut)
{
	struct notice notice;
	char text[2000];

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = 0;
	notice_add(text, 0, "%s", text);
	ck_assert(notice_take(&notice));
	ck_assert_uint_eq(strlen(notice.cause), sizeof(notice.cause) - 1);
	ck_assert_uint_eq(strlen(notice.text), sizeof(notice.text) - 1);
}
END_TEST

static void *lose_many(void *unused)
{
	for (int i = 0; i < 20000; i++) {
		loss_add(LOSS_DAMAGED, 2);
	}
	return unused;
}

START_TEST(losses_of_many_threads_add_up_and_are_told_once)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(pthread_create(&threads[i], NULL, lose_many, NULL), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
	}
	ck_assert_uint_eq(loss_take(LOSS_DAMAGED), 160000);
	ck_assert_uint_eq(loss_take(LOSS_DAMAGED), 0);
	ck_assert_uint_eq(loss_take(LOSS_LEFT), 0);
}
END_TEST

START_TEST(child_forgets_what_was_the_parents)
{
	struct notice notice;

	notice_add("cause", 1, "text");
	loss_add(LOSS_SIGNAL, 5);
	notice_forget();
	loss_forget();
	ck_assert(!notice_take(&notice));
	ck_assert_uint_eq(loss_take(LOSS_SIGNAL), 0);
	notice_add("own", 2, "text");
	ck_assert(notice_take(&notice));
	ck_assert_str_eq(notice.cause, "own");
}
END_TEST

UNIT_SUITE("notice", notice_keeps_cause_code_and_text_in_order,
	notice_that_is_never_finished_keeps_no_other_back, the_65th_notice_is_refused,
	long_texts_are_cut, losses_of_many_threads_add_up_and_are_told_once,
	child_forgets_what_was_the_parents)
