/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/step/step_reports.h"

#include <pthread.h>

#include "test/unit/unit.h"

#define NR_THREADS 4u
#define NR_EACH	   5000u

static struct step_reports reports;
static _Atomic uint64_t nr_seen, sum_seen; /* of who is inside */

static void add(uint64_t end)
{
	struct step_report report = {.thread = 7, .range.end = end};

	step_reports_add(&reports, &report);
}

static void take_all(void)
{
	struct step_report report;

	if (!step_reports_enter(&reports)) {
		return;
	}
	do {
		while (step_reports_take(&reports, &report)) {
			nr_seen++;
			sum_seen += report.range.end;
		}
	} while (step_reports_leave(&reports) && step_reports_enter(&reports));
}

static void *report_each(void *first)
{
	for (uint64_t i = 0; i < NR_EACH; i++) {
		add((uintptr_t)first + i);
		take_all();
	}
	return NULL;
}

/* None is left when all threads have gone: the last one inside has taken it. */
START_TEST(each_report_of_many_threads_is_taken_once_or_counted)
{
	pthread_t threads[NR_THREADS];
	uint64_t nr_all = NR_THREADS * NR_EACH, sum = nr_all * (nr_all + 1) / 2, nr_lost;

	step_reports_init(&reports);
	for (uintptr_t i = 0; i < NR_THREADS; i++) {
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, report_each, (void *)(1 + i * NR_EACH)),
			0);
	}
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	}
	nr_lost = atomic_load(&reports.nr_lost);
	ck_assert_uint_eq(nr_seen + nr_lost, nr_all);
	ck_assert(nr_lost || sum_seen == sum);
	ck_assert(step_reports_enter(&reports));
	ck_assert(!step_reports_take(&reports, &(struct step_report){0}));
	ck_assert(!step_reports_leave(&reports));
}
END_TEST

START_TEST(the_oldest_report_comes_first_and_slots_are_used_again)
{
	struct step_report report;
	uint64_t next = 0;

	step_reports_init(&reports);
	ck_assert(step_reports_enter(&reports));
	for (uint64_t i = 0; i < STEP_REPORTS_MAX; i++) {
		add(i);
	}
	for (uint64_t i = STEP_REPORTS_MAX; i < 10 * STEP_REPORTS_MAX; i++) {
		ck_assert(step_reports_take(&reports, &report));
		ck_assert_uint_eq(report.range.end, next++);
		ck_assert_uint_eq(report.thread, 7);
		add(i);
	}
	ck_assert_uint_eq(atomic_load(&reports.nr_lost), 0);
	add(0);
	ck_assert_uint_eq(atomic_load(&reports.nr_lost), 1);
}
END_TEST

/* A report between the last look of the thread inside and its leaving is not left behind. */
START_TEST(who_leaves_is_told_of_what_came_in_the_last_moment)
{
	struct step_report report;

	step_reports_init(&reports);
	ck_assert(step_reports_enter(&reports));
	ck_assert(!step_reports_take(&reports, &report));
	add(1);
	ck_assert(!step_reports_enter(&reports));
	ck_assert(step_reports_leave(&reports));
	ck_assert(step_reports_enter(&reports));
	ck_assert(step_reports_take(&reports, &report));
	ck_assert(!step_reports_leave(&reports));
}
END_TEST

UNIT_SUITE("step_reports", each_report_of_many_threads_is_taken_once_or_counted,
	the_oldest_report_comes_first_and_slots_are_used_again,
	who_leaves_is_told_of_what_came_in_the_last_moment)
