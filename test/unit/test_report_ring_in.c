/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stream/rings.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/err.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

enum { CHUNK_BYTES = 4096, HEADER_BYTES = 64, NR_CHUNKS = 4 };

/* A ring file in the making. */
static unsigned char rings[HEADER_BYTES + CHUNK_BYTES * NR_CHUNKS];

static void make_rings(uint64_t stream_id)
{
	struct gprof_rings_header header = {.major = GPROF_FORMAT_MAJOR,
		.header_bytes = HEADER_BYTES,
		.stream_id = stream_id,
		.chunk_bytes = CHUNK_BYTES,
		.nr_chunks = NR_CHUNKS};

	memset(rings, 0, sizeof(rings));
	memcpy(header.magic, GPROF_RINGS_MAGIC, sizeof(header.magic));
	memcpy(rings, &header, sizeof(header));
}

static struct gprof_chunk_header *chunk(unsigned int index, uint32_t thread, uint32_t seq)
{
	struct gprof_chunk_header *header =
		(struct gprof_chunk_header *)(rings + HEADER_BYTES + CHUNK_BYTES * index);

	header->magic = GPROF_CHUNK_MAGIC;
	header->thread = thread;
	header->chunk_seq = seq;
	return header;
}

/* Appends a row with a text; returns its offset within the rows of the chunk. */
static uint32_t add_row(struct gprof_chunk_header *header, const void *row, uint32_t row_bytes,
	uint8_t table, const char *text)
{
	uint32_t at = header->committed;
	uint32_t text_bytes = text ? (uint32_t)strlen(text) : 0;
	uint32_t bytes = (row_bytes + text_bytes + 7) / 8 * 8;
	struct gprof_row_head head = {
		.bytes = (uint16_t)bytes, .table = table, .text_bytes = text_bytes};
	unsigned char *to = (unsigned char *)(header + 1) + at;

	memcpy(to, row, row_bytes);
	memcpy(to, &head, sizeof(head));
	if (text) {
		memcpy(to + row_bytes, text, text_bytes);
	}
	header->committed += bytes;
	return at;
}

static uint32_t add_nvtx(struct gprof_chunk_header *header, uint64_t time, const char *name)
{
	struct gprof_row_nvtx row = {.time = time, .thread = header->thread};

	return add_row(header, &row, sizeof(row), GPROF_TABLE_nvtx, name);
}

/*
 * A stream without an end: a range of thread 1 at tick 10, a checkpoint that says so, and one at
 * tick 20 that was written but not released.
 */
static const char *make_stream(uint32_t chunk_seq, uint32_t offset, uint64_t newest_correlation)
{
	const char *path = streams_path("killed.gprof.part");
	struct gen *gen = gen_open(path);
	struct gprof_row_checkpoint *checkpoint;

	((struct gprof_row_nvtx *)gen_row(gen, GPROF_TABLE_nvtx))->time = 10;
	gen_flush(gen);
	checkpoint = gen_row(gen, GPROF_TABLE_checkpoint);
	checkpoint->newest_correlation = newest_correlation;
	checkpoint = gen_row(gen, GPROF_TABLE_checkpoint);
	checkpoint->thread = 1;
	checkpoint->chunk_seq = chunk_seq;
	checkpoint->offset = offset;
	gen_flush(gen);
	((struct gprof_row_nvtx *)gen_row(gen, GPROF_TABLE_nvtx))->time = 20;
	/* CUPTI's work never was in a ring: this row stands here and nowhere else. */
	((struct gprof_row_kernel *)gen_row(gen, GPROF_TABLE_kernel))->correlation = 5;
	gen_close(gen, NULL);
	return path;
}

static void write_rings(size_t nr_bytes)
{
	streams_write(streams_path("killed.gprof.rings"), rings, nr_bytes);
}

/* The times of all nvtx rows, in order, up to most. */
static size_t read_times(struct stream *stream, uint64_t *times, size_t most)
{
	size_t nr = 0;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) != GPROF_TABLE_nvtx) {
			continue;
		}
		ck_assert_uint_eq(stream_load(stream, i, COL_BIT(COL_nvtx_time), 0, &batch), 0);
		for (uint32_t row = 0; row < batch.nr_rows && nr < most; row++) {
			times[nr++] = batch.col[COL_nvtx_time][row];
		}
	}
	return nr;
}

static size_t count_rows(const struct stream *stream, unsigned int table)
{
	size_t nr = 0;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		nr += stream_block_table(stream, i) == table ? stream->blocks[i].nr_rows : 0;
	}
	return nr;
}

START_TEST(rows_behind_the_checkpoint_come_from_the_rings_in_order)
{
	struct gprof_chunk_header *first, *second;
	struct process *process;
	uint64_t times[8];
	uint32_t offset;

	make_rings(GEN_STREAM_ID);
	/* The chunks lie in any order; thread 1 has read its first one up to `offset`. */
	second = chunk(0, 1, 8);
	first = chunk(2, 1, 7);
	add_nvtx(first, 10, "old");
	offset = add_nvtx(first, 20, "step");
	add_nvtx(first, 30, NULL);
	add_nvtx(second, 40, "last");
	chunk(1, 1, 6)->committed = 64; /* all of it is in the stream */
	chunk(3, 0, 1)->committed = 64; /* free */
	write_rings(sizeof(rings));
	process = streams_process(make_stream(7, offset, 0));
	ck_assert(process->stream->has_rings);
	ck_assert_uint_eq(process->stream->nr_ignored, 1);
	ck_assert_uint_eq(read_times(process->stream, times, 8), 4);
	ck_assert_uint_eq(times[0], 10);
	ck_assert_uint_eq(times[1], 20);
	ck_assert_uint_eq(times[2], 30);
	ck_assert_uint_eq(times[3], 40);
	ck_assert_uint_eq(count_rows(process->stream, GPROF_TABLE_kernel), 1);
	ck_assert(!process->is_ended);
	ck_assert(!process_is_complete(process));
	process_destroy(process);
}
END_TEST

START_TEST(texts_ticks_spans_and_launches_are_put_into_the_form_of_blocks)
{
	struct gprof_row_ring_launch launch = {.begin = 100,
		.dur = 130, /* the end, in a ring */
		.thread = 1,
		.correlation = 9,
		.call = 3,
		.shared_bytes = 512,
		.function = 0xabc0,
		.grid_x = 4,
		.block_x = 64};
	struct gprof_row_function function = {.address = 0xabc0};
	struct gprof_chunk_header *rows;
	struct process *process;
	struct batch batch;
	size_t block = 0;

	make_rings(GEN_STREAM_ID);
	rows = chunk(0, 1, 1);
	add_row(rows, &function, sizeof(function), GPROF_TABLE_function, "gemm");
	add_row(rows, &launch, sizeof(launch), GPROF_TABLE_ring_launch, NULL);
	write_rings(sizeof(rings));
	process = streams_process(make_stream(1, 0, 0));
	while (stream_block_table(process->stream, block) != GPROF_TABLE_api_launch) {
		block++;
	}
	ck_assert_uint_eq(
		stream_load(process->stream, block, COL_ALL(NR_COL_api_launch), 0, &batch), 0);
	ck_assert_uint_eq(batch.col[COL_api_launch_begin][0], 100);
	ck_assert_uint_eq(batch.col[COL_api_launch_dur][0], 30);
	ck_assert_uint_eq(batch.col[COL_api_launch_correlation][0], 9);
	ck_assert_str_eq(
		string_pool_text(
			process_shape_name(process, batch.col[COL_api_launch_shape][0]), NULL),
		"gemm");
	process_destroy(process);
}
END_TEST

/* As the recorder would have written them: IDs have 64 bits in the stream and 32 in rings. */
START_TEST(ids_of_calls_follow_those_of_the_stream)
{
	static const struct {
		uint64_t newest, ids[4];
	} cases[] = {
		{0, {0xfffffffe, 0, 0x100000003, 0xffffffff}},
		{0xfffffff0, {0xfffffffe, 0, 0x100000003, 0xffffffff}},
		{0x500000010, {0x4fffffffe, 0, 0x500000003, 0x4ffffffff}},
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct gprof_row_api_launch call = {.thread = 1};
		struct process *process;
		struct batch batch;
		size_t block = 0;

		make_rings(GEN_STREAM_ID);
		for (unsigned int i = 0; i < 4; i++) {
			call.correlation = (uint32_t)cases[k].ids[i];
			add_row(chunk(i / 2, 1 + i / 2, 1), &call, sizeof(call),
				GPROF_TABLE_api_launch, NULL);
		}
		write_rings(sizeof(rings));
		process = streams_process(make_stream(1, 0, cases[k].newest));
		while (stream_block_table(process->stream, block) != GPROF_TABLE_api_launch) {
			block++;
		}
		ck_assert_uint_eq(stream_load(process->stream, block,
					  COL_BIT(COL_api_launch_correlation), 0, &batch),
			0);
		for (unsigned int i = 0; i < 4; i++) {
			ck_assert_uint_eq(
				batch.col[COL_api_launch_correlation][i], cases[k].ids[i]);
		}
		process_destroy(process);
	}
}
END_TEST

START_TEST(rings_of_another_stream_or_that_are_damaged_are_not_believed)
{
	struct gprof_row_nvtx bad = {.time = 5};
	struct gprof_chunk_header *rows;
	struct process *process;
	uint64_t times[8];

	make_rings(GEN_STREAM_ID + 1);
	write_rings(sizeof(rings));
	process = streams_process(make_stream(1, 0, 0));
	ck_assert(!process->stream->has_rings);
	ck_assert_uint_eq(read_times(process->stream, times, 8), 2);
	process_destroy(process);
	/* A row that claims more bytes than its chunk has. */
	make_rings(GEN_STREAM_ID);
	rows = chunk(0, 1, 1);
	add_nvtx(rows, 30, "good");
	bad.head.bytes = 60000;
	bad.head.table = GPROF_TABLE_nvtx;
	memcpy((unsigned char *)(rows + 1) + rows->committed, &bad, sizeof(bad));
	rows->committed += 64;
	write_rings(sizeof(rings));
	process = streams_process(make_stream(1, 0, 0));
	ck_assert_uint_eq(process->stream->ring_rows_damaged, 1);
	ck_assert_uint_eq(read_times(process->stream, times, 8), 2);
	ck_assert_uint_eq(times[1], 30);
	process_destroy(process);
}
END_TEST

START_TEST(no_cut_of_the_rings_and_no_byte_in_them_ends_the_reader)
{
	char *path = strdup(make_stream(1, 0, 0)); /* paths are reused */
	uint64_t seed = 11;

	for (int i = 0; i < 400; i++) {
		struct gprof_chunk_header *rows;
		struct process *process;

		make_rings(GEN_STREAM_ID);
		rows = chunk(0, 1, 1);
		for (int k = 0; k < 10; k++) {
			add_nvtx(rows, 30, "some text");
		}
		rings[32 + unit_random(&seed) % 900] = (unsigned char)unit_random(&seed);
		write_rings(i % 2 ? sizeof(rings) : unit_random(&seed) % sizeof(rings));
		process = streams_process(path);
		process_destroy(process);
	}
	free(path);
}
END_TEST

UNIT_SUITE("report/ring_in", rows_behind_the_checkpoint_come_from_the_rings_in_order,
	texts_ticks_spans_and_launches_are_put_into_the_form_of_blocks,
	ids_of_calls_follow_those_of_the_stream,
	rings_of_another_stream_or_that_are_damaged_are_not_believed,
	no_cut_of_the_rings_and_no_byte_in_them_ends_the_reader)
