/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of a few KB that name more different things than any program does. The CPU time must grow
 * linearly with their number. Machine and build decide how long that is, so each test compares two
 * numbers: code that compares each thing with each takes 16 times as long for four times as many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/timeline/chrome.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define MANY (UNIT_IS_SLOW ? 40000u : 100000u)
#define MORE 4u /* factor between the two numbers */
/* The CPU time may grow by this factor. That of linear code grows by 4, of quadratic code by 16. */
#define MAX_GROWTH 8u
#define TRIES	   3u /* other processes disturb a single measurement */

/* Returns the CPU time of this process. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	ck_assert_int_eq(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void grows_with_number(void (*handle)(uint32_t nr))
{
	uint64_t few_ns = 0, many_ns = 0;

	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t begin = cpu_ns(), middle;

		handle(MANY / MORE);
		middle = cpu_ns();
		handle(MANY);
		few_ns = middle - begin;
		many_ns = cpu_ns() - middle;
		if (many_ns <= MAX_GROWTH * few_ns)
			return;
	}
	ck_abort_msg("%lu ns of CPU for %u times as many, %lu ns before", many_ns, MORE, few_ns);
}

static void handle_definitions(uint32_t nr)
{
	const char *path = streams_path("definitions.gprof");
	struct gen *gen = gen_open(path);
	struct process *process;
	uint64_t value;

	for (uint32_t i = 1; i <= nr; i++) {
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
	ck_assert_uint_eq(process->nr_devices, nr);
	ck_assert_uint_eq(process->nr_losses, nr);
	ck_assert_uint_eq(process_missing(process), nr);
	for (uint32_t i = 1; i <= nr; i++) {
		ck_assert(process_attribute(process, i, "", &value));
		ck_assert_uint_eq(value, i);
	}
	process_destroy(process);
}

static void handle_devices(uint32_t nr)
{
	const char *path = streams_path("devices.gprof");
	struct gen *gen = gen_open(path);
	struct process *process;
	struct table *table;
	struct buf out = {0};

	for (uint32_t i = 1; i <= nr; i++) {
		uint32_t place = gen_place(gen, i, i, i);
		struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);
		struct gprof_row_context *context = gen_row(gen, GPROF_TABLE_context);
		struct gprof_row_sync *sync = gen_row(gen, GPROF_TABLE_sync);

		kernel->begin = i;
		kernel->dur = i + 1;
		kernel->place = place;
		context->id = context->device = 2 * nr - i;
		sync->begin = i;
		sync->dur = i + 1;
		sync->place = nr + 7; /* unknown, so its context is looked for */
	}
	gen_close(gen, "exit");
	process = streams_process(path);
	table = tables_make(&view_device, &process, 1, false);
	ck_assert_uint_eq(table->nr_rows, nr);
	chrome_write(&process, 1, &(struct chrome_file){.name = "x"}, &out);
	ck_assert_uint_gt(out.nr_bytes, nr);
	buf_fini(&out);
	table_destroy(table);
	process_destroy(process);
}

static void handle_places_of_memory(uint32_t nr)
{
	const char *path = streams_path("memory.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	for (uint32_t i = 0; i < 4 * nr; i++) {
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

/* All of one stream, each of which overlaps all others. */
static void handle_lanes(uint32_t nr)
{
	const char *path = streams_path("lanes.gprof");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, 0, 1, 7);
	struct process *process;
	struct buf out = {0};

	for (uint32_t i = 0; i < nr; i++) {
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

START_TEST(definitions)
{
	grows_with_number(handle_definitions);
}
END_TEST

START_TEST(devices)
{
	grows_with_number(handle_devices);
}
END_TEST

START_TEST(places_of_memory)
{
	grows_with_number(handle_places_of_memory);
}
END_TEST

START_TEST(lanes)
{
	grows_with_number(handle_lanes);
}
END_TEST

UNIT_SUITE("report/many", definitions, devices, places_of_memory, lanes)
