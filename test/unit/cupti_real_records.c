/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder on hand-made buffers of a real libcupti's records: what comes out of the stream must
 * be what went in, as far as that version's records have the field.
 */
#include <stdio.h>
#include <string.h>

#include "collector/cupti/activity.h"
#include "collector/stream/batch.h"
#include "collector/collector.h"
#include "collector/cupti/cupti.h"
#include "collector/stream/dictionary.h"
#include "collector/util/notice.h"
#include "collector/cupti/record.h"
#include "collector/stream/stream.h"
#include "test/sim/cupti_abi.h"
#include "test/unit/cupti_real.h"
#include "test/unit/unit.h"
#include "test/unit/written.h"

#define NR 5u /* records of each kind */

static struct decode_block *blocks;
static size_t nr_blocks;

static void start(void)
{
	cupti_real_load();
	written_begin();
	record_init();
}

static void finish(void)
{
	blocks = written_end(&nr_blocks);
}

static uint64_t value(unsigned int table, const char *column, size_t n)
{
	return decode_value(blocks, nr_blocks, table, column, n);
}

static const char *text(unsigned int table, const char *column, size_t n)
{
	return decode_string(blocks, nr_blocks, value(table, column, n));
}

/* ---- hand-made buffers ---- */

static struct {
	uint64_t words[8192];
	size_t used;
} buffer;

/* Adds a record as this library would: cut, or with zeros behind what is known here. */
static void add(const void *record, size_t nr_bytes)
{
	uint32_t kind = *(const uint32_t *)record;
	size_t has = cupti_record_bytes(kind);

	ck_assert_uint_gt(has, 0);
	ck_assert_uint_le(buffer.used + has, sizeof(buffer.words));
	memcpy((char *)buffer.words + buffer.used, record, nr_bytes < has ? nr_bytes : has);
	buffer.used += has;
}

static void decode(void)
{
	record_begin_buffer();
	activity_decode((uint8_t *)buffer.words, buffer.used);
	ck_assert_uint_eq(loss_take(LOSS_CUPTI_RECORD), 0);
}

/* Does this library's record of that kind reach so far? */
static int has(uint32_t kind, size_t bytes)
{
	return cupti_record_bytes(kind) >= bytes;
}

/* ---- the tests ---- */

static void add_kernels(void)
{
	static const char *const names[] = {"_Z4gemmPf", "_Z4reluPf"};

	for (uint32_t i = 0; i < NR; i++) {
		struct cupti_kernel r = {.kind = CUPTI_KIND_CONCURRENT_KERNEL,
			.registers_per_thread = 40,
			.start_ns = 1000000 + i * 1000,
			.end_ns = 1000000 + i * 1000 + 500,
			.device_id = 1,
			.context_id = 2,
			.stream_id = 7 + i,
			.grid = {100, 2, 3},
			.block = {256, 1, 1},
			.static_shared_bytes = 1024,
			.dynamic_shared_bytes = 2048,
			.local_bytes_per_thread = 16,
			.correlation_id = 500 + i,
			.name = names[i % 2],
			.launch_type = CUPTI_LAUNCH_COOPERATIVE,
			.graph_node_id = 0x1122334455667788u,
			.graph_id = 9,
			.channel_id = 33,
			.cluster = {2, 1, 1}};

		add(&r, sizeof(r));
	}
}

START_TEST(kernels_come_out_as_they_went_in)
{
	start();
	add_kernels();
	decode();
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_kernel), NR);
	for (uint32_t i = 0; i < NR; i++) {
		ck_assert_uint_eq(value(GPROF_TABLE_kernel, "begin", i), 1000000 + i * 1000);
		ck_assert_uint_eq(value(GPROF_TABLE_kernel, "dur", i), 500);
		ck_assert_uint_eq(value(GPROF_TABLE_kernel, "correlation", i), 500 + i);
		ck_assert_uint_eq(value(GPROF_TABLE_kernel, "graph", i), 9);
		ck_assert_uint_eq(value(GPROF_TABLE_kernel, "graph_node", i), 0x1122334455667788u);
		ck_assert_uint_eq(value(GPROF_TABLE_kernel, "channel", i), 33);
		ck_assert_uint_eq(value(GPROF_TABLE_place, "stream", i), 7 + i);
		ck_assert_uint_eq(value(GPROF_TABLE_place, "device", i), 1);
	}
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_shape), 2);
	ck_assert_str_eq(text(GPROF_TABLE_shape, "name", 0), "_Z4gemmPf");
	ck_assert_str_eq(text(GPROF_TABLE_shape, "name", 1), "_Z4reluPf");
	ck_assert_uint_eq(value(GPROF_TABLE_shape, "grid_x", 0), 100);
	ck_assert_uint_eq(value(GPROF_TABLE_shape, "block_x", 0), 256);
	ck_assert_uint_eq(value(GPROF_TABLE_shape, "registers", 0), 40);
	ck_assert_uint_eq(value(GPROF_TABLE_shape, "static_shared_bytes", 0), 1024);
	ck_assert_uint_eq(value(GPROF_TABLE_shape, "dynamic_shared_bytes", 0), 2048);
	ck_assert_uint_eq(value(GPROF_TABLE_shape, "local_bytes", 0), 16);
	ck_assert_uint_eq(value(GPROF_TABLE_shape, "launch_type", 0), 1);
	ck_assert_uint_eq(value(GPROF_TABLE_shape, "cluster_x", 0),
		has(CUPTI_KIND_CONCURRENT_KERNEL, 200) ? 2 : 0);
}
END_TEST

START_TEST(copies_and_sets_come_out_as_they_went_in)
{
	struct cupti_memcpy copy = {.kind = CUPTI_KIND_MEMCPY,
		.copy_kind = CUPTI_COPY_HTOD,
		.src_kind = CUPTI_MEMORY_PINNED,
		.dst_kind = CUPTI_MEMORY_DEVICE,
		.flags = CUPTI_FLAG_ASYNC,
		.bytes = (uint64_t)5 << 32,
		.start_ns = 100,
		.end_ns = 300,
		.device_id = 1,
		.context_id = 2,
		.stream_id = 3,
		.correlation_id = 4,
		.graph_node_id = 5,
		.graph_id = 6,
		.channel_id = 7};
	struct cupti_memcpy_peer peer = {.kind = CUPTI_KIND_MEMCPY2,
		.copy_kind = CUPTI_COPY_PTOP,
		.src_kind = CUPTI_MEMORY_DEVICE,
		.dst_kind = CUPTI_MEMORY_DEVICE,
		.bytes = 77,
		.start_ns = 400,
		.end_ns = 500,
		.src_device_id = 1,
		.dst_device_id = 2,
		.src_context_id = 11,
		.dst_context_id = 12,
		.correlation_id = 5};
	struct cupti_memset set = {.kind = CUPTI_KIND_MEMSET,
		.value = 0xab,
		.bytes = 4096,
		.start_ns = 600,
		.end_ns = 700,
		.correlation_id = 6,
		.flags = CUPTI_FLAG_ASYNC,
		.memory_kind = CUPTI_MEMORY_DEVICE,
		.channel_id = 8};

	start();
	add(&copy, sizeof(copy));
	add(&peer, sizeof(peer));
	add(&set, sizeof(set));
	decode();
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_memcpy), 2);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "bytes", 0), (uint64_t)5 << 32);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "dur", 0), 200);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "copy_kind", 0), CUPTI_COPY_HTOD);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "src_kind", 0), CUPTI_MEMORY_PINNED);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "dst_kind", 0), CUPTI_MEMORY_DEVICE);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "flags", 0), 1);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "graph_node", 0), 5);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "graph", 0), 6);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "channel", 0), 7);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "src_device", 1), 1);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "dst_device", 1), 2);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "dst_context", 1), 12);
	ck_assert_uint_eq(value(GPROF_TABLE_memcpy, "flags", 1), 2);
	ck_assert_uint_eq(value(GPROF_TABLE_memset, "bytes", 0), 4096);
	ck_assert_uint_eq(value(GPROF_TABLE_memset, "value", 0), 0xab);
	ck_assert_uint_eq(value(GPROF_TABLE_memset, "memory_kind", 0), CUPTI_MEMORY_DEVICE);
	ck_assert_uint_eq(value(GPROF_TABLE_memset, "channel", 0), 8);
}
END_TEST

START_TEST(waits_allocations_overheads_events_and_graphs_come_out_as_they_went_in)
{
	struct cupti_sync sync = {.kind = CUPTI_KIND_SYNCHRONIZATION,
		.type = CUPTI_SYNC_STREAM_SYNCHRONIZE,
		.start_ns = 10,
		.end_ns = 30,
		.correlation_id = 1,
		.context_id = 2,
		.stream_id = 3,
		.event_id = 4,
		.event_sync_id = 5};
	struct cupti_memory memory = {.kind = CUPTI_KIND_MEMORY2,
		.operation = CUPTI_MEMORY_ALLOCATION,
		.memory_kind = CUPTI_MEMORY_DEVICE,
		.correlation_id = 2,
		.address = 0x7f0000000000u,
		.bytes = 1 << 20,
		.time_ns = 40,
		.is_async = 1,
		.source = "libtorch_cuda.so"};
	struct cupti_overhead overhead = {.kind = CUPTI_KIND_OVERHEAD,
		.overhead_kind = CUPTI_OVERHEAD_LAZY_FUNCTION_LOADING,
		.object_kind = CUPTI_OBJECT_THREAD,
		.object_id.pt = {.process_id = 1, .thread_id = 4321},
		.start_ns = 50,
		.end_ns = 70,
		.correlation_id = 3};
	struct cupti_graph graph = {.kind = CUPTI_KIND_GRAPH_TRACE,
		.correlation_id = 4,
		.start_ns = 80,
		.end_ns = 180,
		.graph_id = 6,
		.context_id = 2,
		.stream_id = 3};
	struct cupti_event event = {.kind = CUPTI_KIND_CUDA_EVENT,
		.correlation_id = 5,
		.context_id = 2,
		.stream_id = 3,
		.event_id = 12,
		.device_time_ns = 190};

	start();
	add(&sync, sizeof(sync));
	add(&memory, sizeof(memory));
	add(&overhead, sizeof(overhead));
	add(&graph, sizeof(graph));
	add(&event, sizeof(event));
	decode();
	finish();
	ck_assert_uint_eq(value(GPROF_TABLE_sync, "type", 0), CUPTI_SYNC_STREAM_SYNCHRONIZE);
	ck_assert_uint_eq(value(GPROF_TABLE_sync, "dur", 0), 20);
	ck_assert_uint_eq(value(GPROF_TABLE_sync, "event", 0), 4);
	ck_assert_uint_eq(value(GPROF_TABLE_sync, "event_sync", 0),
		has(CUPTI_KIND_SYNCHRONIZATION, 56) ? 5 : 0);
	ck_assert_uint_eq(value(GPROF_TABLE_memory, "address", 0), 0x7f0000000000u);
	ck_assert_uint_eq(value(GPROF_TABLE_memory, "bytes", 0), 1 << 20);
	ck_assert_uint_eq(value(GPROF_TABLE_memory, "op", 0), CUPTI_MEMORY_ALLOCATION);
	ck_assert_uint_eq(value(GPROF_TABLE_memory, "is_async", 0), 1);
	ck_assert_str_eq(text(GPROF_TABLE_memory, "source", 0),
		has(CUPTI_KIND_MEMORY2, 128) ? "libtorch_cuda.so" : "");
	ck_assert_uint_eq(value(GPROF_TABLE_overhead, "tid", 0), 4321);
	ck_assert_uint_eq(value(GPROF_TABLE_overhead, "dur", 0), 20);
	ck_assert_uint_eq(value(GPROF_TABLE_overhead, "correlation", 0),
		has(CUPTI_KIND_OVERHEAD, 48) ? 3 : 0);
	ck_assert_uint_eq(value(GPROF_TABLE_graph, "graph", 0), 6);
	ck_assert_uint_eq(value(GPROF_TABLE_graph, "dur", 0), 100);
	ck_assert_uint_eq(value(GPROF_TABLE_event, "event", 0), 12);
	ck_assert_uint_eq(
		value(GPROF_TABLE_event, "time", 0), has(CUPTI_KIND_CUDA_EVENT, 56) ? 190 : 0);
}
END_TEST

START_TEST(devices_contexts_and_streams_come_out_as_they_went_in)
{
	struct cupti_device device = {.kind = CUPTI_KIND_DEVICE,
		.memory_bytes = (uint64_t)141 << 30,
		.nr_multiprocessors = 132,
		.capability_major = 9,
		.id = 3,
		.uuid = {1, 2, 3, 4},
		.name = "NVIDIA H200"};
	struct cupti_context context = {.kind = CUPTI_KIND_CONTEXT,
		.context_id = 2,
		.device_id = 3,
		.null_stream_id = 7,
		.parent_context_id = 1};
	struct cupti_stream stream = {.kind = CUPTI_KIND_STREAM,
		.context_id = 2,
		.stream_id = 13,
		.priority = 5,
		.flag = 2};

	start();
	add(&device, sizeof(device));
	add(&context, sizeof(context));
	add(&stream, sizeof(stream));
	decode();
	finish();
	ck_assert_uint_eq(value(GPROF_TABLE_device, "id", 0), 3);
	ck_assert_str_eq(text(GPROF_TABLE_device, "name", 0), "NVIDIA H200");
	for (size_t i = 0; i < decode_rows(blocks, nr_blocks, GPROF_TABLE_attribute); i++) {
		const char *name = text(GPROF_TABLE_attribute, "name", i);

		if (!strcmp(name, "multiprocessors")) {
			ck_assert_uint_eq(value(GPROF_TABLE_attribute, "value", i), 132);
		} else if (!strcmp(name, "memory_bytes")) {
			ck_assert_uint_eq(
				value(GPROF_TABLE_attribute, "value", i), (uint64_t)141 << 30);
		}
	}
	ck_assert_uint_gt(decode_rows(blocks, nr_blocks, GPROF_TABLE_attribute), 10);
	ck_assert_uint_eq(value(GPROF_TABLE_context, "null_stream", 0), 7);
	ck_assert_uint_eq(
		value(GPROF_TABLE_context, "parent", 0), has(CUPTI_KIND_CONTEXT, 24) ? 1 : 0);
	ck_assert_uint_eq(value(GPROF_TABLE_stream, "stream", 0), 13);
	ck_assert_uint_eq(value(GPROF_TABLE_stream, "flags", 0), 2);
}
END_TEST

START_TEST(work_without_times_is_kept_as_untimed)
{
	struct cupti_kernel kernel = {.kind = CUPTI_KIND_CONCURRENT_KERNEL,
		.grid = {1, 1, 1},
		.block = {32, 1, 1},
		.correlation_id = 8,
		.name = "no_time"};
	struct cupti_memcpy copy = {
		.kind = CUPTI_KIND_MEMCPY, .start_ns = 5, .bytes = 9, .correlation_id = 9};

	start();
	add(&kernel, sizeof(kernel));
	add(&copy, sizeof(copy));
	decode();
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_kernel), 0);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_untimed), 2);
	ck_assert_uint_eq(value(GPROF_TABLE_untimed, "table", 0), GPROF_TABLE_kernel);
	ck_assert_uint_eq(value(GPROF_TABLE_untimed, "correlation", 0), 8);
	ck_assert_uint_eq(value(GPROF_TABLE_untimed, "table", 1), GPROF_TABLE_memcpy);
	ck_assert_uint_eq(value(GPROF_TABLE_untimed, "bytes", 1), 9);
}
END_TEST

START_TEST(unknown_kind_ends_a_buffer_and_is_counted)
{
	uint32_t unknown = 4000;

	start();
	add_kernels();
	memcpy((char *)buffer.words + buffer.used, &unknown, sizeof(unknown));
	buffer.used += 64;
	record_begin_buffer();
	activity_decode((uint8_t *)buffer.words, buffer.used);
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_kernel), NR);
	ck_assert_uint_eq(loss_take(LOSS_CUPTI_RECORD), 1);
}
END_TEST

UNIT_SUITE("cupti", kernels_come_out_as_they_went_in, copies_and_sets_come_out_as_they_went_in,
	waits_allocations_overheads_events_and_graphs_come_out_as_they_went_in,
	devices_contexts_and_streams_come_out_as_they_went_in,
	work_without_times_is_kept_as_untimed, unknown_kind_ends_a_buffer_and_is_counted)
