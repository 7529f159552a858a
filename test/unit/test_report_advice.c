/* SPDX-License-Identifier: Apache-2.0 */
/* For each rule of `advice` a stream for which it fires, and one for which it just does not. */
#include <stdlib.h>
#include <string.h>

#include "report/advice.h"
#include "report/api.h"
#include "report/select.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define START_NS 1000000000ull
#define STEP_US	 100000u
#define NR_STEPS 4u
#define LOADER	 "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
#define TENSOR	 "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn"
#define SGEMM	 "volta_sgemm_128x64_nn"
#define PLAIN	 "void at::native::vectorized_elementwise_kernel<4>(int)"
#define NCCL	 "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclWorkElem)"
#define NEVER	 UINT32_MAX

struct plan_work {
	const char *name;	       /* NULL: there is none */
	uint32_t begin, end;	       /* us of the step, or ns if is_ns */
	uint32_t call_us, call_end_us; /* the launch; both 0: 10 us that end when it begins */
	bool is_small_grid;
};

/* A step, which comes four times; all zeros is one that no rule has anything against. */
struct plan {
	uint32_t wait_us;		   /* 500 if 0; NEVER: no loader */
	uint32_t busy_from_us, busy_to_us; /* of the GPU: 1,000 and 99,000 if 0 */
	uint32_t late_us;		   /* so much later in the last step */
	const char *kernel;		   /* that it is busy with */
	struct plan_work second;	   /* on another stream */
	struct {
		const char *name;
		uint32_t begin_us, end_us, copy_kind, source, target, flags;
		uint64_t bytes, ns; /* ns: instead of an end */
	} copy;			    /* or set, if copy_kind is 0 */
	struct {
		const char *name;
		uint32_t us;
		bool is_first_alone; /* in the first step alone */
	} call;
	const char *ops[2];  /* seen, too */
	uint32_t capability; /* 8 if 0; NEVER: unknown */
	uint32_t peak_bytes; /* of 100 */
	uint32_t rank;	     /* counts from 1; 0: none */
	bool has_no_devices, has_no_steps;
};

struct ids {
	uint32_t places[2], op, loader;
	uint16_t launch;
	uint32_t correlation;
};

static uint64_t at_us(uint32_t step, uint32_t us)
{
	return START_NS + ((uint64_t)step * STEP_US + us) * 1000;
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

static uint32_t add_shape(struct gen *gen, const char *name, bool is_small_grid)
{
	static uint32_t nr_shapes;
	uint32_t string = gen_string(gen, name);
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);

	shape->id = ++nr_shapes;
	shape->name = string;
	shape->grid_x = is_small_grid ? 1 : 100000;
	shape->grid_y = shape->grid_z = 1;
	shape->block_x = 256;
	shape->block_y = shape->block_z = 1;
	shape->registers = 32;
	return shape->id;
}

static void add_kernel(struct gen *gen, struct ids *ids, uint32_t place, uint32_t shape,
	uint64_t begin, uint64_t end, uint64_t call_begin, uint64_t call_end)
{
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);
	struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);

	kernel->begin = begin;
	kernel->dur = end;
	kernel->place = place;
	kernel->shape = shape;
	kernel->correlation = call->correlation = ++ids->correlation;
	call->begin = call_begin;
	call->dur = call_end;
	call->call = ids->launch;
	call->thread = 1;
	call->shape = shape;
}

static void add_work(struct gen *gen, struct ids *ids, const struct plan_work *work, uint32_t shape,
	uint32_t step)
{
	uint64_t begin = at_us(step, work->begin), end = at_us(step, work->end);
	bool has_call = work->call_us || work->call_end_us;

	add_kernel(gen, ids, ids->places[1], shape, begin, end,
		has_call ? at_us(step, work->call_us) : begin - 10000,
		has_call ? at_us(step, work->call_end_us) : begin);
}

static void add_copy(
	struct gen *gen, struct ids *ids, const struct plan *plan, uint16_t call_id, uint32_t step)
{
	uint64_t begin = at_us(step, plan->copy.begin_us);
	uint64_t end = plan->copy.ns ? begin + plan->copy.ns : at_us(step, plan->copy.end_us);
	struct gprof_row_api_copy *call = gen_row(gen, GPROF_TABLE_api_copy);

	call->begin = begin;
	call->dur = begin + 1000;
	call->call = call_id;
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
	if (plan->capability != NEVER) {
		add_attribute(gen, "capability_major", plan->capability ? plan->capability : 8);
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

static const char *make(const struct plan *plan, const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	struct ids ids = {.correlation = 0};
	uint32_t wait_us = plan->wait_us ? plan->wait_us : 500, ops[2] = {0};
	uint32_t shape = add_shape(gen, plan->kernel ? plan->kernel : TENSOR, false), second = 0;
	uint16_t copy_call = 0, call = 0;

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
	second = plan->second.name ? add_shape(gen, plan->second.name, plan->second.is_small_grid)
				   : 0;
	copy_call = plan->copy.name ? gen_call(gen, plan->copy.name, GPROF_API_RUNTIME) : 0;
	call = plan->call.name ? gen_call(gen, plan->call.name, GPROF_API_RUNTIME) : 0;
	for (unsigned int i = 0; i < 2; i++) {
		ops[i] = plan->ops[i] ? gen_op_name(gen, plan->ops[i]) : 0;
	}
	for (uint32_t i = 0; i <= NR_STEPS; i++) {
		uint64_t to = at_us(i, plan->busy_to_us ? plan->busy_to_us : 99000);
		uint64_t from = at_us(i, plan->busy_from_us ? plan->busy_from_us : 1000);

		from += i == NR_STEPS - 1 ? plan->late_us * 1000ull : 0;
		to += i == NR_STEPS - 1 ? plan->late_us * 1000ull : 0;
		if (!plan->has_no_steps) {
			struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

			step->time = at_us(i, 0);
			step->step = i;
			step->how = GPROF_STEP_OPTIMIZER;
		}
		if (i == NR_STEPS) {
			break;
		}
		if (wait_us != NEVER) {
			add_op(gen, ids.loader, at_us(i, 0), at_us(i, wait_us), 0);
		}
		if (!plan->has_no_devices) {
			add_kernel(gen, &ids, ids.places[0], shape, from, to, from - 10000, from);
		}
		add_op(gen, ids.op, from - 20000, at_us(i, 99500), 0);
		if (second) {
			add_work(gen, &ids, &plan->second, second, i);
		}
		if (plan->copy.name) {
			add_copy(gen, &ids, plan, copy_call, i);
		}
		if (call && (!plan->call.is_first_alone || !i)) {
			add_call(gen, plan, call, i);
		}
		for (unsigned int k = 0; k < 2; k++) {
			if (ops[k]) {
				add_op(gen, ops[k], at_us(i, 99600 + k), at_us(i, 99601 + k), 0);
			}
		}
	}
	gen_close(gen, "exit");
	return path;
}

static struct table *advice_of(const struct plan *plan)
{
	return tables_of(&view_advice, make(plan, "advice.gprof"), false);
}

static const char *verdict_of(const struct table *table, const char *rule)
{
	return tables_cell(table, tables_find(table, "rule", rule, 0), "verdict")->text;
}

static void judge(const struct plan *plan, const char *rule, const char *verdict)
{
	struct table *table = advice_of(plan);
	const struct table_cell *evidence =
		tables_cell(table, tables_find(table, "rule", rule, 0), "evidence");

	ck_assert_msg(strcmp(verdict_of(table, rule), verdict) == 0, "%s is %s, not %s: %.*s", rule,
		verdict_of(table, rule), verdict, (int)evidence->nr_text, evidence->text);
	table_destroy(table);
}

/* ---- streams ---- */

#define ASYNC	 1
#define HTOD	 API_COPY_HTOD
#define DTOH	 API_COPY_DTOH
#define PAGEABLE API_MEMORY_PAGEABLE
#define PINNED	 API_MEMORY_PINNED
#define DEVICE	 API_MEMORY_DEVICE

static const struct rule_case {
	const char *rule;
	struct plan fires, does_not;
	const char *otherwise; /* NULL: "good" */
} cases[] = {
	{"tb-dataloader", {.wait_us = 5001, .busy_from_us = 5001},
		{.wait_us = 5000, .busy_from_us = 5000}, NULL},
	{"tb-dataloader", {.wait_us = 5001, .has_no_devices = true},
		{.wait_us = 5000, .has_no_devices = true}, NULL},
	{"tb-dataloader", {.wait_us = 50000, .busy_from_us = 50000}, {.wait_us = 50000}, NULL},
	{"tb-dataloader", {.wait_us = 50000, .busy_from_us = 50000}, {.wait_us = NEVER},
		"not judged"},
	{"loader-starvation", {.wait_us = 5001, .busy_from_us = 5001},
		{.wait_us = 5000, .busy_from_us = 5000}, NULL},
	{"tb-communication", {.second = {NCCL, 20000, 30001, 0, 0, false}},
		{.second = {NCCL, 20000, 30000, 0, 0, false}}, NULL},
	{"tb-communication", {.second = {NCCL, 20000, 30001, 0, 0, false}},
		{.has_no_devices = true}, "not judged"},
	{"unoverlapped-communication",
		{.busy_to_us = 80000, .second = {NCCL, 80000, 90001, 0, 0, false}},
		{.busy_to_us = 80000, .second = {NCCL, 79000, 90000, 0, 0, false}}, NULL},
	{"tb-gpu-utilization", {.busy_to_us = 50999}, {.busy_to_us = 51000}, NULL},
	{"nvvp-compute-utilization",
		{.busy_to_us = 50999, .second = {NCCL, 50999, 99000, 0, 0, false}},
		{.busy_to_us = 51000, .second = {NCCL, 50999, 99000, 0, 0, false}}, NULL},
	{"tb-tensor-cores", {.kernel = SGEMM},
		{.kernel = SGEMM, .second = {TENSOR, 99000, 99001, 0, 0, false}}, NULL},
	{"tb-tensor-cores", {.kernel = SGEMM, .capability = 7}, {.kernel = SGEMM, .capability = 6},
		"not judged"},
	{"tb-tensor-cores", {.kernel = SGEMM}, {.kernel = SGEMM, .capability = NEVER},
		"not judged"},
	{"tb-tensor-cores", {.kernel = SGEMM}, {.kernel = "triton_mm"}, "not judged"},
	{"tb-memory", {.peak_bytes = 91}, {.peak_bytes = 90}, NULL},
	{"tb-memory", {.peak_bytes = 91}, {.peak_bytes = 0}, "not judged"},
	{"tb-data-parallel", {.ops = {"DataParallel.forward"}},
		{.ops = {"DistributedDataParallel.forward"}}, NULL},
	{"tb-ddp-nccl", {.ops = {"DistributedDataParallel.forward", "gloo:all_reduce"}},
		{.ops = {"DistributedDataParallel.forward", "nccl:all_reduce"}}, NULL},
	{"tb-ddp-nccl", {.ops = {"DistributedDataParallel.forward"}},
		{.ops = {"DistributedDataParallel.forward"},
			.second = {NCCL, 20000, 20001, 0, 0, false}},
		NULL},
	{"tb-ddp-nccl", {.ops = {"DistributedDataParallel.forward"}}, {.ops = {"gloo:all_reduce"}},
		"not judged"},
	{"cuda_memcpy_async",
		{.copy = {"cudaMemcpyAsync", 2000, 2001, HTOD, PAGEABLE, DEVICE, ASYNC, 4, 0}},
		{.copy = {"cudaMemcpyAsync", 2000, 2001, HTOD, PINNED, DEVICE, ASYNC, 4, 0}}, NULL},
	{"cuda_memcpy_async",
		{.copy = {"cudaMemcpyAsync", 2000, 2001, HTOD, PAGEABLE, DEVICE, 0, 4, 0}},
		{.copy = {"cudaMemcpy", 2000, 2001, HTOD, PAGEABLE, DEVICE, 0, 4, 0}}, NULL},
	{"cuda_memcpy_sync",
		{.copy = {"cudaMemcpy", 2000, 2001, HTOD, PINNED, DEVICE, 0, 65537, 0}},
		{.copy = {"cudaMemcpy", 2000, 2001, HTOD, PINNED, DEVICE, 0, 65536, 0}}, NULL},
	{"cuda_memcpy_sync", {.copy = {"cudaMemcpy", 2000, 2001, DTOH, DEVICE, PINNED, 0, 4, 0}},
		{.copy = {"cudaMemcpyAsync", 2000, 2001, DTOH, DEVICE, PINNED, 0, 4, 0}}, NULL},
	{"cuda_memset_sync", {.copy = {"cudaMemset", 2000, 2001, 0, 0, 0, 0, 4, 0}},
		{.copy = {"cudaMemsetAsync", 2000, 2001, 0, 0, 0, 0, 4, 0}}, NULL},
	{"cuda_api_sync", {.call = {"cudaStreamSynchronize", 1, false}},
		{.call = {"cudaStreamQuery", 1, false}}, NULL},
	{"gpu_gaps", {.busy_to_us = 90999}, {.busy_to_us = 91000}, NULL},
	{"gpu_gaps", {.late_us = 498001, .has_no_steps = true},
		{.late_us = 498000, .has_no_steps = true}, NULL},
	{"gpu_time_util", {.busy_to_us = 94999}, {.busy_to_us = 95000}, NULL},
	{"nvvp-copy-overlap",
		{.busy_to_us = 80000,
			.copy = {"cudaMemcpyAsync", 80000, 90001, HTOD, PINNED, DEVICE, ASYNC, 4,
				0}},
		{.busy_to_us = 80000,
			.copy = {"cudaMemcpyAsync", 79000, 90000, HTOD, PINNED, DEVICE, ASYNC, 4,
				0}},
		NULL},
	{"nvvp-kernel-concurrency",
		{.busy_to_us = 98000, .second = {PLAIN, 97001, 100001, 0, 0, false}},
		{.busy_to_us = 98000, .second = {PLAIN, 97000, 100000, 0, 0, false}}, NULL},
	{"nvvp-kernel-concurrency",
		{.busy_to_us = 98000, .second = {PLAIN, 97001, 100001, 0, 0, false}},
		{.wait_us = 0}, "not judged"},
	{"nvvp-copy-throughput",
		{.copy = {"cudaMemcpyAsync", 2000, 0, HTOD, PINNED, DEVICE, ASYNC, 6000000,
			 1000001}},
		{.copy = {"cudaMemcpyAsync", 2000, 0, HTOD, PINNED, DEVICE, ASYNC, 6000000,
			 1000000}},
		NULL},
	{"nvvp-copy-throughput",
		{.copy = {"cudaMemcpyAsync", 2000, 0, HTOD, PINNED, DEVICE, ASYNC, 1048576,
			 1000000}},
		{.copy = {"cudaMemcpyAsync", 2000, 0, HTOD, PINNED, DEVICE, ASYNC, 1048575,
			 1000000}},
		"not judged"},
	{"nvvp-small-copies",
		{.copy = {"cudaMemcpyAsync", 2000, 3001, HTOD, PINNED, DEVICE, ASYNC, 65536, 0}},
		{.copy = {"cudaMemcpyAsync", 2000, 3000, HTOD, PINNED, DEVICE, ASYNC, 65536, 0}},
		NULL},
	{"nvvp-small-copies",
		{.copy = {"cudaMemcpyAsync", 2000, 3001, HTOD, PINNED, DEVICE, ASYNC, 65536, 0}},
		{.copy = {"cudaMemcpyAsync", 2000, 3001, HTOD, PINNED, DEVICE, ASYNC, 65537, 0}},
		NULL},
	{"small-kernels", {.second = {PLAIN, 20102, 20202, 10001, 20102, false}},
		{.second = {PLAIN, 20101, 20201, 10001, 20101, false}}, NULL},
	{"small-kernels", {.second = {PLAIN, 20121, 20222, 10000, 20102, false}},
		{.second = {PLAIN, 20122, 20222, 10000, 20102, false}}, NULL},
	{"host-bound", {.wait_us = NEVER, .busy_to_us = 90999},
		{.wait_us = NEVER, .busy_to_us = 91000}, NULL},
	{"host-bound", {.wait_us = NEVER, .busy_to_us = 80000},
		{.busy_to_us = 80000, .busy_from_us = 90000, .wait_us = 89000}, NULL},
	{"pageable-copies",
		{.copy = {"cudaMemcpyAsync", 2000, 3001, DTOH, DEVICE, PAGEABLE, ASYNC, 4, 0}},
		{.copy = {"cudaMemcpyAsync", 2000, 3000, DTOH, DEVICE, PAGEABLE, ASYNC, 4, 0}},
		NULL},
	{"sync-in-step", {.busy_to_us = 93833, .call = {"cudaEventSynchronize", 75000, false}},
		{.busy_to_us = 93834, .call = {"cudaEventSynchronize", 75000, false}}, NULL},
	{"sync-in-step", {.busy_to_us = 93833, .call = {"cudaEventSynchronize", 73833, false}},
		{.busy_to_us = 93833, .call = {"cudaEventSynchronize", 73832, false}}, NULL},
	{"sync-in-step", {.busy_to_us = 93833, .call = {"cudaEventSynchronize", 75000, false}},
		{.busy_to_us = 93833, .call = {"cudaEventQuery", 75000, false}}, NULL},
	{"low-occupancy", {.busy_to_us = 77000, .second = {PLAIN, 77000, 96001, 0, 0, true}},
		{.busy_to_us = 77000, .second = {PLAIN, 77000, 96000, 0, 0, true}}, NULL},
	{"low-occupancy", {.busy_to_us = 77000, .second = {PLAIN, 77000, 97000, 0, 0, true}},
		{.busy_to_us = 77000, .second = {PLAIN, 77000, 97000, 0, 0, false}}, NULL},
	{"fp32-multiply", {.busy_to_us = 82000, .second = {SGEMM, 82000, 91001, 0, 0, false}},
		{.busy_to_us = 82000, .second = {SGEMM, 82000, 91000, 0, 0, false}}, NULL},
	{"fp32-multiply", {.busy_to_us = 82000, .second = {SGEMM, 82000, 99000, 0, 0, false}},
		{.busy_to_us = 82000, .second = {PLAIN, 82000, 99000, 0, 0, false}}, NULL},
	{"lazy-loading", {.call = {"cuModuleLoadData", 1001, false}},
		{.call = {"cuModuleLoadData", 1000, false}}, NULL},
	{"lazy-loading", {.call = {"cuModuleLoadData", 9000, false}},
		{.call = {"cuModuleLoadData", 9000, true}}, NULL},
	{"lazy-loading", {.call = {"cuModuleLoadData", 9000, false}},
		{.call = {"cuModuleLoadData", 9000, false}, .has_no_steps = true}, "not judged"},
	{"allocator-thrash", {.call = {"cudaFree", 1001, false}},
		{.call = {"cudaFree", 1000, false}}, NULL},
	{"allocator-thrash", {.call = {"cudaMalloc", 1001, false}},
		{.call = {"cudaMallocAsync", 1001, false}}, NULL},
};
#define NR_CASES (sizeof(cases) / sizeof(cases[0]))

START_TEST(each_rule_fires_above_its_threshold_and_not_at_it)
{
	const struct rule_case *rule = &cases[_i];

	judge(&rule->fires, rule->rule, "finding");
	judge(&rule->does_not, rule->rule, rule->otherwise ? rule->otherwise : "good");
}
END_TEST

/* Two ranks, of which the other communicates so much longer. */
static void judge_ranks(uint32_t more_us, const char *verdict)
{
	static const struct plan first = {.rank = 1, .second = {NCCL, 20000, 30000, 0, 0, false}};
	const struct plan other = {
		.rank = 2, .second = {NCCL, 20000, 30000 + more_us, 0, 0, false}};
	struct process *two[2] = {streams_process(make(&first, "one.gprof")),
		streams_process(make(&other, "two.gprof"))};
	struct table *table = tables_make(&view_advice, two, 2, false);
	size_t row = tables_find(table, "rule", "stragglers", 0);

	ck_assert_str_eq(verdict_of(table, "stragglers"), verdict);
	if (strcmp(verdict, "finding") == 0) {
		ck_assert_uint_eq(tables_number(table, row, "rank"), 0);
		/* of all steps, as other stakes are */
		ck_assert_uint_eq(
			tables_number(table, row, "stake_ns"), NR_STEPS * more_us * 1000ull);
		ck_assert_uint_eq(tables_number(table, row, "processes"), 1);
	}
	table_destroy(table);
	process_destroy(two[0]);
	process_destroy(two[1]);
}

START_TEST(the_rank_that_others_wait_for_is_the_one_that_waits_least)
{
	static const struct plan alone = {.second = {NCCL, 20000, 30000, 0, 0, false}};

	judge_ranks(5001, "finding");
	judge_ranks(5000, "good");
	judge(&alone, "stragglers", "not judged");
}
END_TEST

START_TEST(what_nothing_recorded_can_tell_is_not_judged)
{
	static const struct plan plain = {.wait_us = 0};

	judge(&plain, "dx12_mem_ops", "not judged");
	judge(&plain, "nvvp-divergence", "not judged");
}
END_TEST

START_TEST(every_rule_has_a_test_and_a_row)
{
	static const struct plan plain = {.wait_us = 0};
	struct table *table = advice_of(&plain);

	ck_assert_uint_eq(table->nr_rows, advice_nr_rules);
	for (size_t i = 0; i < advice_nr_rules; i++) {
		const char *name = advice_rules[i].name;
		bool is_tested = !strcmp(name, "stragglers") || !strcmp(name, "dx12_mem_ops") ||
				 !strcmp(name, "nvvp-divergence");

		for (size_t k = 0; k < NR_CASES; k++) {
			is_tested |= strcmp(cases[k].rule, name) == 0;
		}
		ck_assert_msg(is_tested, "%s", name);
		ck_assert_str_ne(verdict_of(table, name), "finding");
	}
	ck_assert_ptr_nonnull(strstr(table->note, "0 of 31 rules fire"));
	table_destroy(table);
}
END_TEST

/* A finding after another: it costs no more, or its time is told by another one. */
static void check_order(const struct table *table, size_t row)
{
	bool is_told = tables_cell(table, row, "same_as")->is_known;

	if (is_told == tables_cell(table, row - 1, "same_as")->is_known) {
		ck_assert_uint_ge(tables_number(table, row - 1, "stake_ns"),
			tables_number(table, row, "stake_ns"));
	} else {
		ck_assert(is_told);
	}
}

static const char *text_of(const struct table *table, const char *rule, const char *key)
{
	const struct table_cell *cell =
		tables_cell(table, tables_find(table, "rule", rule, 0), key);

	return cell->is_known ? cell->text : NULL;
}

/* The loader holds steps back by half: several rules see it, and one tells it. */
START_TEST(a_time_is_at_stake_once)
{
	static const struct plan plan = {.wait_us = 50000, .busy_from_us = 50000};
	struct table *table = advice_of(&plan);
	uint64_t sum_ns = 0;

	ck_assert_str_eq(verdict_of(table, "loader-starvation"), "finding");
	ck_assert_ptr_null(text_of(table, "tb-dataloader", "same_as"));
	ck_assert_str_eq(text_of(table, "loader-starvation", "same_as"), "tb-dataloader");
	ck_assert_str_eq(text_of(table, "gpu_gaps", "same_as"), "tb-dataloader");
	ck_assert_str_eq(text_of(table, "nvvp-compute-utilization", "same_as"), "tb-dataloader");
	for (size_t i = 0; i < table->nr_rows; i++) {
		if (tables_cell(table, i, "stake_ns")->is_known &&
			!tables_cell(table, i, "same_as")->is_known) {
			sum_ns += tables_number(table, i, "stake_ns");
		}
	}
	ck_assert_uint_gt(sum_ns, 0);
	ck_assert_uint_le(sum_ns, NR_STEPS * STEP_US * 1000ull);
	ck_assert_ptr_nonnull(strstr(table->figure, "same   time as tb-dataloader"));
	table_destroy(table);
}
END_TEST

/* What is judged is the use of the GPU; what is at stake, the rest of its time. */
START_TEST(a_stake_says_what_it_is_a_share_of)
{
	static const struct plan half = {.busy_to_us = 31000};
	static const struct plan full = {.peak_bytes = 91};
	struct table *table = advice_of(&half);
	size_t row = tables_find(table, "rule", "nvvp-compute-utilization", 0);

	ck_assert_double_eq_tol(tables_cell(table, row, "share_pct")->number, 30, 1e-9);
	ck_assert_double_eq_tol(tables_cell(table, row, "stake_pct")->number, 70, 1e-9);
	ck_assert_str_eq(tables_cell(table, row, "stake_of")->text, "GPUs' time in steps");
	ck_assert_uint_eq(tables_number(table, row, "stake_ns"), NR_STEPS * 70000000ull);
	table_destroy(table);
	table = advice_of(&full);
	row = tables_find(table, "rule", "tb-memory", 0);
	ck_assert_str_eq(verdict_of(table, "tb-memory"), "finding");
	ck_assert(!tables_cell(table, row, "stake_ns")->is_known);
	table_destroy(table);
}
END_TEST

START_TEST(a_finding_says_where_and_how_much)
{
	static const struct plan plan = {
		.busy_to_us = 60000, .call = {"cuModuleLoadData", 20000, false}};
	struct table *table = advice_of(&plan);
	size_t row = tables_find(table, "rule", "lazy-loading", 0);

	ck_assert_uint_eq(tables_number(table, row, "stake_ns"), 3 * 20000000ull);
	ck_assert_double_eq_tol(tables_cell(table, row, "share_pct")->number, 20, 1e-9);
	ck_assert_str_eq(tables_cell(table, row, "of")->text, "steps after the first");
	ck_assert_str_eq(tables_cell(table, row, "sites")->text,
		"60.000ms, 3 x cuModuleLoadData in aten::mm");
	/* Findings come first, those that cost most before others. */
	for (size_t i = 1; i < table->nr_rows; i++) {
		if (!strcmp(tables_cell(table, i, "verdict")->text, "finding")) {
			ck_assert_str_eq(tables_cell(table, i - 1, "verdict")->text, "finding");
			check_order(table, i);
		}
	}
	ck_assert_ptr_nonnull(strstr(table->figure, "lazy-loading: loading or"));
	table_destroy(table);
}
END_TEST

/* Steps 0 and 2: a gap is of the step of what ended it, here of step 2 alone. */
START_TEST(a_gap_is_of_the_step_that_ended_it)
{
	static const struct plan plan = {.busy_to_us = 80000};
	struct process *process = streams_process(make(&plan, "advice.gprof"));
	struct select_ask ask = {{0}, {0}};
	struct table *table;
	size_t row;

	ck_assert(numbers_parse(&ask.steps, "0,2", false));
	select_make(process, &ask);
	table = tables_make(&view_advice, &process, 1, false);
	row = tables_find(table, "rule", "host-bound", 0);
	ck_assert_str_eq(verdict_of(table, "host-bound"), "finding");
	ck_assert_uint_eq(tables_number(table, row, "stake_ns"), 20500000);
	ck_assert_double_eq_tol(tables_cell(table, row, "share_pct")->number, 10.25, 1e-9);
	ck_assert_str_eq(verdict_of(table, "gpu_time_util"), "not judged");
	table_destroy(table);
	select_drop(process);
	numbers_fini(&ask.steps);
	process_destroy(process);
}
END_TEST

START_TEST(names_of_a_trace_cannot_break_the_advice)
{
	static const struct plan plan = {
		.second = {"ncclDevKernel\x1b[2J\n\xff", 20000, 40000, 0, 0, false}};
	struct table *table = advice_of(&plan);

	ck_assert_msg(strstr(table->figure, "ncclDevKernel\\x1b[2J") != NULL, "%s", table->figure);
	ck_assert_ptr_null(strchr(table->figure, '\x1b'));
	table_destroy(table);
}
END_TEST

/* Also of the other views that look at steps and their time. */
START_TEST(streams_without_sense_break_nothing)
{
	static const struct view_class *const views[] = {&view_advice, &view_dataprep_steps,
		&view_utilization, &view_utilization_time, &view_step_stats, &view_optype};

	for (uint64_t seed = 1; seed <= 24; seed++) {
		const char *path = streams_path("wild.gprof");
		struct gen *gen = gen_open(path);

		gen_wild(gen, seed);
		gen_close(gen, "exit");
		for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
			struct table *table = tables_of(views[i], path, seed % 2);
			struct table_style style = {.format = TABLE_JSON};
			struct buf out = {0};

			for (size_t k = 0; k < table->nr_rows; k++) {
				for (unsigned int c = 0; c < table->nr_columns; c++) {
					const struct table_cell *cell =
						&table->cells[k * table->nr_columns + c];

					ck_assert(table->columns[c].type != TABLE_PERCENT ||
						  cell->number == cell->number);
				}
			}
			table_print(table, &style, &out);
			buf_char(&out, '\0');
			ck_assert_ptr_null(strstr(out.bytes, "nan"));
			ck_assert_ptr_null(strstr(out.bytes, ": inf"));
			buf_fini(&out);
			table_destroy(table);
		}
	}
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {the_rank_that_others_wait_for_is_the_one_that_waits_least,
		what_nothing_recorded_can_tell_is_not_judged, every_rule_has_a_test_and_a_row,
		a_finding_says_where_and_how_much, a_time_is_at_stake_once,
		a_stake_says_what_it_is_a_share_of, a_gap_is_of_the_step_that_ended_it,
		names_of_a_trace_cannot_break_the_advice, streams_without_sense_break_nothing};
	Suite *suite = unit_make("report/advice", tests, sizeof(tests) / sizeof(tests[0]));
	TCase *rules = tcase_create("rules");

	tcase_add_loop_test(
		rules, each_rule_fires_above_its_threshold_and_not_at_it, 0, (int)NR_CASES);
	suite_add_tcase(suite, rules);
	return suite;
}
