/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/claim.h"

#include <pthread.h>

#include "test/unit/unit.h"

#define MOST_NS	   1000000000u
#define NR_THREADS 3
#define NR_TRIES   300000

static struct claim claim;
static _Atomic unsigned int nr_inside, nr_together, nr_claims;

static void *try_often(void *unused)
{
	for (int i = 0; i < NR_TRIES; i++) {
		if (claim_try(&claim, MOST_NS)) {
			nr_together += nr_inside++ != 0;
			nr_claims++;
			nr_inside--;
			claim_drop(&claim);
		}
	}
	return unused;
}

START_TEST(one_thread_at_a_time)
{
	pthread_t threads[NR_THREADS];

	clock_init(NULL);
	for (int i = 0; i < NR_THREADS; i++) {
		ck_assert_int_eq(pthread_create(&threads[i], NULL, try_often, NULL), 0);
	}
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	ck_assert_uint_gt(nr_claims, 0);
	ck_assert_uint_eq(nr_together, 0);
}
END_TEST

/* Whoever tries has looked at the clock, and then stood still while another claimed. */
START_TEST(a_claim_younger_than_the_look_at_the_clock_holds)
{
	clock_init(NULL);
	atomic_store(&claim.since_ns, clock_monotonic_ns() + MOST_NS);
	ck_assert(!claim_try(&claim, MOST_NS));
}
END_TEST

START_TEST(a_claim_whose_holder_has_left_is_void_after_a_while)
{
	clock_init(NULL);
	ck_assert(claim_try(&claim, MOST_NS));
	ck_assert(!claim_try(&claim, MOST_NS));
	atomic_fetch_sub(&claim.since_ns, 2ul * MOST_NS);
	ck_assert(claim_try(&claim, MOST_NS));
}
END_TEST

static _Atomic unsigned int nr_asked, nr_looked;

static void *ask_often(void *unused)
{
	for (int i = 0; i < NR_TRIES; i++) {
		nr_asked++;
		while (claim_ask(&claim, MOST_NS)) {
			nr_looked = nr_asked;
			if (!claim_leave(&claim)) {
				break;
			}
		}
	}
	return unused;
}

/* Whoever is inside when the last one asks looks once more. */
START_TEST(no_request_is_left_behind)
{
	pthread_t threads[NR_THREADS];

	clock_init(NULL);
	for (int i = 0; i < NR_THREADS; i++) {
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_often, NULL), 0);
	}
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	ck_assert_uint_eq(nr_asked, NR_THREADS * NR_TRIES);
	ck_assert_uint_eq(nr_looked, nr_asked);
}
END_TEST

START_TEST(who_leaves_is_told_that_another_was_refused)
{
	clock_init(NULL);
	ck_assert(claim_ask(&claim, MOST_NS));
	ck_assert(claim_is_held(&claim, MOST_NS));
	ck_assert(!claim_ask(&claim, MOST_NS));
	ck_assert(claim_leave(&claim));
	ck_assert(!claim_is_held(&claim, MOST_NS));
	ck_assert(claim_ask(&claim, MOST_NS));
	ck_assert(!claim_leave(&claim));
}
END_TEST

UNIT_SUITE("claim", no_request_is_left_behind, who_leaves_is_told_that_another_was_refused,
	one_thread_at_a_time, a_claim_younger_than_the_look_at_the_clock_holds,
	a_claim_whose_holder_has_left_is_void_after_a_while)
