/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stream/block_decode.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "test/unit/unit.h"

enum { ROWS = 1000 };

static struct decoder *decoder;
static char frame[1 << 16];

/* A frame of `width` planes of s. */
static struct gprof_column_entry make(
	uint8_t codec, uint8_t width, uint64_t base, const uint64_t *s, uint32_t nr_rows)
{
	static unsigned char planes[8 * ROWS];
	struct gprof_column_entry entry = {.codec = codec, .width = width, .base = base};

	for (uint8_t plane = 0; plane < width; plane++) {
		for (uint32_t i = 0; i < nr_rows; i++) {
			planes[(size_t)plane * nr_rows + i] = (unsigned char)(s[i] >> (8 * plane));
		}
	}
	if (width) {
		entry.stored_bytes = (uint32_t)ZSTD_compress(
			frame, sizeof(frame), planes, (size_t)width * nr_rows, 1);
	}
	decoder = decoder ? decoder : decoder_create();
	return entry;
}

static uint64_t unzigzag(uint64_t s)
{
	return (s >> 1) ^ -(s & 1);
}

START_TEST(every_codec_and_width_gives_what_the_format_says)
{
	static uint64_t s[ROWS], span[ROWS], values[ROWS];
	uint64_t seed = 7;

	for (uint8_t width = 0; width <= 8; width++) {
		uint64_t mask = width == 8 ? UINT64_MAX : (1ull << (8 * width)) - 1;
		uint64_t base = unit_random(&seed), delta = base, gap = base;

		for (int i = 0; i < ROWS; i++) {
			s[i] = unit_random(&seed) & mask;
			span[i] = unit_random(&seed) % 100000;
		}
		for (uint8_t codec = GPROF_CODEC_PLAIN; codec <= GPROF_CODEC_GAP; codec++) {
			struct gprof_column_entry entry = make(codec, width, base, s, ROWS);

			ck_assert_int_eq(decode_numbers(decoder, &entry, frame, ROWS, span, values),
				DECODE_OK);
			for (int i = 0; i < ROWS; i++) {
				uint64_t expected = base + s[i];

				if (codec == GPROF_CODEC_DELTA) {
					expected = delta += unzigzag(s[i]);
				} else if (codec == GPROF_CODEC_GAP) {
					expected = gap + unzigzag(s[i]);
					gap = expected + span[i];
				}
				ck_assert_uint_eq(values[i], expected);
			}
		}
	}
}
END_TEST

START_TEST(small_values_are_the_same_in_32_bits_and_large_ones_refused)
{
	static uint64_t s[ROWS];
	static uint32_t small[ROWS];
	struct gprof_column_entry entry;

	for (uint8_t width = 0; width <= 4; width++) {
		uint64_t mask = (1ull << (8 * width)) - 1;
		uint64_t base = UINT32_MAX - mask;

		for (int i = 0; i < ROWS; i++) {
			s[i] = (uint64_t)i * 2654435761u & mask;
		}
		entry = make(GPROF_CODEC_PLAIN, width, base, s, ROWS);
		ck_assert_int_eq(decode_small(decoder, &entry, frame, ROWS, small), DECODE_OK);
		for (int i = 0; i < ROWS; i++) {
			ck_assert_uint_eq(small[i], base + s[i]);
		}
		entry.base++; /* could pass 2^32 now */
		ck_assert_int_eq(
			decode_small(decoder, &entry, frame, ROWS, small), DECODE_BAD_CODEC);
	}
	entry = make(GPROF_CODEC_DELTA, 1, 0, s, ROWS);
	ck_assert_int_eq(decode_small(decoder, &entry, frame, ROWS, small), DECODE_BAD_CODEC);
}
END_TEST

START_TEST(constants_need_no_frame)
{
	struct gprof_column_entry entry = {.codec = GPROF_CODEC_CONST, .base = 42};
	static uint64_t values[ROWS];

	decoder = decoder_create();
	ck_assert_int_eq(decode_numbers(decoder, &entry, NULL, ROWS, NULL, values), DECODE_OK);
	ck_assert_uint_eq(values[0], 42);
	ck_assert_uint_eq(values[ROWS - 1], 42);
}
END_TEST

START_TEST(frames_that_do_not_fit_are_told_apart)
{
	static uint64_t s[ROWS], values[ROWS];
	struct gprof_column_entry entry = make(GPROF_CODEC_PLAIN, 2, 0, s, ROWS);

	ck_assert_int_eq(
		decode_numbers(decoder, &entry, frame, ROWS - 1, NULL, values), DECODE_BAD_LENGTH);
	ck_assert_int_eq(decode_numbers(decoder, &entry, frame, ROWS / 2 * 3, NULL, values),
		DECODE_BAD_LENGTH);
	entry.stored_bytes--;
	ck_assert_int_eq(
		decode_numbers(decoder, &entry, frame, ROWS, NULL, values), DECODE_BAD_FRAME);
	entry = make(GPROF_CODEC_GAP, 2, 0, s, ROWS);
	ck_assert_int_eq(
		decode_numbers(decoder, &entry, frame, ROWS, NULL, values), DECODE_NO_SPAN);
	entry.codec = 77;
	ck_assert_int_eq(
		decode_numbers(decoder, &entry, frame, ROWS, NULL, values), DECODE_BAD_CODEC);
	entry.codec = GPROF_CODEC_PLAIN;
	entry.width = 9;
	ck_assert_int_eq(
		decode_numbers(decoder, &entry, frame, ROWS, NULL, values), DECODE_BAD_CODEC);
}
END_TEST

START_TEST(texts_come_back_with_zeros_in_them_and_wrong_lengths_are_refused)
{
	unsigned char bytes[12 + 5] = {2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 'a', 0, 'x', 'y', 'z'};
	struct gprof_column_entry entry = {.codec = GPROF_CODEC_TEXT, .base = 5};
	struct decode_text texts[3];
	struct decoded_texts decoded = {.texts = texts};

	decoder = decoder_create();
	entry.stored_bytes = (uint32_t)ZSTD_compress(frame, sizeof(frame), bytes, sizeof(bytes), 1);
	ck_assert_int_eq(decode_texts(decoder, &entry, frame, 3, &decoded), DECODE_OK);
	ck_assert_uint_eq(texts[0].nr_bytes, 2);
	ck_assert_mem_eq(texts[0].bytes, "a\0", 2);
	ck_assert_uint_eq(texts[1].nr_bytes, 0);
	ck_assert_mem_eq(texts[2].bytes, "xyz", 3);
	entry.base = 4;
	ck_assert_int_eq(decode_texts(decoder, &entry, frame, 3, &decoded), DECODE_BAD_LENGTH);
	entry.base = UINT64_MAX;
	ck_assert_int_eq(decode_texts(decoder, &entry, frame, 3, &decoded), DECODE_BAD_LENGTH);
	entry.base = 5;
	bytes[8] = 200; /* longer than all there is */
	entry.stored_bytes = (uint32_t)ZSTD_compress(frame, sizeof(frame), bytes, sizeof(bytes), 1);
	ck_assert_int_eq(decode_texts(decoder, &entry, frame, 3, &decoded), DECODE_BAD_LENGTH);
	free(decoded.content);
}
END_TEST

START_TEST(block_headers_are_believed_only_with_their_checksum)
{
	struct {
		struct gprof_block_header header;
		struct gprof_column_entry entry;
	} block = {.header = {.magic = GPROF_BLOCK_MAGIC,
			   .table = 20,
			   .nr_columns = 1,
			   .nr_rows = 3,
			   .payload_bytes = 9},
		.entry = {.stored_bytes = 9}};
	struct gprof_column_entry entries[DECODE_COLUMNS];
	struct gprof_block_header header;

	ck_assert_int_eq(
		decode_block_header(&block, sizeof(block), &header, entries), DECODE_BAD_CRC);
	block.header.crc = decode_crc32(&block, sizeof(block));
	ck_assert_int_eq(decode_block_header(&block, sizeof(block), &header, entries), DECODE_OK);
	ck_assert_int_eq(
		decode_block_header(&block, sizeof(block) - 1, &header, entries), DECODE_SHORT);
	ck_assert_int_eq(decode_block_header(&block, 10, &header, entries), DECODE_SHORT);
	/* A payload that is not the sum of its columns, with a good checksum. */
	block.header.crc = 0;
	block.header.payload_bytes = 8;
	block.header.crc = decode_crc32(&block, sizeof(block));
	ck_assert_int_eq(
		decode_block_header(&block, sizeof(block), &header, entries), DECODE_BAD_HEADER);
	block.header.magic++;
	ck_assert_int_eq(
		decode_block_header(&block, sizeof(block), &header, entries), DECODE_BAD_MAGIC);
	ck_assert_uint_eq(decode_crc32("123456789", 9), 0xcbf43926u);
}
END_TEST

UNIT_SUITE("report/decode", every_codec_and_width_gives_what_the_format_says,
	small_values_are_the_same_in_32_bits_and_large_ones_refused, constants_need_no_frame,
	frames_that_do_not_fit_are_told_apart,
	texts_come_back_with_zeros_in_them_and_wrong_lengths_are_refused,
	block_headers_are_believed_only_with_their_checksum)
