/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of 10 ms without a GPU, on 2 CPUs that other processes use, too: an operator takes 8 ms.
 * Each 100 ms the thread of the loop has run for 60 ms and waited for a CPU for 30 ms, the process
 * has used 62 ms of CPU time, and its host 196 ms.
 */
#include "test/gen/gen.h"

#define START_NS     1000000000ull
#define MS	     1000000ull
#define NR_STEPS     50u
#define STEP_MS	     10u
#define SAMPLE_STEPS 10u
#define LOOP_TID     4242u
#define NO_DEVICE    255u

enum { LOOP = 1 };

static void sample(struct gen *gen, uint64_t at, uint8_t metric, uint64_t value)
{
	struct gprof_row_sample *row = gen_row(gen, GPROF_TABLE_sample);

	row->time = at;
	row->value = value;
	row->metric = metric;
	row->device = NO_DEVICE;
}

static void add_samples(struct gen *gen, uint64_t at, uint64_t number)
{
	struct gprof_row_thread_cpu *row = gen_row(gen, GPROF_TABLE_thread_cpu);

	row->time = at;
	row->cpu_ns = 500 * MS + 60 * MS * number;
	row->wait_ns = 20 * MS + 30 * MS * number;
	row->thread = LOOP;
	sample(gen, at, GPROF_METRIC_PROCESS_CPU_NS, 510 * MS + 62 * MS * number);
	sample(gen, at, GPROF_METRIC_PROCESS_ALLOWED_CPUS, 2);
	sample(gen, at, GPROF_METRIC_HOST_CPU_BUSY_NS, 9000 * MS + 196 * MS * number);
	sample(gen, at, GPROF_METRIC_HOST_CPU_ALL_NS, 20000 * MS + 200 * MS * number);
}

void gen_cpu_wait(struct gen *gen)
{
	uint64_t at = START_NS;

	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "step.rule", "nvtx:step");
	gen_info(gen, "host.cpus", "2");
	gen_anchor(gen, START_NS, START_NS, 0);
	gen_thread(gen, LOOP, LOOP_TID, "python");
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		if (i % SAMPLE_STEPS == 0) {
			add_samples(gen, at, i / SAMPLE_STEPS);
		}
		gen_step(gen, i, at);
		gen_op(gen, "aten::mm", at + 1 * MS, at + 9 * MS);
		at += STEP_MS * MS;
	}
	gen_step(gen, NR_STEPS, at);
	add_samples(gen, at, NR_STEPS / SAMPLE_STEPS);
	gen_anchor(gen, at, at, 0);
	gen_flush(gen);
}
