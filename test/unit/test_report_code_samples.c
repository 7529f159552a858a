/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which CPU samples a finding counts: those of the loop's thread in steps that count, where nothing
 * is recorded and no wait opened the gap, or in the data loader; those of other threads while it
 * waits for Python's lock; and when it names a line.
 */
#include <stdlib.h>
#include <string.h>

#include "report/util/text.h"
#include "test/unit/report_made.h"

#define MS    1000000ull
#define STEPS 24u

enum { LOOP = 77, OTHER = 78 }; /* threads by the system's numbers */
enum { OPERATOR = 1, LOAD, SAVE };

/* Code whose one stack has its id. */
static void add_code(
	struct made *made, uint32_t id, uint32_t file, const char *function, uint32_t line)
{
	gen_py_code(made->gen, id, file, 1, function);
	gen_py_stack(made->gen, id, 0, id, line);
}

static struct made made_python_in(const char *name, const char *file)
{
	struct made made = made_open(name);

	gen_thread(made.gen, 1, LOOP, NULL);
	gen_py_file(made.gen, 1, file);
	add_code(&made, OPERATOR, 1, "forward", 12);
	add_code(&made, LOAD, 1, "load", 41);
	add_code(&made, SAVE, 1, "save", 50);
	return made;
}

static struct made made_python(const char *name)
{
	return made_python_in(name, "/home/me/train.py");
}

static void add_sample(struct made *made, uint32_t task, uint32_t stack, uint64_t time, uint64_t ns)
{
	struct gprof_row_cpu_sample *row = gen_row(made->gen, GPROF_TABLE_cpu_sample);

	row->time = time;
	row->ns = ns;
	row->task = task;
	row->py_stack = stack;
}

/* The sentence of a cause; the caller frees it. */
static char *sentence_of(const char *path, const char *cause)
{
	struct table *table = tables_of(&view_findings, path, false);
	char *text =
		strdup(tables_cell(table, tables_find(table, "cause", cause, 0), "sentence")->text);

	table_destroy(table);
	return text;
}

/* How long the loop has been ready, and had no CPU. */
static void add_ready(struct made *made, uint64_t time, uint64_t ns)
{
	struct gprof_row_thread_cpu *row = gen_row(made->gen, GPROF_TABLE_thread_cpu);

	row->time = time;
	row->wait_ns = ns;
	row->thread = 1;
}

/*
 * Steps of 10 ms without a GPU: an operator or the loader for 4 ms, then nothing. The second one
 * takes 100 ms, and is an outlier. In each the loop is ready for `ready_ns`, and has no CPU.
 */
static const char *add_steps(
	struct made made, const char *op, uint32_t nr_steps, uint64_t sample_ns, uint64_t ready_ns)
{
	uint64_t at = 10 * MS;

	for (uint32_t step = 1; step <= nr_steps; step++) {
		uint64_t ns = step == 2 ? 100 * MS : 10 * MS;

		made_step(&made, at, step);
		add_ready(&made, at, step * ready_ns);
		made_op(&made, op, at, at + 4 * MS, 0);
		add_sample(&made, LOOP, OPERATOR, at + 1 * MS, sample_ns);
		add_sample(&made, LOOP, OPERATOR, at + 3 * MS, sample_ns);
		add_sample(&made, OTHER, OPERATOR, at + 5 * MS, sample_ns);
		add_sample(&made, LOOP, LOAD, at + 5 * MS, sample_ns);
		add_sample(&made, LOOP, SAVE, at + 7 * MS, sample_ns);
		add_sample(&made, LOOP, LOAD, at + 9 * MS, sample_ns);
		add_sample(&made, LOOP, GPROF_PY_STACK_NOT_READ, at + 8 * MS, sample_ns / 10);
		for (uint32_t i = 0; step == 2 && i < 40; i++) {
			add_sample(&made, LOOP, SAVE, at + (20 + i) * MS, sample_ns);
		}
		at += ns;
	}
	made_step(&made, at, nr_steps + 1);
	gen_close(made.gen, "exit");
	return made.path;
}

static const char *ready_steps(
	const char *name, const char *op, uint32_t nr_steps, uint64_t sample_ns, uint64_t ready_ns)
{
	return add_steps(made_python(name), op, nr_steps, sample_ns, ready_ns);
}

static const char *steps_of(const char *name, const char *op, uint32_t nr_steps, uint64_t sample_ns)
{
	return ready_steps(name, op, nr_steps, sample_ns, 0);
}

/*
 * Steps of 10 ms without a GPU: an operator for 4 ms, then a wait for Python's lock, also within
 * the operator. Another thread is in Python's own library, which the program's code has called, for
 * three of four samples; a thread without Python runs as well. The loop may run for so short that
 * it has no samples.
 */
static const char *locked_steps(
	const char *name, uint64_t sample_ns, bool is_loop_seen, bool has_unread)
{
	struct made made = made_python(name);
	uint64_t at = 10 * MS;

	gen_py_file(made.gen, 2, "/usr/lib/python3.11/json/decoder.py");
	gen_py_code(made.gen, 10, 2, 1, "raw_decode");
	gen_py_stack(made.gen, 11, LOAD, 10, 353);
	for (uint32_t step = 1; step <= STEPS; step++, at += 10 * MS) {
		made_step(&made, at, step);
		made_op(&made, "aten::mm", at, at + 4 * MS, 0);
		gen_os_call(made.gen, "python_gil", 1, at + 2 * MS, at + 3 * MS);
		gen_os_call(made.gen, "python_gil", 1, at + 4 * MS, at + 9 * MS);
		gen_os_call(made.gen, "python_gil", 2, at, at + 4 * MS);
		if (is_loop_seen) {
			add_sample(&made, LOOP, OPERATOR, at + 1 * MS, sample_ns);
		}
		add_sample(&made, OTHER, SAVE, at + 1 * MS, sample_ns);
		add_sample(&made, OTHER, SAVE, at + 2500000, sample_ns);
		add_sample(&made, OTHER, 11, at + 5 * MS, sample_ns);
		add_sample(&made, OTHER, LOAD, at + 6 * MS, sample_ns);
		add_sample(&made, OTHER, 11, at + 7 * MS, sample_ns);
		for (uint64_t i = 6; has_unread && i < 9; i++) {
			add_sample(&made, OTHER, GPROF_PY_STACK_NOT_READ, at + i * MS + 1000,
				sample_ns);
		}
		add_sample(&made, OTHER + 1, 0, at + 7 * MS, sample_ns);
	}
	made_step(&made, at, STEPS + 1);
	gen_close(made.gen, "exit");
	return made.path;
}

static void has(char *sentence, const char *text)
{
	ck_assert_msg(strstr(sentence, text) != NULL, "%s: no '%s'", sentence, text);
	free(sentence);
}

START_TEST(samples_of_the_loop_outside_of_operators_count)
{
	const char *path = steps_of("code.gprof", "aten::mm", STEPS, 2 * MS);

	has(sentence_of(path, "python_host"),
		"The loop runs Python code, 66.7 % of its CPU samples at train.py(41): load; ");
}
END_TEST

START_TEST(samples_in_the_loader_are_the_loader_s)
{
	const char *path =
		steps_of("load.gprof", "enumerate(DataLoader)#x.__next__", STEPS, 2 * MS);

	has(sentence_of(path, "loader"),
		"The loop loads data itself, 100.0 % of it at train.py(12): forward; "
		"batches ready in time would save ");
}
END_TEST

START_TEST(few_samples_name_no_line)
{
	has(sentence_of(steps_of("few.gprof", "aten::mm", 6, 2 * MS), "python_host"),
		"such as Python; ");
}
END_TEST

START_TEST(a_loop_that_mostly_waits_names_no_line)
{
	has(sentence_of(steps_of("waits.gprof", "aten::mm", STEPS, MS / 2), "python_host"),
		"The loop mostly waits or is in the kernel; ");
}
END_TEST

/* Who has no CPU may have no samples for that reason. */
START_TEST(a_loop_without_a_cpu_is_not_said_to_wait)
{
	has(sentence_of(
		    ready_steps("ready.gprof", "aten::mm", STEPS, MS / 2, MS / 2), "python_host"),
		"The loop mostly waits or is in the kernel; ");
	has(sentence_of(ready_steps("not_ready.gprof", "aten::mm", STEPS, MS / 2, 3 * MS),
		    "python_host"),
		"The loop runs code outside of operators, such as Python; ");
}
END_TEST

/* Waits for a CPU stretch what the loop computes, so its samples stand for less of the time. */
START_TEST(a_loop_that_lacks_a_cpu_names_its_line)
{
	has(sentence_of(
		    ready_steps("alone.gprof", "aten::mm", STEPS, 3 * MS / 4, 0), "python_host"),
		"The loop mostly waits or is in the kernel; ");
	has(sentence_of(ready_steps("lacking.gprof", "aten::mm", STEPS, 3 * MS / 4, 4 * MS),
		    "python_host"),
		"The loop runs Python code, 66.7 % of its CPU samples at train.py(41): load; ");
}
END_TEST

/* What the finding bounds is not all at a line that has part of the samples. */
START_TEST(a_line_with_part_of_the_samples_is_not_said_to_cost_all)
{
	has(sentence_of(steps_of("part.gprof", "aten::mm", STEPS, 2 * MS), "python_host"),
		"; doing less of it can save at most ");
}
END_TEST

/* On the first screen of a program without operators, as in a finding. */
START_TEST(code_of_pythons_own_library_counts_where_it_was_called)
{
	struct made made = made_python("plain.gprof");
	struct table *table;

	gen_py_file(made.gen, 2, "<frozen importlib._bootstrap>");
	gen_py_code(made.gen, 10, 2, 1, "_load");
	gen_py_stack(made.gen, 11, LOAD, 10, 353);
	for (uint32_t i = 1; i <= 20; i++) {
		add_sample(&made, i % 2 ? LOOP : OTHER, i % 4 ? 11 : SAVE, i * MS, MS);
	}
	gen_close(made.gen, "exit");
	table = tables_of(&view_headline, made.path, false);
	ck_assert_msg(
		strstr(table->figure,
			"Python  75.0 % of Python's CPU samples at train.py(41): load, 25.0 % at "
			"train.py(50): save\n") != NULL,
		"%s", table->figure);
	table_destroy(table);
}
END_TEST

/*
 * Steps of 10 ms without a GPU: an operator or the loader for 4 ms, then nothing. Frames are
 * files and functions that train.py(41): load calls, the innermost last.
 */
static const char *called_steps(const char *name, const char *op, const char *const frames[][2])
{
	struct made made = made_python(name);
	uint32_t stack = LOAD;

	for (uint32_t i = 0; frames[i][0]; i++) {
		gen_py_file(made.gen, 2 + i, frames[i][0]);
		gen_py_code(made.gen, 10 + i, 2 + i, 1, frames[i][1]);
		gen_py_stack(made.gen, 11 + i, stack, 10 + i, 353);
		stack = 11 + i;
	}
	for (uint32_t step = 1; step <= STEPS; step++) {
		uint64_t at = 10 * MS * step;

		made_step(&made, at, step);
		made_op(&made, op, at, at + 4 * MS, 0);
		add_sample(&made, LOOP, stack, at + 2 * MS, 4 * MS);
		add_sample(&made, LOOP, stack, at + 8 * MS, 6 * MS);
	}
	made_step(&made, 10 * MS * (STEPS + 1), STEPS + 1);
	gen_close(made.gen, "exit");
	return made.path;
}

#define PACKAGES "/usr/lib/python3/dist-packages/"

START_TEST(code_of_the_framework_counts_where_it_was_called)
{
	static const char *const backward[][2] = {{PACKAGES "torch/_tensor.py", "backward"},
		{PACKAGES "torch/autograd/__init__.py", "backward"}, {0}};
	static const char *const package[][2] = {{PACKAGES "accelerate/accelerator.py", "backward"},
		{PACKAGES "torch/autograd/__init__.py", "backward"}, {0}};
	static const char *const collate[][2] = {
		{PACKAGES "torch/utils/data/_utils/collate.py", "collate"},
		{PACKAGES "torch/functional.py", "norm"}, {0}};

	has(sentence_of(called_steps("backward.gprof", "aten::mm", backward), "python_host"),
		"The loop runs code outside of operators at train.py(41): load; "
		"doing less there ");
	has(sentence_of(called_steps("package.gprof", "aten::mm", package), "python_host"),
		" at accelerat");
	has(sentence_of(called_steps("collate.gprof", "aten::mm", collate), "python_host"),
		"torch/utils/data/...py(353): collate; ");
}
END_TEST

START_TEST(what_the_loader_calls_counts_at_the_programs_line)
{
	static const char *const pillow[][2] = {
		{PACKAGES "torch/utils/data/_utils/fetch.py", "fetch"}, {"/home/me/data.py", "get"},
		{PACKAGES "PIL/Image.py", "resize"}, {0}};
	static const char *const none[][2] = {
		{PACKAGES "torch/utils/data/_utils/fetch.py", "fetch"},
		{PACKAGES "datasets/arrow.py", "get"},
		{"/usr/lib/python3.11/json/decoder.py", "decode"}, {0}};
	const char *op = "enumerate(DataLoader)#x.__next__";

	has(sentence_of(called_steps("pillow.gprof", op, pillow), "loader"),
		"The loop loads data itself, 100.0 % of it at data.py(353): get; ");
	has(sentence_of(called_steps("none.gprof", op, none), "loader"),
		" at datasets/arrow.py(353): get; ");
}
END_TEST

START_TEST(a_wait_for_the_lock_names_what_others_run)
{
	const char *path = locked_steps("lock.gprof", 3 * MS / 2, true, false);
	struct table *table = tables_of(&view_findings, path, false);
	size_t row = tables_find(table, "cause", "gil", 0);

	ck_assert_str_eq(tables_cell(table, row, "sentence")->text,
		"The loop waits for Python's lock (GIL) while other threads run train.py(41): "
		"load; "
		"using processes can save 6.000 ms per step (60.0 %)");
	ck_assert_str_eq(tables_cell(table, row, "places")->text,
		"75.0 % of the CPU samples of other threads meanwhile at train.py(41): load; "
		"25.0 % at train.py(50): save");
	ck_assert_int_eq(tables_cell(table, row, "saved_ns")->integer, 6 * (int64_t)MS);
	table_destroy(table);
	table = tables_of(&view_gil, path, false);
	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_int_eq(tables_cell(table, 0, "total_ns")->integer, 6 * (int64_t)(STEPS * MS));
	ck_assert_int_eq(tables_cell(table, 0, "calls")->integer, 2 * STEPS);
	ck_assert_uint_eq(tables_find(table, "meanwhile", "train.py(41): load", 0), 0);
	ck_assert_int_eq(tables_cell(table, 1, "total_ns")->integer, 4 * (int64_t)(STEPS * MS));
	table_destroy(table);
}
END_TEST

START_TEST(a_loop_without_samples_has_its_holder_s_line)
{
	has(sentence_of(locked_steps("short.gprof", 3 * MS / 2, false, false), "gil"),
		"The loop waits for Python's lock (GIL) while other threads run train.py(41): "
		"load; ");
}
END_TEST

START_TEST(a_holder_that_is_not_seen_has_no_line)
{
	has(sentence_of(locked_steps("unseen.gprof", MS / 2, true, false), "gil"),
		"The loop waits for Python's lock (GIL), which other threads hold; ");
}
END_TEST

/* They do not say where it was, but that it ran. */
START_TEST(samples_that_could_not_be_read_are_of_the_holder)
{
	has(sentence_of(locked_steps("unread.gprof", MS / 2, true, true), "gil"),
		"The loop waits for Python's lock (GIL) while other threads run train.py(41): "
		"load; ");
}
END_TEST

/*
 * Two gaps in each step of 10 ms: a wait of so many opened the first, which lasts until 4; the
 * second is the host's.
 */
static const char *waiting_steps(const char *name, uint64_t wait_ms)
{
	struct made made = made_python(name);
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);

	for (uint32_t step = 1; step <= STEPS; step++) {
		uint64_t at = 10 * MS * step;
		struct gprof_row_api *wait;

		made_step(&made, at, step);
		made_launch(&made, shape, at, 10000, at + 20000, at + wait_ms * MS);
		wait = gen_row(made.gen, GPROF_TABLE_api);
		wait->begin = at + 50000;
		wait->dur = at + wait_ms * MS + 10000;
		wait->thread = 1;
		wait->call = made.sync;
		wait->correlation = ++made.correlation;
		for (uint64_t ms = wait_ms + 1; ms < 4; ms++) {
			add_sample(&made, LOOP, LOAD, at + ms * MS, 2 * MS);
		}
		add_sample(&made, LOOP, LOAD, at + 4 * MS - 10000, 2 * MS);
		made_launch(&made, shape, at + 4 * MS, 10000, at + 4 * MS + 20000, at + 5 * MS);
		add_sample(&made, LOOP, SAVE, at + 6 * MS, 2 * MS);
		made_launch(
			&made, shape, at + 8 * MS, 10000, at + 8 * MS + 20000, at + 10 * MS - 1000);
	}
	made_step(&made, 10 * MS * (STEPS + 1), STEPS + 1);
	gen_close(made.gen, "exit");
	return made.path;
}

/* Without the wait the host's code would run while the GPU computes. */
START_TEST(what_follows_a_wait_does_not_count_where_the_wait_is_the_cause)
{
	has(sentence_of(waiting_steps("drained.gprof", 3), "python_host"),
		"The GPU waits for Python code, 100.0 % of its CPU samples at train.py(50): save; "
		"doing less there can save at most 3.001 ms per step (30.0 %)");
}
END_TEST

/* Without the wait a step would be 1 ms shorter, of the 3 ms that follow it. */
START_TEST(what_follows_a_wait_counts_where_the_host_is_slow)
{
	has(sentence_of(waiting_steps("slow_host.gprof", 1), "python_host"),
		"The GPU waits for Python code, 75.0 % of its CPU samples at train.py(41): load; "
		"doing less of it can save at most 5.037 ms per step (50.4 %)");
}
END_TEST

/* Without it, the finding would read as if all of the time went there. */
START_TEST(a_long_place_with_part_of_the_samples_keeps_its_share)
{
	struct made made =
		made_python_in("long.gprof", "/home/me/preprocess_images_of_imagenet.py");

	has(sentence_of(add_steps(made, "aten::mm", STEPS, 2 * MS, 0), "python_host"),
		"The loop runs Python code, 66.7 % of its CPU samples at "
		"preproce...t.py(41); doing less of it can save at most ");
}
END_TEST

/*
 * Steps of 10 ms whose GPU is idle for 8 ms, in which a function runs, in an operator or not. The
 * operator begins before, so the replay predicts more than these.
 */
static const char *idle_steps(const char *op, const char *file, const char *function)
{
	struct made made = made_open("idle.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);

	gen_thread(made.gen, 1, LOOP, NULL);
	gen_py_file(made.gen, 1, file);
	add_code(&made, LOAD, 1, function, 1234);
	for (uint32_t step = 1; step <= STEPS; step++) {
		uint64_t at = 10 * MS * step;

		made_step(&made, at, step);
		made_launch(&made, shape, at, 10000, at + 20000, at + 1 * MS);
		if (op) {
			made_op(&made, op, at + 20000, at + 9 * MS, 0);
		}
		for (uint32_t i = 1; i <= 8; i++) {
			add_sample(&made, LOOP, LOAD, at + i * MS + MS / 2, 1 * MS);
		}
		made_launch(
			&made, shape, at + 9 * MS, 10000, at + 9 * MS + 20000, at + 10 * MS - 1000);
	}
	made_step(&made, 10 * MS * (STEPS + 1), STEPS + 1);
	gen_close(made.gen, "exit");
	return made.path;
}

/* Beside the number of the finding, at 80 columns. */
static size_t nr_lines(const char *sentence)
{
	struct buf lines = {0};
	size_t nr = 0;

	text_wrap(&lines, sentence, "", 76);
	for (size_t i = 0; i < lines.nr_bytes; i++) {
		nr += lines.bytes[i] == '\n';
	}
	buf_fini(&lines);
	return nr;
}

START_TEST(a_finding_with_a_place_fits_two_lines)
{
	static const struct {
		const char *cause, *op, *file, *function, *begin;
	} cases[] = {{"loader", "enumerate(DataLoader)#x.__next__", "a.py", "f",
			     "The GPU waits while the loop loads data, 100.0 % of it at "
			     "a.py(1234): f; batches ready in time "},
		{"loader", "enumerate(DataLoader)#x.__next__", "dataset.py", "load",
			"The GPU waits while the loop loads data, 100.0 % of it at "
			"dataset.py(1234): load; batches ready in time can save at most "},
		{"loader", "enumerate(DataLoader)#x.__next__", "preprocess_images.py", "_augment",
			"The GPU waits while the loop loads data at "
			"preprocess_images.py(1234): _augment; batches ready in time "},
		{"loader", "enumerate(DataLoader)#x.__next__", "preprocess_images_of_imagenet.py",
			"augment_with_random_crops", "The GPU waits while the loop loads data at "},
		{"loader", "enumerate(DataLoader)#x.__next__", "preprocess_images_of_imagenet.py",
			"f", "The GPU waits while the loop loads data at "},
		{"loader", "enumerate(DataLoader)#x.__next__", "p.py",
			"augment_with_random_crops_and_flips", ""},
		{"python_host", NULL, "a.py", "f",
			"The GPU waits for Python code, 100.0 % of its "},
		{"python_host", NULL, "preprocess_images_of_imagenet.py",
			"augment_with_random_crops", "The GPU waits for Python code"},
		{"python_host", NULL, "p.py", "augment_with_random_crops_and_flips", ""}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *sentence = sentence_of(
			idle_steps(cases[i].op, cases[i].file, cases[i].function), cases[i].cause);

		ck_assert_msg(
			nr_lines(sentence) <= 2, "%zu lines: %s", nr_lines(sentence), sentence);
		ck_assert_msg(!strncmp(sentence, cases[i].begin, strlen(cases[i].begin)),
			"%s: not '%s'", sentence, cases[i].begin);
		ck_assert_ptr_nonnull(strstr(sentence, " %)"));
		free(sentence);
	}
}
END_TEST

UNIT_SUITE("report/code_samples", samples_of_the_loop_outside_of_operators_count,
	samples_in_the_loader_are_the_loader_s, few_samples_name_no_line,
	a_loop_that_mostly_waits_names_no_line, a_loop_without_a_cpu_is_not_said_to_wait,
	a_loop_that_lacks_a_cpu_names_its_line,
	a_line_with_part_of_the_samples_is_not_said_to_cost_all,
	a_long_place_with_part_of_the_samples_keeps_its_share,
	code_of_pythons_own_library_counts_where_it_was_called,
	code_of_the_framework_counts_where_it_was_called,
	what_the_loader_calls_counts_at_the_programs_line,
	a_wait_for_the_lock_names_what_others_run, a_loop_without_samples_has_its_holder_s_line,
	samples_that_could_not_be_read_are_of_the_holder, a_holder_that_is_not_seen_has_no_line,
	what_follows_a_wait_does_not_count_where_the_wait_is_the_cause,
	what_follows_a_wait_counts_where_the_host_is_slow, a_finding_with_a_place_fits_two_lines)
