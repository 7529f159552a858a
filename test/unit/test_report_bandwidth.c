/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "report/analysis/view.h"
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
	/* Not told, or of a time that we do not know. */
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
	nonsense_is_no_harm)
