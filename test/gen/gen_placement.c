/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of 10 ms on a host of two NUMA nodes, with the GPU at node 1. The loop runs on node 0, for
 * the last 100 ms on node 1, and moves to another CPU three times each 100 ms. Three in four pages
 * of pinned memory are on node 0. In each step the loop loads data for 2 ms without workers, copies
 * it for 4 ms, computes for 3 ms and waits for that. Each 100 ms it reads 40 MB by calls, of which
 * storage has to deliver 38 MB.
 */
#include "test/gen/gen.h"

#define START_NS     1000000000ull
#define MS	     1000000ull
#define NR_STEPS     50u
#define SAMPLE_STEPS 10u
#define LOOP_TID     4242u
#define NO_DEVICE    255u
#define MB	     1000000ull
/* cudaMemcpyKind and CUPTI's kinds of memory */
enum { TO_DEVICE = 1, PINNED = 2, OF_DEVICE = 3 };

enum { LOOP = 1 };

static void sample(struct gen *gen, uint64_t at, uint8_t metric, uint8_t device, uint64_t value)
{
	struct gprof_row_sample *row = gen_row(gen, GPROF_TABLE_sample);

	row->time = at;
	row->value = value;
	row->metric = metric;
	row->device = device;
}

static void add_samples(struct gen *gen, uint64_t at, uint64_t number)
{
	struct gprof_row_thread_cpu *row = gen_row(gen, GPROF_TABLE_thread_cpu);

	row->time = at;
	row->cpu_ns = 500 * MS + 60 * MS * number;
	row->wait_ns = 20 * MS;
	row->thread = LOOP;
	row->cpu = number < NR_STEPS / SAMPLE_STEPS ? 2 : 5;
	row->cpu_khz = 2400000;
	row->migrations = 7 + 3 * number;
	row->major_faults = 11 + number;
	row->known = GPROF_THREAD_CPU_KNOWN | GPROF_THREAD_MIGRATIONS_KNOWN;
	sample(gen, at, GPROF_METRIC_PROCESS_READ_BYTES, NO_DEVICE, 900 * MB + 40 * MB * number);
	sample(gen, at, GPROF_METRIC_PROCESS_STORAGE_READ_BYTES, NO_DEVICE,
		800 * MB + 38 * MB * number);
}

static void look_at_pages(struct gen *gen, uint64_t at)
{
	sample(gen, at, GPROF_METRIC_PROCESS_PINNED_NODE_PAGES, 0, 24);
	sample(gen, at, GPROF_METRIC_PROCESS_PINNED_NODE_PAGES, 1, 8);
	sample(gen, at, GPROF_METRIC_PROCESS_PINNED_NODE_PAGES, NO_DEVICE, 16);
	sample(gen, at, GPROF_METRIC_PROCESS_NODE_PAGES, 0, 90);
	sample(gen, at, GPROF_METRIC_PROCESS_NODE_PAGES, 1, 10);
}

static void add_copy(struct gen *gen, uint16_t call, uint32_t place, uint64_t at, uint32_t id)
{
	struct gprof_row_api_copy *row = gen_row(gen, GPROF_TABLE_api_copy);
	struct gprof_row_memcpy *copy;

	row->begin = at;
	row->dur = at + 10000;
	row->thread = LOOP;
	row->call = call;
	row->correlation = id;
	row->copy_kind = TO_DEVICE;
	row->bytes = 40 * MB;
	copy = gen_row(gen, GPROF_TABLE_memcpy);
	copy->begin = at + 20000 + GEN_CUPTI_OFFSET_NS;
	copy->dur = copy->begin + 4 * MS;
	copy->place = place;
	copy->correlation = id;
	copy->bytes = 40 * MB;
	copy->copy_kind = TO_DEVICE;
	copy->src_kind = PINNED;
	copy->dst_kind = OF_DEVICE;
}

static void wait_for_gpu(struct gen *gen, uint16_t call, uint64_t at, uint64_t end)
{
	struct gprof_row_api_sync *row = gen_row(gen, GPROF_TABLE_api_sync);

	row->begin = at;
	row->dur = end;
	row->thread = LOOP;
	row->call = call;
}

static void add_gpu(struct gen *gen)
{
	uint32_t name = gen_string(gen, "numa_node");
	struct gprof_row_attribute *row = gen_row(gen, GPROF_TABLE_attribute);

	row->name = name;
	row->value = 1;
	gen_device(gen, 0, "NVIDIA Test 1");
}

void gen_placement(struct gen *gen)
{
	uint16_t call = gen_call(gen, "cudaMemcpyAsync", GPROF_API_RUNTIME);
	uint16_t wait = gen_call(gen, "cudaDeviceSynchronize", GPROF_API_RUNTIME);
	uint32_t place = gen_place(gen, 0, 1, 7);
	uint64_t at = START_NS;

	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "step.rule", "nvtx:step");
	gen_info(gen, "host.numa_nodes", "2");
	gen_info(gen, "host.numa_node.0", "0-1,2-3");
	gen_info(gen, "host.numa_node.1", "4-7");
	add_gpu(gen);
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	gen_thread(gen, LOOP, LOOP_TID, "python");
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		if (i % SAMPLE_STEPS == 0) {
			add_samples(gen, at, i / SAMPLE_STEPS);
		}
		gen_step(gen, i, at);
		gen_op(gen, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at,
			at + 2 * MS);
		add_copy(gen, call, place, at + 2 * MS, 2 * i + 1);
		gen_launch(gen, at + 3 * MS, 3200, 3000, 2 * i + 2);
		wait_for_gpu(gen, wait, at + 3 * MS + 10000, at + 9 * MS + 210000);
		at += 10 * MS;
	}
	look_at_pages(gen, at);
	gen_step(gen, NR_STEPS, at);
	add_samples(gen, at, NR_STEPS / SAMPLE_STEPS);
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	gen_flush(gen);
}
