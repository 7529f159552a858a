/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of operators, calls and device work as PyTorch's profiler adds them up, and their table. */
#include <string.h>

#include "report/analysis/op_average.h"
#include "report/session/summary.h"
#include "test/unit/report_made.h"

static void add_driver_call(struct made *made, uint64_t begin, uint64_t end)
{
	uint16_t name = gen_call(made->gen, "cuLaunchKernel", GPROF_API_DRIVER);
	struct gprof_row_api *row = gen_row(made->gen, GPROF_TABLE_api);

	row->begin = begin;
	row->dur = end;
	row->thread = 1;
	row->call = name;
}

static const char *make(const char *name)
{
	struct made made = made_open(name);
	uint32_t nvjet = made_shape(&made, "nvjet_x", 132, 384, 168, 0);
	uint32_t sgemm = made_shape(&made, "volta_sgemm_x", 132, 384, 168, 0);

	add_driver_call(&made, 1255, 1265);
	made_launch(&made, nvjet, 1250, 20, 3000, 3100);
	made_op(&made, "aten::mm", 1200, 1400, 2);
	made_launch(&made, sgemm, 1450, 10, 3100, 3150);
	made_op(&made, "aten::addmm", 1100, 1500, 1);
	made_op(&made, "ProfilerStep#3", 1000, 2000, 0);
	made_op(&made, "ProfilerStep#4", 2000, 2500, 0);
	made_kernel(&made, sgemm, 4711, 4000, 4001);
	gen_close(made.gen, "exit");
	return made.path;
}

static void add_alloc(struct made *made, uint64_t time, uint8_t device_type, int64_t bytes)
{
	struct gprof_row_alloc *row = gen_row(made->gen, GPROF_TABLE_alloc);

	row->time = time;
	row->thread = 1;
	row->bytes = bytes;
	row->device_type = device_type;
}

/* Type 10 is neither a CPU nor a GPU of CUDA. */
static const char *make_memory(const char *name)
{
	struct made made = made_open(name);

	add_alloc(&made, 1250, 1, 5 << 20);
	add_alloc(&made, 1260, 10, 7);
	made_op(&made, "aten::empty", 1200, 1400, 2);
	add_alloc(&made, 1450, 1, -(2 << 20));
	add_alloc(&made, 1460, 0, 100);
	made_op(&made, "aten::mm", 1100, 1500, 1);
	made_op(&made, "ProfilerStep#3", 1000, 2000, 0);
	add_alloc(&made, 2100, 0, -1536);
	made_op(&made, "aten::empty", 2200, 2300, 0);
	gen_close(made.gen, "exit");
	return made.path;
}

/* self, total, own device time, that of all, that with tensor cores, calls */
static const struct {
	const char *name;
	uint64_t self, total, device_self, device_total, tensor_self, tensor_total, calls;
} wanted[] = {
	{"aten::mm", 180, 200, 100, 100, 100, 100, 1},
	{"aten::addmm", 190, 400, 50, 150, 0, 100, 1},
	{"ProfilerStep*", 1100, 1500, 0, 150, 0, 100, 2},
	{"cudaLaunchKernel", 20, 30, 0, 0, 0, 0, 2},
	{"cuLaunchKernel", 10, 10, 0, 0, 0, 0, 1},
	{"nvjet_x", 0, 0, 100, 100, 100, 100, 1},
	{"volta_sgemm_x", 0, 0, 51, 51, 0, 0, 2},
};

#define NR_WANTED (sizeof(wanted) / sizeof(wanted[0]))

START_TEST(own_time_is_without_operators_and_calls_in_it)
{
	struct process *process = streams_process(make("average.gprof"));
	const struct view_class *class = &view_op_average;
	struct view_input input = {.processes = &process, .nr_processes = 1};
	const struct op_average **rows;
	size_t nr, nr_found = 0;
	void *view;

	view_run(&input, &class, 1, &view);
	rows = op_average_rows(view, &nr);
	ck_assert_uint_eq(nr, NR_WANTED);
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < NR_WANTED; k++) {
			if (strcmp(string_pool_text(rows[i]->key.name, NULL), wanted[k].name) !=
				0) {
				continue;
			}
			ck_assert_uint_eq(rows[i]->self_ns, wanted[k].self);
			ck_assert_uint_eq(rows[i]->total_ns, wanted[k].total);
			ck_assert_uint_eq(rows[i]->device_self_ns, wanted[k].device_self);
			ck_assert_uint_eq(rows[i]->device_total_ns, wanted[k].device_total);
			ck_assert_uint_eq(rows[i]->tensor_self_ns, wanted[k].tensor_self);
			ck_assert_uint_eq(rows[i]->tensor_total_ns, wanted[k].tensor_total);
			ck_assert_uint_eq(rows[i]->calls, wanted[k].calls);
			nr_found++;
		}
	}
	ck_assert_uint_eq(nr_found, NR_WANTED);
	view_destroy(class, view);
	process_destroy(process);
}
END_TEST

static char *print_of(const char *path, const char *sort, size_t top, enum table_format format)
{
	struct process *process = streams_process(path);
	struct cmd_input input = {.processes = &process, .nr_processes = 1};
	struct summary summary = {.style = &style_torch, .sort = sort, .asked.top = top};
	struct buf out = {0};

	summary.asked.table.format = format;
	if (style_torch.print(&summary, &input, &out)) {
		process_destroy(process);
		return NULL;
	}
	buf_char(&out, '\0');
	process_destroy(process);
	return out.bytes;
}

static char *print(const char *sort, size_t top, enum table_format format)
{
	return print_of(make("table.gprof"), sort, top, format);
}

START_TEST(the_table_has_the_profilers_columns_and_order)
{
	static const char titles[] = "Name,Self CPU %,Self CPU (us),CPU total %,CPU total (us),"
				     "CPU time avg (us),Self CUDA (us),Self CUDA %,"
				     "CUDA total (us),CUDA time avg (us),# of Calls\n";
	static const struct {
		const char *sort, *row;
	} firsts[] = {
		{NULL, "\"aten::mm\",12.00,0.180,13.33,0.200,0.200,0.100,66.23,0.100,0.100,1"},
		{"cuda_time_total", "\"ProfilerStep*\",73.33,1.100,100.00,1.500,0.750,"},
		{"self_device_time_total", "\"aten::mm\""}, {"cpu_time_total", "\"ProfilerStep*\""},
		{"gpu_avg", "\"aten::addmm\""}, {"count", "\"ProfilerStep*\""}};

	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
		char *text = print(firsts[i].sort, 1, TABLE_CSV);

		ck_assert_int_eq(strncmp(text, titles, strlen(titles)), 0);
		ck_assert_msg(!strncmp(text + strlen(titles), firsts[i].row, strlen(firsts[i].row)),
			"%s", text);
		free(text);
	}
}
END_TEST

START_TEST(text_is_laid_out_in_columns)
{
	char *text = print("name of nothing", 0, TABLE_TEXT_FORMAT);

	ck_assert_ptr_null(text);
	text = print(NULL, 1, TABLE_TEXT_FORMAT);
	ck_assert_ptr_nonnull(
		strstr(text, "\n            aten::mm        12.00%       0.180us      "
			     "  13.33%       0.200us       "
			     "0.200us       0.100us        66.23%       0.100us      "
			     " 0.100us             1  \n"));
	ck_assert_ptr_nonnull(strstr(text, "Self CPU time total: 1.500us\n"));
	ck_assert_ptr_nonnull(strstr(text, "Self CUDA time total: 0.151us\n"));
	free(text);
}
END_TEST

START_TEST(memory_is_of_the_operator_that_asked_and_of_those_around)
{
	static const char titles[] =
		"CPU Mem (bytes),Self CPU Mem (bytes),CUDA Mem (bytes),Self CUDA Mem (bytes),"
		"# of Calls\n";
	static const struct {
		const char *name, *cells;
	} rows[] = {{"\n\"aten::empty\",", ",0,0,5242880,5242880,2\n"},
		{"\n\"aten::mm\",", ",100,100,3145728,-2097152,1\n"},
		{"\n\"ProfilerStep*\",", ",100,0,3145728,0,1\n"},
		{"\n\"[memory]\",", ",-1536,-1536,0,0,1\n"}};
	char *text = print_of(make_memory("memory.gprof"), NULL, 0, TABLE_CSV);

	ck_assert_ptr_nonnull(strstr(text, titles));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *row = strstr(text, rows[i].name), *cells = strstr(text, rows[i].cells);

		ck_assert_msg(
			row && cells && cells > row && strchr(row + 1, '\n') == strchr(cells, '\n'),
			"%s %s", rows[i].name, text);
	}
	free(text);
	text = print("cpu_memory_usage", 0, TABLE_CSV);
	ck_assert_ptr_null(strstr(text, "Mem"));
	free(text);
}
END_TEST

START_TEST(memory_sorts_as_signed_numbers_in_units_of_1024)
{
	static const struct {
		const char *sort, *first, *cell;
	} orders[] = {{"self_device_memory_usage", "aten::empty", "     5.00 Mb"},
		{"cpu_memory_usage", "ProfilerStep*", "       100 b"},
		{"gpu_memory_self", "aten::empty", "    -2.00 Mb"},
		{"self_cpu_memory_usage", "aten::mm", "    -1.50 Kb"}};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		char *text =
			print_of(make_memory("memory.gprof"), orders[i].sort, 0, TABLE_TEXT_FORMAT);
		char *rows = strstr(strstr(text, "# of Calls"), "--  \n") + 5;

		rows += strspn(rows, " ");
		ck_assert_msg(!strncmp(rows, orders[i].first, strlen(orders[i].first)), "%s", text);
		ck_assert_msg(strstr(rows, orders[i].cell), "%s", text);
		free(text);
	}
}
END_TEST

UNIT_SUITE("report/average", own_time_is_without_operators_and_calls_in_it,
	the_table_has_the_profilers_columns_and_order, text_is_laid_out_in_columns,
	memory_is_of_the_operator_that_asked_and_of_those_around,
	memory_sorts_as_signed_numbers_in_units_of_1024)
