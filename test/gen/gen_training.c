/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "test/gen/gen.h"

#define NR_NAMES	200u
#define NR_SHAPES	400u
#define LAUNCHES_A_STEP 1000u
#define THREADS		4u
#define STEPS_A_FLUSH	15u
/* A step: 1,000 kernels, 2,000 calls, 100 copies and 116 ranges of two rows. */
#define COPIES_A_STEP 100u
#define RANGES_A_STEP 116u
#define CALLS_A_STEP  2000u
#define START_NS      1000000000ull

struct training {
	struct gen *gen;
	uint64_t random;
	uint32_t shapes[NR_SHAPES];
	double log_ns[NR_SHAPES]; /* of the usual duration */
	uint16_t calls[8];
	uint32_t ranges[8];
	uint32_t places[3];
	uint16_t sequence[LAUNCHES_A_STEP]; /* the same shapes in each step */
	uint64_t host_ns[THREADS];
	uint64_t device_ns[3];
	uint32_t correlation;
	uint64_t nr_events;
};

static uint64_t next_random(struct training *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random;
}

static uint32_t below(struct training *t, uint32_t n)
{
	return (uint32_t)((next_random(t) >> 32) * n >> 32);
}

/* exp of a nearly normal number: the sum of eight uniform ones. */
static uint64_t log_normal(struct training *t, double mean_log, double sigma)
{
	double sum = -4;

	for (int i = 0; i < 2; i++) {
		uint64_t bits = next_random(t);

		for (int k = 0; k < 4; k++) {
			sum += (double)(bits >> (16 * k) & 0xffff) / 65536;
		}
	}
	return (uint64_t)exp(mean_log + sigma * sum * 1.2247);
}

static void define(struct training *t)
{
	static const char *const calls[] = {"cudaLaunchKernel", "cudaMemcpyAsync",
		"cudaGetLastError", "cudaStreamIsCapturing", "cudaEventRecord", "cudaEventQuery",
		"cudaStreamSynchronize", "cudaMemsetAsync"};
	static const char *const ranges[] = {
		"forward", "backward", "optimizer", "loader", "loss", "layer", "attention", "mlp"};

	for (int i = 0; i < 8; i++) {
		t->calls[i] = gen_call(t->gen, calls[i], GPROF_API_RUNTIME);
		t->ranges[i] = gen_string(t->gen, ranges[i]);
	}
	for (uint32_t i = 0; i < 3; i++) {
		t->places[i] = gen_place(t->gen, 0, 1, 7 + 6 * i);
	}
	gen_device(t->gen, 0, "NVIDIA Test 1");
	for (uint32_t i = 0; i < NR_SHAPES; i++) {
		struct gprof_row_shape *shape;
		char name[96];
		uint32_t string;

		snprintf(name, sizeof(name), "_Z%ukernel_%03uILi%uEEvPKfPfi", 10u, i % NR_NAMES,
			i % NR_NAMES);
		string = gen_string(t->gen, name);
		shape = gen_row(t->gen, GPROF_TABLE_shape);
		shape->id = i + 1;
		shape->name = string;
		shape->grid_x = 1 + below(t, 4096);
		shape->grid_y = 1;
		shape->grid_z = 1;
		shape->block_x = 32u << below(t, 5);
		shape->block_y = 1;
		shape->block_z = 1;
		shape->registers = 16 + 8 * below(t, 28);
		t->shapes[i] = shape->id;
		t->log_ns[i] = 8 + (double)below(t, 400) / 100;
	}
	for (uint32_t i = 0; i < LAUNCHES_A_STEP; i++) {
		t->sequence[i] = (uint16_t)below(t, NR_SHAPES);
	}
}

static void fill_call(struct training *t, struct gprof_row_api *row, uint32_t thread, uint16_t call)
{
	t->host_ns[thread] += log_normal(t, 6.5, 0.4);
	row->begin = t->host_ns[thread];
	t->host_ns[thread] += log_normal(t, 8, 0.25);
	row->dur = t->host_ns[thread];
	row->thread = thread + 1;
	row->call = call;
}

static void launch(struct training *t, uint32_t thread, uint32_t shape)
{
	struct gprof_row_api_launch *call = gen_row(t->gen, GPROF_TABLE_api_launch);
	struct gprof_row_kernel *kernel;
	uint32_t stream = thread == 1 ? 1 : 0;

	fill_call(t, (struct gprof_row_api *)call, thread, t->calls[0]);
	call->correlation = ++t->correlation;
	call->shape = t->shapes[shape];
	kernel = gen_row(t->gen, GPROF_TABLE_kernel);
	t->device_ns[stream] += log_normal(t, 7, 0.3);
	if (t->device_ns[stream] < t->host_ns[thread] + GEN_CUPTI_OFFSET_NS) {
		t->device_ns[stream] = t->host_ns[thread] + GEN_CUPTI_OFFSET_NS + 2000;
	}
	kernel->begin = t->device_ns[stream];
	t->device_ns[stream] += log_normal(t, t->log_ns[shape], 0.05);
	kernel->dur = t->device_ns[stream];
	kernel->place = t->places[stream];
	kernel->correlation = t->correlation;
	kernel->shape = t->shapes[shape];
}

static void copy(struct training *t)
{
	struct gprof_row_api_copy *call = gen_row(t->gen, GPROF_TABLE_api_copy);
	struct gprof_row_memcpy *record;
	uint64_t bytes = 4096ull << below(t, 8);

	fill_call(t, (struct gprof_row_api *)call, 2, t->calls[1]);
	call->correlation = ++t->correlation;
	call->copy_kind = 1;
	call->bytes = bytes;
	record = gen_row(t->gen, GPROF_TABLE_memcpy);
	t->device_ns[2] = t->host_ns[2] + GEN_CUPTI_OFFSET_NS + 1500;
	record->begin = t->device_ns[2];
	record->dur = t->device_ns[2] + bytes / 20 + 900;
	record->place = t->places[2];
	record->correlation = t->correlation;
	record->bytes = bytes;
	record->copy_kind = 1;
	record->src_kind = 2;
	record->dst_kind = 3;
	record->flags = 1;
}

static void mark(struct training *t, uint32_t thread, uint32_t range, uint8_t op)
{
	struct gprof_row_nvtx *row = gen_row(t->gen, GPROF_TABLE_nvtx);

	row->time = t->host_ns[thread];
	row->thread = thread + 1;
	row->name = op == GPROF_NVTX_PUSH ? t->ranges[range] : 0;
	row->op = op;
}

static void other_call(struct training *t, uint32_t thread, uint32_t which)
{
	if (which == 5 || which == 6) {
		struct gprof_row_api_sync *row = gen_row(t->gen, GPROF_TABLE_api_sync);

		fill_call(t, (struct gprof_row_api *)row, thread, t->calls[which]);
		row->correlation = ++t->correlation;
	} else {
		fill_call(t, gen_row(t->gen, GPROF_TABLE_api), thread, t->calls[which]);
	}
}

/* What one thread does of a step; rows of a thread stand together, as the drain writes them. */
static void thread_step(struct training *t, uint32_t thread)
{
	uint32_t nr_other = (CALLS_A_STEP - LAUNCHES_A_STEP - COPIES_A_STEP) / THREADS;
	uint32_t nr_ranges = RANGES_A_STEP / THREADS;

	for (uint32_t i = 0; i < nr_other; i++) {
		if (thread < 2) {
			for (uint32_t k = 0; k < 2; k++) {
				uint32_t at = 2 * i + k + thread * (LAUNCHES_A_STEP / 2);

				launch(t, thread, t->sequence[at % LAUNCHES_A_STEP]);
			}
		}
		other_call(t, thread, 2 + (i * 7 + thread) % 5);
		if (thread == 2 && i % 2 == 0 && i / 2 < COPIES_A_STEP) {
			copy(t);
		}
		if (i % (nr_other / nr_ranges) == 0 && i + 4 < nr_other) {
			mark(t, thread, i / (nr_other / nr_ranges) % 8, GPROF_NVTX_PUSH);
		} else if (i % (nr_other / nr_ranges) == 4) {
			mark(t, thread, 0, GPROF_NVTX_POP);
		}
	}
	/* Loose ends of the division above, so that a step has its 1,000 launches. */
	for (uint32_t i = 2 * nr_other; thread < 2 && i < LAUNCHES_A_STEP / 2; i++) {
		launch(t, thread, t->sequence[i]);
	}
}

void gen_training(struct gen *gen, uint64_t nr_events, uint64_t seed)
{
	struct training t = {.gen = gen, .random = seed * 2 + 1};
	uint64_t a_step = CALLS_A_STEP + LAUNCHES_A_STEP + COPIES_A_STEP + 2 * RANGES_A_STEP;
	uint64_t nr_steps = (nr_events + a_step - 1) / a_step;

	for (uint32_t i = 0; i < THREADS; i++) {
		t.host_ns[i] = START_NS;
	}
	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "host.name", "node7");
	gen_info(gen, "rank.world", "0");
	gen_info(gen, "rank.world_size", "2");
	define(&t);
	for (uint64_t step = 0; step < nr_steps; step += STEPS_A_FLUSH) {
		uint64_t now = t.host_ns[0];

		gen_anchor(gen, now, now, now + GEN_CUPTI_OFFSET_NS);
		for (uint32_t thread = 0; thread < THREADS; thread++) {
			/* Threads keep in step with each other. */
			t.host_ns[thread] = t.host_ns[thread] > now ? t.host_ns[thread] : now;
			for (uint64_t i = step; i < step + STEPS_A_FLUSH && i < nr_steps; i++) {
				if (!thread) {
					struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

					row->time = t.host_ns[0];
					row->step = i;
					row->thread = 1;
					row->how = GPROF_STEP_CALL;
				}
				thread_step(&t, thread);
			}
		}
		gen_flush(gen);
	}
	gen_anchor(gen, t.host_ns[0], t.host_ns[0], t.host_ns[0] + GEN_CUPTI_OFFSET_NS);
}
