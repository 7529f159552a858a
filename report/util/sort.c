/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of sort.h that need not be compiled for each order: comparisons, natural_sort(), which
 * merges pointers to items of any size, and the radix sort of keys.
 */
#include "report/util/sort.h"

#include <stdlib.h>

/* ---- comparisons ---- */

int by_u64(const void *a, const void *b)
{
	return COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

int by_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return COMPARE(x, y);
}

int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return COMPARE(x, y);
}

int by_string(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- merging runs ---- */

void run_sort_fini(struct run_sort *sort)
{
	free(sort->aside);
	free(sort->runs);
	*sort = (struct run_sort){0};
}

void run_sort_begin(struct run_sort *sort, size_t nr_sorted)
{
	sort->nr_runs = 0;
	sort->end = nr_sorted;
	if (nr_sorted) {
		run_sort_push(sort, 0);
	}
}

void run_sort_push(struct run_sort *sort, size_t begin)
{
	sort->runs = array_grow(sort->runs, sort->nr_runs, &sort->run_capacity, sizeof(size_t));
	sort->runs[sort->nr_runs++] = begin;
}

void run_sort_reserve(struct run_sort *sort, size_t bytes)
{
	if (sort->aside_bytes < bytes) {
		free(sort->aside);
		sort->aside = mem_resize(NULL, bytes, 1);
		sort->aside_bytes = bytes;
	}
}

/* Reverses items of at most 16 bytes. */
void run_sort_turn(char *items, size_t nr, size_t bytes)
{
	char item[16], *end = items + nr * bytes;

	while (items + bytes < end) {
		end -= bytes;
		memcpy(item, items, bytes);
		memcpy(items, end, bytes);
		memcpy(end, item, bytes);
		items += bytes;
	}
}

/* The order of the items that two pointers point to. */
struct pointed {
	int (*compare)(const void *, const void *);
};

static bool is_pointed_before(const void *context, const void *a, const void *b)
{
	const struct pointed *order = context;

	return order->compare(*(const char *const *)a, *(const char *const *)b) < 0;
}

/* Counts the items at the start that are in order. */
static size_t count_sorted(
	const char *items, size_t nr, size_t size, int (*compare)(const void *, const void *))
{
	size_t nr_sorted = nr ? 1 : 0;

	while (nr_sorted < nr &&
		compare(items + (nr_sorted - 1) * size, items + nr_sorted * size) <= 0) {
		nr_sorted++;
	}
	return nr_sorted;
}

void natural_sort(void *items, size_t nr, size_t size, int (*compare)(const void *, const void *))
{
	const struct pointed order = {compare};
	size_t nr_sorted = count_sorted(items, nr, size, compare);
	struct run_sort sort = {0};
	const char **pointers;
	char *sorted;

	if (nr_sorted == nr) {
		return;
	}
	pointers = mem_resize(NULL, nr, sizeof(*pointers));
	for (size_t i = 0; i < nr; i++) {
		pointers[i] = (const char *)items + i * size;
	}
	run_sort_begin(&sort, nr_sorted > 1 ? nr_sorted : 0); /* one may begin a falling run */
	run_sort_add(&sort, pointers, nr, sizeof(*pointers), is_pointed_before, &order);
	run_sort_end(&sort, pointers, sizeof(*pointers), is_pointed_before, &order);
	run_sort_fini(&sort);
	sorted = mem_resize(NULL, nr, size);
	for (size_t i = 0; i < nr; i++) {
		memcpy(sorted + i * size, pointers[i], size);
	}
	memcpy(items, sorted, nr * size);
	free(sorted);
	free(pointers);
}

/* ---- digits ---- */

#define DIGIT_BITS 11u
#define DIGITS	   (1u << DIGIT_BITS)

/* Up to so many bits are left to comparisons where that saves a digit. */
#define MAX_REST_BITS 8u

/* More keys than that, the same but for their rest, are for qsort. */
#define MAX_INSERTED 16u

/* By one digit of the key; equal ones keep their order. */
static void sort_by_digit(
	const struct sort_key *from, struct sort_key *to, size_t nr, unsigned int shift)
{
	size_t places[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < nr; i++) {
		places[from[i].key >> shift & (DIGITS - 1)]++;
	}
	for (size_t i = 0; i < DIGITS; i++) {
		size_t count = places[i];

		places[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < nr; i++) {
		to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
	}
}

/* The order of the items of keys. */
struct keyed {
	key_sort_order *compare;
	const void *context;
};

static int by_key(const void *a, const void *b, void *context)
{
	const struct sort_key *x = a, *y = b;
	const struct keyed *order = context;
	int result = COMPARE(x->key, y->key);

	result = result ? result : order->compare(order->context, x->at, y->at);
	return result ? result : COMPARE(x->at, y->at);
}

static void insert_each(struct keyed *order, struct sort_key *keys, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct sort_key moved = keys[i];
		size_t at = i;

		for (; at && by_key(&moved, &keys[at - 1], order) < 0; at--) {
			keys[at] = keys[at - 1];
		}
		keys[at] = moved;
	}
}

/* Sorts those whose keys differ in their last bits alone, if at all. */
static void sort_rests(
	struct keyed *order, struct sort_key *keys, size_t nr, unsigned int rest_bits)
{
	for (size_t i = 0, end; i < nr; i = end) {
		uint64_t key = keys[i].key >> rest_bits;

		for (end = i + 1; end < nr && keys[end].key >> rest_bits == key; end++) {
		}
		if (end - i > MAX_INSERTED) {
			qsort_r(keys + i, end - i, sizeof(*keys), by_key, order);
		} else {
			insert_each(order, keys + i, end - i);
		}
	}
}

/* So many keys are sorted sooner than the digits of one are counted. */
#define MAX_COMPARED 64u

/* 0 for 0. */
static unsigned int nr_bits(uint64_t number)
{
	return number ? 64u - (unsigned int)__builtin_clzll(number) : 0;
}

/*
 * Sorts by digits, of which the keys of a short time have few: comparing the items themselves would
 * read the memory of all of them many times.
 */
struct sort_key *key_sort(struct sort_key *keys, struct sort_key *spare, size_t nr,
	key_sort_order *compare, const void *context)
{
	struct keyed order = {compare, context};
	uint64_t least = UINT64_MAX, most = 0;
	unsigned int bits, rest_bits;
	bool is_rising = true;

	for (size_t i = 0; i < nr; i++) {
		is_rising &= keys[i].key >= most;
		least = keys[i].key < least ? keys[i].key : least;
		most = keys[i].key > most ? keys[i].key : most;
	}
	if (nr <= MAX_COMPARED && !is_rising) {
		qsort_r(keys, nr, sizeof(*keys), by_key, &order);
		return keys;
	}
	for (size_t i = 0; i < nr; i++) {
		keys[i].key -= least;
	}
	bits = is_rising ? 0 : nr_bits(most - least);
	rest_bits = bits % DIGIT_BITS <= MAX_REST_BITS ? bits % DIGIT_BITS : 0;
	for (unsigned int shift = rest_bits; shift < bits; shift += DIGIT_BITS) {
		struct sort_key *sorted = spare;

		sort_by_digit(keys, sorted, nr, shift);
		spare = keys;
		keys = sorted;
	}
	sort_rests(&order, keys, nr, rest_bits);
	return keys;
}
