/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of waits: how the view sums them by line, call and object, and what a finding says of a
 * loop that waits itself.
 */
#include <stdio.h>
#include <string.h>

#include "report/util/string_pool.h"
#include "report/util/text.h"
#include "test/unit/report_made.h"

#define MS    1000000ull
#define STEPS 24u

enum { LOOP = 77, OTHER = 78 };				      /* threads by the system's numbers */
enum { STEP = 1, LOAD, LONG, TRY_WAIT, OF_STEP, IN_PACKAGE }; /* stacks */

/* What each step does for 8 of its 10 ms. */
struct waits {
	uint8_t kind;
	uint32_t stack;
	const char *call, *object;
	uint32_t nr_folders; /* with files of the object, one for each step in turn; 0: none */
	uint32_t nr_waits, nr_cpu; /* samples in a step, of 1 ms each */
	uint32_t nr_elsewhere;	   /* the last of nr_waits, at another line */
	bool has_gpu;
	const char *op;	     /* for the rest; NULL: the loader's */
	const char *os_call; /* which the same time is of; NULL: such calls were not recorded */
	uint32_t os_holder;  /* the thread that holds the mutex it waits for; 0: unknown */
	uint32_t holder_stack;
};

static struct made made_python(const char *name)
{
	struct made made = made_open(name);
	struct gen *gen = made.gen;

	gen_thread(gen, 1, LOOP, NULL);
	gen_py_file(gen, 1, "/home/me/train.py");
	gen_py_file(gen, 2, "/home/me/preprocess_images_of_imagenet.py");
	gen_py_file(gen, 3, "/usr/lib/python3.12/subprocess.py");
	gen_py_file(gen, 4, "/home/me/lib/python3.12/site-packages/PIL/Image.py");
	gen_py_code(gen, 1, 1, 1, "step");
	gen_py_code(gen, 2, 1, 1, "load");
	gen_py_code(gen, 3, 2, 1, "augment_with_random_crops");
	gen_py_code(gen, 4, 3, 1, "_try_wait");
	gen_py_code(gen, 5, 4, 1, "open");
	gen_py_stack(gen, STEP, 0, 1, 12);
	gen_py_stack(gen, LOAD, 0, 2, 41);
	gen_py_stack(gen, LONG, 0, 3, 1234);
	gen_py_stack(gen, OF_STEP, STEP, 4, 2011);
	gen_py_stack(gen, TRY_WAIT, OF_STEP, 4, 2012);
	gen_py_stack(gen, IN_PACKAGE, LOAD, 5, 3277);
	return made;
}

static void add_wait(struct made *made, uint32_t task, const struct waits *waits, uint32_t stack,
	const char *object, uint64_t time)
{
	uint32_t call = gen_string(made->gen, waits->call);
	uint32_t of = object ? gen_string(made->gen, object) : 0;
	struct gprof_row_wait_sample *row = gen_row(made->gen, GPROF_TABLE_wait_sample);

	row->time = time;
	row->ns = MS;
	row->task = task;
	row->kind = waits->kind;
	row->syscall = call;
	row->object = of;
	row->py_stack = stack;
	row->holder = waits->holder_stack ? OTHER : 0;
	row->holder_stack = waits->holder_stack;
}

static void add_samples(struct made *made, const struct waits *waits, uint32_t step, uint64_t at)
{
	const char *object = waits->object;
	char path[32];

	if (waits->nr_folders) {
		snprintf(path, sizeof(path), "/data/%u/%s", step % waits->nr_folders, object);
		object = path;
	}

	for (uint32_t i = 0; i < waits->nr_waits; i++) {
		add_wait(made, LOOP, waits,
			i < waits->nr_waits - waits->nr_elsewhere ? waits->stack : IN_PACKAGE,
			object, at + (i + 1) * MS + 500000);
	}
	add_wait(made, OTHER, waits, waits->stack, object, at + 2 * MS + 500000);
	for (uint32_t i = 0; i < waits->nr_cpu; i++) {
		struct gprof_row_cpu_sample *row = gen_row(made->gen, GPROF_TABLE_cpu_sample);

		row->time = at + (8 - i) * MS + 600000;
		row->ns = MS;
		row->task = LOOP;
		row->py_stack = LOAD;
	}
}

/* From 1 to 9 ms the thread waits or runs; the GPU is idle, or the loader is at work. */
static const char *recorded(const char *name, const struct waits *waits)
{
	struct made made = made_python(name);
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);

	for (uint32_t step = 1; step <= STEPS; step++) {
		uint64_t at = 10 * MS * step;

		made_step(&made, at, step);
		if (waits->has_gpu) {
			made_launch(&made, shape, at, 10000, at + 20000, at + MS);
		} else {
			made_op(&made, "aten::mm", at, at + MS, 0);
		}
		if (waits->op) {
			made_op(&made, waits->op, at + MS + 20000, at + 9 * MS, 0);
		}
		if (waits->os_call) {
			gen_os_call(made.gen, waits->os_call, 1, at + MS + 20000, at + 9 * MS)
				->holder = waits->os_holder;
		}
		add_samples(&made, waits, step, at);
		if (waits->has_gpu) {
			made_launch(&made, shape, at + 9 * MS, 10000, at + 9 * MS + 20000,
				at + 10 * MS - 1000);
		} else {
			made_op(&made, "aten::mm", at + 9 * MS, at + 10 * MS - 1000, 0);
		}
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

/* The sentence of the cause begins so, has a saving, and is whole on two lines. */
static void says(const struct waits *waits, const char *cause, const char *begin)
{
	struct table *table = tables_of(&view_findings, recorded("waits.gprof", waits), false);
	const char *sentence =
		tables_cell(table, tables_find(table, "cause", cause, 0), "sentence")->text;

	ck_assert_msg(!strncmp(sentence, begin, strlen(begin)), "%s: not '%s'", sentence, begin);
	ck_assert_msg(nr_lines(sentence) <= 2, "%zu lines: %s", nr_lines(sentence), sentence);
	ck_assert_msg(strstr(sentence, "save") && strstr(sentence, " %)"), "%s", sentence);
	table_destroy(table);
}

START_TEST(the_line_of_each_kind_of_wait_is_named)
{
	static const struct {
		struct waits waits;
		const char *begin;
	} cases[] = {
		{{GPROF_OS_SLEEP, STEP, "clock_nanosleep", .nr_waits = 8},
			"The loop waits at train.py(12): step, in clock_nanosleep; waiting less "
			"there "},
		{{GPROF_OS_READ, LOAD, "read", "/data/*.tar", .nr_waits = 8},
			"The loop waits, 100.0 % of its waits at train.py(41): load, in read of "
			"/data/*.tar; "},
		{{GPROF_OS_GIL, STEP, "futex", .nr_waits = 8},
			"The loop waits for Python's lock (GIL), which other threads hold; using "
			"processes can save at most "},
		{{GPROF_OS_GIL, STEP, "futex", .nr_waits = 8, .holder_stack = LOAD},
			"The loop waits for Python's lock (GIL), held at train.py(41): load; using "
			"processes can save at most "},
		{{GPROF_OS_GIL, STEP, "futex", .nr_waits = 8,
			 .holder_stack = GPROF_PY_STACK_NOT_READ},
			"The loop waits for Python's lock (GIL), which other threads hold; "},
		{{GPROF_OS_WAIT, STEP, "futex", .nr_waits = 8},
			"The loop waits, 100.0 % of its waits at train.py(12): step, for a lock or "
			"a thread; "},
		{{GPROF_OS_PROCESS, TRY_WAIT, "wait4", .nr_waits = 8},
			"The loop waits, 100.0 % of its waits at train.py(12): step, for a child "
			"process; "},
		{{GPROF_OS_FAULT, LOAD, "page fault", .nr_waits = 8},
			"The loop waits, 100.0 % of its waits at train.py(41): load, in page "
			"faults; "},
		{{GPROF_OS_SLEEP, STEP, "clock_nanosleep", .nr_waits = 8, .has_gpu = true},
			"The GPU waits while the loop waits at train.py(12), in clock_nanosleep; "
			"waiting less there "},
		{{GPROF_OS_GIL, STEP, "futex", .nr_waits = 8, .has_gpu = true},
			"The host waits for Python's lock (GIL), which other threads hold; "},
		{{GPROF_OS_GIL, STEP, "futex", .nr_waits = 8, .holder_stack = LONG,
			 .has_gpu = true},
			"The host waits for Python's lock (GIL), held at "},
		{{GPROF_OS_READ, LONG, "read", "/data/imagenet/of/2012/train/*.jpg", .nr_waits = 8,
			 .has_gpu = true},
			"The GPU waits while the loop waits at "},
		{{GPROF_OS_WAIT, LONG, "futex", .nr_waits = 8, .has_gpu = true},
			"The GPU waits while the loop waits at "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		says(&cases[i].waits, "python_host", cases[i].begin);
	}
}
END_TEST

/* In a loader that has no workers; one with workers waits for these. */
START_TEST(a_loop_that_loads_data_waits_in_it)
{
	struct waits waits = {GPROF_OS_READ, LOAD, "read", "/data/*.jpg", .nr_waits = 8,
		.op = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"};

	says(&waits, "loader",
		"The loop loads data itself, waiting at train.py(41): load, in read of "
		"/data/*.jpg; batches ready in time would save ");
	waits.has_gpu = true;
	says(&waits, "loader", "The GPU waits while the loop loads data, waiting at train.py(41)");
	waits.op = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
	says(&waits, "loader", "The GPU waits for the data loader; ");
}
END_TEST

/* Calls of the system that were recorded are a cause of their own, at the same line. */
START_TEST(the_line_of_recorded_calls_is_named)
{
	struct waits waits = {GPROF_OS_WAIT, STEP, "futex", .nr_waits = 8, .os_call = "sem_wait"};

	says(&waits, "os_calls",
		"The loop waits, 100.0 % of its waits at train.py(12): step, for a lock or a "
		"thread; waiting less there can save at most ");
	waits.has_gpu = true;
	says(&waits, "os_calls",
		"The GPU waits while the loop waits at train.py(12): step, for a lock or a "
		"thread; ");
	/* Without samples the call is all that is known. */
	waits.nr_waits = 0;
	says(&waits, "os_calls",
		"The GPU waits for OS calls, 100.0 % of that in sem_wait; waiting "
		"less can save at most ");
	waits.os_call = "pthread_mutex_lock";
	waits.os_holder = OTHER;
	says(&waits, "os_calls",
		"The GPU waits for OS calls, 100.0 % of that for a lock held by thread 78; waiting "
		"less can save at most ");
	waits.os_holder = 0;
	waits.has_gpu = false;
	waits.os_call = "fsync";
	says(&waits, "os_calls",
		"The loop spends time in OS calls, 100.0 % of that in fsync; a thread of their own "
		"can save at most ");
}
END_TEST

/* CPU time of more than half of the time is worth more than few waits. */
START_TEST(waits_that_are_not_most_of_the_time_are_not_named)
{
	struct waits waits = {GPROF_OS_SLEEP, STEP, "clock_nanosleep", .nr_waits = 3, .nr_cpu = 5};

	says(&waits, "python_host",
		"The loop runs Python code, 100.0 % of its CPU samples at train.py(41): load; ");
	waits.nr_waits = 5;
	waits.nr_cpu = 3;
	says(&waits, "python_host", "The loop waits at train.py(12): step, in clock_nanosleep; ");
	/* A thread that is in the kernel for most of the time may wait or run there. */
	waits.nr_waits = 3;
	waits.nr_cpu = 1;
	says(&waits, "python_host", "The loop mostly waits or is in the kernel; ");
	/* Without CPU samples nothing says that it did not run. */
	waits.nr_waits = 3;
	waits.nr_cpu = 0;
	says(&waits, "python_host", "The loop runs code outside of operators, such as Python; ");
}
END_TEST

/* What a line with part of the waits can save is less than what all of them cost. */
START_TEST(a_line_with_part_of_the_waits_keeps_its_share)
{
	struct waits waits = {GPROF_OS_READ, STEP, "read", "/data/imagenet/train/*.jpg",
		.nr_waits = 8, .nr_elsewhere = 3};

	says(&waits, "python_host",
		"The loop waits, 62.5 % of its waits at train.py(12): step, in read of "
		"/data/i.../*.jpg; waiting less can save ");
	waits.has_gpu = true;
	says(&waits, "python_host",
		"The GPU waits while the loop waits, 62.5 % of its waits at train.py(12)");
	waits.stack = LONG;
	says(&waits, "python_host",
		"The GPU waits while the loop waits, 62.5 % of its waits at preproc");
}
END_TEST

START_TEST(waits_whose_frames_are_unknown_name_no_line)
{
	struct waits waits = {
		GPROF_OS_READ, GPROF_PY_STACK_NOT_READ, "read", "pipe", .nr_waits = 7, .nr_cpu = 1};

	says(&waits, "python_host", "The loop mostly waits or is in the kernel; ");
	waits.stack = 0; /* it runs no Python */
	says(&waits, "python_host",
		"The loop waits, 100.0 % of its waits in read of pipe; waiting less can save ");
	waits.kind = GPROF_OS_PROCESS;
	waits.object = NULL;
	waits.has_gpu = true;
	says(&waits, "python_host",
		"The GPU waits while the loop waits, 100.0 % of its waits for a child process; "
		"waiting less can save ");
}
END_TEST

/* One object is named if it has half of the line's time. */
START_TEST(a_line_that_reads_from_many_places_names_none)
{
	struct waits waits = {GPROF_OS_READ, LOAD, "read", "*.jpg", 3, .nr_waits = 8};

	says(&waits, "python_host",
		"The loop waits, 100.0 % of its waits at train.py(41): load, in read; ");
	waits.nr_folders = 1;
	says(&waits, "python_host",
		"The loop waits at train.py(41): load, in read of /data/0/*.jpg; ");
}
END_TEST

static void places_say(const struct waits *waits, const char *text)
{
	struct table *table = tables_of(&view_findings, recorded("places.gprof", waits), false);
	const char *places =
		tables_cell(table, tables_find(table, "cause", "python_host", 0), "places")->text;

	ck_assert_msg(strstr(places, text) != NULL, "%s", places);
	table_destroy(table);
}

START_TEST(places_have_all_lines)
{
	const struct waits waits = {GPROF_OS_READ, LOAD, "read", "/data/a/*.jpg", .nr_waits = 8};

	places_say(&waits, "; 100.0 % of the loop's waits at train.py(41): load, in read of "
			   "/data/a/*.jpg");
}
END_TEST

START_TEST(places_have_who_holds_the_lock)
{
	const struct waits waits = {
		GPROF_OS_GIL, STEP, "futex", .nr_waits = 8, .holder_stack = LOAD};

	places_say(&waits, "at train.py(12): step, for Python's lock (GIL); 100.0 % of the samples "
			   "of the lock's holder at train.py(41): load");
}
END_TEST

static const char *name_of(struct table *table, size_t row, const char *key)
{
	const struct table_cell *cell = tables_cell(table, row, key);

	return cell->is_known ? string_pool_text((uint32_t)cell->integer, NULL) : "";
}

static void is_row(struct table *table, const char *name, const char *caller, const char *call,
	const char *object, int64_t ms)
{
	size_t row = tables_find(table, "name", name, 0);

	ck_assert_str_eq(name_of(table, row, "caller"), caller);
	ck_assert_str_eq(name_of(table, row, "call"), call);
	ck_assert_str_eq(name_of(table, row, "object"), object);
	ck_assert_int_eq(tables_cell(table, row, "wait_ns")->integer, ms * (int64_t)MS);
	ck_assert_int_eq(tables_cell(table, row, "samples")->integer, ms);
}

START_TEST(lines_have_their_callers_and_what_they_wait_for)
{
	static const struct waits all[] = {
		{GPROF_OS_READ, IN_PACKAGE, "read", "/data/*.jpg", .nr_waits = 5},
		{GPROF_OS_PROCESS, TRY_WAIT, "wait4", .nr_waits = 4},
		{GPROF_OS_GIL, STEP, "futex", .nr_waits = 3, .holder_stack = LOAD},
		{GPROF_OS_READ, GPROF_PY_STACK_NOT_READ, "read", "pipe", .nr_waits = 2},
		{GPROF_OS_POLL, 0, "epoll_wait", .nr_waits = 1}};
	struct made made = made_python("lines.gprof");
	struct table *table;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (uint32_t nr = 0; nr < all[i].nr_waits; nr++) {
			add_wait(&made, i % 2 ? LOOP : OTHER, &all[i], all[i].stack, all[i].object,
				(10 * i + nr) * MS);
		}
	}
	gen_close(made.gen, "exit");
	table = tables_of(&view_wait_lines, made.path, false);
	ck_assert_uint_eq(table->nr_rows, 5);
	is_row(table, "PIL/Image.py(3277): open", "train.py(41): load", "read", "/data/*.jpg", 5);
	is_row(table, "subprocess.py(2012): _try_wait", "train.py(12): step", "wait4", "", 4);
	is_row(table, "train.py(12): step", "", "Python's lock (GIL)", "train.py(41): load", 3);
	is_row(table, "(unknown)", "", "read", "pipe", 2);
	is_row(table, "(no Python line)", "", "epoll_wait", "", 1);
	ck_assert_ptr_nonnull(strstr(table->note, "15 samples"));
	ck_assert_ptr_nonnull(strstr(table->note, "The lines of 2 samples are unknown"));
	table_destroy(table);
}
END_TEST

UNIT_SUITE("report/waits", the_line_of_each_kind_of_wait_is_named,
	a_loop_that_loads_data_waits_in_it, the_line_of_recorded_calls_is_named,
	waits_that_are_not_most_of_the_time_are_not_named,
	a_line_with_part_of_the_waits_keeps_its_share, waits_whose_frames_are_unknown_name_no_line,
	a_line_that_reads_from_many_places_names_none, places_have_all_lines,
	places_have_who_holds_the_lock, lines_have_their_callers_and_what_they_wait_for)
