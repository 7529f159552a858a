/* SPDX-License-Identifier: Apache-2.0 */
/* Compilations by the Python stacks of samples. t109 compares them with a program's own clocks. */
#include "report/budget/compile_samples.h"

#include <string.h>

#include "report/util/string_pool.h"
#include "test/unit/report_made.h"

#define MS	 1000000ull
#define BEGIN_MS 100u /* of a stream: the time of its first sample, in the loop */
#define PACKAGES "/opt/lib/python3.12/site-packages"

enum { LOOP = 1, PJIT, PARTIAL, COMPILER, DYNAMO, TUNER, TRITON };
static const char *const files[] = {[LOOP] = "/home/me/train.py",
	[PJIT] = PACKAGES "/jax/_src/pjit.py",
	[PARTIAL] = PACKAGES "/jax/_src/interpreters/partial_eval.py",
	[COMPILER] = PACKAGES "/jax/_src/compiler.py",
	[DYNAMO] = PACKAGES "/torch/_dynamo/convert_frame.py",
	[TUNER] = PACKAGES "/triton/runtime/autotuner.py",
	[TRITON] = PACKAGES "/triton/compiler/compiler.py"};

static const struct {
	uint32_t file;
	const char *name;
} codes[] = {
	{0, ""}, {LOOP, "main"},	     /* 1 */
	{LOOP, "step"},			     /* 2 */
	{PJIT, "cache_miss"},		     /* 3 */
	{PARTIAL, "trace_to_jaxpr"},	     /* 4 */
	{COMPILER, "compile_or_get_cached"}, /* 5 */
	{COMPILER, "get_compile_options"},   /* 6: none of the functions that compile */
	{DYNAMO, "_compile"},		     /* 7 */
	{TUNER, "_bench"},		     /* 8 */
	{TRITON, "compile"},		     /* 9 */
	{LOOP, "compile"},		     /* 10: the program's own */
};

/* Parent, function and line of each stack; numbers begin with 1. */
static const uint32_t stacks[][3] = {
	{0, 0, 0}, {0, 1, 31}, /* 1: train.py(31): main */
	{1, 3, 9},	       /* 2: a cache has no entry, */
	{2, 4, 9},	       /* 3: so JAX traces */
	{3, 2, 12},	       /* 4: train.py(12): step, */
	{4, 3, 9},	       /* 5: which calls another function */
	{5, 4, 9},	       /* 6: that it traces */
	{2, 5, 9},	       /* 7: and compiles */
	{1, 6, 9},	       /* 8: cached */
	{0, 1, 32},	       /* 9: train.py(32): main */
	{9, 5, 9},	       /* 10: compiles, too */
	{1, 7, 9},	       /* 11: torch.compile */
	{1, 8, 9},	       /* 12: Triton tunes */
	{12, 9, 9},	       /* 13: and compiles for that */
	{1, 10, 5},	       /* 14 */
};
enum {
	MAIN = 1,
	MISS = 2,
	TRACE = 4,
	INNER = 6,
	COMPILE = 7,
	CACHED = 8,
	NEXT = 10,
	TORCH = 11,
	TUNE = 12,
	TUNE_COMPILE = 13,
	OWN = 14,
	UNREAD = -1
};

/* Parent, file and symbol of each native stack, as in PyTorch 2.5; numbers begin with 1. */
enum { CUDART = 1, TORCH_CUDA, CUDNN };
static const char *const code_files[] = {[CUDART] = "/opt/lib/libcudart.so.12",
	[TORCH_CUDA] = PACKAGES "/torch/lib/libtorch_cuda.so",
	[CUDNN] = PACKAGES "/nvidia/cudnn/lib/libcudnn_cnn_infer.so.8"};
static const struct {
	uint32_t parent, file;
	const char *name;
} native_stacks[] = {
	{0, 0, ""},
	{0, TORCH_CUDA, "_ZN2at6native15run_single_convE27cudnnBackendDescriptorType_t"}, /* 1 */
	{1, TORCH_CUDA, "_ZN2at6native25generate_and_filter_plansEP12cudnnContext"},	  /* 2 */
	{1, TORCH_CUDA, "_ZN14cudnn_frontend16time_sorted_planILNS_26"},		  /* 3 */
	{3, CUDART, "cudaEventSynchronize"},						  /* 4 */
	{1, CUDNN, "cudnnFindConvolutionForwardAlgorithmEx"},				  /* 5 */
	{1, CUDNN, "cudnnBackendExecute"},						  /* 6 */
	{0, CUDART, "time_sorted_plan"},						  /* 7 */
};
/* A stack of the main function, which has called that native stack; and that stack alone. */
enum {
	NATIVE = 100,
	CONVOLVES = NATIVE + 6,
	BUILD_PLANS = NATIVE + 2,
	TIME_PLANS = NATIVE + 4,
	FIND = NATIVE + 5,
	OTHER_FILE = NATIVE + 7,
	ALONE = 200,
};

/* A CPU sample of 10 ms. */
static void running(struct made *made, uint64_t ms, uint32_t task, int stack)
{
	struct gprof_row_cpu_sample *row = gen_row(made->gen, GPROF_TABLE_cpu_sample);

	row->time = ms * MS;
	row->ns = 10 * MS;
	row->task = task;
	row->native_stack = stack >= NATIVE ? (uint32_t)(stack % NATIVE) : 0;
	row->py_stack = stack == UNREAD	  ? GPROF_PY_STACK_NOT_READ
			: stack >= ALONE  ? 0
			: stack >= NATIVE ? (uint32_t)MAIN
					  : (uint32_t)stack;
}

/* Three of the first thread, one after the other. */
static void running_thrice(struct made *made, uint64_t ms, int stack)
{
	for (uint64_t i = 0; i < 3; i++) {
		running(made, ms + 10 * i, 77, stack);
	}
}

static struct made begin_stream(const char *name)
{
	struct made made = made_open(name);

	for (uint32_t i = 1; i < sizeof(files) / sizeof(files[0]); i++) {
		gen_py_file(made.gen, i, files[i]);
	}
	for (uint32_t i = 1; i < sizeof(codes) / sizeof(codes[0]); i++) {
		gen_py_code(made.gen, i, codes[i].file, 1, codes[i].name);
	}
	for (uint32_t i = 1; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		gen_py_stack(made.gen, i, stacks[i][0], stacks[i][1], stacks[i][2]);
	}
	for (uint32_t i = 1; i < sizeof(code_files) / sizeof(code_files[0]); i++) {
		uint32_t path = gen_string(made.gen, code_files[i]);
		struct gprof_row_code_file *row = gen_row(made.gen, GPROF_TABLE_code_file);

		row->id = i;
		row->path = path;
	}
	for (uint32_t i = 1; i < sizeof(native_stacks) / sizeof(native_stacks[0]); i++) {
		uint32_t symbol = gen_string(made.gen, native_stacks[i].name);
		struct gprof_row_native_stack *row = gen_row(made.gen, GPROF_TABLE_native_stack);

		row->id = i;
		row->parent = native_stacks[i].parent;
		row->code_file = native_stacks[i].file;
		row->address = 4096 * i;
		row->name = symbol;
	}
	gen_thread(made.gen, 1, 77, "python");
	running(&made, BEGIN_MS, 77, 1);
	return made;
}

static void waiting(struct made *made, uint64_t ms, uint64_t since_ms, int stack)
{
	uint32_t call = gen_string(made->gen, "futex");
	struct gprof_row_wait_sample *row = gen_row(made->gen, GPROF_TABLE_wait_sample);

	row->time = ms * MS;
	row->ns = (ms - since_ms) * MS;
	row->task = 77;
	row->kind = GPROF_OS_LOCK;
	row->syscall = call;
	row->py_stack = (uint32_t)stack;
}

static const char *name_of(const struct table *table, size_t row, const char *key)
{
	return string_pool_text((uint32_t)tables_number(table, row, key), NULL);
}

static struct table *compilations_of(struct made *made)
{
	gen_close(made->gen, "exit");
	return tables_of(&view_compilations, made->path, false);
}

static void check(const struct table *table, size_t row, const char *name, const char *line,
	uint64_t begin_ms, uint64_t end_ms, uint64_t nr)
{
	ck_assert_str_eq(name_of(table, row, "name"), name);
	ck_assert_str_eq(name_of(table, row, "line"), line);
	ck_assert_uint_eq(tables_number(table, row, "start_ns"), (begin_ms - BEGIN_MS) * MS);
	ck_assert_uint_eq(tables_number(table, row, "duration_ns"), (end_ms - begin_ms) * MS);
	ck_assert_uint_eq(tables_number(table, row, "samples"), nr);
}

/* The compiler calls the program to trace it; the line is the one around all of that. */
START_TEST(samples_in_a_row_are_one_compilation)
{
	struct made made = begin_stream("row.gprof");
	struct table *table;

	running(&made, 122, 77, TRACE);
	running(&made, 125, 77, INNER);
	running(&made, 130, 78, MAIN); /* another thread */
	running(&made, 135, 77, UNREAD);
	running(&made, 145, 77, COMPILE);
	waiting(&made, 195, 146, COMPILE);
	running(&made, 205, 77, MAIN);
	running_thrice(&made, 215, OWN);
	running_thrice(&made, 245, CACHED);
	table = compilations_of(&made);
	ck_assert_uint_eq(table->nr_rows, 1);
	check(table, 0, "jax.jit", "train.py(31): main", 112, 195, 4);
	ck_assert_str_eq(name_of(table, 0, "stage"), "compile");
	ck_assert_uint_eq(tables_number(table, 0, "stage_ns"), 59 * MS);
	table_destroy(table);
}
END_TEST

/* cuDNN's benchmark is a function of machine code: no Python of its own is at work. */
START_TEST(functions_of_machine_code_show_the_benchmark_of_cudnn)
{
	struct made made = begin_stream("cudnn.gprof");
	struct table *table;

	running(&made, 110, 77, BUILD_PLANS);
	running(&made, 120, 77, BUILD_PLANS);
	running(&made, 130, 77, TIME_PLANS);
	running(&made, 140, 77, CONVOLVES);
	running_thrice(&made, 150, OTHER_FILE);
	running_thrice(&made, 180, FIND);
	running(&made, 210, 77, MAIN);
	running_thrice(&made, 220, BUILD_PLANS + ALONE - NATIVE); /* autograd's thread */
	running(&made, 250, 77, ALONE + 1);
	running_thrice(&made, 260, BUILD_PLANS + ALONE - NATIVE);
	table = compilations_of(&made);
	ck_assert_uint_eq(table->nr_rows, 4);
	check(table, 0, "cudnn.benchmark", "train.py(31): main", 100, 130, 3);
	ck_assert_str_eq(name_of(table, 0, "stage"), "build plans");
	ck_assert_uint_eq(tables_number(table, 0, "stage_ns"), 20 * MS);
	check(table, 1, "cudnn.benchmark", "train.py(31): main", 170, 200, 3);
	ck_assert_str_eq(name_of(table, 1, "stage"), "time algorithms");
	ck_assert_uint_eq(tables_number(table, 2, "start_ns"), (210 - BEGIN_MS) * MS);
	ck_assert_uint_eq(tables_number(table, 3, "start_ns"), (250 - BEGIN_MS) * MS);
	table_destroy(table);
}
END_TEST

START_TEST(fewer_than_three_samples_are_none)
{
	struct made made = begin_stream("few.gprof");
	struct table *table;

	running(&made, 110, 77, COMPILE);
	running(&made, 120, 77, COMPILE);
	running(&made, 130, 77, MISS); /* neither traces nor compiles */
	running(&made, 140, 77, COMPILE);
	running(&made, 150, 77, COMPILE);
	running(&made, 160, 77, UNREAD);
	table = compilations_of(&made);
	ck_assert_uint_eq(table->nr_rows, 0);
	table_destroy(table);
}
END_TEST

/* Without samples of waits the thread may have waited for something else in a gap. */
START_TEST(other_lines_and_gaps_begin_others)
{
	for (unsigned int is_looked_at = 0; is_looked_at < 2; is_looked_at++) {
		struct made made = begin_stream(is_looked_at ? "looked.gprof" : "gaps.gprof");
		struct table *table;

		running_thrice(&made, 110, COMPILE);
		running_thrice(&made, 135, NEXT);
		running_thrice(&made, 225, NEXT);
		if (is_looked_at) {
			waiting(&made, 900, 800, MAIN);
		}
		gen_close(made.gen, "exit");
		table = tables_of(&view_compilations, made.path, false);
		ck_assert_uint_eq(table->nr_rows, is_looked_at ? 2 : 3);
		check(table, 0, "jax.jit", "train.py(31): main", 100, 130, 3);
		check(table, 1, "jax.jit", "train.py(32): main", 130, is_looked_at ? 245 : 155,
			is_looked_at ? 6 : 3);
		table_destroy(table);
	}
}
END_TEST

START_TEST(the_outermost_compiler_counts)
{
	struct made made = begin_stream("tune.gprof");
	struct table *table;

	running(&made, 110, 77, TUNE);
	running(&made, 120, 77, TUNE_COMPILE);
	running(&made, 130, 77, TUNE_COMPILE);
	table = compilations_of(&made);
	check(table, 0, "triton.autotune", "train.py(31): main", 100, 130, 3);
	ck_assert_str_eq(name_of(table, 0, "stage"), "compile");
	table_destroy(table);
}
END_TEST

/* They are exact, and samples would count the same time again. */
START_TEST(ranges_of_torch_compile_win)
{
	for (unsigned int is_marked = 0; is_marked < 2; is_marked++) {
		struct made made = begin_stream(is_marked ? "marked.gprof" : "unmarked.gprof");
		struct table *table;

		running_thrice(&made, 110, TORCH);
		running_thrice(&made, 140, COMPILE);
		if (is_marked) {
			made_op(&made, "_compile.compile_inner (dynamo_timed)", 103 * MS, 131 * MS,
				0);
		}
		gen_close(made.gen, "exit");
		table = tables_of(&view_compilations, made.path, false);
		ck_assert_uint_eq(table->nr_rows, 2);
		ck_assert_uint_eq(tables_number(table, 0, "start_ns"),
			(is_marked ? 103u - BEGIN_MS : 0) * MS);
		ck_assert_int_eq(tables_cell(table, 0, "samples")->is_known, !is_marked);
		check(table, 1, "jax.jit", "train.py(31): main", 130, 160, 3);
		table_destroy(table);
	}
}
END_TEST

/*
 * Twelve steps of 100 ms with a kernel of 10 ms each. Those whose bit is set in `compiling` are in
 * `stack` for 60 ms before the launch, those in `others` in COMPILE.
 */
static const char *training(
	const char *name, unsigned int compiling, int stack, unsigned int others)
{
	struct made made = begin_stream(name);
	uint32_t shape = made_shape(&made, "gemm", 132, 256, 32, 0);

	for (uint32_t i = 0; i < 12; i++) {
		uint64_t at = BEGIN_MS + 100 * i;
		bool compiles = (compiling | others) >> i & 1;

		made_step(&made, at * MS, i);
		for (uint32_t k = 1; k <= (compiles ? 6 : 1); k++) {
			running(&made, at + 5 + 10 * k, 77,
				compiling >> i & 1 ? stack
				: others >> i & 1  ? COMPILE
						   : MAIN);
		}
		running(&made, at + 80, 77, MAIN);
		made_launch(&made, shape, (at + 85) * MS, MS, (at + 87) * MS, (at + 97) * MS);
	}
	made_step(&made, (BEGIN_MS + 1200) * MS, 12);
	gen_close(made.gen, "exit");
	return made.path;
}

START_TEST(the_budget_has_them_as_compilation)
{
	struct table *table =
		tables_of(&view_budget, training("every.gprof", 0xffe, COMPILE, 0), false);
	size_t row = tables_find(table, "part", "Idle: compilation", 0);

	ck_assert_double_eq(tables_cell(table, row, "mean_ns")->number, 60e6);
	table_destroy(table);
}
END_TEST

static void check_sentence(const char *path, const char *begin)
{
	struct table *table = tables_of(&view_findings, path, false);
	size_t row = tables_find(table, "cause", "compilation", 0);
	const char *sentence = tables_cell(table, row, "sentence")->text;

	ck_assert_msg(!strncmp(sentence, begin, strlen(begin)), "%s", sentence);
	table_destroy(table);
}

START_TEST(findings_name_the_line_that_compiles)
{
	check_sentence(training("few_steps.gprof", 0x490, COMPILE, 0),
		"JAX compiles in 3 of 11 steps for train.py(31): main, about 60.00 ms in each; "
		"compiling once can save at most 16.36 ms per step (16.4 %)");
	check_sentence(training("tuning.gprof", 0x490, TUNE, 0),
		"Triton tunes kernels in 3 of 11 steps for train.py(31): main, about 60.00 ms in "
		"each; tuning once can save at most 16.36 ms");
	check_sentence(training("sizes.gprof", 0x490, TIME_PLANS, 0),
		"cuDNN tunes kernels in 3 of 11 steps for train.py(31), about 60.00 ms in each; "
		"inputs of fixed sizes or cudnn.benchmark = False can save at most 16.36 ms");
}
END_TEST

/* A quarter of it is of another line, then also of another compiler. */
START_TEST(findings_say_that_there_are_others)
{
	check_sentence(training("lines.gprof", 0x490, NEXT, 0x100),
		"JAX compiles in 4 of 11 steps mostly for train.py(32): main, about 60.00 ms in "
		"each");
	check_sentence(training("compilers.gprof", 0x490, TUNE, 0x100),
		"triton.autotune and others compile in 4 of 11 steps mostly for train.py(31), "
		"about 60.00 ms in each; compiling once can save");
}
END_TEST

UNIT_SUITE("report/compile_samples", samples_in_a_row_are_one_compilation,
	functions_of_machine_code_show_the_benchmark_of_cudnn, fewer_than_three_samples_are_none,
	other_lines_and_gaps_begin_others, the_outermost_compiler_counts,
	ranges_of_torch_compile_win, the_budget_has_them_as_compilation,
	findings_name_the_line_that_compiles, findings_say_that_there_are_others)
