/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "report/analysis/view.h"
#include "report/model/gpu_peak.h"
#include "test/unit/report_scene.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

enum { TIMES = 40000 };

/* Copies of one kind on one device, the plain way. */
struct plain {
	uint64_t nr, bytes, busy, nr_timed;
	double min, max;
};

static struct plain count(const struct scene *scene, uint32_t device, unsigned int kind)
{
	static unsigned char is_busy[TIMES];
	struct plain plain = {.min = 1e30};

	memset(is_busy, 0, sizeof(is_busy));
	for (uint32_t i = 0; i < scene->nr_activities; i++) {
		const struct scene_work *work = &scene->works[i];
		uint64_t ns = work->end - work->begin;

		if (work->kind != SCENE_COPY || work->device != device || work->name % 2 != kind) {
			continue;
		}
		plain.nr++;
		plain.bytes += work->bytes;
		if (ns) {
			double rate = (double)(work->bytes * 1000000000u / ns);

			plain.nr_timed++;
			plain.min = rate < plain.min ? rate : plain.min;
			plain.max = rate > plain.max ? rate : plain.max;
		}
		memset(is_busy + work->begin, 1, ns);
	}
	for (int t = 0; t < TIMES; t++) {
		plain.busy += is_busy[t];
	}
	return plain;
}

static void check_kind(const struct table *table, const struct table *parts,
	const struct scene *scene, uint32_t device, unsigned int kind)
{
	static const char *const names[] = {
		"Memcpy HtoD (Pinned -> Pinned)", "Memcpy DtoH (Pinned -> Pinned)"};
	struct plain plain = count(scene, device, kind);
	uint64_t bytes = 0;
	size_t row;

	if (!plain.nr) {
		return;
	}
	row = tables_find(table, "name", names[kind], 0);
	if (tables_number(table, row, "device") != device) {
		row = tables_find(table, "name", names[kind], 1);
	}
	ck_assert_uint_eq(tables_number(table, row, "calls"), plain.nr);
	ck_assert_uint_eq(tables_number(table, row, "total_bytes"), plain.bytes);
	ck_assert_uint_eq(tables_number(table, row, "busy_ns"), plain.busy);
	ck_assert_uint_eq(tables_number(table, row, "untimed"), plain.nr - plain.nr_timed);
	if (plain.busy) {
		ck_assert_double_eq_tol(tables_cell(table, row, "rate_bytes_per_s")->number,
			1e9 * (double)plain.bytes / (double)plain.busy, 1);
		ck_assert_double_eq_tol(
			tables_cell(table, row, "rate_min_bytes_per_s")->number, plain.min, 1);
		ck_assert_double_eq_tol(
			tables_cell(table, row, "rate_max_bytes_per_s")->number, plain.max, 1);
	}
	for (size_t i = 0; i < parts->nr_rows; i++) {
		const char *name =
			string_pool_text((uint32_t)tables_number(parts, i, "name"), NULL);

		if (tables_number(parts, i, "device") == device && !strcmp(name, names[kind])) {
			bytes += tables_number(parts, i, "bytes");
		}
	}
	ck_assert_uint_eq(bytes, plain.bytes);
}

START_TEST(rates_are_of_the_time_in_which_some_copy_ran)
{
	uint64_t seed = 71;

	for (int round = 0; round < 40; round++) {
		struct table *table, *parts;
		struct scene scene;
		const char *path;

		scene_make(&scene, &seed, round % 2);
		path = scene_write(&scene, "bandwidth", &seed);
		table = tables_of(&view_bandwidth, path, false);
		parts = tables_of(&view_bandwidth, path, true);
		for (uint32_t device = 0; device < SCENE_DEVICES; device++) {
			check_kind(table, parts, &scene, device, 0);
			check_kind(table, parts, &scene, device, 1);
		}
		table_destroy(table);
		table_destroy(parts);
	}
}
END_TEST

/* 3,200 bytes from the middle of the time to its end: 200 in each of the last 16 parts. */
START_TEST(bytes_are_spread_over_the_time_of_their_copy)
{
	const char *path = streams_path("parts");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, 0, 1, 7);
	struct gprof_row_kernel *kernel;
	struct gprof_row_memcpy *copy;
	struct table *table;

	gen_anchor(gen, SCENE_BASE_NS, SCENE_BASE_NS, SCENE_BASE_NS);
	kernel = gen_row(gen, GPROF_TABLE_kernel);
	kernel->begin = SCENE_BASE_NS;
	kernel->dur = SCENE_BASE_NS + 10;
	kernel->place = place;
	copy = gen_row(gen, GPROF_TABLE_memcpy);
	copy->begin = SCENE_BASE_NS + 16000;
	copy->dur = SCENE_BASE_NS + 32000;
	copy->place = place;
	copy->bytes = 3200;
	gen_close(gen, "exit");
	table = tables_of(&view_bandwidth, path, true);
	ck_assert_uint_eq(table->nr_rows, 32);
	for (size_t i = 0; i < 32; i++) {
		ck_assert_uint_eq(tables_number(table, i, "start_ns"), 1000 * i);
		ck_assert_uint_eq(tables_number(table, i, "bytes"), i < 16 ? 0 : 200);
	}
	table_destroy(table);
}
END_TEST

static void add_attribute(struct gen *gen, const char *name, uint64_t value)
{
	uint32_t id = gen_string(gen, name);
	struct gprof_row_attribute *row = gen_row(gen, GPROF_TABLE_attribute);

	row->name = id;
	row->value = value;
}

static const char *write_linked(uint64_t generation, uint64_t lanes)
{
	const char *path = streams_path("linked");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, 0, 1, 7);

	gen_anchor(gen, SCENE_BASE_NS, SCENE_BASE_NS, SCENE_BASE_NS);
	if (generation) {
		add_attribute(gen, "pcie_generation", generation);
		add_attribute(gen, "pcie_lanes", lanes);
	}
	for (uint32_t kind = 0; kind < 3; kind++) {
		struct gprof_row_memcpy *copy = gen_row(gen, GPROF_TABLE_memcpy);

		copy->begin = SCENE_BASE_NS + 1000 * kind;
		copy->dur = SCENE_BASE_NS + 1000 * kind + 100;
		copy->place = place;
		copy->copy_kind = (uint8_t[]){1, 2, 8}[kind];
		copy->bytes = 1000 * (3 - kind);
	}
	gen_close(gen, "exit");
	return path;
}

/*
 * On a GPU of 1,000 GB/s and 1 TFLOP/s in float32 (128 a clock on one multiprocessor): a copy
 * within it, a memset, and operators with kernels of 1 us each.
 */
static const char *write_with_peak(void)
{
	static const struct {
		const char *name, *shape;
	} ops[] = {
		{"aten::add", "float32[1000,50], float32[1000,50], scalar"},
		{"aten::add", "float32[1000,50], float32[50], scalar, float32[1000,50]"},
		{"aten::mm", "float32[100,200], float32[200,300]"},
		{"aten::relu_", "float32[1000]"},
		{"aten::zero_", "int64[1000]"},
		{"aten::cat", "float32[1000], float32[1000]"},
		{"aten::add", "[float32[2], float32[2]], scalar"},
	};
	const char *path = streams_path("peak");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, 0, 1, 7);
	uint16_t launch = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	struct gprof_row_memcpy *copy;
	struct gprof_row_memset *set;

	gen_device(gen, 0, "NVIDIA Test 1");
	add_attribute(gen, "memory_bandwidth_kb_per_s", 1000000000);
	add_attribute(gen, "core_clock_khz", 7812500);
	add_attribute(gen, "multiprocessors", 1);
	add_attribute(gen, "capability_major", 7);
	add_attribute(gen, "capability_minor", 0);
	gen_anchor(gen, SCENE_BASE_NS, SCENE_BASE_NS, SCENE_BASE_NS);
	for (uint32_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		uint64_t at = SCENE_BASE_NS + 10000 * i;
		uint32_t name = gen_op_name(gen, ops[i].name);
		uint32_t shape = gen_op_shape(gen, ops[i].shape);
		struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);
		struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);
		struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

		*op = (struct gprof_row_op){.head = op->head,
			.begin = at,
			.dur = at + 500,
			.thread = 1,
			.end_thread = 1,
			.op_name = name,
			.op_shape = shape};
		call->begin = at + 100;
		call->dur = at + 200;
		call->thread = 1;
		call->call = launch;
		call->correlation = i + 1;
		kernel->begin = at + 1000;
		kernel->dur = at + 2000;
		kernel->place = place;
		kernel->correlation = i + 1;
	}
	copy = gen_row(gen, GPROF_TABLE_memcpy);
	copy->begin = SCENE_BASE_NS + 80000;
	copy->dur = SCENE_BASE_NS + 81000;
	copy->place = place;
	copy->copy_kind = 8;
	copy->src_kind = copy->dst_kind = 3;
	copy->bytes = 250000;
	set = gen_row(gen, GPROF_TABLE_memset);
	set->begin = SCENE_BASE_NS + 82000;
	set->dur = SCENE_BASE_NS + 83000;
	set->place = place;
	set->memory_kind = 3;
	set->bytes = 250000;
	gen_close(gen, "exit");
	return path;
}

static void check_share(const struct table *table, const char *name, uint64_t bytes, double percent)
{
	size_t row = tables_find(table, "name", name, 0);

	ck_assert_uint_eq(tables_number(table, row, "total_bytes"), bytes);
	ck_assert_double_eq_tol(tables_cell(table, row, "memory_pct")->number, percent, 1e-6);
	ck_assert_uint_eq(tables_number(table, row, "device"), 0);
}

START_TEST(rates_are_a_share_of_the_peak_of_device_memory)
{
	struct table *table = tables_of(&view_bandwidth, write_with_peak(), false);

	ck_assert_uint_eq(table->nr_rows, 6);
	check_share(table, "Memcpy DtoD (Device -> Device)", 250000, 50); /* read and written */
	check_share(table, "Memset (Device)", 250000, 25);
	/* 3 x 200,000; 200,000 + 200 + 200,000 */
	check_share(table, "aten::add", 1000200, 100 * 1000200 / 2e6);
	check_share(table, "aten::mm", 4 * (20000 + 60000 + 30000), 44);
	check_share(table, "aten::relu_", 8000, 0.8);
	check_share(table, "aten::zero_", 8000, 0.8);
	table_destroy(table);
}
END_TEST

START_TEST(flops_are_a_share_of_the_peak_of_their_type)
{
	struct table *table = tables_of(&view_operator, write_with_peak(), false);
	size_t row = tables_find(table, "name", "aten::mm", 0);

	ck_assert_uint_eq(tables_number(table, row, "flops"), 2 * 100 * 200 * 300);
	ck_assert_double_eq_tol(tables_cell(table, row, "flops_peak_pct")->number, 1200, 1e-6);
	row = tables_find(table, "name", "aten::relu_", 0);
	ck_assert_double_eq_tol(tables_cell(table, row, "flops_peak_pct")->number, 0.1, 1e-9);
	row = tables_find(table, "name", "aten::zero_", 0);
	ck_assert(!tables_cell(table, row, "flops_peak_pct")->is_known);
	table_destroy(table);
}
END_TEST

static struct gpu_peak peak_of_name(const char *name, uint64_t major, uint64_t units)
{
	const char *path = streams_path("name");
	struct gen *gen = gen_open(path);
	struct process *process;
	struct gpu_peak peak;

	gen_device(gen, 0, name);
	add_attribute(gen, "multiprocessors", units);
	add_attribute(gen, "capability_major", major);
	add_attribute(gen, "capability_minor", 0);
	gen_close(gen, "exit");
	process = streams_process(path);
	peak = gpu_peak_of(process, 0);
	process_destroy(process);
	return peak;
}

START_TEST(without_clocks_the_name_tells_and_an_unknown_one_nothing)
{
	struct gpu_peak peak = peak_of_name("NVIDIA A100-SXM4-40GB", 8, 108);

	ck_assert_double_eq_tol(peak.flops[GPU_FLOAT16], 312e12, 1e12);
	ck_assert_double_eq_tol(peak.flops[GPU_BFLOAT16], 312e12, 1e12);
	ck_assert_double_eq_tol(peak.flops[GPU_FLOAT32], 19.5e12, 1e11);
	ck_assert_double_eq_tol(peak.memory_bytes_per_s, 1555e9, 1);
	peak = peak_of_name("Tesla V100-SXM2-32GB", 7, 80);
	ck_assert_double_eq_tol(peak.flops[GPU_FLOAT16], 125e12, 1e12);
	ck_assert_double_eq(peak.flops[GPU_BFLOAT16], 0); /* its tensor cores have none */
	peak = peak_of_name("NVIDIA A1000", 8, 108);
	ck_assert_double_eq(peak.memory_bytes_per_s, 0);
	ck_assert_double_eq(peak.flops[GPU_FLOAT32], 0);
}
END_TEST

START_TEST(rates_are_a_share_of_what_the_link_carries)
{
	/* Generation 4: 16 G transfers a second, 128 of 130 bits are data. */
	struct table *table = tables_of(&view_bandwidth, write_linked(4, 16), false);

	ck_assert_uint_eq(table->nr_rows, 3);
	ck_assert_double_eq_tol(
		tables_cell(table, 0, "link_pct")->number, 100 * 30 / 31.507692, 1e-3);
	ck_assert_double_eq_tol(
		tables_cell(table, 1, "link_pct")->number, 100 * 20 / 31.507692, 1e-3);
	ck_assert(!tables_cell(table, 2, "link_pct")->is_known);
	table_destroy(table);
	table = tables_of(&view_bandwidth, write_linked(1, 1), false);
	ck_assert_double_eq_tol(tables_cell(table, 0, "link_pct")->number, 100 * 30 / 0.25, 1e-6);
	table_destroy(table);
	/* Unknown, or of an unknown time. */
	for (uint64_t generation = 0; generation < 8; generation += 7) {
		table = tables_of(&view_bandwidth, write_linked(generation, 16), false);
		ck_assert(!tables_cell(table, 0, "link_pct")->is_known);
		table_destroy(table);
	}
}
END_TEST

START_TEST(nonsense_is_no_harm)
{
	tables_of_nonsense(&view_bandwidth, false);
	tables_of_nonsense(&view_bandwidth, true);
}
END_TEST

UNIT_SUITE("report/bandwidth", rates_are_of_the_time_in_which_some_copy_ran,
	bytes_are_spread_over_the_time_of_their_copy, rates_are_a_share_of_what_the_link_carries,
	rates_are_a_share_of_the_peak_of_device_memory, flops_are_a_share_of_the_peak_of_their_type,
	without_clocks_the_name_tells_and_an_unknown_one_nothing, nonsense_is_no_harm)
