/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of profilers that relate GPU activities to operators by flow events alone. */
#include "report/import/kineto/linked.h"

#include <string.h>

#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/report_traces.h"
#include "test/unit/unit.h"

/* ---- PyTorch's profiler before Kineto ---- */

#define OLD(pid, name, tid, ts, dur)                                                             \
	"{\"name\":\"" name "\",\"ph\":\"X\",\"ts\":" ts ",\"dur\":" dur ",\"tid\":" tid ",\"pi" \
	"d\":\"" pid " functions\",\"args\":{}}"
#define OLD_FLOW(pid, ph, name, tid, ts, id)                                                    \
	"{\"name\":\"" name "\",\"ph\":\"" ph "\",\"ts\":" ts ",\"tid\":" tid ",\"pid\":\"" pid \
	" functions\",\"id\":" id ",\"cat\":\"cpu_to_cuda\",\"args\":{}}"
/* An operator with its time on the GPU, as export_chrome_trace() wrote it. */
#define OLD_OP(name, ts, dur, id, kernel, gpu_ts, gpu_dur)                                         \
	OLD("CPU", name, "1", ts, dur)                                                             \
	"," OLD_FLOW("CPU", "s", name, "1", ts, id) "," OLD_FLOW("CUDA", "f", kernel, "0", gpu_ts, \
		id) "," OLD("CUDA", kernel, "0", gpu_ts, gpu_dur)

START_TEST(a_trace_before_kineto_has_operators_and_their_gpu_times)
{
	struct process *process = traces_read("[" OLD_OP("aten::add", "100.5", "30", "0",
		"aten::add", "400.5",
		"7.25") "," OLD_OP("aten::mm", "200", "30", "1", "aten::mm", "420", "9") "]");
	struct table *table = tables_make(&view_operator, &process, 1, false);
	struct model_place place;
	struct batch batch;

	ck_assert(process_is_complete(process));
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_op), 2);
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_api_launch), 2);
	traces_load(process, GPROF_TABLE_kernel, &batch);
	ck_assert_uint_eq(batch.nr_rows, 2);
	ck_assert_uint_eq(batch.col[COL_kernel_begin][0], 400500);
	ck_assert_uint_eq(batch.col[COL_kernel_dur][0], 7250);
	place = process_place(process, batch.col[COL_kernel_place][0]);
	ck_assert_uint_eq(place.device, 0);
	ck_assert_str_eq(tables_name(table, 0), "aten::mm");
	ck_assert_uint_eq(tables_number(table, 0, "gpu_total_ns"), 9000);
	ck_assert_uint_eq(tables_number(table, 1, "gpu_total_ns"), 7250);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

/* Both operators have the time of the one kernel: it counts once, for the inner one. */
START_TEST(nested_times_of_operators_count_once)
{
	struct process *process = traces_read("[" OLD_OP("aten::conv2d", "100", "30", "0",
		"aten::conv2d", "400", "20") "," OLD_OP("aten::cudnn_convolution", "105", "10", "1",
		"aten::cudnn_convolution", "402", "15") "]");
	struct table *table = tables_make(&view_kernel, &process, 1, false);

	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_str_eq(tables_name(table, 0), "aten::cudnn_convolution");
	ck_assert_uint_eq(tables_number(table, 0, "total_ns"), 15000);
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_api_launch), 1);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

/* Loaded from nvprof, the trace has kernels; those of two streams may overlap. */
START_TEST(kernels_with_names_of_their_own_all_count)
{
	struct process *process = traces_read("[" OLD_OP("conv2d", "100", "30", "0", "k1", "400",
		"20") "," OLD_OP("add", "105", "10", "1", "k2", "402", "15") "]");

	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_kernel), 2);
	process_destroy(process);
}
END_TEST

/* Newer versions write the begins of flows alone: nothing on a GPU is known. */
START_TEST(a_flow_without_an_end_launches_nothing)
{
	struct process *process = traces_read("[" OLD("CPU", "aten::add", "1", "100",
		"30") "," OLD_FLOW("CPU", "s", "aten::add", "1", "100", "0") "]");

	ck_assert(process_is_complete(process));
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_op), 1);
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_api_launch), 0);
	process_destroy(process);
}
END_TEST

/* ---- Ascend's profiler ---- */

/* Of process 7, on device 3. */
#define CANN	 "7395"
#define HARDWARE "7587"
#define HCCL	 "7651"

#define ASCEND_NAMED(pid, name)                                                              \
	"{\"name\":\"process_name\",\"pid\":" pid ",\"tid\":0,\"ph\":\"M\",\"args\":{\"name" \
	"\":\"" name "\"}}"
#define ASCEND_OP(cat, name, tid, ts, dur, args)                                           \
	"{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":7,\"tid\":" tid ",\"ts\":\"" ts "\"," \
	"\"dur\":" dur ",\"cat\":\"" cat "\",\"args\":{" args "}}"
#define ASCEND_EVENT(pid, name, tid, ts, dur, args)                                             \
	"{\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":\"" ts "\",\"dur\":" dur \
	",\"args\":{" args "},\"ph\":\"X\"}"
#define ASCEND_TASK(name, tid, ts, dur, type, connection)                                    \
	ASCEND_EVENT(HARDWARE, name, tid, ts, dur,                                           \
		"\"Model Id\":4294967295,\"Task Type\":\"" type "\",\"Task Id\":5,\"connect" \
		"ion_id\":" connection)
#define ASCEND_FLOW(from_ts, pid, tid, ts)                                                      \
	"{\"ph\":\"s\",\"bp\":\"e\",\"name\":\"torch_to_npu\",\"id\":" ts "000,\"pid\":7,\"tid" \
	"\":1,\"ts\":\"" from_ts "\",\"cat\":\"async_npu\"},{\"ph\":\"f\",\"bp\":\"e\",\"name"  \
	"\":\"torch_to_npu\",\"id\":" ts "000,\"pid\":" pid ",\"tid\":" tid ",\"ts\":\"" ts     \
	".000\",\"cat\":\"async_npu\"}"

#define ASCEND_TRACE                                                                               \
	"[" ASCEND_OP("cpu_op", "ProfilerStep#5", "1", "1000.000", "500.0", "") "," ASCEND_OP(     \
		"cpu_op", "aten::mm", "1", "1010.000", "40.5",                                     \
		"\"Sequence number\":-1,\"Input Dims\":\"64,32;\\r\\n32,8;\\r\\n\",\"Input type\"" \
		":\"float;\\r\\nc10::Half;\\r\\nScalar\"") "," ASCEND_OP("enqueue", "Enqueue",     \
		"1", "1020.000", "5.0", "\"correlation_id\":1") "," ASCEND_OP("dequeue",           \
		"Dequeue@aclnnMm", "2", "1030.000", "9.0",                                         \
		"\"correlation_id\":1") "," ASCEND_OP("cpu_op", "c10d::allreduce_", "1",           \
		"1060.000", "10.0", "") "," ASCEND_NAMED("7", "Python") "," ASCEND_NAMED(HARDWARE, \
		"Ascend Hardware") "," ASCEND_NAMED(CANN, "CANN") "," ASCEND_NAMED(HCCL,           \
		"HCCL") "," ASCEND_EVENT(CANN, "Node@launch", "2", "1032.000", "4.0",              \
		"\"connection_id\":11") "," ASCEND_TASK("MatMulV2", "4", "1100.000", "60.25",      \
		"AI_CORE", "11") "," ASCEND_TASK("EVENT_RECORD", "4", "1165.000", "1.0",           \
		"EVENT_RECORD_SQE", "12") "," ASCEND_TASK("MEMCPY_ASYNC", "4", "1170.000", "20.0", \
		"SDMA_SQE", "14") "," ASCEND_TASK("SDMA", "5", "1210.000", "30.0", "SDMA",         \
		"13") "," ASCEND_EVENT(HCCL, "hcom_allReduce__586_0_1", "0", "1200.000", "50.0",   \
		"\"connection_id\":13,\"count\":64,\"data_type\":\"FP32\"") "," ASCEND_EVENT(HCCL, \
		"Reduce_Inline", "1", "1210.000", "30.0",                                          \
		"\"task id\":4") "," ASCEND_FLOW("1010.000", HARDWARE, "4",                        \
		"1100") "," ASCEND_FLOW("1060.000", HCCL, "0", "1200") "]"

START_TEST(a_trace_of_ascend_has_kernels_by_operator)
{
	struct process *process = traces_read(ASCEND_TRACE);
	struct table *kernels = tables_make(&view_kernel, &process, 1, false);
	struct table *operators = tables_make(&view_operator, &process, 1, false);
	struct batch batch;

	ck_assert(process_is_complete(process));
	ck_assert_uint_eq(process->pid, 7);
	ck_assert_uint_eq(kernels->nr_rows, 2);
	ck_assert_str_eq(tables_name(kernels, 0), "MatMulV2");
	ck_assert_uint_eq(tables_number(kernels, 0, "total_ns"), 60250);
	ck_assert_str_eq(tables_name(kernels, 1), "hcom_allReduce");
	ck_assert_uint_eq(tables_number(kernels, 1, "total_ns"), 50000);
	for (size_t i = 0; i < operators->nr_rows; i++) {
		const char *name = tables_name(operators, i);

		if (strcmp(name, "ProfilerStep*") != 0) {
			ck_assert_uint_eq(tables_number(operators, i, "gpu_total_ns"),
				!strcmp(name, "aten::mm") ? 60250 : 50000);
		}
	}
	/* CANN's call has the process of the host, and the thread that took it from the queue. */
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_thread), 2);
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_memcpy), 1);
	traces_load(process, GPROF_TABLE_kernel, &batch);
	ck_assert_uint_eq(process_place(process, batch.col[COL_kernel_place][0]).device, 3);
	ck_assert_uint_eq(process_place(process, batch.col[COL_kernel_place][0]).stream, 4);
	table_destroy(kernels);
	table_destroy(operators);
	process_destroy(process);
}
END_TEST

START_TEST(inputs_of_ascend_are_those_of_kineto)
{
	struct process *process = traces_read(ASCEND_TRACE);
	struct batch batch;
	uint32_t shape;

	traces_load(process, GPROF_TABLE_op, &batch);
	for (size_t i = 0; i < batch.nr_rows; i++) {
		shape = (uint32_t)batch.col[COL_op_op_shape][i];
		if (shape) {
			ck_assert_str_eq(string_pool_text(*(const uint32_t *)idmap_get(
								  &process->op_shapes, shape),
						 NULL),
				"float32[64,32], float16[32,8]");
			process_destroy(process);
			return;
		}
	}
	ck_abort_msg("no operator has inputs");
}
END_TEST

/* ---- joining ---- */

START_TEST(flows_join_in_any_order_and_only_what_they_name)
{
	struct kineto_linked linked = {0};
	uint64_t seed = 5;

	for (uint64_t i = 0; i < 200; i++) {
		struct kineto_activity *activity = kineto_linked_add(&linked);

		activity->where = kineto_linked_key(3, i % 2, i * 10);
		activity->begin = i * 10;
		activity->end = i * 10 + 5;
		activity->name = 7;
	}
	for (uint64_t n = 0; n < 4000; n++) {
		uint64_t i = unit_random(&seed) % 200, id = i + 1000;

		if (i % 3 == 0) {
			continue; /* no flow leads there */
		}
		if (unit_random(&seed) % 2) {
			kineto_linked_from(&linked, id, (uint32_t)i + 1, 9, i);
		} else {
			kineto_linked_to(&linked, id, kineto_linked_key(3, i % 2, i * 10));
		}
	}
	kineto_linked_join(&linked);
	for (size_t n = 0; n < linked.nr; n++) {
		uint64_t i = linked.activities[n].begin / 10;

		ck_assert_uint_eq(linked.activities[n].op_thread, i % 3 ? i + 1 : 0);
		ck_assert_uint_eq(linked.activities[n].op_begin, i % 3 ? i : 0);
		ck_assert(!linked.activities[n].is_left_out);
	}
	kineto_linked_fini(&linked);
}
END_TEST

UNIT_SUITE("report/kineto_dialect", a_trace_before_kineto_has_operators_and_their_gpu_times,
	nested_times_of_operators_count_once, kernels_with_names_of_their_own_all_count,
	a_flow_without_an_end_launches_nothing, a_trace_of_ascend_has_kernels_by_operator,
	inputs_of_ascend_are_those_of_kineto, flows_join_in_any_order_and_only_what_they_name)
