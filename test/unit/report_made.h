/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small streams made by hand for the views of kernels: one device that is described (an H100), one
 * thread, operators, launches and what ran. All clocks count ns. Rows of the thread must come in
 * the order of their ends: calls before the operator that they lie in.
 */
#ifndef TEST_UNIT_REPORT_MADE_H
#define TEST_UNIT_REPORT_MADE_H

#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

struct made {
	struct gen *gen;
	const char *path;
	uint32_t place, correlation, nr_shapes;
	uint16_t launch, sync, copy;
};

static inline void made_attribute(
	struct made *made, uint32_t device, const char *name, uint64_t value)
{
	uint32_t id = gen_string(made->gen, name);
	struct gprof_row_attribute *row = gen_row(made->gen, GPROF_TABLE_attribute);

	row->device = device;
	row->name = id;
	row->value = value;
}

static inline struct made made_open(const char *name)
{
	static const struct {
		const char *name;
		uint64_t value;
	} attributes[] = {{"multiprocessors", 132}, {"warp_threads", 32},
		{"max_warps_per_multiprocessor", 64}, {"max_blocks_per_multiprocessor", 32},
		{"registers_per_multiprocessor", 65536},
		{"shared_bytes_per_multiprocessor", 233472}, {"memory_bytes", 80000000000},
		{"capability_major", 9}, {"capability_minor", 0}};
	struct made made = {.path = streams_path(name)};

	made.gen = gen_open(made.path);
	gen_anchor(made.gen, 0, 0, 0);
	gen_anchor(made.gen, 1000000000, 1000000000, 1000000000);
	gen_device(made.gen, 0, "NVIDIA H100");
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		made_attribute(&made, 0, attributes[i].name, attributes[i].value);
	}
	made.place = gen_place(made.gen, 0, 1, 7);
	made.launch = gen_call(made.gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	made.sync = gen_call(made.gen, "cudaDeviceSynchronize", GPROF_API_RUNTIME);
	made.copy = gen_call(made.gen, "cudaMemcpyAsync", GPROF_API_RUNTIME);
	return made;
}

static inline uint32_t made_shape(struct made *made, const char *kernel, uint32_t grid,
	uint32_t block, uint32_t registers, uint32_t shared_bytes)
{
	uint32_t name = gen_string(made->gen, kernel);
	struct gprof_row_shape *row = gen_row(made->gen, GPROF_TABLE_shape);

	row->id = ++made->nr_shapes;
	row->name = name;
	row->grid_x = grid;
	row->block_x = block;
	row->grid_y = row->grid_z = row->block_y = row->block_z = 1;
	row->registers = registers;
	row->dynamic_shared_bytes = shared_bytes;
	return row->id;
}

/* What ran, without a launch of it. */
static inline struct gprof_row_kernel *made_kernel(
	struct made *made, uint32_t shape, uint32_t correlation, uint64_t begin, uint64_t end)
{
	struct gprof_row_kernel *row = gen_row(made->gen, GPROF_TABLE_kernel);

	row->begin = begin;
	row->dur = end;
	row->place = made->place;
	row->correlation = correlation;
	row->shape = shape;
	return row;
}

/* A call of `ns` and what it launched. */
static inline void made_launch(
	struct made *made, uint32_t shape, uint64_t call, uint64_t ns, uint64_t begin, uint64_t end)
{
	struct gprof_row_api_launch *row = gen_row(made->gen, GPROF_TABLE_api_launch);

	row->begin = call;
	row->dur = call + ns;
	row->thread = 1;
	row->call = made->launch;
	row->correlation = ++made->correlation;
	row->shape = shape;
	made_kernel(made, shape, made->correlation, begin, end);
}

static inline void made_op(
	struct made *made, const char *name, uint64_t begin, uint64_t end, uint16_t depth)
{
	struct gprof_row_op *row = gen_op(made->gen, name, begin, end);

	row->depth = depth;
}

static inline void made_step(struct made *made, uint64_t time, uint64_t number)
{
	struct gprof_row_step *row = gen_row(made->gen, GPROF_TABLE_step);

	row->time = time;
	row->step = number;
	row->thread = 1;
}

#endif
