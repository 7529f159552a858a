/* SPDX-License-Identifier: Apache-2.0 */
/* For each rule of `advice` a stream for which it fires, and one for which it just does not. */
#include <stdlib.h>
#include <string.h>

#include "report/advice/advice.h"
#include "report/model/api.h"
#include "report/model/select.h"
#include "report/table/print.h"
#include "test/unit/report_made.h"
#include "test/unit/report_plan.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

static struct table *advice_of(const struct plan *plan)
{
	return tables_of(&view_advice, plan_write(plan, "advice.gprof"), false);
}

/* "finding" also of a rule that applies and is evidence of no finding. */
static const char *verdict_of(const struct table *table, const char *rule)
{
	const char *verdict =
		tables_cell(table, tables_find(table, "rule", rule, 0), "verdict")->text;

	return strcmp(verdict, "no time to gain") == 0 ? "finding" : verdict;
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
	const char *otherwise; /* NULL: "passed" */
} cases[] = {
	{"tb-dataloader", {.wait_us = 5001, .busy_from_us = 5011},
		{.wait_us = 5000, .busy_from_us = 5010}, NULL},
	/* As in the plugin, the launch is not the loader's. */
	{"tb-dataloader", {.wait_us = 5011, .busy_from_us = 5011},
		{.wait_us = 5010, .busy_from_us = 5010}, NULL},
	{"tb-dataloader", {.wait_us = 5001, .has_no_devices = true},
		{.wait_us = 5000, .has_no_devices = true}, NULL},
	{"tb-dataloader", {.wait_us = 50000, .busy_from_us = 50000}, {.wait_us = 50000}, NULL},
	{"tb-dataloader", {.wait_us = 50000, .busy_from_us = 50000}, {.wait_us = PLAN_NEVER},
		"not judged"},
	{"tb-communication", {.second = {PLAN_NCCL, 20000, 30001, 0, 0, 0}},
		{.second = {PLAN_NCCL, 20000, 30000, 0, 0, 0}}, NULL},
	{"tb-communication", {.second = {PLAN_NCCL, 20000, 30001, 0, 0, 0}},
		{.has_no_devices = true}, "not judged"},
	{"tb-gpu-utilization", {.busy_to_us = 50999}, {.busy_to_us = 51000}, NULL},
	{"nvvp-compute-utilization",
		{.busy_to_us = 50999, .second = {PLAN_NCCL, 50999, 99000, 0, 0, 0}},
		{.busy_to_us = 51000, .second = {PLAN_NCCL, 50999, 99000, 0, 0, 0}}, NULL},
	{"tb-tensor-cores", {.kernel = PLAN_SGEMM},
		{.kernel = PLAN_SGEMM, .second = {PLAN_TENSOR, 99000, 99001, 0, 0, 0}}, NULL},
	{"tb-tensor-cores", {.kernel = PLAN_SGEMM, .capability = 70},
		{.kernel = PLAN_SGEMM, .capability = 69}, "not judged"},
	{"tb-tensor-cores", {.kernel = PLAN_SGEMM},
		{.kernel = PLAN_SGEMM, .capability = PLAN_NEVER}, "not judged"},
	{"tb-tensor-cores", {.kernel = PLAN_SGEMM}, {.kernel = "triton_mm"}, "not judged"},
	{"tb-memory", {.peak_bytes = 91}, {.peak_bytes = 90}, NULL},
	{"tb-memory", {.peak_bytes = 91}, {.peak_bytes = 0}, "not judged"},
	{"tb-data-parallel", {.ops = {"DataParallel.forward"}},
		{.ops = {"DistributedDataParallel.forward"}}, NULL},
	{"tb-ddp-nccl", {.ops = {"DistributedDataParallel.forward", "gloo:all_reduce"}},
		{.ops = {"DistributedDataParallel.forward", "nccl:all_reduce"}}, NULL},
	{"tb-ddp-nccl", {.ops = {"DistributedDataParallel.forward"}},
		{.ops = {"DistributedDataParallel.forward"},
			.second = {PLAN_NCCL, 20000, 20001, 0, 0, 0}},
		NULL},
	{"tb-ddp-nccl", {.ops = {"DistributedDataParallel.forward"}}, {.ops = {"gloo:all_reduce"}},
		"not judged"},
	{"tb-ddp-nccl", {.ops = {"DistributedDataParallel.forward", "gloo:all_reduce"}},
		{.ops = {"DistributedDataParallel.forward", "gloo:all_reduce"},
			.has_no_devices = true},
		"not judged"},
	{"tb-ddp-nccl",
		{.ops = {"DistributedDataParallel.forward", "gloo:all_reduce"}, .capability = 35},
		{.ops = {"DistributedDataParallel.forward", "gloo:all_reduce"}, .capability = 34},
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
		{.busy_to_us = 98000, .second = {PLAN_PLAIN, 97001, 100001, 0, 0, 0}},
		{.busy_to_us = 98000, .second = {PLAN_PLAIN, 97000, 100000, 0, 0, 0}}, NULL},
	{"nvvp-kernel-concurrency",
		{.busy_to_us = 98000, .second = {PLAN_PLAIN, 97001, 100001, 0, 0, 0}},
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
	{"small-kernels", {.second = {PLAN_PLAIN, 20102, 20202, 10001, 20102, 0}},
		{.second = {PLAN_PLAIN, 20101, 20201, 10001, 20101, 0}}, NULL},
	/* A graph's launch of 10.1 ms against its 100 kernels of 1 us: once, not 100 times. */
	{"small-kernels", {.graph_us = 10101}, {.graph_us = 10100}, NULL},
	{"small-kernels", {.second = {PLAN_PLAIN, 20121, 20222, 10000, 20102, 0}},
		{.second = {PLAN_PLAIN, 20122, 20222, 10000, 20102, 0}}, NULL},
	{"pageable-copies",
		{.copy = {"cudaMemcpyAsync", 2000, 3001, HTOD, PAGEABLE, DEVICE, ASYNC, 4, 0}},
		{.copy = {"cudaMemcpyAsync", 2000, 3000, HTOD, PAGEABLE, DEVICE, ASYNC, 4, 0}},
		NULL},
	/* What is read back is no upload. */
	{"pageable-copies",
		{.copy = {"cudaMemcpyAsync", 2000, 4000, HTOD, PAGEABLE, DEVICE, ASYNC, 4, 0}},
		{.copy = {"cudaMemcpyAsync", 2000, 4000, DTOH, DEVICE, PAGEABLE, ASYNC, 4, 0}},
		NULL},
	{"cuda_memcpy_async",
		{.copy = {"cudaMemcpyAsync", 2000, 4000, HTOD, PAGEABLE, DEVICE, ASYNC, 4, 0}},
		{.copy = {"cudaMemcpyAsync", 2000, 4000, DTOH, DEVICE, PAGEABLE, ASYNC, 4, 0}},
		NULL},
	{"low-occupancy", {.busy_to_us = 77000, .second = {PLAN_PLAIN, 77000, 96001, 0, 0, 1}},
		{.busy_to_us = 77000, .second = {PLAN_PLAIN, 77000, 96000, 0, 0, 1}}, NULL},
	{"low-occupancy", {.busy_to_us = 77000, .second = {PLAN_PLAIN, 77000, 97000, 0, 0, 1}},
		{.busy_to_us = 77000, .second = {PLAN_PLAIN, 77000, 97000, 0, 0, 0}}, NULL},
	{"fp32-multiply", {.busy_to_us = 82000, .second = {PLAN_SGEMM, 82000, 91001, 0, 0, 0}},
		{.busy_to_us = 82000, .second = {PLAN_SGEMM, 82000, 91000, 0, 0, 0}}, NULL},
	{"fp32-multiply", {.busy_to_us = 82000, .second = {PLAN_SGEMM, 82000, 99000, 0, 0, 0}},
		{.busy_to_us = 82000, .second = {PLAN_PLAIN, 82000, 99000, 0, 0, 0}}, NULL},
	{"lazy-loading", {.call = {"cuModuleLoadData", 1001, false}},
		{.call = {"cuModuleLoadData", 1000, false}}, NULL},
	{"lazy-loading", {.call = {"cuModuleLoadData", 9000, false}},
		{.call = {"cuModuleLoadData", 9000, true}}, NULL},
	{"lazy-loading", {.call = {"cuModuleLoadData", 9000, false}},
		{.call = {"cuModuleLoadData", 9000, false}, .has_no_steps = true}, "not judged"},
	{"far-threads", {.numa = {2, .threads = 501}}, {.numa = {2, .threads = 500}}, NULL},
	{"far-threads", {.numa = {2, .threads = 501}}, {.numa = {1, .threads = 501}}, "not judged"},
	{"far-threads", {.numa = {2, .threads = 501}},
		{.numa = {2, .threads = 501, .lacks_gpu = true}}, "not judged"},
	{"far-threads", {.numa = {2, .threads = 501}}, {.numa = {2, .pages = 900}}, "not judged"},
	{"far-memory", {.numa = {2, .pages = 501}}, {.numa = {2, .pages = 500}}, NULL},
	{"far-memory", {.numa = {2, .pages = 501}}, {.numa = {2, .threads = 900}}, "not judged"},
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
	judge(&rule->does_not, rule->rule, rule->otherwise ? rule->otherwise : "passed");
}
END_TEST

/* Two ranks, of which the other communicates so much longer. */
static void judge_ranks(uint32_t more_us, const char *verdict)
{
	static const struct plan first = {
		.rank = 1, .busy_to_us = 20000, .second = {PLAN_NCCL, 20000, 30000, 0, 0, 0}};
	const struct plan other = {.rank = 2,
		.busy_to_us = 20000,
		.second = {PLAN_NCCL, 20000, 30000 + more_us, 0, 0, 0}};
	struct process *two[2] = {streams_process(plan_write(&first, "one.gprof")),
		streams_process(plan_write(&other, "two.gprof"))};
	struct table *table = tables_make(&view_advice, two, 2, false);
	size_t row = tables_find(table, "rule", "stragglers", 0);

	ck_assert_str_eq(verdict_of(table, "stragglers"), verdict);
	if (strcmp(verdict, "finding") == 0) {
		ck_assert_uint_eq(tables_number(table, row, "rank"), 0);
		ck_assert_uint_eq(tables_number(table, row, "processes"), 1);
		ck_assert_str_eq(tables_cell(table, row, "finding")->text,
			"Ranks wait for rank 0, whose host takes longer");
		ck_assert_str_eq(tables_cell(table, row, "evidence")->text,
			"5.001 ms of 100.0 ms, in which the others wait for it in 4 of 4 steps; "
			"its GPU is idle 5.001 ms longer");
	}
	table_destroy(table);
	process_destroy(two[0]);
	process_destroy(two[1]);
}

START_TEST(the_rank_that_others_wait_for_is_the_one_that_waits_least)
{
	static const struct plan alone = {.second = {PLAN_NCCL, 20000, 30000, 0, 0, 0}};

	judge_ranks(5001, "finding");
	judge_ranks(5000, "passed");
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

static size_t nr_rules(const struct table *table)
{
	size_t nr = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		nr += tables_cell(table, i, "rule")->is_known;
	}
	return nr;
}

START_TEST(every_rule_has_a_test_and_a_row)
{
	static const struct plan plain = {.wait_us = 0};
	struct table *table = advice_of(&plain);

	ck_assert_uint_eq(nr_rules(table), advice_nr_rules);
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
	ck_assert_ptr_nonnull(strstr(table->note, "0 of 29 rules apply"));
	table_destroy(table);
}
END_TEST

/* In a line of 80 columns, between "1. " and "; at most 75.66 ms (16.3 %)". */
START_TEST(a_problem_fits_the_first_screen)
{
	for (size_t i = 0; i < advice_nr_rules; i++) {
		ck_assert_msg(strlen(advice_rules[i].problem) <= 50, "%s", advice_rules[i].problem);
	}
}
END_TEST

static bool is_known(const struct table *table, size_t row, const char *key)
{
	return tables_cell(table, row, key)->is_known;
}

static const char *text_of(const struct table *table, const char *rule, const char *key)
{
	const struct table_cell *cell =
		tables_cell(table, tables_find(table, "rule", rule, 0), key);

	return cell->is_known ? cell->text : NULL;
}

START_TEST(one_of_a_thing_is_no_plural)
{
	static const struct {
		uint64_t nr;
		const char *text;
	} counts[] = {{0, "0 gaps"}, {1, "1 gap"}, {2, "2 gaps"}};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct buf text = {0};

		advice_add_count(&text, counts[i].nr, "gap");
		buf_char(&text, '\0');
		ck_assert_str_eq(text.bytes, counts[i].text);
		buf_fini(&text);
	}
}
END_TEST

/* The view as users see it: without --all. */
static struct table *shown_of(const struct plan *plan)
{
	struct process *process = streams_process(plan_write(plan, "advice.gprof"));
	const struct view_input input = {.processes = &process, .nr_processes = 1};
	struct table *table = tables_with(&view_advice, &input);

	process_destroy(process);
	return table;
}

static const char *cell_of(const struct table *table, size_t row, const char *key)
{
	return tables_cell(table, row, key)->text;
}

/* The loader holds steps back by half: a rule sees it, too, and is evidence of the finding. */
START_TEST(each_cause_is_one_finding)
{
	static const struct plan plan = {.wait_us = 50000, .busy_from_us = 50000};
	static const char *const sentence = "The GPU waits for the data loader, which has no "
					    "workers; batches ready in time "
					    "can save at most 49.99 ms per step (50.0 %)";
	struct table *table = shown_of(&plan);

	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert(!is_known(table, 0, "rule"));
	ck_assert_str_eq(cell_of(table, 0, "finding"), sentence);
	ck_assert_ptr_nonnull(strstr(table->figure, sentence));
	ck_assert_double_eq_tol(tables_cell(table, 0, "saved_ns")->number, 50e6, 1e6);
	ck_assert_double_eq_tol(tables_cell(table, 0, "step_ns")->number, 100e6, 1);
	ck_assert_str_eq(cell_of(table, 1, "rule"), "tb-dataloader");
	ck_assert_str_eq(cell_of(table, 1, "cause"), "loader");
	ck_assert_str_eq(cell_of(table, 1, "verdict"), "finding");
	ck_assert_ptr_nonnull(strstr(table->figure, cell_of(table, 1, "evidence")));
	ck_assert_ptr_nonnull(strstr(table->figure, cell_of(table, 1, "try")));
	ck_assert(!is_known(table, 1, "saved_ns"));
	ck_assert_ptr_nonnull(strstr(table->figure,
		"while the GPU was idle; in total the loop waited for 200.0 ms [tb-dataloader of "
		"TensorBoard]\n    try       use more workers"));
	ck_assert_ptr_nonnull(
		strstr(table->figure, "evidence  Training waits for the data loader: "));
	table_destroy(table);
}
END_TEST

/* The first finding of a step that begins with a copy from such memory. */
static void check_copy(uint32_t source, const char *has, const char * not )
{
	const struct plan plan = {.busy_from_us = 40000,
		.copy = {"cudaMemcpyAsync", 2000, 39000, HTOD, source, DEVICE, ASYNC, 4, 0},
		.copy_call_us = 37000};
	struct table *table = shown_of(&plan);

	ck_assert_str_eq(cell_of(table, 0, "cause"), "copies_h2d");
	ck_assert_msg(
		strstr(cell_of(table, 0, "finding"), has), "%s", cell_of(table, 0, "finding"));
	ck_assert_ptr_null(strstr(cell_of(table, 0, "finding"), not ));
	table_destroy(table);
}

START_TEST(what_is_pinned_need_not_be_pinned)
{
	check_copy(PAGEABLE, "copying ahead from pinned memory", "copying ahead would");
	check_copy(PINNED, "copying ahead ", "pinned");
}
END_TEST

/* A copy of 1 us has a rule that applies, but costs the step nothing. */
START_TEST(a_rule_without_time_to_gain_is_not_shown)
{
	static const struct plan plan = {
		.copy = {"cudaMemcpyAsync", 2000, 2001, HTOD, PAGEABLE, DEVICE, ASYNC, 4, 0}};
	struct table *table = shown_of(&plan);

	for (size_t i = 0; i < table->nr_rows; i++) {
		ck_assert_str_eq(cell_of(table, i, "cause"), "kernels_gpu_bound");
	}
	ck_assert_ptr_null(strstr(table->figure, "cuda_memcpy_async"));
	ck_assert_ptr_nonnull(strstr(table->note,
		"1 rule applies where the budget has no time to gain; --all lists it"));
	table_destroy(table);
	table = advice_of(&plan);
	ck_assert_str_eq(text_of(table, "cuda_memcpy_async", "verdict"), "no time to gain");
	ck_assert_str_eq(text_of(table, "cuda_memcpy_async", "cause"), "copies_h2d");
	table_destroy(table);
}
END_TEST

/* What is measured is none of the saving: the finding alone has one. */
START_TEST(kernels_have_evidence_without_a_saving)
{
	static const struct plan plan = {.kernel = PLAN_SGEMM};
	struct table *table = shown_of(&plan);
	size_t row = tables_find(table, "rule", "tb-tensor-cores", 0);

	ck_assert_str_eq(cell_of(table, 0, "cause"), "kernels_gpu_bound");
	ck_assert_str_eq(cell_of(table, row, "cause"), "kernels_gpu_bound");
	ck_assert(!is_known(table, row, "saved_ns") && !is_known(table, row, "reach_ns"));
	table_destroy(table);
}
END_TEST

static void check_remedy(
	const struct plan *plan, const char *rule, const char *has, const char * not )
{
	struct table *table = advice_of(plan);

	ck_assert_str_eq(verdict_of(table, rule), "finding");
	ck_assert_ptr_nonnull(strstr(text_of(table, rule, "try"), has));
	ck_assert_ptr_null(strstr(text_of(table, rule, "try"), not ));
	table_destroy(table);
}

START_TEST(remedies_fit_the_device_and_the_collective)
{
	const struct plan volta = {.kernel = PLAN_SGEMM, .capability = 70};
	const struct plan ampere = {.kernel = PLAN_SGEMM, .capability = 80};
	const struct plan reduce = {
		.busy_to_us = 80000, .second = {PLAN_NCCL, 80000, 95000, 0, 0, 0}};
	const struct plan exchange = {.busy_to_us = 80000,
		.second = {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)", 80000, 95000, 0, 0,
			false}};

	check_remedy(&volta, "tb-tensor-cores", "float16", "bfloat16");
	check_remedy(&volta, "fp32-multiply", "float16", "tf32");
	check_remedy(&ampere, "tb-tensor-cores", "bfloat16", "GradScaler");
	check_remedy(&ampere, "fp32-multiply", "tf32", "GradScaler");
	check_remedy(&reduce, "tb-communication", "bucket", "all-to-all");
	check_remedy(&exchange, "tb-communication", "all-to-all", "bucket");
}
END_TEST

/* Says the table anywhere something with that text? */
static bool says(const struct table *table, const char *text)
{
	for (size_t row = 0; row < table->nr_rows; row++) {
		for (unsigned int i = 0; i < table->nr_columns; i++) {
			const char *key = table->columns[i].key;
			const char *cell = tables_cell(table, row, key)->text;

			if (cell && strstr(cell, text)) {
				return true;
			}
		}
	}
	return strstr(table->figure, text) != NULL;
}

/* With all rules, also those that are not judged or pass. */
START_TEST(bfloat16_is_never_advised_where_the_gpu_has_none)
{
	static const char *const kernels[] = {PLAN_SGEMM, PLAN_PLAIN, PLAN_TENSOR, "triton_mm"};
	static const uint32_t without[] = {60, 70, 72, 75}, with[] = {80, 89, 90, 100};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		for (size_t k = 0; k < sizeof(without) / sizeof(without[0]); k++) {
			struct plan plan = {.kernel = kernels[i], .capability = without[k]};
			struct table *table = advice_of(&plan);

			ck_assert(!says(table, "bfloat16") && !says(table, "bf16"));
			table_destroy(table);
			plan.capability = with[k];
			table = advice_of(&plan);
			ck_assert(says(table, "bfloat16"));
			table_destroy(table);
		}
	}
}
END_TEST

static void judge_blocks(uint32_t blocks, const char *verdict)
{
	const struct plan plan = {
		.busy_to_us = 77000, .second = {PLAN_PLAIN, 77000, 97000, 0, 0, blocks}};

	judge(&plan, "low-occupancy", verdict);
}

/* Its blocks of 256 threads are an eighth of what a multiprocessor holds; there are 108 of them. */
START_TEST(a_persistent_kernel_is_not_of_low_occupancy)
{
	judge_blocks(1, "finding");
	judge_blocks(107, "finding");
	judge_blocks(108, "passed");
	judge_blocks(109, "finding");
}
END_TEST

/* A copy of 1 us whose call waits for 30 ms. */
START_TEST(the_time_of_copies_is_not_that_of_their_calls)
{
	static const struct plan plan = {
		.copy = {"cudaMemcpyAsync", 2000, 2001, HTOD, PAGEABLE, DEVICE, ASYNC, 4, 0},
		.copy_call_us = 30000};
	struct table *table = advice_of(&plan);

	ck_assert_str_eq(verdict_of(table, "pageable-copies"), "passed");
	ck_assert_str_eq(verdict_of(table, "nvvp-small-copies"), "passed");
	ck_assert_str_eq(text_of(table, "cuda_memcpy_async", "evidence"),
		"120.0 ms in the whole recording, 4 times; that is the calls' time on the host, "
		"the "
		"copies took 4.000 us");
	ck_assert_str_eq(text_of(table, "cuda_memcpy_async", "sites"),
		"120.0 ms, 4 x cudaMemcpyAsync in aten::mm");
	ck_assert_str_eq(text_of(table, "pageable-copies", "evidence"),
		"4.000 us of 400.0 ms, 4 times; that is the copies' time, their calls on the host "
		"took 120.0 ms");
	table_destroy(table);
}
END_TEST

/* PyTorch's profiler waits when it stops; what the program waits for before counts. */
START_TEST(the_profilers_own_wait_is_not_the_programs)
{
	static const struct plan trace = {.call = {"cudaDeviceSynchronize", 70000, false},
		.is_trace = true,
		.ends_with_call = true};
	static const struct plan own = {
		.call = {"cudaDeviceSynchronize", 70000, false}, .ends_with_call = true};
	struct table *table = advice_of(&trace);

	ck_assert_ptr_nonnull(strstr(text_of(table, "cuda_api_sync", "evidence"), ", 4 times"));
	table_destroy(table);
	table = advice_of(&own);
	ck_assert_ptr_nonnull(strstr(text_of(table, "cuda_api_sync", "evidence"), ", 5 times"));
	table_destroy(table);
}
END_TEST

START_TEST(a_share_says_what_it_is_of)
{
	static const struct plan half = {.busy_to_us = 31000};
	struct table *table = advice_of(&half);
	size_t row = tables_find(table, "rule", "nvvp-compute-utilization", 0);

	ck_assert_double_eq_tol(tables_cell(table, row, "share_pct")->number, 30, 1e-9);
	ck_assert_str_eq(cell_of(table, row, "of"), "GPUs' time in steps");
	table_destroy(table);
}
END_TEST

START_TEST(a_finding_says_where_and_how_much)
{
	static const struct plan plan = {
		.busy_to_us = 60000, .call = {"cuModuleLoadData", 20000, false}};
	struct table *table = advice_of(&plan);
	size_t row = tables_find(table, "rule", "lazy-loading", 0);

	ck_assert_double_eq_tol(tables_cell(table, row, "share_pct")->number, 20, 1e-9);
	ck_assert_str_eq(tables_cell(table, row, "of")->text, "steps after the first");
	ck_assert_str_eq(tables_cell(table, row, "sites")->text,
		"60.00 ms, 3 x cuModuleLoadData in aten::mm");
	/* The GPU computes meanwhile. */
	ck_assert_str_eq(text_of(table, "lazy-loading", "verdict"), "no time to gain");
	table_destroy(table);
}
END_TEST

/* Steps 0 and 2: of the gap between them and the others each has what lies in it, 20 ms. */
START_TEST(a_gap_is_of_the_steps_that_it_lies_in)
{
	static const struct plan plan = {.busy_to_us = 80000};
	struct process *process = streams_process(plan_write(&plan, "advice.gprof"));
	struct select_options ask = {{0}, {0}};
	struct table *table;
	size_t row;

	ck_assert(numbers_parse(&ask.steps, "0,2", false));
	select_make(process, &ask);
	table = tables_make(&view_advice, &process, 1, true);
	row = tables_find(table, "rule", "gpu_gaps", 0);
	ck_assert_str_eq(verdict_of(table, "gpu_gaps"), "finding");
	ck_assert_double_eq_tol(tables_cell(table, row, "share_pct")->number, 20, 1e-9);
	ck_assert_str_eq(verdict_of(table, "gpu_time_util"), "not judged");
	table_destroy(table);
	select_drop(process);
	numbers_fini(&ask.steps);
	process_destroy(process);
}
END_TEST

/* In steps 1 and 3, of which a kernel of the step before, which is not chosen, takes the begin. */
START_TEST(chosen_steps_have_the_activities_of_others_too)
{
	static const struct plan plan = {
		.busy_from_us = 50000, .second = {PLAN_PLAIN, 99000, 140000, 0, 0, 0}};
	struct process *process = streams_process(plan_write(&plan, "advice.gprof"));
	struct select_options ask = {{0}, {0}};
	struct table *headline, *budget;
	size_t row;

	ck_assert(numbers_parse(&ask.steps, "1,3", false));
	select_make(process, &ask);
	headline = tables_make(&view_headline, &process, 1, false);
	budget = tables_make(&view_budget, &process, 1, false);
	row = tables_find(budget, "part", "Computing", 0);
	ck_assert_double_gt(tables_cell(budget, row, "share_pct")->number, 80);
	ck_assert_double_eq_tol(tables_cell(headline, 0, "computing_pct")->number,
		tables_cell(budget, row, "share_pct")->number, 0.1);
	table_destroy(headline);
	table_destroy(budget);
	select_drop(process);
	numbers_fini(&ask.steps);
	process_destroy(process);
}
END_TEST

/* The sampler goes on while nothing is recorded. */
START_TEST(only_what_was_recorded_has_parts)
{
	struct made made = made_open("samples.gprof");
	uint32_t shape = made_shape(&made, "gemm", 1, 32, 16, 0);
	struct gprof_row_sample *sample;
	struct table *table;

	made_kernel(&made, shape, 0, 1000000, 1010000);
	made_kernel(&made, shape, 0, 90000000, 90010000);
	sample = gen_row(made.gen, GPROF_TABLE_sample);
	sample->time = 300000000;
	sample->metric = GPROF_METRIC_PROCESS_CPU_NS;
	sample->device = 255;
	gen_flush(made.gen);
	gen_close(made.gen, "exit");
	table = tables_of(&view_advice, made.path, false);
	ck_assert_str_eq(text_of(table, "gpu_time_util", "evidence"), "in 9 of 9 parts");
	table_destroy(table);
}
END_TEST

/* Gaps that the loader is the cause of have a place, too, where those of the host have none. */
START_TEST(gaps_have_places_whatever_their_cause_is)
{
	static const struct plan plan = {.wait_us = 50000, .busy_from_us = 50000};
	static const struct {
		const char *rule, *place;
	} rules[] = {{"gpu_gaps", "3 x cudaLaunchKernel"}, /* none ends with the first activity */
		{"gpu_time_util", "4 x cudaLaunchKernel"},
		{"nvvp-compute-utilization", "4 x cudaLaunchKernel"}};
	struct table *table = advice_of(&plan);

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const char *sites = text_of(table, rules[i].rule, "sites");

		ck_assert_msg(strstr(sites, rules[i].place), "%s: %s", rules[i].rule, sites);
	}
	table_destroy(table);
}
END_TEST

/* 100 kernels of a graph with a gap before each: so many gaps, and one launch in each step. */
START_TEST(gaps_of_a_graph_have_one_launch)
{
	static const struct plan plan = {.graph_us = 100, .busy_to_us = 10000};
	struct table *table = advice_of(&plan);

	ck_assert_msg(strstr(text_of(table, "gpu_time_util", "sites"), ", 4 x cudaGraphLaunch"),
		"%s", text_of(table, "gpu_time_util", "sites"));
	table_destroy(table);
}
END_TEST

START_TEST(names_of_a_trace_cannot_break_the_advice)
{
	static const struct plan plan = {
		.busy_to_us = 77000, .second = {"kernel\x1b[2J\n\xff", 77000, 97000, 0, 0, 1}};
	struct table *table = advice_of(&plan);
	const char *sites = text_of(table, "low-occupancy", "sites");

	ck_assert_msg(strstr(sites, "kernel\\x1b[2J") != NULL, "%s", sites);
	ck_assert_ptr_null(strchr(sites, '\x1b'));
	ck_assert_ptr_null(strchr(table->figure, '\x1b'));
	table_destroy(table);
}
END_TEST

/* Also of the other views that look at steps and their time. */
START_TEST(streams_without_sense_break_nothing)
{
	static const struct view_class *const views[] = {&view_advice, &view_data_loading_steps,
		&view_utilization, &view_utilization_time, &view_step_stats, &view_operator_types};

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
		a_problem_fits_the_first_screen, one_of_a_thing_is_no_plural,
		a_finding_says_where_and_how_much, each_cause_is_one_finding,
		what_is_pinned_need_not_be_pinned, a_rule_without_time_to_gain_is_not_shown,
		kernels_have_evidence_without_a_saving, remedies_fit_the_device_and_the_collective,
		bfloat16_is_never_advised_where_the_gpu_has_none,
		a_persistent_kernel_is_not_of_low_occupancy,
		the_time_of_copies_is_not_that_of_their_calls,
		the_profilers_own_wait_is_not_the_programs, a_share_says_what_it_is_of,
		only_what_was_recorded_has_parts, chosen_steps_have_the_activities_of_others_too,
		a_gap_is_of_the_steps_that_it_lies_in, gaps_have_places_whatever_their_cause_is,
		gaps_of_a_graph_have_one_launch, names_of_a_trace_cannot_break_the_advice,
		streams_without_sense_break_nothing};
	Suite *suite = unit_make("report/advice", tests, sizeof(tests) / sizeof(tests[0]));

	unit_loop(suite, each_rule_fires_above_its_threshold_and_not_at_it, NR_CASES);
	return suite;
}
