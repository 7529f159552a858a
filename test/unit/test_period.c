/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/step/period.h"

#include <string.h>

#include "test/unit/unit.h"

static struct period p;
static uint64_t now, nr_steps, last_step, seed = 5;

static void look(void)
{
	uint64_t time;

	period_look(&p);
	while (period_take(&p, &time)) {
		ck_assert_uint_gt(time, last_step);
		last_step = time;
		nr_steps++;
	}
}

/* One launch, `gap` after the one before; the drain looks now and then. */
static void launch(uint32_t symbol, uint64_t gap)
{
	now += gap;
	period_add(&p, symbol, now);
	if (p.nr % 100 == 0) {
		look();
	}
}

/* A step: a copy of the batch after a wait (if it has one), layers of the same 7 kernels, a loss.
 */
static void step(bool has_copy, uint32_t nr_layers)
{
	if (has_copy) {
		launch(PERIOD_COPY | 1, 1000);
	}
	launch(1, has_copy ? 10 : 1000);
	for (uint32_t i = 0; i < nr_layers; i++) {
		for (uint32_t k = 10; k < 17; k++) {
			launch(k, 10);
		}
	}
	for (uint32_t k = 20; k < 25; k++) {
		launch(k, 10);
	}
}

static void steps(uint32_t nr, bool has_copy, uint32_t nr_layers)
{
	for (uint32_t i = 0; i < nr; i++) {
		step(has_copy, nr_layers);
	}
	look();
}

static void begin(void)
{
	period_init(&p);
	now = 1000000;
	nr_steps = last_step = 0;
}

START_TEST(a_loop_is_found_with_all_of_its_steps)
{
	begin();
	steps(100, true, 3);
	ck_assert_uint_eq(p.length, 1 + 1 + 21 + 5);
	ck_assert_uint_eq(p.confidence, 100);
	ck_assert_uint_eq(nr_steps, 100);
	/* They begin where the program waits. */
	ck_assert_uint_eq(p.anchor, PERIOD_COPY | 1);
}
END_TEST

START_TEST(preparations_are_no_steps)
{
	begin();
	for (uint32_t i = 0; i < 300; i++) {
		launch(100 + i % 2, 5); /* memory is filled, again and again */
	}
	look();
	ck_assert_uint_eq(nr_steps, 0);
	steps(100, true, 3);
	ck_assert_uint_eq(p.length, 28);
	ck_assert_uint_eq(nr_steps, 100);
}
END_TEST

START_TEST(copies_of_the_preparation_are_no_steps)
{
	begin();
	for (uint32_t i = 0; i < 10; i++) {
		launch(PERIOD_COPY | 1, 1000);
		for (uint32_t k = 0; k < 3 + i % 3; k++) {
			launch(50 + k, 10);
		}
	}
	steps(100, true, 3);
	ck_assert_uint_eq(p.length, 28);
	ck_assert_uint_eq(nr_steps, 100);
}
END_TEST

START_TEST(layers_are_no_steps)
{
	begin();
	steps(60, true, 200); /* 1,400 of 1,407 symbols have a period of 7 */
	ck_assert_uint_eq(p.length, 1407);
	ck_assert_uint_eq(nr_steps, 60);
}
END_TEST

START_TEST(where_nothing_tells_layers_from_steps_there_are_none)
{
	begin();
	steps(60, false, 200);
	ck_assert_uint_eq(nr_steps, 0);
	steps(1000, false, 3);
	ck_assert_uint_eq(nr_steps, 0);
}
END_TEST

START_TEST(some_launches_more_or_less_are_borne)
{
	begin();
	for (int i = 0; i < 400; i++) {
		step(true, 3);
		if (i % 50 == 49) {
			launch(77, 10); /* says how it goes */
		}
	}
	look();
	ck_assert_uint_eq(p.length, 28);
	ck_assert_uint_ge(p.confidence, 95);
	ck_assert_uint_eq(nr_steps, 400);
}
END_TEST

START_TEST(another_loop_is_found_after_the_first)
{
	uint64_t nr_first;

	begin();
	steps(100, true, 3);
	nr_first = nr_steps;
	steps(2000, true, 1);
	ck_assert_uint_eq(p.length, 14);
	ck_assert_uint_ge(nr_steps, nr_first + 1900);
	ck_assert_uint_le(nr_steps, nr_first + 2000);
}
END_TEST

START_TEST(chance_and_one_kernel_over_and_over_have_no_period)
{
	begin();
	for (int i = 0; i < 200000; i++) {
		launch((uint32_t)(unit_random(&seed) >> 40) % 30, 10);
	}
	look();
	ck_assert_uint_eq(nr_steps, 0);
	begin();
	for (int i = 0; i < 200000; i++) {
		launch(7, 10);
	}
	look();
	ck_assert_uint_eq(nr_steps, 0);
}
END_TEST

START_TEST(few_launches_are_not_enough)
{
	begin();
	steps(16, true, 3);
	ck_assert_uint_eq(nr_steps, 0);
}
END_TEST

START_TEST(very_long_steps_and_very_many_fit)
{
	begin();
	for (int i = 0; i < 20; i++) {
		launch(PERIOD_COPY | 1, 1000);
		for (uint32_t k = 0; k < 9000; k++) {
			launch(1000 + k, 10);
		}
	}
	look();
	ck_assert_uint_eq(p.length, 9001);
	begin();
	for (int i = 0; i < 300000; i++) {
		launch(PERIOD_COPY | 1, 10);
		launch(1, 10);
	}
	look();
	ck_assert_uint_eq(p.length, 2);
	ck_assert_uint_eq(nr_steps, 300000);
}
END_TEST

/* A step has 9 symbols. All but the copy have a partner with the same upper bits of a hash. */
START_TEST(symbols_are_not_mistaken_for_others)
{
	uint32_t symbols[8], nr = 0;

	for (uint32_t a = 1; nr < 8; a++) {
		for (uint32_t b = a + 1; nr < 8 && b < a + 100000; b++) {
			if (a * 0x9e3779b1u >> 18 == b * 0x9e3779b1u >> 18) {
				symbols[nr++] = a;
				symbols[nr++] = b;
				break;
			}
		}
	}
	begin();
	for (uint32_t i = 0; i < 400; i++) {
		launch(PERIOD_COPY | 1, 10);
		for (uint32_t k = 0; k < 8; k++) {
			launch(symbols[k], k ? 10 : 1000);
		}
	}
	look();
	ck_assert_uint_eq(p.length, 9);
	ck_assert_uint_eq(p.anchor, symbols[0]);
	ck_assert_uint_eq(nr_steps, 400);
}
END_TEST

/* Eighteen loops of other lengths come before the end of each step. */
START_TEST(all_lengths_are_tried)
{
	const uint32_t nr_loops = 18, nr_rounds = 5;
	uint32_t length = 1;

	for (uint32_t k = 2; k < 2 + nr_loops; k++) {
		length += k * nr_rounds;
	}
	begin();
	for (uint32_t i = 0; i < 12; i++) {
		launch(PERIOD_COPY | 1, 1000);
		for (uint32_t k = 2; k < 2 + nr_loops; k++) {
			for (uint32_t n = 0; n < k * nr_rounds; n++) {
				launch(1000 * k + n % k, 10);
			}
		}
	}
	look();
	ck_assert_uint_eq(p.length, length);
	ck_assert_uint_eq(nr_steps, 12);
}
END_TEST

UNIT_SUITE("period", a_loop_is_found_with_all_of_its_steps, preparations_are_no_steps,
	copies_of_the_preparation_are_no_steps, layers_are_no_steps,
	where_nothing_tells_layers_from_steps_there_are_none, some_launches_more_or_less_are_borne,
	another_loop_is_found_after_the_first, chance_and_one_kernel_over_and_over_have_no_period,
	few_launches_are_not_enough, very_long_steps_and_very_many_fit,
	symbols_are_not_mistaken_for_others, all_lengths_are_tried)
