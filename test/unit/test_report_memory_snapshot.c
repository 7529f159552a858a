/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of the driver, and blocks of PyTorch's allocator in them. */
#include <string.h>

#include "report/memory/memory.h"
#include "report/memory/memory_snapshot.h"
#include "report/model/select.h"
#include "report/util/string_pool.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define MIB ((uint64_t)1 << 20)

enum {
	USED = 0x10000000,   /* a segment that PyTorch uses */
	BESIDE = 0x20000000, /* one of a library */
	EARLY = 0x30000000,  /* one from before the recording */
};

static struct gen *gen;

/* op: 1 frees. */
static void call(uint64_t begin, uint64_t address, uint64_t bytes, uint8_t op, int32_t result)
{
	struct gprof_row_api_alloc *row = gen_row(gen, GPROF_TABLE_api_alloc);

	row->begin = begin;
	row->dur = begin + 1; /* the end; the encoder makes a duration of it */
	row->thread = 1;
	row->address = address;
	row->bytes = bytes;
	row->op = op;
	row->result = result;
	row->call = gen_call(gen, op ? "cudaFree" : "cudaMalloc", GPROF_API_RUNTIME);
}

static void block(uint64_t time, uint64_t address, int64_t bytes, uint8_t device)
{
	struct gprof_row_alloc *row = gen_row(gen, GPROF_TABLE_alloc);

	row->time = time;
	row->thread = 1;
	row->address = address;
	row->bytes = bytes;
	row->device_type = 1;
	row->device = device;
}

static struct process *opened(const char *name)
{
	gen_close(gen, "exit");
	return streams_process(streams_path(name));
}

static void begin(const char *name)
{
	gen = gen_open(streams_path(name));
	gen_anchor(gen, 0, 0, 0);
}

static const struct memory_segment *segment_at(
	const struct memory_snapshot *snapshot, uint64_t address)
{
	for (size_t i = 0; i < snapshot->nr_segments; i++) {
		if (snapshot->segments[i].address == address) {
			return &snapshot->segments[i];
		}
	}
	return NULL;
}

static const struct memory_event *event_of(
	const struct memory_snapshot *snapshot, enum memory_event_kind kind, uint64_t address)
{
	for (size_t i = 0; i < snapshot->nr_events; i++) {
		if (snapshot->events[i].kind == kind && snapshot->events[i].address == address) {
			return &snapshot->events[i];
		}
	}
	return NULL;
}

START_TEST(segments_have_the_blocks_that_lie_in_them)
{
	struct memory_snapshot snapshot;
	struct process *process;
	const struct memory_event *event;
	struct memory_frames frames;

	begin("segments.gprof");
	call(11, USED, 4 * MIB, 0, 0);
	block(13, USED + 512, 1024, 3);
	gen_op(gen, "aten::empty", 10, 15);
	call(20, BESIDE, MIB, 0, 0);
	block(30, USED + 2048, 512, 3);
	block(31, USED + 512, -1024, 3);
	call(40, BESIDE, 0, 1, 0);
	process = opened("segments.gprof");
	memory_snapshot_read(&snapshot, process);

	ck_assert_uint_eq(snapshot.nr_events, 6);
	ck_assert_uint_eq(snapshot.nr_segments, 2);
	ck_assert(segment_at(&snapshot, USED)->has_blocks);
	ck_assert_uint_eq(segment_at(&snapshot, USED)->device, 3);
	ck_assert_uint_eq(segment_at(&snapshot, USED)->end, MEMORY_LEFT);
	ck_assert(!segment_at(&snapshot, BESIDE)->has_blocks);
	ck_assert_uint_eq(segment_at(&snapshot, BESIDE)->end, 40);
	ck_assert_uint_eq(snapshot.nr_blocks, 1);
	ck_assert_uint_eq(snapshot.blocks[0]->address, USED + 2048);
	/* The call that frees does not say how much. */
	ck_assert_uint_eq(event_of(&snapshot, MEMORY_EVENT_SEGMENT_FREE, BESIDE)->bytes, MIB);

	event = event_of(&snapshot, MEMORY_EVENT_SEGMENT_ALLOC, USED);
	memory_snapshot_frames(event->frames, &frames);
	ck_assert_str_eq(string_pool_text(frames.call, NULL), "cudaMalloc");
	ck_assert_uint_eq(frames.nr_ops, 1);
	ck_assert_str_eq(string_pool_text(frames.ops[0].name, NULL), "aten::empty");
	event = event_of(&snapshot, MEMORY_EVENT_ALLOC, USED + 512);
	memory_snapshot_frames(event->frames, &frames);
	ck_assert_uint_eq(frames.call, 0);
	ck_assert_str_eq(string_pool_text(frames.ops[0].name, NULL), "aten::empty");
	memory_snapshot_fini(&snapshot);
	process_destroy(process);
}
END_TEST

START_TEST(a_block_from_before_the_recording_has_a_segment_all_the_time)
{
	struct memory_snapshot snapshot;
	struct process *process;

	begin("early.gprof");
	block(10, EARLY + 100, -50, 1);
	block(20, EARLY + MIB, 4 * (int64_t)MIB, 1);
	block(30, EARLY + 64 * MIB, 1, 1);
	process = opened("early.gprof");
	memory_snapshot_read(&snapshot, process);

	ck_assert_uint_eq(snapshot.nr_segments, 2);
	ck_assert_uint_eq(segment_at(&snapshot, EARLY)->bytes, 6 * MIB);
	ck_assert_uint_eq(segment_at(&snapshot, EARLY)->end, MEMORY_LEFT);
	ck_assert_uint_eq(segment_at(&snapshot, EARLY + 64 * MIB)->bytes, 2 * MIB);
	ck_assert_uint_eq(snapshot.nr_blocks, 2);
	memory_snapshot_fini(&snapshot);
	process_destroy(process);
}
END_TEST

START_TEST(an_address_that_is_used_again_is_another_segment)
{
	struct memory_snapshot snapshot;
	struct process *process;

	begin("again.gprof");
	call(10, USED, MIB, 0, 0);
	call(20, USED, 0, 1, 0);
	call(30, USED, 2 * MIB, 0, 0);
	block(40, USED + MIB, 512, 0);
	/* Its end was lost. */
	call(50, USED, 3 * MIB, 0, 0);
	/* Nobody knows how large it was. */
	call(60, EARLY, 0, 1, 0);
	process = opened("again.gprof");
	memory_snapshot_read(&snapshot, process);

	ck_assert_uint_eq(snapshot.nr_segments, 3);
	ck_assert_uint_eq(snapshot.segments[0].end, 20);
	ck_assert(!snapshot.segments[0].has_blocks);
	ck_assert_uint_eq(snapshot.segments[1].end, 51);
	ck_assert(snapshot.segments[1].has_blocks);
	ck_assert_uint_eq(snapshot.segments[2].end, MEMORY_LEFT);
	ck_assert_uint_eq(
		event_of(&snapshot, MEMORY_EVENT_SEGMENT_FREE, EARLY)->segment, MEMORY_NO_SEGMENT);
	memory_snapshot_fini(&snapshot);
	process_destroy(process);
}
END_TEST

START_TEST(a_refused_allocation_and_what_has_no_address_are_counted)
{
	struct memory_snapshot snapshot;
	struct process *process;

	begin("refused.gprof");
	call(10, USED, MIB, 0, 0);
	call(20, 0, 100 * MIB, 0, 2);
	block(30, 0, 512, 0);
	block(31, 0, -512, 0);
	process = opened("refused.gprof");
	memory_snapshot_read(&snapshot, process);

	ck_assert_uint_eq(snapshot.nr_nameless, 2);
	ck_assert_uint_eq(snapshot.nr_events, 2);
	ck_assert_uint_eq(snapshot.events[1].kind, MEMORY_EVENT_REFUSED);
	ck_assert_uint_eq(snapshot.events[1].bytes, 100 * MIB);
	ck_assert_uint_eq(snapshot.events[1].free_bytes, 0); /* the device's size is unknown */
	memory_snapshot_fini(&snapshot);
	process_destroy(process);
}
END_TEST

START_TEST(what_was_in_use_when_an_allocation_failed_is_told)
{
	struct table *table;
	size_t row;

	begin("failed.gprof");
	call(10, USED, 4 * MIB, 0, 0);
	call(12, BESIDE, MIB, 0, 0);
	block(14, USED, 1024, 0);
	block(15, USED + 1024, 3 * (int64_t)MIB, 0);
	gen_op(gen, "aten::mm", 13, 16);
	block(17, USED, -1024, 0);
	call(21, 0, 9 * MIB, 0, 2);
	call(24, 0, 8 * MIB, 0, 2);
	call(26, 0, 8 * MIB, 0,
		900); /* a capture does not allow it: memory has nothing to do with that */
	gen_op(gen, "aten::empty", 20, 30);
	/* PyTorch gives back and goes on. */
	block(40, USED + 1024, -3 * (int64_t)MIB, 0);
	gen_close(gen, "exit");
	table = tables_of(&view_memory_failed, streams_path("failed.gprof"), false);

	ck_assert_uint_eq(table->nr_rows, 4);
	row = tables_find(table, "category", "refused", 0);
	ck_assert_uint_eq(tables_number(table, row, "bytes"), 8 * MIB);
	ck_assert_str_eq(tables_name(table, row), "aten::empty");
	ck_assert(!tables_cell(table, row, "share_pct")->is_known);
	row = tables_find(table, "category", "from the driver", 0);
	ck_assert_uint_eq(tables_number(table, row, "bytes"), MIB);
	row = tables_find(table, "category", "cached", 0);
	ck_assert_uint_eq(tables_number(table, row, "bytes"), MIB);
	row = tables_find(table, "name", "aten::mm", 0);
	ck_assert_uint_eq(tables_number(table, row, "bytes"), 3 * MIB);
	ck_assert_uint_eq(tables_number(table, row, "blocks"), 1);
	table_destroy(table);
	tables_of_nonsense(&view_memory_failed, false);
}
END_TEST

UNIT_SUITE("report/memory_snapshot", segments_have_the_blocks_that_lie_in_them,
	a_block_from_before_the_recording_has_a_segment_all_the_time,
	an_address_that_is_used_again_is_another_segment,
	a_refused_allocation_and_what_has_no_address_are_counted,
	what_was_in_use_when_an_allocation_failed_is_told)
