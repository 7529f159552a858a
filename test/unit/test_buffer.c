/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/cupti/buffer.h"

#include <string.h>

#include "collector/cupti/cupti.h"
#include "test/sim/cupti_abi.h"
#include "test/unit/unit.h"

/* CUPTI's side: the functions that it was given. */
static cupti_buffer_requested_fn requested;
static cupti_buffer_completed_fn completed;

static uint32_t take_functions(
	cupti_buffer_requested_fn request, cupti_buffer_completed_fn complete)
{
	requested = request;
	completed = complete;
	return CUPTI_OK;
}

/* Records of eight bytes, each its kind. */
static uint32_t next_record(uint8_t *buffer, size_t bytes, struct cupti_record **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + 8 : buffer;

	*record = (struct cupti_record *)next;
	return next + 8 <= buffer + bytes ? CUPTI_OK : 1;
}

static void start(void)
{
	cupti.cuptiActivityRegisterCallbacks = take_functions;
	cupti.cuptiActivityGetNextRecord = next_record;
	cupti.version = 28;
	ck_assert(buffer_init(1 << 20));
	ck_assert_uint_eq(buffer_register(), CUPTI_OK);
}

/* Another client. */
static uint32_t theirs[2][64];
static size_t nr_given, nr_back;

static void client_requests(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = (uint8_t *)theirs[nr_given++ % 2];
	*bytes = sizeof(theirs[0]);
	*max_records = 0;
}

static void client_completes(
	void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	(void)context;
	(void)stream;
	(void)bytes;
	(void)valid_bytes;
	ck_assert(buffer == (uint8_t *)theirs[0] || buffer == (uint8_t *)theirs[1]);
	nr_back++;
}

static bool is_kernel(const struct cupti_record *record)
{
	return record->kind == CUPTI_KIND_CONCURRENT_KERNEL;
}

/* It recorded, and was done, before we came; CUPTI still has its buffer. */
START_TEST(a_buffer_from_before_us_goes_back_to_whoever_gave_it)
{
	theirs[0][0] = CUPTI_KIND_CONCURRENT_KERNEL;
	buffer_client_register(client_requests, client_completes);
	start();
	completed(NULL, 0, (uint8_t *)theirs[0], sizeof(theirs[0]), 8);
	ck_assert_uint_eq(nr_back, 1);
	ck_assert_uint_eq(buffer_take_nr_records(), 0);
	ck_assert_uint_eq(buffer_nr_theirs(), 0);
}
END_TEST

START_TEST(buffers_are_the_clients_while_they_are_lent_and_what_is_in_them_is_counted)
{
	struct buffer mine;
	uint8_t *buffer;
	size_t bytes, max;

	buffer_client_register(client_requests, client_completes);
	start();
	requested(&buffer, &bytes, &max);
	ck_assert_uint_eq(nr_given, 0);
	ck_assert_uint_eq(buffer_nr_ours(), 1);
	completed(NULL, 0, buffer, bytes, 16);
	ck_assert(buffer_take(&mine));
	ck_assert_ptr_eq(mine.bytes, buffer);
	ck_assert_uint_eq(mine.valid_bytes, 16);
	buffer_give_back(&mine);
	buffer_lend(true, is_kernel);
	requested(&buffer, &bytes, &max);
	ck_assert_ptr_eq(buffer, (uint8_t *)theirs[0]);
	ck_assert_uint_eq(buffer_nr_theirs(), 1);
	theirs[0][0] = theirs[0][4] = CUPTI_KIND_CONCURRENT_KERNEL;
	theirs[0][2] = CUPTI_KIND_OVERHEAD;
	buffer_lend(false, is_kernel); /* whose turn it is meanwhile does not matter */
	completed(NULL, 0, buffer, bytes, 24);
	ck_assert_uint_eq(nr_back, 1);
	ck_assert_uint_eq(buffer_nr_theirs(), 0);
	ck_assert_uint_eq(buffer_take_nr_records(), 2);
	ck_assert(!buffer_take(&mine));
}
END_TEST

START_TEST(full_buffers_are_taken_in_the_order_in_which_they_came)
{
	uint8_t *buffers[3];
	size_t bytes, max;
	struct buffer mine;

	start();
	for (size_t i = 0; i < 3; i++) {
		requested(&buffers[i], &bytes, &max);
		completed(NULL, 0, buffers[i], bytes, 8);
	}
	for (size_t i = 0; i < 3; i++) {
		ck_assert(buffer_take(&mine));
		ck_assert_ptr_eq(mine.bytes, buffers[i]);
		if (i == 0) {
			uint8_t *later;

			requested(&later, &bytes, &max);
			completed(NULL, 0, later, bytes, 8);
		}
	}
	ck_assert(buffer_take(&mine));
	ck_assert(!buffer_take(&mine));
}
END_TEST

/* All pairs differ, as if so many clients came one after the other. */
#define PAIRS(P)	 P(0) P(1) P(2) P(3) P(4) P(5) P(6) P(7) P(8) P(9)
#define PAIRS_OF_TENS(P) P(0) P(1) P(2) P(3) P(4)
static uint32_t last_asked;
#define REQUESTS(n)                                                                    \
	static void requests_##n(uint8_t **buffer, size_t *bytes, size_t *max_records) \
	{                                                                              \
		client_requests(buffer, bytes, max_records);                           \
		last_asked = n;                                                        \
	}
PAIRS(REQUESTS)
static uint32_t last_told;
#define COMPLETES(n)                                                                               \
	static void completes_##n(                                                                 \
		void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes) \
	{                                                                                          \
		client_completes(context, stream, buffer, bytes, valid_bytes);                     \
		last_told = n;                                                                     \
	}
PAIRS_OF_TENS(COMPLETES)

START_TEST(buffers_are_the_last_clients_of_many)
{
	static const cupti_buffer_requested_fn requests[] = {
#define NAME(n) requests_##n,
		PAIRS(NAME)
#undef NAME
	};
	static const cupti_buffer_completed_fn completes[] = {
#define NAME(n) completes_##n,
		PAIRS_OF_TENS(NAME)
#undef NAME
	};
	uint8_t *buffer;
	size_t bytes, max;

	start();
	buffer_lend(true, is_kernel);
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 50; i++) {
			buffer_client_register(requests[i % 10], completes[i / 10]);
			requested(&buffer, &bytes, &max);
			ck_assert_uint_eq(last_asked, i % 10);
			completed(NULL, 0, buffer, bytes, 0);
			ck_assert_uint_eq(last_told, i / 10);
			ck_assert_uint_eq(buffer_nr_theirs(), 0);
		}
	}
	ck_assert_uint_eq(nr_back, 100);
}
END_TEST

UNIT_SUITE("buffer", a_buffer_from_before_us_goes_back_to_whoever_gave_it,
	full_buffers_are_taken_in_the_order_in_which_they_came,
	buffers_are_the_clients_while_they_are_lent_and_what_is_in_them_is_counted,
	buffers_are_the_last_clients_of_many)
