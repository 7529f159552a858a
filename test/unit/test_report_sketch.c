/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stats/sketch.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/unit.h"

enum { NR = 20000 };

static uint64_t values[NR];

/* From ns to hours, so that all kinds of steps are in use. */
static void make_values(uint64_t seed)
{
	for (size_t i = 0; i < NR; i++) {
		values[i] = unit_random(&seed) >> (20 + unit_below(&seed, 44));
	}
}

static struct sketch sketch_of(const uint64_t *from, size_t nr)
{
	struct sketch sketch, *sketches[] = {&sketch};
	struct histogram stat;

	histogram_init(&stat);
	histogram_grow(&stat, 0);
	for (size_t i = 0; i < nr; i++) {
		histogram_add(&stat, 0, from[i]);
	}
	sketch_init(&sketch);
	sketch_add_stat(sketches, &stat);
	histogram_fini(&stat);
	return sketch;
}

static struct buf bytes_of(const struct sketch *sketch)
{
	struct buf bytes = {0};

	sketch_pack(sketch, &bytes);
	return bytes;
}

static void check_same(const struct sketch *a, const struct sketch *b)
{
	struct buf x = bytes_of(a), y = bytes_of(b);

	ck_assert_uint_eq(x.nr_bytes, y.nr_bytes);
	ck_assert_mem_eq(x.bytes, y.bytes, x.nr_bytes);
	buf_fini(&x);
	buf_fini(&y);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void check_close(uint64_t value, uint64_t exact)
{
	uint64_t off = value > exact ? value - exact : exact - value;

	ck_assert_uint_le(off, exact / 62 + 1); /* 1.6 % */
}

START_TEST(quantiles_are_close_and_the_rest_is_exact)
{
	struct sketch sketch;
	unsigned __int128 sum = 0;
	uint64_t p99;

	make_values((uint64_t)_i + 1);
	sketch = sketch_of(values, NR);
	p99 = sketch_finish(&sketch);
	for (size_t i = 0; i < NR; i++) {
		sum += values[i];
	}
	qsort(values, NR, sizeof(values[0]), compare);
	ck_assert_uint_eq(sketch.group.count, NR);
	ck_assert(sketch.group.sum == sum);
	ck_assert_uint_eq(sketch.group.min, values[0]);
	ck_assert_uint_eq(sketch.group.max, values[NR - 1]);
	check_close((uint64_t)histogram_median(&sketch.group),
		(values[NR / 2 - 1] + values[NR / 2]) / 2);
	check_close(p99, values[NR - NR / 100 - 1]);
	sketch_fini(&sketch);
}
END_TEST

/* Far apart, so that one of them would not be within 1.6 % of the mean. */
START_TEST(median_of_an_even_number_is_between_the_two_in_the_middle)
{
	static const uint64_t even[] = {20, 30, 50, 60};
	struct sketch sketch = sketch_of(even, 4), odd = sketch_of(even, 3);

	ck_assert_uint_eq(sketch_finish(&sketch), 60);
	ck_assert_double_eq(histogram_median(&sketch.group), 40);
	sketch_finish(&odd);
	ck_assert_double_eq(histogram_median(&odd.group), 30);
	sketch_fini(&sketch);
	sketch_fini(&odd);
}
END_TEST

/* Wherever in its step it lies. */
START_TEST(of_a_single_value_all_is_exact)
{
	make_values(11);
	for (size_t i = 0; i < 200; i++) {
		struct sketch sketch = sketch_of(values + i, 1);

		ck_assert_uint_eq(sketch_finish(&sketch), values[i]);
		ck_assert_double_eq(histogram_median(&sketch.group), (double)values[i]);
		sketch_fini(&sketch);
	}
}
END_TEST

START_TEST(parts_in_any_order_are_the_same_as_the_whole)
{
	uint64_t seed = (uint64_t)_i + 1;
	struct sketch whole, sum, parts[8];
	size_t from = 0;

	make_values(seed);
	whole = sketch_of(values, NR);
	for (size_t i = 0; i < 8; i++) {
		size_t nr = i < 7 ? unit_below(&seed, NR / 8) : NR - from;

		parts[i] = sketch_of(values + from, nr);
		from += nr;
	}
	sketch_init(&sum);
	for (size_t i = 8; i; i--) {
		size_t k = unit_below(&seed, i);

		sketch_merge(&sum, &parts[k]);
		sketch_fini(&parts[k]);
		parts[k] = parts[i - 1];
	}
	check_same(&whole, &sum);
	sketch_fini(&whole);
	sketch_fini(&sum);
}
END_TEST

/* Beyond HISTOGRAM_EXACT values a stat has no values any more, but a histogram with the same steps.
 */
START_TEST(values_and_histograms_give_the_same_sketch)
{
	struct sketch exact, sketch, *sketches[] = {&sketch};
	struct histogram stat;

	make_values(7);
	exact = sketch_of(values, NR);
	histogram_init(&stat);
	stat.is_exact = false;
	histogram_grow(&stat, 0);
	for (size_t i = 0; i < NR; i++) {
		histogram_add(&stat, 0, values[i]);
	}
	sketch_init(&sketch);
	sketch_add_stat(sketches, &stat);
	histogram_fini(&stat);
	check_same(&exact, &sketch);
	sketch_fini(&exact);
	sketch_fini(&sketch);
}
END_TEST

START_TEST(bytes_come_back_and_cut_ones_are_bad)
{
	struct sketch sketch, back;
	struct buf bytes;

	make_values(3);
	sketch = sketch_of(values, 50);
	bytes = bytes_of(&sketch);
	for (size_t nr = 0; nr <= bytes.nr_bytes; nr++) {
		unsigned char *cut = malloc(nr + 1); /* so that ASan sees a step beyond it */
		struct unpack from = {cut, cut + nr, false};

		cut = memcpy(cut, bytes.bytes, nr);
		sketch_unpack(&back, &from);
		ck_assert_int_eq(from.is_bad, nr < bytes.nr_bytes);
		if (!from.is_bad) {
			check_same(&sketch, &back);
		}
		sketch_fini(&back);
		free(cut);
	}
	buf_fini(&bytes);
	sketch_fini(&sketch);
}
END_TEST

START_TEST(nothing_adds_nothing)
{
	struct sketch none = sketch_of(values, 0), some;
	struct sketch sum;

	make_values(5);
	some = sketch_of(values, 10);
	sum = sketch_of(values, 10);
	sketch_merge(&sum, &none);
	check_same(&some, &sum);
	ck_assert_uint_eq(sketch_finish(&none), 0);
	sketch_fini(&none);
	sketch_fini(&some);
	sketch_fini(&sum);
}
END_TEST

START_TEST(numbers_of_all_sizes_come_back)
{
	static const uint64_t numbers[] = {
		0, 1, 127, 128, 16383, 16384, UINT64_MAX - 1, UINT64_MAX};
	static const unsigned char long_ones[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
	struct unpack from = {long_ones, long_ones + sizeof(long_ones), false};
	struct buf bytes = {0};

	unpack_uint(&from);
	ck_assert(from.is_bad); /* more than 64 bits */
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		pack_uint(&bytes, numbers[i]);
		pack_int(&bytes, (int64_t)numbers[i]);
		pack_wide(&bytes, (unsigned __int128)numbers[i] << 40);
	}
	from = (struct unpack){(const unsigned char *)bytes.bytes,
		(const unsigned char *)bytes.bytes + bytes.nr_bytes, false};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		ck_assert_uint_eq(unpack_uint(&from), numbers[i]);
		ck_assert_int_eq(unpack_int(&from), (int64_t)numbers[i]);
		ck_assert(unpack_wide(&from) == (unsigned __int128)numbers[i] << 40);
	}
	ck_assert(!from.is_bad && from.at == from.end);
	buf_fini(&bytes);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {values_and_histograms_give_the_same_sketch,
		median_of_an_even_number_is_between_the_two_in_the_middle,
		bytes_come_back_and_cut_ones_are_bad, nothing_adds_nothing,
		of_a_single_value_all_is_exact, numbers_of_all_sizes_come_back};
	Suite *suite = unit_make("report/sketch", tests, sizeof(tests) / sizeof(tests[0]));

	unit_loop(suite, quantiles_are_close_and_the_rest_is_exact, 8);
	unit_loop(suite, parts_in_any_order_are_the_same_as_the_whole, 8);
	return suite;
}
