/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of a few KB that name more different things than any program: the time that they take
 * must grow with their number alone. Check gives each test four seconds; one that compared each
 * with each took longer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "report/timeline/chrome.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define MANY	   100000u
#define MOST_CPU_S 20u

/* Of this test's own process, which SIGXCPU ends. */
static void limit_cpu(void)
{
	const struct rlimit limit = {.rlim_cur = MOST_CPU_S, .rlim_max = MOST_CPU_S};

	ck_assert_int_eq(setrlimit(RLIMIT_CPU, &limit), 0);
}

START_TEST(definitions)
{
	const char *path = streams_path("definitions.gprof");
	struct gen *gen = gen_open(path);
	struct process *process;
	uint64_t value;

	limit_cpu();
	for (uint32_t i = 1; i <= MANY; i++) {
		struct gprof_row_device *device = gen_row(gen, GPROF_TABLE_device);
		struct gprof_row_loss *loss = gen_row(gen, GPROF_TABLE_loss);
		struct gprof_row_attribute *attribute = gen_row(gen, GPROF_TABLE_attribute);
		char key[32];

		snprintf(key, sizeof(key), "key %u", i);
		gen_info(gen, key, "value");
		device->id = i;
		loss->cause = i;
		loss->count = 1;
		attribute->device = i;
		attribute->value = i;
	}
	gen_close(gen, "exit");
	process = streams_process(path);
	ck_assert_uint_eq(process->nr_devices, MANY);
	ck_assert_uint_eq(process->nr_losses, MANY);
	ck_assert_uint_eq(process_missing(process), MANY);
	for (uint32_t i = 1; i <= MANY; i++) {
		ck_assert(process_attribute(process, i, "", &value));
		ck_assert_uint_eq(value, i);
	}
	process_destroy(process);
}
END_TEST

START_TEST(devices)
{
	const char *path = streams_path("devices.gprof");
	struct gen *gen = gen_open(path);
	struct process *process;
	struct table *table;
	struct buf out = {0};

	limit_cpu();
	for (uint32_t i = 1; i <= MANY; i++) {
		uint32_t place = gen_place(gen, i, i, i);
		struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);
		struct gprof_row_context *context = gen_row(gen, GPROF_TABLE_context);
		struct gprof_row_sync *sync = gen_row(gen, GPROF_TABLE_sync);

		kernel->begin = i;
		kernel->dur = i + 1;
		kernel->place = place;
		context->id = context->device = 2 * MANY - i;
		sync->begin = i;
		sync->dur = i + 1;
		sync->place = MANY + 7; /* unknown, so its context is looked for */
	}
	gen_close(gen, "exit");
	process = streams_process(path);
	table = tables_make(&view_device, &process, 1, false);
	ck_assert_uint_eq(table->nr_rows, MANY);
	chrome_write(&process, 1, &(struct chrome_file){.name = "x"}, &out);
	ck_assert_uint_gt(out.nr_bytes, MANY);
	buf_fini(&out);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(places_of_memory)
{
	const char *path = streams_path("memory.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	limit_cpu();
	for (uint32_t i = 0; i < 4 * MANY; i++) {
		struct gprof_row_alloc *row = gen_row(gen, GPROF_TABLE_alloc);

		row->time = row->address = i;
		row->bytes = 1;
		row->device_type = (uint8_t)(i >> 8 & 127);
		row->device = (uint8_t)i;
	}
	gen_close(gen, "exit");
	table = tables_of(&view_memory, path, false);
	ck_assert_uint_eq(table->nr_rows, 128 * 256);
	table_destroy(table);
}
END_TEST

/* All of one stream, each of which overlaps all others. */
START_TEST(lanes)
{
	const char *path = streams_path("lanes.gprof");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, 0, 1, 7);
	struct process *process;
	struct buf out = {0};

	limit_cpu();
	for (uint32_t i = 0; i < MANY; i++) {
		struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

		kernel->begin = i;
		kernel->dur = 1000000000;
		kernel->place = place;
	}
	gen_close(gen, "exit");
	process = streams_process(path);
	chrome_write(&process, 1, &(struct chrome_file){.name = "x"}, &out);
	buf_char(&out, '\0');
	ck_assert_ptr_nonnull(strstr(out.bytes, "\"stream 7 (255)\""));
	ck_assert_ptr_null(strstr(out.bytes, "\"stream 7 (256)\""));
	buf_fini(&out);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/many", definitions, devices, places_of_memory, lanes)
