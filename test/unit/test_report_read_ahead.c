/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stream/prefetch.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

#define NR_EVENTS 700000u

static struct stream *stream;

static void make_stream(void)
{
	const char *path = streams_path("training.gprof");
	struct gen *gen = gen_open(path);

	gen_training(gen, NR_EVENTS, 3);
	gen_close(gen, "exit");
	stream = streams_open(path);
}

/* Every block of calls and kernels once, the columns and their widths changing. */
static size_t make_requests(struct stream_request *requests)
{
	size_t nr = 0;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_block_table(stream, i);
		uint32_t mask = nr % 3 ? COL_BIT(0) | COL_BIT(1) : COL_ALL(6);

		if (table == GPROF_TABLE_kernel || table == GPROF_TABLE_api_launch) {
			requests[nr] =
				(struct stream_request){.stream = stream, .block = i, .mask = mask};
			requests[nr].small_mask = nr % 2 ? COL_BIT(1) : 0;
			nr++;
		}
	}
	return nr;
}

static uint64_t value(const struct batch *batch, unsigned int c, uint32_t row)
{
	return batch->small[c] ? batch->small[c][row] : batch->col[c][row];
}

/* A batch against that of a reader of our own. */
static void check_batch(
	struct reader *plain, const struct stream_request *request, const struct batch *batch)
{
	struct batch expected;
	uint64_t nr_wrong = 0;

	ck_assert_uint_eq(reader_load(plain, stream, request->block, request->mask,
				  request->small_mask, &expected),
		0);
	ck_assert_uint_eq(batch->nr_rows, expected.nr_rows);
	ck_assert_uint_eq(batch->block, request->block);
	for (unsigned int c = 0; c < SCHEMA_COLUMNS; c++) {
		if (!(request->mask & COL_BIT(c))) {
			continue;
		}
		ck_assert_int_eq(batch->small[c] != NULL, expected.small[c] != NULL);
		for (uint32_t row = 0; row < batch->nr_rows; row++) {
			nr_wrong += value(batch, c, row) != value(&expected, c, row);
		}
	}
	ck_assert_uint_eq(nr_wrong, 0);
}

/* Takes them all in order; every `strange`th time something that was not announced in between. */
static void take_all(unsigned int nr_threads, unsigned int strange)
{
	struct reader *plain = reader_create();
	struct stream_request *requests;
	struct batch batch;
	size_t nr;

	prefetch_set_threads(nr_threads);
	make_stream();
	requests = calloc(stream->nr_blocks, sizeof(*requests));
	nr = make_requests(requests);
	ck_assert_uint_gt(nr, 20);
	stream_expect(requests, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct stream_request *r = &requests[i];

		if (strange && i % strange == 0) {
			ck_assert_uint_eq(
				stream_load(stream, requests[nr / 2].block, COL_BIT(2), 0, &batch),
				0);
		}
		ck_assert_uint_eq(stream_load(stream, r->block, r->mask, r->small_mask, &batch), 0);
		check_batch(plain, r, &batch);
	}
	stream_close(stream);
	reader_destroy(plain);
	free(requests);
}

START_TEST(batches_come_in_order_whatever_the_number_of_threads)
{
	take_all(1, 0);
	take_all(2, 0);
	take_all(5, 0);
	take_all(1000, 0);
}
END_TEST

START_TEST(loads_that_nobody_announced_are_as_good)
{
	take_all(3, 2);
}
END_TEST

START_TEST(what_was_expected_may_be_left)
{
	struct stream_request *requests;
	struct batch batch;
	size_t nr;

	prefetch_set_threads(4);
	make_stream();
	requests = calloc(stream->nr_blocks, sizeof(*requests));
	nr = make_requests(requests);
	for (size_t i = 0; i < 20; i++) {
		stream_expect(requests + i, nr - i);
		ck_assert_uint_eq(stream_load(stream, requests[i].block, requests[i].mask,
					  requests[i].small_mask, &batch),
			0);
	}
	stream_expect(requests, nr);
	stream_close(stream); /* while threads work on it */
	free(requests);
}
END_TEST

START_TEST(damage_is_counted_once)
{
	struct stream_request *requests;
	struct stream_table *table;
	unsigned char *bytes;
	size_t nr_bytes, begin, end, nr, nr_bad = 0;
	struct batch batch;

	prefetch_set_threads(3);
	make_stream();
	stream_close(stream);
	bytes = streams_read(streams_path("training.gprof"), &nr_bytes);
	begin = streams_block(bytes, nr_bytes, GPROF_TABLE_kernel, &end);
	bytes[begin + (end - begin) / 4] ^= 0x10; /* in a frame of times, which are the longest */
	streams_write(streams_path("bad.gprof"), bytes, nr_bytes);
	stream = streams_open(streams_path("bad.gprof"));
	requests = calloc(stream->nr_blocks, sizeof(*requests));
	nr = make_requests(requests);
	for (size_t i = 0; i < nr; i++) {
		requests[i].mask = COL_ALL(6);
		requests[i].small_mask = 0;
	}
	for (int pass = 0; pass < 2; pass++) {
		stream_expect(requests, nr);
		for (size_t i = 0; i < nr; i++) {
			nr_bad +=
				stream_load(stream, requests[i].block, COL_ALL(6), 0, &batch) != 0;
		}
	}
	table = stream_table(stream, GPROF_TABLE_kernel);
	ck_assert_uint_eq(nr_bad, 2);
	ck_assert_uint_gt(table->rows_damaged, 0);
	ck_assert_uint_lt(table->rows_damaged, table->nr_rows / 4);
	stream_close(stream);
	free(requests);
	free(bytes);
}
END_TEST

UNIT_SUITE("report/read_ahead", batches_come_in_order_whatever_the_number_of_threads,
	loads_that_nobody_announced_are_as_good, what_was_expected_may_be_left,
	damage_is_counted_once)
