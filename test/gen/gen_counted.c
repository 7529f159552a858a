/* SPDX-License-Identifier: Apache-2.0 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull
#define STEP_US	 1000u

/* Handles of two streams and an event, as the API gives them. */
#define COMPUTE 0x7f0000001000ull
#define COPY	0x7f0000002000ull
/* No launch with this handle is recorded, as if a library called the driver in its own way. */
#define UNKNOWN 0x7f0000004000ull
#define READY	0x7f0000003000ull
/* CUPTI's numbers of these streams. */
enum { COMPUTE_STREAM = 7, COPY_STREAM = 13 };

static void *call(struct gen *gen, unsigned int table, const char *name, uint32_t at_us,
	uint32_t dur_us, uint32_t correlation)
{
	uint16_t id = gen_call(gen, name, GPROF_API_RUNTIME);
	struct gprof_row_api *row = gen_row(gen, table);

	row->begin = START_NS + at_us * 1000ull;
	row->dur = row->begin + dur_us * 1000ull;
	row->thread = 1;
	row->call = id;
	row->correlation = correlation;
	return row;
}

static void launch(struct gen *gen, uint64_t stream, uint32_t place, uint32_t at_us,
	uint32_t work_at_us, uint32_t work_us, uint32_t correlation)
{
	struct gprof_row_api_launch *row =
		call(gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", at_us, 5, correlation);
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	row->stream = stream;
	row->shape = place;
	kernel->begin = START_NS + GEN_CUPTI_OFFSET_NS + work_at_us * 1000ull;
	kernel->dur = kernel->begin + work_us * 1000ull;
	kernel->place = place;
	kernel->correlation = correlation;
	kernel->shape = place;
}

static void about_event(
	struct gen *gen, const char *name, uint64_t stream, uint32_t at_us, uint32_t correlation)
{
	struct gprof_row_api *row = call(gen, GPROF_TABLE_api, name, at_us, 2, correlation);

	row->event = READY;
	row->stream = stream;
}

static void shape(struct gen *gen, uint32_t id, const char *name)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_shape *row = gen_row(gen, GPROF_TABLE_shape);

	row->id = id;
	row->name = string;
	row->grid_x = row->grid_y = row->grid_z = row->block_y = row->block_z = 1;
	row->block_x = 256;
}

static void count(struct gen *gen, const char *name, uint64_t nr, uint32_t end_us)
{
	uint16_t id = gen_call(gen, name, GPROF_API_RUNTIME);
	struct gprof_row_api_count *row = gen_row(gen, GPROF_TABLE_api_count);

	row->begin = START_NS;
	row->dur = START_NS + end_us * 1000ull;
	row->thread = 1;
	row->call = id;
	row->nr = nr;
}

/* The second stream waits by an event for the first; the host waits for the second, and in every
 * other step then for the whole device. */
static void step(struct gen *gen, uint32_t number, uint32_t id, uint32_t compute, uint32_t copy)
{
	uint32_t at_us = 10 + number * STEP_US;
	struct gprof_row_api_sync *wait;

	gen_step(gen, number, START_NS + at_us * 1000ull);
	launch(gen, COMPUTE, compute, at_us + 10, at_us + 20, 400, id);
	about_event(gen, "cudaEventRecord", COMPUTE, at_us + 20, id + 1);
	about_event(gen, "cudaStreamWaitEvent", COPY, at_us + 25, id + 2);
	launch(gen, COPY, copy, at_us + 30, at_us + 430, 300, id + 3);
	launch(gen, COMPUTE, compute, at_us + 40, at_us + 440, 500, id + 4);
	wait = call(gen, GPROF_TABLE_api_sync, "cudaStreamSynchronize", at_us + 50, 690, id + 5);
	wait->object = COPY;
	if (number % 2) {
		wait = call(gen, GPROF_TABLE_api_sync, "cudaStreamSynchronize", at_us + 750, 200,
			id + 6);
		wait->object = UNKNOWN;
	}
}

static void begin(struct gen *gen, uint32_t compute, uint32_t copy)
{
	struct gprof_row_thread *thread;

	gen_info_bytes(gen, "process.command", "./overlap", 9);
	gen_device(gen, 0, "NVIDIA Test 1");
	thread = gen_row(gen, GPROF_TABLE_thread);
	thread->tick = START_NS;
	thread->thread = 1;
	thread->tid = GEN_PID;
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	gen_anchor(gen, START_NS + 10000000, START_NS + 10000000,
		START_NS + 10000000 + GEN_CUPTI_OFFSET_NS);
	shape(gen, compute, "compute");
	shape(gen, copy, "pack");
}

void gen_counted(struct gen *gen)
{
	uint32_t compute = gen_place(gen, 0, 1, COMPUTE_STREAM);
	uint32_t copy = gen_place(gen, 0, 1, COPY_STREAM);

	begin(gen, compute, copy);
	call(gen, GPROF_TABLE_api, "cudaGetDevice", 5, 2, 0);
	for (uint32_t i = 0; i < 4; i++) {
		step(gen, i, 1 + i * 10, compute, copy);
	}
	gen_step(gen, 4, START_NS + (10 + 4 * STEP_US) * 1000ull);
	count(gen, "cudaGetDevice", 4321, 4100);
	count(gen, "cudaGetLastError", 99, 4100);
	gen_flush(gen);
}

void gen_wrapped(struct gen *gen)
{
	uint32_t compute = gen_place(gen, 0, 1, COMPUTE_STREAM);
	uint32_t copy = gen_place(gen, 0, 1, COPY_STREAM);

	begin(gen, compute, copy);
	for (uint32_t i = 0; i < 4; i++) {
		if (i % 2 == 0) {
			gen_newest_correlation(gen, (1 + i / 2ull) << 32);
		}
		/* The first two steps and the others launch in opposite order. */
		step(gen, i, UINT32_MAX - 7 + i % 2 * 10, i < 2 ? compute : copy,
			i < 2 ? copy : compute);
	}
	gen_step(gen, 4, START_NS + (10 + 4 * STEP_US) * 1000ull);
	gen_flush(gen);
}
