/* SPDX-License-Identifier: Apache-2.0 */
/* The view device against a plain count of every nanosecond, on random work that overlaps. */
#include <stdio.h>
#include <string.h>

#include "report/util/buf.h"
#include "test/unit/report_made.h"

#define NR_NS	   3000u
#define NR_EVENTS  200u
#define NR_DEVICES 2u

enum { COMPUTATION = 1, COMMUNICATION = 2, COPY = 4 };

struct plain {
	unsigned char ran[NR_NS]; /* bits of what ran in each nanosecond */
	uint64_t nr_events, first, last;
};

static void add(struct plain *plain, struct buf *text, unsigned int device, uint64_t *seed)
{
	static const char *const names[] = {"gemm", NULL, "Memcpy DtoD (Device -> Device)"};
	static const char *const communication[] = {"ncclDevKernel_AllReduce(ncclDevComm*)",
		"void vendor::ep::internode::dispatch<8>(int4*)",
		"void multimem_all_gather_kernel<16>(char*)"};
	static const char *const categories[] = {"kernel", "kernel", "gpu_memcpy"};
	unsigned int kind = (unsigned int)(unit_random(seed) % 3);
	const char *name = names[kind] ? names[kind] : communication[unit_random(seed) % 3];
	uint64_t dur = unit_random(seed) % 40, begin = unit_random(seed) % (NR_NS - dur);

	buf_printf(text,
		"%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%u,\"tid\":7,"
		"\"ts\":0.%04llu,\"dur\":0.%03llu,\"args\":{\"device\":%u,\"stream\":%u}}",
		text->nr_bytes > 1 ? "," : "", categories[kind], name, device,
		(unsigned long long)begin, (unsigned long long)dur, device,
		(unsigned int)(unit_random(seed) % 3));
	/* ".1238" are 124 ns */
	begin = (begin + 5) / 10;
	plain->nr_events++;
	plain->first = begin < plain->first ? begin : plain->first;
	plain->last = begin + dur > plain->last ? begin + dur : plain->last;
	for (uint64_t ns = begin; ns < begin + dur; ns++) {
		plain->ran[ns] |= (unsigned char)(1u << kind);
	}
}

/* Nanoseconds in which all bits of `all`, and any of `any`, ran. */
static uint64_t count(const struct plain *plain, unsigned int all, unsigned int any)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < NR_NS; i++) {
		ns += (plain->ran[i] & all) == all && (plain->ran[i] & any);
	}
	return ns;
}

static void compare(const struct table *table, size_t row, const struct plain *plain)
{
	uint64_t busy = count(plain, 0, COMPUTATION | COMMUNICATION | COPY);

	ck_assert_uint_eq(tables_number(table, row, "events"), plain->nr_events);
	ck_assert_uint_eq(tables_number(table, row, "span_ns"), plain->last - plain->first);
	ck_assert_uint_eq(tables_number(table, row, "busy_ns"), busy);
	ck_assert_uint_eq(tables_number(table, row, "idle_ns"), plain->last - plain->first - busy);
	ck_assert_uint_eq(
		tables_number(table, row, "computation_ns"), count(plain, 0, COMPUTATION));
	ck_assert_uint_eq(tables_number(table, row, "communication_kernels_ns"),
		count(plain, 0, COMMUNICATION));
	ck_assert_uint_eq(tables_number(table, row, "kernels_overlap_ns"),
		count(plain, COMPUTATION | COMMUNICATION, COMPUTATION));
}

/* The row of that device. */
static size_t find(const struct table *table, uint64_t device)
{
	size_t row = 0;

	while (tables_number(table, row, "device") != device) {
		row++;
	}
	return row;
}

/* Views with the same columns have the same figures. */
static void compare_views(const char *path, const struct table *devices)
{
	struct table *distributed = tables_of(&view_distributed, path, false);
	struct table *shares = tables_of(&view_time_breakdown, path, false);

	for (uint64_t device = 0; device < NR_DEVICES; device++) {
		size_t row = find(devices, device), other = find(distributed, device);
		uint64_t communication = tables_number(devices, row, "communication_kernels_ns");
		uint64_t computation = tables_number(devices, row, "computation_ns");
		uint64_t overlap = tables_number(devices, row, "kernels_overlap_ns");

		ck_assert_uint_eq(
			tables_number(distributed, other, "communication_ns"), communication);
		ck_assert_uint_eq(tables_number(distributed, other, "computation_ns"), computation);
		ck_assert_uint_eq(tables_number(distributed, other, "overlap_ns"), overlap);
		other = find(shares, device);
		ck_assert_uint_eq(tables_number(shares, other, "communication_kernels_alone_ns"),
			communication - overlap);
		ck_assert_uint_eq(tables_number(shares, other, "computation_ns"), computation);
	}
	table_destroy(distributed);
	table_destroy(shares);
}

START_TEST(unions_of_overlapping_work_are_what_a_plain_count_says)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct plain plain[NR_DEVICES] = {{.first = UINT64_MAX}, {.first = UINT64_MAX}};
		const char *path = streams_path("device.json");
		uint64_t random = seed;
		struct table *table;
		struct buf text;

		buf_init(&text, NULL, NULL);
		buf_char(&text, '[');
		for (unsigned int i = 0; i < NR_EVENTS; i++) {
			unsigned int device = (unsigned int)(unit_random(&random) % NR_DEVICES);

			add(&plain[device], &text, device, &random);
		}
		buf_char(&text, ']');
		streams_write(path, text.bytes, text.nr_bytes);
		buf_fini(&text);
		table = tables_of(&view_device, path, false);
		for (size_t row = 0; row < NR_DEVICES; row++) {
			uint64_t device = tables_number(table, row, "device");

			ck_assert_uint_lt(device, NR_DEVICES);
			compare(table, row, &plain[device]);
		}
		compare_views(path, table);
		table_destroy(table);
	}
}
END_TEST

/* The device's clock is 100 ppm slow: tables have its durations, not those of the host. */
START_TEST(durations_are_the_devices_own)
{
	struct made made = made_open("drift.gprof");
	uint32_t shape = made_shape(&made, "gemm", 1, 32, 16, 0);
	struct process *process;
	struct table *table;
	static const struct view_class *const classes[] = {
		&view_kernel, &view_device, &view_distributed, &view_time_breakdown};

	gen_anchor(made.gen, 2000100000, 2000100000, 2000000000);
	for (uint64_t i = 0; i < 10; i++) {
		made_kernel(&made, shape, 0, 1000000000 + i * 50000000,
			1000000000 + i * 50000000 + 40000000);
	}
	gen_flush(made.gen);
	gen_close(made.gen, "exit");
	process = streams_process(made.path);
	for (size_t i = 0; i < 4; i++) {
		table = tables_make(classes[i], &process, 1, false);
		ck_assert_uint_eq(
			tables_number(table, 0, i ? "computation_ns" : "total_ns"), 400000000);
		table_destroy(table);
	}
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report_device", durations_are_the_devices_own,
	unions_of_overlapping_work_are_what_a_plain_count_says)
