/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/occupancy.h"

#include <string.h>

#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

static const struct occupancy_device h100 = {.multiprocessors = 132,
	.warp_threads = 32,
	.max_warps = 64,
	.max_blocks = 32,
	.registers = 65536,
	.shared_bytes = 233472,
	.reserved_shared_bytes = 1024,
	.capability_major = 9};

static const struct occupancy_device v100 = {.multiprocessors = 80,
	.warp_threads = 32,
	.max_warps = 64,
	.max_blocks = 32,
	.registers = 65536,
	.shared_bytes = 98304,
	.capability_major = 7};

static struct model_shape make(uint32_t grid, uint32_t block, uint32_t registers, uint32_t shared)
{
	return (struct model_shape){.grid = {grid, 1, 1},
		.block = {block, 1, 1},
		.registers = registers,
		.dynamic_shared_bytes = shared};
}

/* Percent and what limits are CUDA's own calculator's, and what real traces say below 48 KB. */
static const struct {
	const struct occupancy_device *device;
	uint32_t grid, block, registers, shared, percent;
	const char *limit;
} known[] = {
	{&h100, 100000, 128, 32, 0, 100, "WARPS|REGS"},
	/* above 48 KB the default limit would say 0 % */
	{&h100, 100000, 128, 32, 65536, 19, "SMEM"},
	{&h100, 120, 384, 168, 231424, 17, "GRID"},
	{&h100, 132, 384, 168, 231424, 19, "REGS|SMEM"},
	{&h100, 100000, 256, 168, 0, 13, "REGS"},
	{&h100, 100000, 32, 16, 0, 50, "BLOCKS"},
	{&h100, 100000, 1024, 40, 0, 50, "REGS"},
	{&h100, 66, 1024, 32, 0, 25, "GRID"},
	{&h100, 100000, 33, 32, 0, 100, "WARPS|REGS|BLOCKS"},
	{&v100, 100000, 256, 128, 0, 25, "REGS"},
	{&v100, 100000, 256, 32, 98304, 13, "SMEM"},
	{&v100, 100000, 256, 32, 98304 / 2, 25, "SMEM"},
};

START_TEST(percent_and_limit_are_those_of_the_calculator)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct model_shape shape =
			make(known[i].grid, known[i].block, known[i].registers, known[i].shared);
		struct occupancy occupancy;

		ck_assert(occupancy_compute(known[i].device, &shape, &occupancy));
		ck_assert(occupancy.has_estimate);
		ck_assert_msg(
			occupancy.percent == known[i].percent, "%zu: %u", i, occupancy.percent);
		ck_assert_str_eq(string_pool_text(occupancy_limit_name(occupancy.limits), NULL),
			known[i].limit);
	}
}
END_TEST

START_TEST(only_whole_clusters_are_there)
{
	struct model_shape shape = make(100000, 1024, 64, 0); /* one block on each of 132 */
	struct occupancy occupancy;

	shape.cluster[0] = 16;
	shape.cluster[1] = shape.cluster[2] = 1;
	ck_assert(occupancy_compute(&h100, &shape, &occupancy));
	ck_assert_uint_eq(occupancy.percent, 48); /* 128 of 132 by 50 % */
	shape.cluster[0] = 2;
	ck_assert(occupancy_compute(&h100, &shape, &occupancy));
	ck_assert_uint_eq(occupancy.percent, 50);
}
END_TEST

/* Of a trace that does not describe the device. */
START_TEST(an_unknown_device_has_what_the_trace_estimates)
{
	const struct occupancy_device unknown = {0};
	struct model_shape shape = make(24, 128, 16, 0);
	struct occupancy occupancy;

	shape.has_estimate = true;
	shape.blocks_per_sm_milli = 300;
	shape.occupancy_pct = 2;
	ck_assert(occupancy_compute(&unknown, &shape, &occupancy));
	ck_assert(occupancy.has_estimate);
	ck_assert_double_eq_tol(occupancy.blocks_per_multiprocessor, 0.3, 1e-9);
	ck_assert_double_eq_tol(occupancy.warps_per_multiprocessor, 1.2, 1e-9);
	ck_assert_uint_eq(occupancy.percent, 2);
	ck_assert_uint_eq(occupancy.limits, 0);
	shape.occupancy_pct = 101; /* no share */
	ck_assert(occupancy_compute(&unknown, &shape, &occupancy));
	ck_assert(!occupancy.has_estimate);
	ck_assert(occupancy_compute(&v100, &shape, &occupancy));
	ck_assert_uint_eq(occupancy.limits, OCCUPANCY_GRID);
}
END_TEST

/* 16 of the 8,448 warps that the device holds. */
START_TEST(few_warps_are_more_than_none)
{
	struct model_shape shape = make(4, 128, 32, 0);
	struct occupancy_mean mean = {0};
	struct occupancy occupancy;
	double percent;

	ck_assert(occupancy_compute(&h100, &shape, &occupancy));
	ck_assert_uint_eq(occupancy.percent, 0);
	ck_assert_double_eq_tol(occupancy.share_pct, 100 * 16 / 8448.0, 1e-9);
	occupancy_mean_add(&mean, &occupancy, 7);
	ck_assert(occupancy_mean_percent(&mean, false, &percent));
	ck_assert_double_eq_tol(percent, 100 * 16 / 8448.0, 1e-9);
	ck_assert(occupancy_mean_percent(&mean, true, &percent));
	ck_assert_double_eq(percent, 0);
}
END_TEST

START_TEST(what_cannot_have_run_has_no_estimate)
{
	struct model_shape shape = make(1, 1024, 255, 0); /* more registers than there are */
	struct occupancy_device unknown = {0};
	struct occupancy occupancy;

	ck_assert(occupancy_compute(&h100, &shape, &occupancy));
	ck_assert(!occupancy.has_estimate);
	shape = make(1, 32, 16, 1u << 30);
	ck_assert(occupancy_compute(&h100, &shape, &occupancy));
	ck_assert(!occupancy.has_estimate);
	memset(&shape, 0xff, sizeof(shape));
	shape.has_estimate = false;
	ck_assert(occupancy_compute(&h100, &shape, &occupancy));
	ck_assert(!occupancy.has_estimate);
	ck_assert(!occupancy_compute(&unknown, &shape, &occupancy));
	shape = make(4, 128, 0, 0);
	unknown.multiprocessors = 2;
	ck_assert(occupancy_compute(&unknown, &shape, &occupancy));
	ck_assert(!occupancy.has_estimate);
	ck_assert_double_eq(occupancy.blocks_per_multiprocessor, 2);
	ck_assert_double_eq(occupancy.warps_per_multiprocessor, 8);
}
END_TEST

static void add_attribute(struct gen *gen, const char *name, uint64_t value)
{
	struct gprof_row_attribute *row;
	uint32_t id = gen_string(gen, name);

	row = gen_row(gen, GPROF_TABLE_attribute);
	row->name = id;
	row->value = value;
}

START_TEST(what_a_device_does_not_say_follows_from_its_capability)
{
	const char *path = streams_path("occupancy.gprof");
	struct gen *gen = gen_open(path);
	struct occupancy_device device;
	struct process *process;

	add_attribute(gen, "capability_major", 8);
	add_attribute(gen, "capability_minor", 9);
	add_attribute(gen, "warp_threads", 32);
	add_attribute(gen, "max_threads_per_multiprocessor", 1536);
	gen_close(gen, "exit");
	process = streams_process(path);
	device = occupancy_device(process, 0);
	ck_assert_uint_eq(device.max_warps, 48);
	ck_assert_uint_eq(device.max_blocks, 24);
	ck_assert_uint_eq(device.reserved_shared_bytes, 1024);
	process_destroy(process);
}
END_TEST

/* Waits tell no device; a second GPU of another kind is one too many. */
START_TEST(places_without_a_device_are_no_other_device)
{
	for (uint32_t second = 0; second < 2; second++) {
		const char *path = streams_path("places.gprof");
		struct gen *gen = gen_open(path);
		struct occupancy_device device;
		struct process *process;

		add_attribute(gen, "warp_threads", 32);
		gen_place(gen, 0, 1, 7);
		gen_place(gen, UINT32_MAX, 1, 7);
		gen_place(gen, second, 1, 13);
		gen_close(gen, "exit");
		process = streams_process(path);
		ck_assert_int_eq(occupancy_only_device(process, &device), second == 0);
		process_destroy(process);
	}
}
END_TEST

UNIT_SUITE("report/occupancy", percent_and_limit_are_those_of_the_calculator,
	only_whole_clusters_are_there, few_warps_are_more_than_none,
	an_unknown_device_has_what_the_trace_estimates, what_cannot_have_run_has_no_estimate,
	what_a_device_does_not_say_follows_from_its_capability,
	places_without_a_device_are_no_other_device)
