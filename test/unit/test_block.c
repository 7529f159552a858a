/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/format/block.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/format/rows_to_columns.h"
#include "test/unit/decode.h"
#include "test/unit/unit.h"

/* Times in these tests are ticks already. */
static const struct block_ticks same = {.base = 0, .mult = (uint64_t)1 << 32};

static const char texts[] = "The quick brown fox jumps over the lazy dog.";

static struct block_encoder *new_encoder(void)
{
	void *memory = NULL;
	struct block_encoder *encoder;

	ck_assert_int_eq(posix_memalign(&memory, 64, block_encoder_bytes()), 0);
	encoder = block_encoder_init(memory, 1);
	ck_assert_ptr_nonnull(encoder);
	return encoder;
}

/* nr_rows rows with what `value` gives for each column; texts are pieces of `texts`. */
static const void **make_rows(unsigned int table, uint32_t nr_rows,
	uint64_t (*value)(uint64_t *seed, unsigned int column))
{
	const struct block_table *t = block_table(table);
	const void **rows = malloc(nr_rows * sizeof(*rows));
	char *storage = calloc(nr_rows, t->row_bytes);
	uint64_t seed = 88172645463325252u + table;

	for (uint32_t i = 0; i < nr_rows; i++) {
		char *row = storage + (size_t)i * t->row_bytes;

		rows[i] = row;
		for (unsigned int c = 0; c < t->nr_columns; c++) {
			uint64_t v = value(&seed, c);

			if (t->columns[c].kind == GPROF_KIND_TEXT) {
				struct gprof_text text = {
					.bytes = texts + v % 20, .nr_bytes = v % 25};

				memcpy(row + t->columns[c].offset, &text, sizeof(text));
			} else {
				memcpy(row + t->columns[c].offset, &v, t->columns[c].width);
			}
		}
	}
	return rows;
}

static void free_rows(const void **rows)
{
	free((void *)(uintptr_t)rows[0]);
	free(rows);
}

/*
 * A field as the format sees it: signed ones are sign-extended, ends of spans become durations, 0
 * if they are before their begins.
 */
static uint64_t expected(const struct block_table *t, const char *row, unsigned int c)
{
	const struct block_column *column = &t->columns[c];
	uint64_t value = 0;

	memcpy(&value, row + column->offset, column->width);
	if (column->is_signed && column->width == 4) {
		value = (uint64_t)(int64_t)(int32_t)value;
	}
	if (column->kind == GPROF_KIND_SPAN) {
		value -= expected(t, row, c - 1);
		value = value >> 63 ? 0 : value;
	}
	return value;
}

static void compare(const struct decode_block *block, unsigned int table, const void *const *rows)
{
	const struct block_table *t = block_table(table);

	ck_assert_uint_eq(block->header.nr_columns, t->nr_columns);
	for (unsigned int c = 0; c < t->nr_columns; c++) {
		size_t at = 0;

		for (uint32_t i = 0; i < block->header.nr_rows; i++) {
			struct gprof_text text;

			if (t->columns[c].kind != GPROF_KIND_TEXT) {
				uint64_t want = expected(t, rows[i], c);

				ck_assert_msg(block->columns[c].values[i] == want, "%s.%s[%u]",
					t->name, t->columns[c].name, i);
				continue;
			}
			memcpy(&text, (const char *)rows[i] + t->columns[c].offset, sizeof(text));
			ck_assert_uint_eq(block->columns[c].values[i], text.nr_bytes);
			ck_assert_mem_eq(block->columns[c].text + at, text.bytes, text.nr_bytes);
			at += text.nr_bytes;
		}
	}
}

static size_t encode(struct block_encoder *encoder, unsigned int table, const void *const *rows,
	uint32_t nr_rows, const struct block_ticks *ticks, uint64_t sequence, uint64_t rows_before,
	void *out, size_t capacity)
{
	const struct block_input input = {.table = table,
		.rows = rows,
		.nr_rows = nr_rows,
		.ticks = ticks,
		.sequence = sequence,
		.rows_before = rows_before};

	return block_encode(encoder, &input, out, capacity);
}

static bool has_text(unsigned int table)
{
	const struct block_table *t = block_table(table);

	for (unsigned int c = 0; c < t->nr_columns; c++) {
		if (t->columns[c].kind == GPROF_KIND_TEXT) {
			return true;
		}
	}
	return false;
}

/* Gathered a few at a time they make the same block. */
static void check_columns(struct block_encoder *encoder, unsigned int table,
	const void *const *rows, uint32_t nr_rows, const char *want, size_t want_bytes)
{
	union column_values *values = calloc(block_table(table)->nr_columns, sizeof(*values));
	const struct block_input input = {.table = table,
		.values = values,
		.nr_rows = nr_rows,
		.ticks = &same,
		.sequence = 7,
		.rows_before = 99};
	char *out = malloc(block_bound(table, nr_rows, 0));

	for (uint32_t at = 0; at < nr_rows; at += 100) {
		uint32_t n = nr_rows - at < 100 ? nr_rows - at : 100;

		rows_to_columns(table, rows + at, n, values, at);
	}
	ck_assert_uint_eq(
		block_encode(encoder, &input, out, block_bound(table, nr_rows, 0)), want_bytes);
	ck_assert_mem_eq(out, want, want_bytes);
	free(out);
	free(values);
}

static void round_trip(unsigned int table, uint32_t nr_rows,
	uint64_t (*value)(uint64_t *seed, unsigned int column))
{
	struct block_encoder *encoder;
	const void **rows;
	size_t capacity, bytes;
	char *out;
	struct decode_block block;

	if (!block_table(table)) {
		return; /* no table has that number */
	}
	encoder = new_encoder();
	rows = make_rows(table, nr_rows, value);
	capacity = block_bound(table, nr_rows, (size_t)nr_rows * 75);
	out = malloc(capacity);
	bytes = encode(encoder, table, rows, nr_rows, &same, 7, 99, out, capacity);
	ck_assert_msg(bytes > 0, "table %u, %u rows", table, nr_rows);
	ck_assert_uint_eq(bytes % GPROF_ALIGN, 0);
	decode_block(&block, out, bytes);
	ck_assert_uint_eq(block.bytes, bytes);
	ck_assert_uint_eq(block.header.table, table);
	ck_assert_uint_eq(block.header.nr_rows, nr_rows);
	ck_assert_uint_eq(block.header.sequence, 7);
	ck_assert_uint_eq(block.header.rows_before, 99);
	compare(&block, table, rows);
	decode_free(&block);
	if (!has_text(table)) {
		check_columns(encoder, table, rows, nr_rows, out, bytes);
	}
	free(out);
	free_rows(rows);
	free(encoder);
}

static uint64_t noise(uint64_t *seed, unsigned int column)
{
	(void)column;
	return unit_random(seed);
}

static uint64_t small(uint64_t *seed, unsigned int column)
{
	return unit_random(seed) % (column + 2);
}

static uint64_t extreme(uint64_t *seed, unsigned int column)
{
	static const uint64_t values[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63,
		((uint64_t)1 << 63) - 1, 0xff, 0x100, UINT32_MAX, 0x80000000u};

	(void)column;
	return values[unit_random(seed) % (sizeof(values) / sizeof(values[0]))];
}

static uint64_t constant(uint64_t *seed, unsigned int column)
{
	(void)seed;
	return 1000 + column;
}

START_TEST(every_table_round_trips_with_noise)
{
	for (unsigned int table = 1; table < GPROF_NR_TABLES; table++) {
		round_trip(table, 777, noise);
	}
}
END_TEST

START_TEST(every_table_round_trips_with_extreme_values)
{
	for (unsigned int table = 1; table < GPROF_NR_TABLES; table++) {
		round_trip(table, 300, extreme);
	}
}
END_TEST

START_TEST(every_table_round_trips_with_small_and_constant_values)
{
	for (unsigned int table = 1; table < GPROF_NR_TABLES; table++) {
		round_trip(table, 1000, small);
		round_trip(table, 50, constant);
	}
}
END_TEST

START_TEST(one_row_and_the_most_rows_round_trip)
{
	for (unsigned int table = 1; table < GPROF_NR_TABLES; table++) {
		round_trip(table, 1, noise);
	}
	round_trip(GPROF_TABLE_api, BLOCK_ENCODE_ROWS, noise);
	round_trip(GPROF_TABLE_kernel, BLOCK_ENCODE_ROWS, small);
}
END_TEST

START_TEST(ends_before_their_begins_are_counted)
{
	struct gprof_row_api calls[] = {{.begin = 1000, .dur = 1010}, {.begin = 2000, .dur = 1999},
		{.begin = 3000, .dur = 3000}, {.begin = 4000, .dur = 500}};
	const void *rows[] = {&calls[0], &calls[1], &calls[2], &calls[3]};
	struct block_encoder *encoder = new_encoder();
	size_t capacity = block_bound(GPROF_TABLE_api, 4, 0);
	char *out = malloc(capacity);
	struct decode_block block;

	decode_block(
		&block, out, encode(encoder, GPROF_TABLE_api, rows, 4, &same, 0, 0, out, capacity));
	compare(&block, GPROF_TABLE_api, rows);
	ck_assert_uint_eq(block_encoder_take_reversed(encoder), 2);
	ck_assert_uint_eq(block_encoder_take_reversed(encoder), 0);
	decode_free(&block);
	free(out);
	free(encoder);
}
END_TEST

/* Equal 32 bits in blocks of different times are different IDs; IDs that do not wrap cost nothing.
 */
START_TEST(ids_of_calls_are_unwrapped)
{
	static const uint32_t bits[] = {0xfffffff0, 0, 5, 0xfffffff1, 6};
	static const struct {
		uint64_t newest, ids[5];
	} cases[] = {
		{0, {0xfffffff0, 0, 5, 0xfffffff1, 6}},
		{0xfffffff1, {0xfffffff0, 0, 0x100000005, 0xfffffff1, 0x100000006}},
		{0x100000006, {0xfffffff0, 0, 0x100000005, 0xfffffff1, 0x100000006}},
		{0x1234500000006,
			{0x12344fffffff0, 0, 0x1234500000005, 0x12344fffffff1, 0x1234500000006}},
	};
	unsigned int c = decode_column(GPROF_TABLE_api, "correlation");
	struct block_encoder *encoder = new_encoder();
	size_t capacity = block_bound(GPROF_TABLE_api, 5, 0);
	char *out = malloc(capacity);

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct gprof_row_api calls[5] = {{.correlation = 0}};
		const void *rows[5];
		struct block_input input = {.table = GPROF_TABLE_api,
			.rows = rows,
			.nr_rows = 5,
			.ticks = &same,
			.newest_correlation = cases[k].newest};
		struct decode_block block;

		for (size_t i = 0; i < 5; i++) {
			calls[i].correlation = bits[i];
			rows[i] = &calls[i];
		}
		decode_block(&block, out, block_encode(encoder, &input, out, capacity));
		for (size_t i = 0; i < 5; i++) {
			ck_assert_uint_eq(block.columns[c].values[i], cases[k].ids[i]);
		}
		decode_free(&block);
		input.nr_rows = 1; /* a constant */
		decode_block(&block, out, block_encode(encoder, &input, out, capacity));
		ck_assert_uint_eq(block.columns[c].values[0], cases[k].ids[0]);
		decode_free(&block);
	}
	free(out);
	free(encoder);
}
END_TEST

START_TEST(constant_columns_take_no_payload)
{
	struct block_encoder *encoder = new_encoder();
	const void **rows = make_rows(GPROF_TABLE_api_copy, 5000, constant);
	size_t capacity = block_bound(GPROF_TABLE_api_copy, 5000, 0);
	char *out = malloc(capacity);
	struct decode_block block;

	decode_block(&block, out,
		encode(encoder, GPROF_TABLE_api_copy, rows, 5000, &same, 0, 0, out, capacity));
	for (unsigned int c = 0; c < block.header.nr_columns; c++) {
		uint8_t codec = block.columns[c].entry.codec;

		ck_assert(codec == GPROF_CODEC_CONST || c == 0);
	}
	ck_assert_uint_lt(block.header.payload_bytes, 100);
	decode_free(&block);
	free(out);
	free_rows(rows);
	free(encoder);
}
END_TEST

START_TEST(each_kind_has_its_codec)
{
	struct block_encoder *encoder = new_encoder();
	const void **rows = make_rows(GPROF_TABLE_api_launch, 100, noise);
	char *out = malloc(block_bound(GPROF_TABLE_api_launch, 100, 0));
	struct decode_block block;

	decode_block(&block, out,
		encode(encoder, GPROF_TABLE_api_launch, rows, 100, &same, 0, 0, out,
			block_bound(GPROF_TABLE_api_launch, 100, 0)));
	ck_assert_uint_eq(block.columns[0].entry.codec, GPROF_CODEC_GAP);   /* begin */
	ck_assert_uint_eq(block.columns[1].entry.codec, GPROF_CODEC_PLAIN); /* dur */
	ck_assert_uint_eq(block.columns[3].entry.codec, GPROF_CODEC_DELTA); /* correlation */
	decode_free(&block);
	free(out);
	free_rows(rows);
	free(encoder);
}
END_TEST

START_TEST(host_times_are_scaled_and_device_times_are_not)
{
	const struct block_ticks half = {.base = 1000, .mult = (uint64_t)1 << 31};
	struct gprof_row_api api[2] = {{.begin = 2000, .dur = 2600}, {.begin = 3000, .dur = 5000}};
	struct gprof_row_kernel kernel = {.begin = 2000, .dur = 2600};
	const void *api_rows[] = {&api[0], &api[1]};
	const void *kernel_rows[] = {&kernel};
	struct block_encoder *encoder = new_encoder();
	static char out[65536];
	struct decode_block block;

	decode_block(&block, out,
		encode(encoder, GPROF_TABLE_api, api_rows, 2, &half, 0, 0, out, sizeof(out)));
	ck_assert_uint_eq(block.columns[0].values[0], 500);
	ck_assert_uint_eq(block.columns[1].values[0], 300);
	ck_assert_uint_eq(block.columns[0].values[1], 1000);
	ck_assert_uint_eq(block.columns[1].values[1], 1000);
	ck_assert_uint_eq(block.header.time_min, 500);
	ck_assert_uint_eq(block.header.time_max, 2000);
	decode_free(&block);
	decode_block(&block, out,
		encode(encoder, GPROF_TABLE_kernel, kernel_rows, 1, &half, 0, 0, out, sizeof(out)));
	ck_assert_uint_eq(block.columns[0].values[0], 2000);
	ck_assert_uint_eq(block.columns[1].values[0], 600);
	decode_free(&block);
	free(encoder);
}
END_TEST

START_TEST(what_does_not_fit_or_does_not_exist_is_refused)
{
	const void **rows = make_rows(GPROF_TABLE_api, 2000, noise);
	struct block_encoder *encoder = new_encoder();
	size_t bound = block_bound(GPROF_TABLE_api, 2000, 0);
	char *out = malloc(bound);

	ck_assert_uint_eq(encode(encoder, GPROF_TABLE_api, rows, 2000, &same, 0, 0, out, 100), 0);
	ck_assert_uint_eq(encode(encoder, GPROF_TABLE_api, rows, 2000, &same, 0, 0, out, 20000), 0);
	ck_assert_uint_eq(encode(encoder, GPROF_TABLE_api, rows, 0, &same, 0, 0, out, bound), 0);
	ck_assert_uint_eq(encode(encoder, GPROF_TABLE_api, rows, BLOCK_ENCODE_ROWS + 1, &same, 0, 0,
				  out, bound),
		0);
	ck_assert_uint_eq(encode(encoder, 0, rows, 1, &same, 0, 0, out, bound), 0);
	ck_assert_uint_eq(encode(encoder, GPROF_NR_TABLES, rows, 1, &same, 0, 0, out, bound), 0);
	/* A refusal leaves the encoder usable. */
	ck_assert_uint_gt(encode(encoder, GPROF_TABLE_api, rows, 2000, &same, 0, 0, out, bound), 0);
	free(out);
	free_rows(rows);
	free(encoder);
}
END_TEST

START_TEST(tables_agree_with_their_row_structs)
{
	for (unsigned int table = 1; table < GPROF_NR_TABLES; table++) {
		const struct block_table *t = block_table(table);
		size_t end = sizeof(struct gprof_row_head);

		if (!t) {
			continue; /* no table has that number */
		}
		for (unsigned int c = 0; c < t->nr_columns; c++) {
			ck_assert_uint_ge(t->columns[c].offset, end);
			end = t->columns[c].offset + (size_t)t->columns[c].width;
		}
		ck_assert_uint_le(end, t->row_bytes);
		ck_assert_uint_eq(t->row_bytes % 8, 0);
	}
	ck_assert_ptr_null(block_table(0));
	ck_assert_ptr_null(block_table(GPROF_NR_TABLES));
}
END_TEST

START_TEST(crc_is_that_of_gzip)
{
	ck_assert_uint_eq(block_crc32("123456789", 9), 0xcbf43926u);
	ck_assert_uint_eq(block_crc32("", 0), 0);
}
END_TEST

UNIT_SUITE("block", every_table_round_trips_with_noise, every_table_round_trips_with_extreme_values,
	every_table_round_trips_with_small_and_constant_values,
	one_row_and_the_most_rows_round_trip, ends_before_their_begins_are_counted,
	ids_of_calls_are_unwrapped, constant_columns_take_no_payload, each_kind_has_its_codec,
	host_times_are_scaled_and_device_times_are_not,
	what_does_not_fit_or_does_not_exist_is_refused, tables_agree_with_their_row_structs,
	crc_is_that_of_gzip)
