/* SPDX-License-Identifier: Apache-2.0 */
/* The hash function spreads the keys that tables have, none of which is random. */
#include "report/util/hash.h"

#include <stdio.h>

#include "test/unit/unit.h"

#define KEYS	65536u
#define BUCKETS 8192u /* by the lower bits, as uthash has them */

/* Of 8 keys a bucket on average, the fullest has 24 where keys are random (of 10,000 tries). */
#define MOST 28u

static uint8_t counts[BUCKETS];

static unsigned int fullest(void)
{
	unsigned int most = 0;

	for (size_t i = 0; i < BUCKETS; i++) {
		most = counts[i] > most ? counts[i] : most;
	}
	return most;
}

static void count(const void *key, size_t nr_bytes)
{
	uint8_t *bucket = &counts[hash_bytes(key, nr_bytes) % BUCKETS];

	*bucket += *bucket != UINT8_MAX;
}

/* Numbers that differ by 2^shift, alone and as the first or the second of two. */
static void check_numbers(unsigned int shift, unsigned int nr_words, unsigned int at)
{
	uint64_t words[2] = {7, 7};

	memset(counts, 0, sizeof(counts));
	for (uint64_t i = 0; i < KEYS; i++) {
		words[at] = 0x7f0000000000ull + (i << shift);
		count(words, nr_words * sizeof(words[0]));
	}
	ck_assert_msg(
		fullest() <= MOST, "shift %u, word %u of %u: %u", shift, at, nr_words, fullest());
}

START_TEST(numbers)
{
	for (unsigned int shift = 0; shift < 47; shift++) {
		check_numbers(shift, 1, 0);
		check_numbers(shift, 2, 0);
		check_numbers(shift, 2, 1);
	}
}
END_TEST

/* Two 32-bit numbers, such as a place and a name. */
START_TEST(pairs)
{
	memset(counts, 0, sizeof(counts));
	for (uint32_t i = 0; i < KEYS; i++) {
		uint32_t pair[2] = {i / 256, i % 256};

		count(pair, sizeof(pair));
	}
	ck_assert_uint_le(fullest(), MOST);
}
END_TEST

START_TEST(texts)
{
	static const char *const forms[] = {
		"%u", "step %u", "ProfilerStep#%u", "layers.%u.fc (Linear)"};

	for (size_t form = 0; form < sizeof(forms) / sizeof(forms[0]); form++) {
		memset(counts, 0, sizeof(counts));
		for (unsigned int i = 0; i < KEYS; i++) {
			char text[64];

			count(text, (size_t)snprintf(text, sizeof(text), forms[form], i));
		}
		ck_assert_msg(fullest() <= MOST, "%s: %u", forms[form], fullest());
	}
}
END_TEST

UNIT_SUITE("report/hash", numbers, pairs, texts)
