/* SPDX-License-Identifier: Apache-2.0 */
#include "report/session/importers.h"
#include "report/stream/stream.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/err.h"
#include "report/stream/reader.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

static int open_bytes(struct stream **stream, const void *bytes, size_t nr_bytes)
{
	const char *path = streams_path("made.gprof");

	streams_write(path, bytes, nr_bytes);
	return stream_open(stream, path, stream_importers);
}

START_TEST(a_whole_stream_has_no_damage_and_all_rows)
{
	struct stream *stream = streams_open(streams_small("a.gprof"));

	ck_assert(!stream_is_damaged(stream));
	ck_assert_uint_eq(streams_rows(stream, GPROF_TABLE_kernel), 6);
	ck_assert_uint_eq(streams_rows(stream, GPROF_TABLE_api_launch), 5);
	ck_assert_uint_eq(streams_rows(stream, GPROF_TABLE_nvtx), 5);
	stream_close(stream);
}
END_TEST

START_TEST(columns_come_back_as_they_were_written)
{
	struct stream *stream = streams_open(streams_small("a.gprof"));
	struct batch batch;
	size_t block = 0;

	while (stream_block_table(stream, block) != GPROF_TABLE_kernel) {
		block++;
	}
	ck_assert_uint_eq(stream_load(stream, block, COL_ALL(NR_COL_kernel), 0, &batch), 0);
	ck_assert_uint_eq(batch.nr_rows, 6);
	ck_assert_uint_eq(batch.col[COL_kernel_begin][0], 1500020000);
	ck_assert_uint_eq(batch.col[COL_kernel_begin][5], 1500105000);
	ck_assert_uint_eq(batch.col[COL_kernel_dur][4], 14000);
	ck_assert_uint_eq(batch.col[COL_kernel_correlation][5], 999);
	ck_assert_uint_eq(batch.col[COL_kernel_shape][4], 2);
	/* Narrow columns on request; wide ones stay wide. */
	ck_assert_uint_eq(
		stream_load(stream, block, COL_BIT(COL_kernel_dur) | COL_BIT(COL_kernel_begin),
			COL_BIT(COL_kernel_dur), &batch),
		0);
	ck_assert_ptr_nonnull(batch.col[COL_kernel_begin]);
	ck_assert_ptr_null(batch.col[COL_kernel_shape]);
	stream_close(stream);
}
END_TEST

/* What one of them alone gives, each of several gives: the file may be read for all at once. */
static void check_columns(struct stream *stream, size_t block, uint32_t mask,
	struct reader *together, struct reader *alone)
{
	struct batch one, all;

	ck_assert_uint_eq(reader_load(together, stream, block, mask, 0, &all), 0);
	for (unsigned int c = 0; c < SCHEMA_COLUMNS; c++) {
		if (!(mask & COL_BIT(c))) {
			continue;
		}
		ck_assert_uint_eq(reader_load(alone, stream, block, COL_BIT(c), 0, &one), 0);
		for (uint32_t i = 0; i < all.nr_rows; i++) {
			if (all.col[c]) {
				ck_assert_uint_eq(all.col[c][i], one.col[c][i]);
			} else {
				ck_assert_uint_eq(all.text[c][i].nr_bytes, one.text[c][i].nr_bytes);
			}
		}
	}
}

START_TEST(columns_that_are_read_together_are_those_of_each_alone)
{
	struct stream *stream = streams_open(streams_ops("ops.gprof"));
	struct reader *alone = reader_create(), *together = reader_create();

	for (size_t block = 0; block < stream->nr_blocks; block++) {
		const struct schema_table *table = schema_table(stream_block_table(stream, block));
		uint32_t all = COL_ALL(table->nr_columns);

		for (uint32_t mask = 1; mask <= 0xff; mask++) {
			check_columns(stream, block, mask * 0x01010101u & all, together, alone);
		}
		check_columns(stream, block, all, together, alone);
	}
	reader_destroy(alone);
	reader_destroy(together);
	stream_close(stream);
}
END_TEST

/* As many bytes as the largest number of a plain column needs over its base: a bound within 256. */
START_TEST(the_directory_bounds_the_numbers_of_a_column)
{
	struct stream *stream = streams_open(streams_ops("ops.gprof"));
	size_t nr_tight = 0;

	for (size_t block = 0; block < stream->nr_blocks; block++) {
		const struct schema_table *table = schema_table(stream_block_table(stream, block));

		for (unsigned int c = 0; c < table->nr_columns; c++) {
			uint64_t most = stream_most(stream, block, c), largest = 0;
			struct batch batch;

			ck_assert_uint_eq(stream_load(stream, block, COL_BIT(c), 0, &batch), 0);
			for (uint32_t i = 0; batch.col[c] && i < batch.nr_rows; i++) {
				largest = batch.col[c][i] > largest ? batch.col[c][i] : largest;
			}
			ck_assert_uint_le(largest, most);
			nr_tight += most && most / 256 <= largest;
		}
	}
	ck_assert_uint_gt(nr_tight, stream->nr_blocks);
	stream_close(stream);
}
END_TEST

START_TEST(every_cut_of_a_stream_is_read_up_to_the_cut)
{
	size_t nr_bytes;
	unsigned char *bytes = streams_read(streams_small("a.gprof"), &nr_bytes);

	for (size_t cut = 0; cut < nr_bytes; cut += 7) {
		struct stream *stream = NULL;
		int rc = open_bytes(&stream, bytes, cut);

		ck_assert_int_eq(rc != 0, cut < sizeof(struct gprof_file_header));
		if (!rc) {
			ck_assert_uint_le(streams_rows(stream, GPROF_TABLE_kernel), 6);
			stream_close(stream);
		}
	}
	free(bytes);
}
END_TEST

START_TEST(a_flipped_bit_in_a_header_costs_that_block_only)
{
	size_t nr_bytes, end;
	unsigned char *bytes = streams_read(streams_small("a.gprof"), &nr_bytes);
	size_t at = streams_block(bytes, nr_bytes, GPROF_TABLE_memcpy, &end);
	struct stream *stream;

	bytes[at + 20] ^= 1;
	ck_assert_int_eq(open_bytes(&stream, bytes, nr_bytes), 0);
	ck_assert_uint_eq(stream->nr_damages, 1);
	ck_assert_uint_eq(stream->damages[0].offset, at);
	ck_assert_uint_eq(stream->damages[0].nr_bytes, end - at);
	ck_assert_uint_eq(stream->blocks_missing, 1);
	ck_assert_uint_eq(streams_rows(stream, GPROF_TABLE_memcpy), 0);
	ck_assert_uint_eq(streams_rows(stream, GPROF_TABLE_memset), 1);
	ck_assert(stream_is_damaged(stream));
	stream_close(stream);
	free(bytes);
}
END_TEST

static unsigned int bad_columns;

static void count_bad(void *context, const char *column, uint64_t offset, enum decode_status status)
{
	(void)offset;
	ck_assert_str_eq(column, context);
	ck_assert_int_ne(status, DECODE_OK);
	bad_columns++;
}

START_TEST(a_damaged_column_is_lost_alone_and_its_rows_are_counted_once)
{
	size_t nr_bytes, end;
	unsigned char *bytes = streams_read(streams_small("a.gprof"), &nr_bytes);
	size_t at = streams_block(bytes, nr_bytes, GPROF_TABLE_api_launch, &end);
	struct gprof_block_header header;
	struct stream *stream;
	struct batch batch;
	size_t block = 0;

	memcpy(&header, bytes + at, sizeof(header));
	/* The first frame is that of the first column that is not constant: begin. */
	bytes[at + sizeof(header) + header.nr_columns * sizeof(struct gprof_column_entry) + 12] ^=
		4;
	ck_assert_int_eq(open_bytes(&stream, bytes, nr_bytes), 0);
	while (stream_block_table(stream, block) != GPROF_TABLE_api_launch) {
		block++;
	}
	ck_assert_uint_eq(stream_load(stream, block, COL_BIT(COL_api_launch_shape), 0, &batch), 0);
	ck_assert(!stream_is_damaged(stream));
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(stream_load(stream, block, COL_ALL(NR_COL_api_launch), 0, &batch),
			COL_BIT(COL_api_launch_begin));
	}
	ck_assert_uint_eq(stream_table(stream, GPROF_TABLE_api_launch)->rows_damaged, 5);
	ck_assert_uint_eq(stream_verify(stream, block, count_bad, "begin"), 1);
	ck_assert_uint_eq(bad_columns, 1);
	stream_close(stream);
	free(bytes);
}
END_TEST

START_TEST(a_block_that_is_gone_shows_as_missing_rows_of_the_next)
{
	const char *path = streams_path("two.gprof");
	struct gen *gen = gen_open(path);
	struct stream *stream;
	unsigned char *bytes;
	size_t nr_bytes, at, end;

	for (int block = 0; block < 3; block++) {
		for (int i = 0; i < 10; i++) {
			((struct gprof_row_nvtx *)gen_row(gen, GPROF_TABLE_nvtx))->time = i;
		}
		gen_flush(gen);
	}
	gen_close(gen, "exit");
	bytes = streams_read(path, &nr_bytes);
	at = streams_block(bytes, nr_bytes, GPROF_TABLE_nvtx, &end);
	memmove(bytes + at, bytes + end, nr_bytes - end);
	ck_assert_int_eq(open_bytes(&stream, bytes, nr_bytes - (end - at)), 0);
	ck_assert_uint_eq(stream->blocks_missing, 1);
	ck_assert_uint_eq(stream_table(stream, GPROF_TABLE_nvtx)->rows_missing, 10);
	ck_assert_uint_eq(streams_rows(stream, GPROF_TABLE_nvtx), 20);
	stream_close(stream);
	free(bytes);
}
END_TEST

START_TEST(a_block_that_comes_twice_counts_once)
{
	size_t nr_bytes, end;
	unsigned char *bytes = streams_read(streams_small("a.gprof"), &nr_bytes);
	size_t at = streams_block(bytes, nr_bytes, GPROF_TABLE_kernel, &end);
	struct stream *stream;

	memmove(bytes + end + (end - at), bytes + end, nr_bytes - end);
	memcpy(bytes + end, bytes + at, end - at);
	ck_assert_int_eq(open_bytes(&stream, bytes, nr_bytes + (end - at)), 0);
	ck_assert_uint_eq(stream->blocks_repeated, 1);
	ck_assert_uint_eq(streams_rows(stream, GPROF_TABLE_kernel), 6);
	stream_close(stream);
	free(bytes);
}
END_TEST

START_TEST(without_its_schema_a_stream_is_read_as_version_1_0)
{
	size_t nr_bytes, end;
	unsigned char *bytes = streams_read(streams_small("a.gprof"), &nr_bytes);
	size_t at = streams_block(bytes, nr_bytes, GPROF_TABLE_schema, &end);
	struct stream *stream;

	memset(bytes + at, 0, end - at);
	ck_assert_int_eq(open_bytes(&stream, bytes, nr_bytes), 0);
	ck_assert(stream->is_schema_assumed);
	ck_assert_uint_eq(streams_rows(stream, GPROF_TABLE_kernel), 6);
	stream_close(stream);
	free(bytes);
}
END_TEST

START_TEST(foreign_empty_and_newer_files_are_refused_with_a_reason)
{
	size_t nr_bytes;
	unsigned char *bytes = streams_read(streams_small("a.gprof"), &nr_bytes);
	struct gprof_file_header header;
	struct stream *stream;

	ck_assert_int_ne(open_bytes(&stream, "", 0), 0);
	ck_assert_str_eq(err_text(), "the file is empty");
	ck_assert_int_ne(open_bytes(&stream, "{\"traceEvents\": []}", 19), 0);
	ck_assert_str_eq(err_text(), "it contains no trace events");
	ck_assert_int_ne(open_bytes(&stream, "<html></html>", 13), 0);
	ck_assert_str_eq(err_text(), "not a gprof stream");
	memcpy(&header, bytes, sizeof(header));
	header.major = GPROF_FORMAT_MAJOR + 1;
	header.crc = decode_crc32(&header, offsetof(struct gprof_file_header, crc));
	memcpy(bytes, &header, sizeof(header));
	ck_assert_int_ne(open_bytes(&stream, bytes, nr_bytes), 0);
	ck_assert_ptr_nonnull(strstr(err_text(), "version 3."));
	/* A newer minor is read. */
	header.major = GPROF_FORMAT_MAJOR;
	header.minor = GPROF_FORMAT_MINOR + 1;
	header.crc = decode_crc32(&header, offsetof(struct gprof_file_header, crc));
	memcpy(bytes, &header, sizeof(header));
	ck_assert_int_eq(open_bytes(&stream, bytes, nr_bytes), 0);
	stream_close(stream);
	ck_assert_int_ne(stream_open(&stream, streams_path("."), stream_importers), 0);
	ck_assert_str_eq(err_text(), "not a regular file");
	free(bytes);
}
END_TEST

UNIT_SUITE("report/stream_in", a_whole_stream_has_no_damage_and_all_rows,
	columns_come_back_as_they_were_written,
	columns_that_are_read_together_are_those_of_each_alone,
	the_directory_bounds_the_numbers_of_a_column, every_cut_of_a_stream_is_read_up_to_the_cut,
	a_flipped_bit_in_a_header_costs_that_block_only,
	a_damaged_column_is_lost_alone_and_its_rows_are_counted_once,
	a_block_that_is_gone_shows_as_missing_rows_of_the_next,
	a_block_that_comes_twice_counts_once, without_its_schema_a_stream_is_read_as_version_1_0,
	foreign_empty_and_newer_files_are_refused_with_a_reason)
