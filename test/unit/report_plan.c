/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/report_plan.h"

#include <stdio.h>
#include <stddef.h>

#include "report/model/api.h"
#include "test/unit/report_streams.h"

#define START_NS 1000000000ull
#define LOADER	 "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

struct ids {
	uint32_t places[2], shapes[2], op, loader, ops[2];
	uint16_t launch, copy, call, graph;
	uint32_t correlation;
};

static uint64_t at_us(uint32_t step, uint32_t us)
{
	return START_NS + ((uint64_t)step * PLAN_STEP_US + us) * 1000;
}

static void add_op(struct gen *gen, uint32_t name, uint64_t begin, uint64_t end, uint16_t depth)
{
	struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);

	op->begin = begin;
	op->dur = end;
	op->thread = op->end_thread = 1;
	op->op_name = name;
	op->depth = depth;
}

static uint32_t add_shape(struct gen *gen, const char *name, uint32_t blocks)
{
	static uint32_t nr_shapes;
	uint32_t string = gen_string(gen, name);
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);

	shape->id = ++nr_shapes;
	shape->name = string;
	shape->grid_x = blocks ? blocks : 100000;
	shape->grid_y = shape->grid_z = 1;
	shape->block_x = 256;
	shape->block_y = shape->block_z = 1;
	shape->registers = 32;
	return shape->id;
}

static void add_kernel(struct gen *gen, struct ids *ids, unsigned int which, uint64_t begin,
	uint64_t end, uint64_t call_begin, uint64_t call_end)
{
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);
	struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);

	kernel->begin = begin;
	kernel->dur = end;
	kernel->place = ids->places[which];
	kernel->shape = ids->shapes[which];
	kernel->correlation = call->correlation = ++ids->correlation;
	call->begin = call_begin;
	call->dur = call_end;
	call->call = ids->launch;
	call->thread = 1;
	call->shape = ids->shapes[which];
}

static void add_work(struct gen *gen, struct ids *ids, const struct plan_work *work, uint32_t step)
{
	uint64_t begin = at_us(step, work->begin), end = at_us(step, work->end);
	bool has_call = work->call_us || work->call_end_us;

	add_kernel(gen, ids, 1, begin, end, has_call ? at_us(step, work->call_us) : begin - 10000,
		has_call ? at_us(step, work->call_end_us) : begin);
}

static void add_copy(struct gen *gen, struct ids *ids, const struct plan *plan, uint32_t step)
{
	uint64_t begin = at_us(step, plan->copy.begin_us);
	uint64_t end = plan->copy.ns ? begin + plan->copy.ns : at_us(step, plan->copy.end_us);
	struct gprof_row_api_copy *call = gen_row(gen, GPROF_TABLE_api_copy);

	call->begin = begin;
	call->dur = begin + (plan->copy_call_us ? plan->copy_call_us : 1) * 1000ull;
	call->call = ids->copy;
	call->thread = 1;
	call->correlation = ++ids->correlation;
	if (plan->copy.copy_kind) {
		struct gprof_row_memcpy *row = gen_row(gen, GPROF_TABLE_memcpy);

		row->begin = begin;
		row->dur = end;
		row->place = ids->places[1];
		row->correlation = ids->correlation;
		row->bytes = plan->copy.bytes;
		row->copy_kind = (uint8_t)plan->copy.copy_kind;
		row->src_kind = (uint8_t)plan->copy.source;
		row->dst_kind = (uint8_t)plan->copy.target;
		row->flags = (uint8_t)plan->copy.flags;
	} else {
		struct gprof_row_memset *row = gen_row(gen, GPROF_TABLE_memset);

		row->begin = begin;
		row->dur = end;
		row->place = ids->places[1];
		row->correlation = ids->correlation;
		row->memory_kind = API_MEMORY_DEVICE;
		row->flags = (uint8_t)plan->copy.flags;
	}
}

#define NR_GRAPH_KERNELS 100u

static void add_graph(struct gen *gen, struct ids *ids, uint32_t graph_us, uint32_t step)
{
	struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);

	call->begin = at_us(step, 20000);
	call->dur = at_us(step, 20000 + graph_us);
	call->call = ids->graph;
	call->thread = 1;
	call->correlation = ++ids->correlation;
	for (uint32_t i = 0; i < NR_GRAPH_KERNELS; i++) {
		struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

		kernel->begin = at_us(step, 20000 + graph_us + 2 * i);
		kernel->dur = kernel->begin + 1000;
		kernel->place = ids->places[1];
		kernel->shape = ids->shapes[0];
		kernel->correlation = ids->correlation;
	}
}

static void add_attribute(struct gen *gen, const char *name, uint64_t value)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_attribute *row = gen_row(gen, GPROF_TABLE_attribute);

	row->name = string;
	row->value = value;
}

static void add_device(struct gen *gen, const struct plan *plan)
{
	gen_device(gen, 0, "NVIDIA Test 1");
	if (plan->capability != PLAN_NEVER) {
		uint32_t capability = plan->capability ? plan->capability : 80;

		add_attribute(gen, "capability_major", capability / 10);
		add_attribute(gen, "capability_minor", capability % 10);
	}
	add_attribute(gen, "memory_bytes", 100);
	add_attribute(gen, "multiprocessors", 108);
	add_attribute(gen, "warp_threads", 32);
	add_attribute(gen, "max_warps_per_multiprocessor", 64);
	add_attribute(gen, "max_blocks_per_multiprocessor", 32);
	add_attribute(gen, "registers_per_multiprocessor", 65536);
	add_attribute(gen, "shared_bytes_per_multiprocessor", 167936);
	if (plan->peak_bytes) {
		struct gprof_row_alloc *alloc = gen_row(gen, GPROF_TABLE_alloc);

		alloc->time = START_NS;
		alloc->thread = 1;
		alloc->bytes = 1;
		alloc->allocated_bytes = 1;
		alloc->reserved_bytes = plan->peak_bytes;
		alloc->device_type = 1;
	}
}

static void add_call(struct gen *gen, const struct plan *plan, uint16_t call_id, uint32_t step)
{
	struct gprof_row_api *call = gen_row(gen, GPROF_TABLE_api);

	call->begin = at_us(step, 20000);
	call->dur = at_us(step, 20000 + plan->call.us);
	call->call = call_id;
	call->thread = 1;
}

/* What it names; a row of a name comes before those that have its number. */
static struct ids add_names(struct gen *gen, const struct plan *plan)
{
	struct ids ids = {.correlation = 0};

	ids.shapes[0] = add_shape(gen, plan->kernel ? plan->kernel : PLAN_TENSOR, 0);
	add_device(gen, plan);
	if (plan->rank) {
		gen_info(gen, "rank.world", plan->rank == 1 ? "0" : "1");
		gen_info(gen, "rank.world_size", "2");
	}
	ids.places[0] = gen_place(gen, 0, 1, 7);
	ids.places[1] = gen_place(gen, 0, 1, 8);
	ids.launch = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	ids.op = gen_op_name(gen, "aten::mm");
	ids.loader = gen_op_name(gen, LOADER);
	if (plan->second.name) {
		ids.shapes[1] = add_shape(gen, plan->second.name, plan->second.blocks);
	}
	if (plan->is_trace) {
		gen_info(gen, "trace.format", "kineto");
	}
	if (plan->graph_us) {
		ids.graph = gen_call(gen, "cudaGraphLaunch", GPROF_API_RUNTIME);
	}
	if (plan->copy.name) {
		ids.copy = gen_call(gen, plan->copy.name, GPROF_API_RUNTIME);
	}
	if (plan->call.name) {
		ids.call = gen_call(gen, plan->call.name, GPROF_API_RUNTIME);
	}
	for (unsigned int i = 0; i < 2; i++) {
		ids.ops[i] = plan->ops[i] ? gen_op_name(gen, plan->ops[i]) : 0;
	}
	return ids;
}

static void add_begin(struct gen *gen, uint32_t number)
{
	struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

	step->time = at_us(number, 0);
	step->step = number;
	step->how = GPROF_STEP_OPTIMIZER;
	step->thread = 1;
}

static void add_step(struct gen *gen, struct ids *ids, const struct plan *plan, uint32_t i)
{
	uint32_t wait_us = plan->wait_us ? plan->wait_us : 500;
	uint64_t late_ns = i == PLAN_STEPS - 1 ? plan->late_us * 1000ull : 0;
	uint64_t from = at_us(i, plan->busy_from_us ? plan->busy_from_us : 1000) + late_ns;
	uint64_t to = at_us(i, plan->busy_to_us ? plan->busy_to_us : 99000) + late_ns;

	if (wait_us != PLAN_NEVER) {
		add_op(gen, ids->loader, at_us(i, 0), at_us(i, wait_us), 0);
	}
	if (!plan->has_no_devices) {
		add_kernel(gen, ids, 0, from, to, from - 10000, from);
	}
	add_op(gen, ids->op, from - 20000, at_us(i, 99500), 0);
	if (plan->second.name) {
		add_work(gen, ids, &plan->second, i);
	}
	if (plan->graph_us) {
		add_graph(gen, ids, plan->graph_us, i);
	}
	if (plan->copy.name) {
		add_copy(gen, ids, plan, i);
	}
	if (plan->call.name && (!plan->call.is_first_alone || !i)) {
		add_call(gen, plan, ids->call, i);
	}
	for (unsigned int k = 0; k < 2; k++) {
		if (plan->ops[k]) {
			add_op(gen, ids->ops[k], at_us(i, 99600 + k), at_us(i, 99601 + k), 0);
		}
	}
}

static void add_thread_times(struct gen *gen, uint64_t time, uint64_t cpu_ns, uint32_t cpu)
{
	struct gprof_row_thread_cpu *row = gen_row(gen, GPROF_TABLE_thread_cpu);

	row->time = time;
	row->cpu_ns = cpu_ns;
	row->thread = 1;
	row->cpu = cpu;
	row->known = GPROF_THREAD_CPU_KNOWN;
}

static void add_pinned_pages(struct gen *gen, uint8_t node, uint64_t pages)
{
	struct gprof_row_sample *row = gen_row(gen, GPROF_TABLE_sample);

	row->time = 1000;
	row->value = pages;
	row->metric = GPROF_METRIC_PROCESS_PINNED_NODE_PAGES;
	row->device = node;
}

/* Each node has a CPU of its number. */
static void add_numa(struct gen *gen, const struct plan *plan)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", plan->numa.nr_nodes);
	gen_info(gen, "host.numa_nodes", number);
	gen_info(gen, "host.numa_node.0", "0");
	gen_info(gen, "host.numa_node.1", "1");
	if (!plan->numa.lacks_gpu) {
		add_attribute(gen, "numa_node", 1);
	}
	if (plan->numa.threads) {
		add_thread_times(gen, 1000, 5000, 1);
		add_thread_times(gen, 2000, 5000 + plan->numa.threads, 0);
		add_thread_times(gen, 3000, 6000, 1);
	}
	if (plan->numa.pages) {
		add_pinned_pages(gen, 0, plan->numa.pages);
		add_pinned_pages(gen, 1, 1000 - plan->numa.pages);
	}
}

const char *plan_write(const struct plan *plan, const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	struct ids ids = add_names(gen, plan);

	if (plan->numa.nr_nodes) {
		add_numa(gen, plan);
	}
	for (uint32_t i = 0; i <= PLAN_STEPS; i++) {
		if (!plan->has_no_steps) {
			add_begin(gen, i);
		}
		if (i < PLAN_STEPS) {
			add_step(gen, &ids, plan, i);
		}
	}
	if (plan->ends_with_call) {
		add_call(gen, plan, ids.call, PLAN_STEPS);
	}
	gen_close(gen, "exit");
	return path;
}
