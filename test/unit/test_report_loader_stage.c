/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of data loaders: by Python stacks, and summed. t128 compares real loaders with their own
 * clocks. */
#include "report/budget/loader_stage.h"

#include <stdio.h>
#include <string.h>

#include "test/unit/report_made.h"

#define MS	 1000000ull
#define PACKAGES "/usr/lib/python3/dist-packages"
#define LIBRARY	 "/usr/lib/python3.11"
#define FETCH	 PACKAGES "/torch/utils/data/_utils/fetch.py"
#define WORKER	 PACKAGES "/torch/utils/data/_utils/worker.py"

/* Frames of a stack, the outermost first. */
struct frame {
	const char *file, *function;
};

static const struct stack {
	struct frame frames[6];
	enum loader_stage of_worker, of_loop;
} stacks[] = {
	{{{"/home/me/train.py", "<module>"}, {WORKER, "_worker_loop"}}, LOADER_STAGE_OTHER,
		LOADER_STAGE_NONE},
	{{{FETCH, "fetch"}}, LOADER_STAGE_OTHER, LOADER_STAGE_OTHER},
	{{{"/home/me/train.py", "<module>"}, {FETCH, "fetch"}, {"/home/me/data.py", "load"}},
		LOADER_STAGE_OWN, LOADER_STAGE_OWN},
	/* what own code calls is own code, but for packages that tell a stage */
	{{{FETCH, "fetch"}, {"/home/me/data.py", "load"},
		 {PACKAGES "/numpy/core/fromnumeric.py", "sum"}},
		LOADER_STAGE_OWN, LOADER_STAGE_OWN},
	{{{FETCH, "fetch"}, {"/home/me/data.py", "load"}, {PACKAGES "/PIL/Image.py", "convert"},
		 {PACKAGES "/PIL/ImageFile.py", "load"}},
		LOADER_STAGE_DECODE, LOADER_STAGE_DECODE},
	{{{FETCH, "fetch"}, {"/home/me/data.py", "load"}, {PACKAGES "/PIL/Image.py", "resize"}},
		LOADER_STAGE_TRANSFORM, LOADER_STAGE_TRANSFORM},
	{{{FETCH, "fetch"}, {"/home/me/data.py", "load"}, {LIBRARY "/gzip.py", "read"}},
		LOADER_STAGE_DECODE, LOADER_STAGE_DECODE},
	/* a transform of one's own */
	{{{FETCH, "fetch"}, {PACKAGES "/torchvision/transforms/transforms.py", "__call__"},
		 {"/home/me/data.py", "flip"}},
		LOADER_STAGE_TRANSFORM, LOADER_STAGE_TRANSFORM},
	/* but what a decoder's callback does is not decoding */
	{{{FETCH, "fetch"}, {LIBRARY "/json/decoder.py", "decode"}, {"/home/me/data.py", "hook"}},
		LOADER_STAGE_OWN, LOADER_STAGE_OWN},
	/* folders of one's own that have the names of packages */
	{{{FETCH, "fetch"}, {"/home/me/datasets/features/made.py", "load"}}, LOADER_STAGE_OWN,
		LOADER_STAGE_OWN},
	{{{FETCH, "fetch"}, {PACKAGES "/torch/utils/data/_utils/collate.py", "default_collate"}},
		LOADER_STAGE_COLLATE, LOADER_STAGE_COLLATE},
	{{{FETCH, "fetch"}, {"/home/me/data.py", "my_collate_fn"}, {"/home/me/data.py", "pad"}},
		LOADER_STAGE_COLLATE, LOADER_STAGE_COLLATE},
	{{{WORKER, "_worker_loop"}, {LIBRARY "/multiprocessing/queues.py", "put"}},
		LOADER_STAGE_HAND_OVER, LOADER_STAGE_NONE},
	{{{LIBRARY "/threading.py", "run"},
		 {PACKAGES "/torch/utils/data/_utils/pin_memory.py", "pin_memory"}},
		LOADER_STAGE_PIN, LOADER_STAGE_PIN},
	/* the loop's own work is of no loader */
	{{{"/home/me/train.py", "<module>"}, {PACKAGES "/PIL/ImageFile.py", "load"}},
		LOADER_STAGE_DECODE, LOADER_STAGE_NONE},
	{{{"/home/me/train.py", "<module>"}, {"/home/me/train.py", "collate_results"}},
		LOADER_STAGE_COLLATE, LOADER_STAGE_NONE},
	/* started by a program, not by its own code */
	{{{"/home/me/train.py", "<module>"}, {LIBRARY "/json/decoder.py", "decode"}},
		LOADER_STAGE_DECODE, LOADER_STAGE_NONE},
	/* Paddle */
	{{{PACKAGES "/paddle/io/dataloader/fetcher.py", "fetch"},
		 {PACKAGES "/paddle/io/dataloader/collate.py", "default_collate_fn"}},
		LOADER_STAGE_COLLATE, LOADER_STAGE_COLLATE},
};

#define NR_STACKS (sizeof(stacks) / sizeof(stacks[0]))
#define AT_ONCE	  8u

/* Stack i, from 0, has the id (i + 1) * AT_ONCE - 1. */
static uint32_t id_of(size_t i)
{
	return (uint32_t)(i + 1) * AT_ONCE - 1;
}

static void add_stacks(struct gen *gen)
{
	for (size_t i = 0; i < NR_STACKS; i++) {
		uint32_t id = (uint32_t)(i + 1) * AT_ONCE, parent = 0, nr = 0;

		while (nr < 6 && stacks[i].frames[nr].file) {
			nr++;
		}
		for (uint32_t k = 0; k < nr; k++) {
			uint32_t stack = k == nr - 1 ? id_of(i) : id - nr + k;

			gen_py_file(gen, id + k, stacks[i].frames[k].file);
			gen_py_code(gen, id + k, id + k, 1, stacks[i].frames[k].function);
			gen_py_stack(gen, stack, parent, id + k, 10 + k);
			parent = stack;
		}
	}
}

static struct process *process_with(void (*add)(struct gen *gen), bool is_worker)
{
	struct gen *gen = gen_open(streams_path("loader.gprof"));

	if (is_worker) {
		gen_info(gen, "loader.worker", "1");
		gen_info(gen, "loader.workers", "2");
	}
	gen_anchor(gen, 0, 0, 0);
	gen_thread(gen, 1, GEN_PID, NULL);
	add_stacks(gen);
	if (add) {
		add(gen);
	}
	gen_close(gen, "exit");
	return streams_process(streams_path("loader.gprof"));
}

START_TEST(stacks_tell_stages)
{
	struct process *process = process_with(NULL, true);

	for (size_t i = 0; i < NR_STACKS; i++) {
		ck_assert_msg(loader_stage_of(process, id_of(i), true) == stacks[i].of_worker,
			"stack %zu of a worker: %s", i,
			loader_stage_name(loader_stage_of(process, id_of(i), true)));
		ck_assert_msg(loader_stage_of(process, id_of(i), false) == stacks[i].of_loop,
			"stack %zu of the loop: %s", i,
			loader_stage_name(loader_stage_of(process, id_of(i), false)));
	}
	ck_assert_int_eq(loader_stage_of(process, 0, true), LOADER_STAGE_OTHER);
	ck_assert_int_eq(loader_stage_of(process, 0, false), LOADER_STAGE_NONE);
	ck_assert_int_eq(
		loader_stage_of(process, GPROF_PY_STACK_NOT_READ, true), LOADER_STAGE_OTHER);
	process_destroy(process);
}
END_TEST

static const struct {
	uint8_t kind;
	const char *object;
	size_t stack; /* 2: own code; 12: hands over */
	enum loader_stage of_worker, of_loop;
} waits[] = {
	{GPROF_OS_READ, "/data/*.jpg", 2, LOADER_STAGE_READ, LOADER_STAGE_READ},
	{GPROF_OS_FAULT, "", 2, LOADER_STAGE_READ, LOADER_STAGE_READ},
	{GPROF_OS_SLEEP, "", 2, LOADER_STAGE_OWN, LOADER_STAGE_OWN},
	{GPROF_OS_GIL, "", 2, LOADER_STAGE_OWN, LOADER_STAGE_OWN},
	{GPROF_OS_LOCK, "", 2, LOADER_STAGE_OWN, LOADER_STAGE_OWN},
	{GPROF_OS_LOCK, "", 12, LOADER_STAGE_WAIT, LOADER_STAGE_NONE},
	{GPROF_OS_READ, "pipe", 2, LOADER_STAGE_OWN, LOADER_STAGE_OWN},
	{GPROF_OS_READ, "pipe", 12, LOADER_STAGE_WAIT, LOADER_STAGE_NONE},
	{GPROF_OS_READ, "pipe:[17]", 12, LOADER_STAGE_WAIT, LOADER_STAGE_NONE},
	{GPROF_OS_READ, "/data/pipeline.bin", 2, LOADER_STAGE_READ, LOADER_STAGE_READ},
	{GPROF_OS_POLL, "", 12, LOADER_STAGE_WAIT, LOADER_STAGE_NONE},
};

#define NR_WAITS (sizeof(waits) / sizeof(waits[0]))

static void add_waits(struct gen *gen)
{
	for (size_t i = 0; i < NR_WAITS; i++) {
		uint32_t call = gen_string(gen, "call");
		uint32_t object = waits[i].object[0] ? gen_string(gen, waits[i].object) : 0;
		struct gprof_row_wait_sample *row = gen_row(gen, GPROF_TABLE_wait_sample);

		row->time = (20 + 10 * i) * MS;
		row->ns = 10 * MS;
		row->task = GEN_PID;
		row->kind = waits[i].kind;
		row->syscall = call;
		row->object = object;
		row->py_stack = id_of(waits[i].stack);
	}
}

/* CPU samples of 10 ms: one of each stack. */
static void add_samples(struct gen *gen)
{
	for (size_t i = 0; i < NR_STACKS; i++) {
		struct gprof_row_cpu_sample *row = gen_row(gen, GPROF_TABLE_cpu_sample);

		row->time = (200 + 10 * i) * MS;
		row->ns = 10 * MS;
		row->task = GEN_PID;
		row->py_stack = id_of(i);
	}
	add_waits(gen);
}

static void add_samples_that_lack_frames(struct gen *gen)
{
	add_samples(gen);
	for (size_t i = 0; i < 3; i++) {
		struct gprof_row_cpu_sample *row = gen_row(gen, GPROF_TABLE_cpu_sample);

		row->time = (500 + 10 * i) * MS;
		row->ns = 10 * MS;
		row->task = GEN_PID;
		row->py_stack = i ? GPROF_PY_STACK_NOT_READ : 0; /* the first ran no Python */
	}
}

static uint64_t count_stages(enum loader_stage stage, bool is_worker, bool of_waits)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < (of_waits ? NR_WAITS : NR_STACKS); i++) {
		enum loader_stage worker = of_waits ? waits[i].of_worker : stacks[i].of_worker;
		enum loader_stage loop = of_waits ? waits[i].of_loop : stacks[i].of_loop;

		nr += stage == (is_worker ? worker : loop);
	}
	return nr;
}

static void times_add_up(bool is_worker)
{
	static const char *const names[] = {"read", "decode", "transform", "own code", "collate",
		"hand over", "pin memory", "wait for the loop", "wait for a CPU", "other"};
	struct process *process = process_with(add_samples, is_worker);
	struct table *table = tables_make(&view_loader_stages, &process, 1, false);
	size_t nr_rows = 0;

	for (unsigned int stage = LOADER_STAGE_READ; stage < NR_LOADER_STAGES; stage++) {
		uint64_t cpu = count_stages(stage, is_worker, false);
		uint64_t wait = count_stages(stage, is_worker, true);
		size_t row;

		if (cpu + wait) {
			row = tables_find(table, "stage", names[stage - 1], 0);
			ck_assert_uint_eq(tables_number(table, row, "cpu_ns"), cpu * 10 * MS);
			ck_assert_uint_eq(tables_number(table, row, "wait_ns"), wait * 10 * MS);
			ck_assert_uint_eq(tables_number(table, row, "samples"), cpu + wait);
			nr_rows++;
		}
	}
	ck_assert_uint_eq(table->nr_rows, nr_rows);
	table_destroy(table);
	process_destroy(process);
}

START_TEST(times_of_workers_add_up)
{
	times_add_up(true);
}
END_TEST

START_TEST(a_loop_that_loads_itself_has_the_loaders_part_alone)
{
	times_add_up(false);
}
END_TEST

static void has_note(bool is_worker, const char *note)
{
	struct process *process = process_with(add_samples_that_lack_frames, is_worker);
	struct table *table = tables_make(&view_loader_stages, &process, 1, false);

	ck_assert_msg(strstr(table->note, note) != NULL, "%s", table->note);
	table_destroy(table);
	process_destroy(process);
}

START_TEST(samples_without_frames_are_told)
{
	char note[96];

	snprintf(note, sizeof(note), "2 of %zu CPU samples of Python in the loop's process",
		NR_STACKS + 2);
	has_note(false, note);
	has_note(true, "The Python frames of 2 samples could not be read");
}
END_TEST

UNIT_SUITE("report/loader_stage", stacks_tell_stages, times_of_workers_add_up,
	a_loop_that_loads_itself_has_the_loaders_part_alone, samples_without_frames_are_told)
