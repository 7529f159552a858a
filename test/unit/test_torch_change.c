/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/torch/torch.h"

#include <pthread.h>
#include <unistd.h>

#include "collector/util/clock.h"
#include "test/unit/unit.h"

/* How often it waited, by the linker's --wrap. */
static unsigned int nr_pauses;

void __wrap_target_pause(uint32_t ns);

void __wrap_target_pause(uint32_t ns)
{
	nr_pauses++;
	usleep(ns / 1000);
}

/* A fork of a large process takes seconds. */
START_TEST(nothing_is_changed_while_a_thread_forks)
{
	clock_init(NULL);
	torch_change_before_fork();
	ck_assert(!torch_change_try());
	ck_assert(!torch_change_begin());
	torch_change_before_fork();
	torch_change_after_fork(false);
	ck_assert(!torch_change_try());
	torch_change_after_fork(false);
	ck_assert(torch_change_begin());
	torch_change_end();
}
END_TEST

static void *fork_once(void *unused)
{
	torch_change_before_fork();
	torch_change_after_fork(false);
	return unused;
}

START_TEST(fork_waits_for_a_change_and_no_longer_than_it_lasts)
{
	pthread_t thread;

	clock_init(NULL);
	ck_assert(torch_change_try());
	ck_assert(!torch_change_try());
	ck_assert_int_eq(pthread_create(&thread, NULL, fork_once, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_gt(nr_pauses, 0);
	torch_change_end();
	nr_pauses = 0;
	fork_once(NULL);
	ck_assert_uint_eq(nr_pauses, 0);
}
END_TEST

/* A signal handler has jumped out of it. */
START_TEST(no_fork_waits_for_a_change_that_was_left)
{
	clock_init(NULL);
	ck_assert(torch_change_try());
	usleep(1100000);
	fork_once(NULL);
	ck_assert_uint_eq(nr_pauses, 0);
	ck_assert(torch_change_try());
}
END_TEST

START_TEST(child_is_free_of_what_its_parent_did)
{
	clock_init(NULL);
	ck_assert(torch_change_try());
	torch_change_before_fork();
	torch_change_after_fork(true);
	ck_assert(torch_change_try());
}
END_TEST

UNIT_SUITE("torch_change", nothing_is_changed_while_a_thread_forks,
	fork_waits_for_a_change_and_no_longer_than_it_lasts,
	no_fork_waits_for_a_change_that_was_left, child_is_free_of_what_its_parent_did)
