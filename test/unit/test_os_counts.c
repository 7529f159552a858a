/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/ring/os_counts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collector/util/config.h"
#include "collector/util/own_code.h"
#include "test/unit/unit.h"

#define NR_THREADS 4
#define NR_CALLS   500000
/* The last function of the list. */
#define LAST (nr_functions() - 1)

static const char bytes_of_code[8];
static const struct own_code code = {bytes_of_code, bytes_of_code + sizeof(bytes_of_code)};

struct sum {
	uint64_t nr, bytes;
};

static unsigned int nr_functions(void)
{
	unsigned int nr = 0;

	while (os_counts_name(nr)) {
		nr++;
	}
	return nr;
}

static void add(void *sums, unsigned int call, uint64_t nr, uint64_t bytes)
{
	struct sum *sum = (struct sum *)sums + call;

	ck_assert_uint_lt(call, nr_functions());
	ck_assert(nr || bytes);
	sum->nr += nr;
	sum->bytes += bytes;
}

static void *count(void *unused)
{
	unsigned int last = LAST; /* it walks the list */

	for (int i = 0; i < NR_CALLS; i++) {
		os_counts_add(0, 0);
		os_counts_add(last, 7);
	}
	return unused;
}

START_TEST(no_call_of_any_thread_is_lost_while_counts_are_taken)
{
	struct sum *sums = calloc(nr_functions(), sizeof(*sums));
	pthread_t threads[NR_THREADS];

	os_counts_want(&code);
	for (int i = 0; i < NR_THREADS; i++) {
		ck_assert_int_eq(pthread_create(&threads[i], NULL, count, NULL), 0);
	}
	for (int i = 0; i < 100; i++) {
		os_counts_take(add, sums);
	}
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	os_counts_take(add, sums);
	ck_assert_uint_eq(sums[0].nr, NR_THREADS * NR_CALLS);
	ck_assert_uint_eq(sums[0].bytes, 0);
	ck_assert_uint_eq(sums[LAST].nr, NR_THREADS * NR_CALLS);
	ck_assert_uint_eq(sums[LAST].bytes, 7ull * NR_THREADS * NR_CALLS);
	free(sums);
}
END_TEST

static void refuse(void *unused, unsigned int call, uint64_t nr, uint64_t bytes)
{
	(void)unused;
	ck_abort_msg("%u: %lu calls, %lu bytes", call, (unsigned long)nr, (unsigned long)bytes);
}

START_TEST(a_forked_child_has_no_counts_of_its_parent)
{
	os_counts_want(&code);
	os_counts_add(1, 10);
	os_counts_forget();
	os_counts_take(refuse, NULL);
}
END_TEST

/* A tick is about 1 ns; here the clock counts 2.5 times as fast. */
START_TEST(the_least_duration_of_an_event_is_rounded_up)
{
	ck_assert_int_eq(setenv("GPROF_OS_MIN_NS", "1001", 1), 0);
	config_init();
	os_counts_start(((uint64_t)1 << 32) * 2 / 5, 77);
	ck_assert_uint_eq(atomic_load(&os_counts_min_raw), 2503);
	ck_assert_uint_eq(os_counts_first_call(), 77);
	ck_assert_int_eq(setenv("GPROF_OS_MIN_NS", "0", 1), 0);
	config_init();
	os_counts_start((uint64_t)1 << 32, 1);
	ck_assert_uint_eq(atomic_load(&os_counts_min_raw), 0);
}
END_TEST

START_TEST(names_are_those_of_the_list)
{
	ck_assert_str_eq(os_counts_name(0), "open");
	ck_assert_str_eq(os_counts_name(LAST), "python_gil");
	ck_assert_ptr_null(os_counts_name(LAST + 1));
}
END_TEST

UNIT_SUITE("os_counts", no_call_of_any_thread_is_lost_while_counts_are_taken,
	a_forked_child_has_no_counts_of_its_parent, the_least_duration_of_an_event_is_rounded_up,
	names_are_those_of_the_list)
