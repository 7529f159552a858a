/* SPDX-License-Identifier: Apache-2.0 */
/* What the finding of the loader says of its workers: by samples of their threads, in clear cases.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/report_made.h"

#define MS	   1000000ull
#define STEPS	   40u
#define OF_WORKERS "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
#define IN_LOOP	   "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

/* A loop without a GPU: of each step of 10 ms the loader takes 8. */
static struct process *loop(const char *loader)
{
	struct made made = made_open("loop.gprof");

	gen_thread(made.gen, 1, GEN_PID, NULL);
	for (uint32_t i = 0; i <= STEPS; i++) {
		uint64_t at = (10 + 10 * i) * MS;

		made_step(&made, at, i + 1);
		if (i < STEPS) {
			made_op(&made, loader, at, at + 8 * MS, 0);
			made_op(&made, "aten::mm", at + 8 * MS, at + 10 * MS, 0);
		}
	}
	gen_close(made.gen, "exit");
	return streams_process(made.path);
}

/*
 * A second in which the first thread reads two files for 50 ms of each 100, 1 MB a time, and waits
 * for its queue for 30; another thread reads for all of it.
 */
static void add_calls(struct gen *gen, const char *path)
{
	for (uint32_t i = 0; i < 10; i++) {
		uint64_t at = (20 + 100 * i) * MS;
		char name[64];
		uint32_t id;
		struct gprof_row_os_call *row;

		snprintf(name, sizeof(name), "%s/%u.tar", path, i % 2);
		id = gen_string(gen, name);
		row = gen_os_call(gen, "read", 1, at, at + 50 * MS);
		row->bytes = 1000000;
		row->file = 1 + i % 2;
		row->name = i < 2 ? id : 0;
		gen_os_call(gen, "poll", 1, at + 50 * MS, at + 80 * MS);
		id = gen_string(gen, "pipe:[17]");
		row = gen_os_call(gen, "read", 1, at + 80 * MS, at + 90 * MS);
		row->name = id;
		row->file = 9;
		gen_os_call(gen, "read", 2, at, at + 100 * MS);
	}
}

/* Samples of a thread in a line of Python, which has the stack of that id. */
static void add_samples(struct gen *gen, uint32_t nr, uint32_t task, uint32_t stack)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct gprof_row_cpu_sample *row = gen_row(gen, GPROF_TABLE_cpu_sample);

		row->time = (20 + 10 * i) * MS;
		row->ns = 10 * MS;
		row->task = task;
		row->py_stack = stack;
	}
}

/* Three quarters of what the first thread computes are at one line; another thread computes more.
 */
static void add_code(struct gen *gen)
{
	gen_py_code(gen, 1, 1, 7, "decode");
	gen_py_code(gen, 2, 1, 20, "augment");
	gen_py_stack(gen, 1, 0, 1, 9);
	gen_py_stack(gen, 2, 0, 2, 21);
	add_samples(gen, 60, GEN_PID, 1);
	add_samples(gen, 20, GEN_PID, 2);
	add_samples(gen, 90, GEN_PID + 1, 2);
}

/* A decoder that the first thread calls at two lines, and 20 samples of its own code. */
static void add_decoder(struct gen *gen, const uint32_t nr_at[2])
{
	gen_py_file(gen, 2, "/usr/lib/python3/dist-packages/PIL/ImageFile.py");
	gen_py_code(gen, 1, 1, 7, "load");
	gen_py_code(gen, 2, 2, 200, "load");
	gen_py_file(gen, 3, "/usr/lib/python3/dist-packages/torch/utils/data/_utils/fetch.py");
	gen_py_code(gen, 3, 3, 50, "fetch");
	gen_py_stack(gen, 5, 0, 3, 54);
	gen_py_stack(gen, 1, 5, 1, 9);
	gen_py_stack(gen, 2, 1, 2, 210);
	gen_py_stack(gen, 3, 5, 1, 12);
	gen_py_stack(gen, 4, 3, 2, 210);
	add_samples(gen, nr_at[0], GEN_PID, 2);
	add_samples(gen, nr_at[1], GEN_PID, 4);
	add_samples(gen, 20, GEN_PID, 1);
}

/* Samples of waits of 10 ms each, at data.py(30), and of the queue at a line of Python's library.
 */
struct waits {
	uint8_t kind;
	const char *call, *object;
	uint32_t nr, nr_of_queue;
};

static void add_wait(
	struct gen *gen, const struct waits *waits, uint64_t time, uint32_t task, uint32_t stack)
{
	uint32_t call = gen_string(gen, waits->call);
	uint32_t object = waits->object ? gen_string(gen, waits->object) : 0;
	struct gprof_row_wait_sample *row = gen_row(gen, GPROF_TABLE_wait_sample);

	row->time = time;
	row->ns = 10 * MS;
	row->task = task;
	row->kind = waits->kind;
	row->syscall = call;
	row->object = object;
	row->py_stack = stack;
}

static void add_waits(struct gen *gen, const struct waits *waits)
{
	static const struct waits poll = {GPROF_OS_POLL, "poll", NULL, 0, 0};
	static const struct waits read = {GPROF_OS_READ, "read", "pipe", 0, 0};

	gen_py_code(gen, 3, 1, 28, "fetch");
	gen_py_stack(gen, 3, 0, 3, 30);
	for (uint32_t i = 0; i < waits->nr + waits->nr_of_queue; i++) {
		const struct waits *queue = i % 2 ? &poll : &read;

		add_wait(gen, i < waits->nr ? waits : queue, (20 + 10 * i) * MS, GEN_PID, 3);
	}
	for (uint32_t i = 0; i < 90; i++) {
		add_wait(gen, waits, (20 + 10 * i) * MS, GEN_PID + 1, 3);
	}
}

/* What a worker does: calls on files of that path, or samples of code, of waits, or both. */
struct work {
	const char *path;
	bool has_code;
	struct waits waits;
	uint32_t decoder_at[2];	      /* samples at each of its lines */
	bool has_operators;	      /* on another thread than the first one */
	uint64_t read_mb, storage_mb; /* in that second; 0: not counted */
};

static void add_bytes(struct gen *gen, uint64_t time, uint8_t metric, uint64_t bytes)
{
	struct gprof_row_sample *row = gen_row(gen, GPROF_TABLE_sample);

	row->time = time;
	row->value = bytes;
	row->metric = metric;
	row->device = 255;
}

/* One of two workers, for a second: percents of it on a CPU, and waiting for one. */
static struct process *worker(
	uint64_t cpu_pct, uint64_t wait_pct, uint64_t nr_cpus, const struct work *work)
{
	struct gen *gen = gen_open(streams_path("worker.gprof"));

	gen_info(gen, "loader.worker", "1");
	gen_info(gen, "loader.workers", "2");
	gen_anchor(gen, 0, 0, 0);
	gen_thread(gen, 1, GEN_PID, NULL);
	for (uint32_t i = 0; i <= 10; i++) {
		struct gprof_row_thread_cpu *row = gen_row(gen, GPROF_TABLE_thread_cpu);
		struct gprof_row_sample *cpus;

		row->time = (20 + 100 * i) * MS;
		row->cpu_ns = i * cpu_pct * MS;
		row->wait_ns = i * wait_pct * MS;
		row->thread = 1;
		cpus = gen_row(gen, GPROF_TABLE_sample);
		cpus->time = row->time;
		cpus->value = nr_cpus;
		cpus->metric = GPROF_METRIC_PROCESS_ALLOWED_CPUS;
		cpus->device = 255;
		if (work->read_mb) {
			add_bytes(gen, row->time, GPROF_METRIC_PROCESS_READ_BYTES,
				work->read_mb * 100000 * i);
			add_bytes(gen, row->time, GPROF_METRIC_PROCESS_STORAGE_READ_BYTES,
				work->storage_mb * 100000 * i);
		}
	}
	gen_py_file(gen, 1, "/home/me/data.py");
	if (work->has_code) {
		add_code(gen);
	}
	if (work->decoder_at[0]) {
		add_decoder(gen, work->decoder_at);
	}
	if (work->path) {
		add_calls(gen, work->path);
	}
	if (work->has_operators) {
		gen_thread(gen, 2, GEN_PID + 1, NULL);
		gen_op(gen, "aten::set_", 20 * MS, 30 * MS)->thread = 2;
	}
	if (work->waits.call) {
		add_waits(gen, &work->waits);
	}
	gen_close(gen, "exit");
	return streams_process(streams_path("worker.gprof"));
}

/* The finding of the loader has that text in that column. */
static void says_in(
	const char *column, struct process *loop, struct process *worker, const char *text)
{
	struct process *two[2] = {loop, worker};
	struct table *table = tables_make(&view_findings, two, 2, false);

	ck_assert_str_eq(
		tables_cell(table, tables_find(table, "cause", "loader", 0), column)->text, text);
	table_destroy(table);
	process_destroy(two[0]);
	process_destroy(two[1]);
}

static void says_of(struct process *loop, struct process *worker, const char *sentence)
{
	says_in("sentence", loop, worker, sentence);
}

static void says(const char *loader, uint64_t cpu_pct, uint64_t wait_pct, uint64_t nr_cpus,
	const char *sentence)
{
	says_of(loop(loader), worker(cpu_pct, wait_pct, nr_cpus, &(const struct work){NULL}),
		sentence);
}

START_TEST(workers_that_compute_are_too_few_or_too_slow)
{
	says(OF_WORKERS, 90, 5, 3,
		"The loop waits for loader workers, which compute 90 % of the time; more of them "
		"can save at most 8.000 ms per step (80.0 %)");
	says(OF_WORKERS, 90, 5, 10,
		"The loop waits for loader workers, which compute 90 % of the time; 10 workers "
		"instead of 2 can save at most 8.000 ms per step (80.0 %)");
	says(OF_WORKERS, 90, 5, 9,
		"The loop waits for loader workers, which compute 90 % of the time; more of them "
		"can save at most 8.000 ms per step (80.0 %)");
	says(OF_WORKERS, 90, 5, 2,
		"The loop waits for loader workers, which compute 90 % of the time; cheaper "
		"samples or more CPUs can save at most 8.000 ms per step (80.0 %)");
	says(OF_WORKERS, 60, 35, 64,
		"The loop waits for loader workers, which lack a CPU 35 % of the time; more CPUs "
		"or cheaper samples can save at most 8.000 ms per step (80.0 %)");
}
END_TEST

START_TEST(the_line_that_workers_compute_is_named)
{
	const struct work code = {.has_code = true};

	says_of(loop(OF_WORKERS), worker(90, 5, 3, &code),
		"The loop waits for loader workers, which run data.py(9): decode 68 % of "
		"the "
		"time; more of them can save at most 8.000 ms per step (80.0 %)");
	says_of(loop(OF_WORKERS), worker(90, 5, 2, &code),
		"The loop waits for loader workers, which run data.py(9): decode most; cheaper "
		"samples or more CPUs can save at most 8.000 ms per step (80.0 %)");
	says_of(loop(OF_WORKERS), worker(5, 3, 2, &code),
		"The loop waits for loader workers, which are blocked 92 % of the time; more of "
		"them or faster storage can save at most 8.000 ms per step (80.0 %)");
}
END_TEST

START_TEST(the_stage_that_workers_compute_is_named)
{
	const struct work decoder = {.decoder_at = {60, 0}}, two = {.decoder_at = {40, 20}};

	says_of(loop(OF_WORKERS), worker(90, 5, 3, &decoder),
		"The loop waits for loader workers, which decode 68 % of the time, at "
		"data.py(9): load; more of them can save at most 8.000 ms per step (80.0 %)");
	says_of(loop(OF_WORKERS), worker(90, 5, 3, &two),
		"The loop waits for loader workers, which decode 68 % of the time, mostly at "
		"data.py(9): load; more of them can save at most 8.000 ms per step (80.0 %)");
	/* without room to say how much of it is there */
	says_of(loop(OF_WORKERS), worker(90, 5, 2, &two),
		"The loop waits for loader workers, which mostly decode; cheaper samples or more "
		"CPUs can save at most 8.000 ms per step (80.0 %)");
	says_of(loop(OF_WORKERS), worker(90, 5, 2, &decoder),
		"The loop waits for loader workers, which mostly decode, at data.py(9): load; "
		"cheaper samples or more CPUs can save at most 8.000 ms per step (80.0 %)");
}
END_TEST

START_TEST(workers_that_do_not_run_are_blocked)
{
	says(OF_WORKERS, 5, 3, 2,
		"The loop waits for loader workers, which are blocked 92 % of the time; more of "
		"them or faster storage can save at most 8.000 ms per step (80.0 %)");
}
END_TEST

START_TEST(the_call_that_blocks_them_is_named)
{
	const struct work of_data = {.path = "/data"};
	const struct work of_long = {.path = "/a/very/long/path/of/many/folders"};

	says_of(loop(OF_WORKERS), worker(5, 3, 2, &of_data),
		"The loop waits for loader workers, which are in read(/data/*.tar) 50 % of the "
		"time; more of them can save at most 8.000 ms per step (80.0 %)");
	says_of(loop(OF_WORKERS), worker(5, 3, 2, &of_long),
		"The loop waits for loader workers, which are in read(/a/very/...lders/*.tar) 50 "
		"% of the time; more of them can save at most 8.000 ms per step (80.0 %)");
}
END_TEST

/* By samples; waits for the queue are not of the work. */
START_TEST(what_workers_wait_for_is_named)
{
	struct work work = {
		.waits = {GPROF_OS_READ, "read", "/data/train/*.jpg", .nr = 80, .nr_of_queue = 10}};

	says_of(loop(OF_WORKERS), worker(5, 3, 2, &work),
		"The loop waits for loader workers, which are in read(/data/train/*.jpg) 80 % of "
		"the time; more of them can save at most 8.000 ms per step (80.0 %)");
	work.waits = (struct waits){GPROF_OS_SLEEP, "clock_nanosleep", NULL, 80, 10};
	says_of(loop(OF_WORKERS), worker(5, 3, 2, &work),
		"The loop waits for loader workers, which mostly wait at data.py(30): fetch, in "
		"clock_nanosleep; more of them can save at most 8.000 ms per step (80.0 %)");
	/* Where calls were recorded, these are all. */
	work = (struct work){
		.path = "/data", .waits = {GPROF_OS_READ, "read", "/data/train/*.jpg", .nr = 80}};
	says_of(loop(OF_WORKERS), worker(5, 3, 2, &work),
		"The loop waits for loader workers, which are in read(/data/*.tar) 50 % of the "
		"time; more of them can save at most 8.000 ms per step (80.0 %)");
}
END_TEST

/* That storage does not count may be its file system's doing. */
START_TEST(workers_that_storage_delays_want_a_faster_one)
{
	struct work work = {.path = "/data/train", .read_mb = 200, .storage_mb = 180};

	says_of(loop(OF_WORKERS), worker(10, 5, 2, &work),
		"The loop waits for loader workers, which are in read(/data/train/*.tar) 50 % of "
		"the time; faster storage can save at most 8.000 ms per step (80.0 %)");
	says_in("places", loop(OF_WORKERS), worker(10, 5, 2, &work),
		"50.0 % of the workers' time in read(/data/train/*.tar), 20.0 MB/s; without that a "
		"step takes up to 5.000 ms less; storage delivers 180.0 MB (180.0 MB/s) of the "
		"200.0 MB that the workers read");
	work.storage_mb = 250; /* it reads ahead */
	says_in("places", loop(OF_WORKERS), worker(10, 5, 2, &work),
		"50.0 % of the workers' time in read(/data/train/*.tar), 20.0 MB/s; without that a "
		"step takes up to 5.000 ms less; storage delivers 250.0 MB (250.0 MB/s) of what "
		"the workers read");
	work.storage_mb = 90;
	says_of(loop(OF_WORKERS), worker(10, 5, 2, &work),
		"The loop waits for loader workers, which are in read(/data/train/*.tar) 50 % of "
		"the time; more of them can save at most 8.000 ms per step (80.0 %)");
	work.read_mb = 12; /* too little to say anything */
	work.storage_mb = 12;
	says_in("places", loop(OF_WORKERS), worker(10, 5, 2, &work),
		"50.0 % of the workers' time in read(/data/train/*.tar), 20.0 MB/s; without that a "
		"step takes up to 5.000 ms less");
}
END_TEST

START_TEST(workers_without_cpus_for_all_of_them_are_counted)
{
	says(OF_WORKERS, 40, 55, 1,
		"The loop waits for loader workers, which lack a CPU 55 % of the time (2 of them, "
		"1 "
		"CPU); more CPUs or cheaper samples can save at most 8.000 ms per step (80.0 %)");
}
END_TEST

START_TEST(workers_that_compute_and_wait_are_busy)
{
	struct work work = {.has_code = true,
		.waits = {GPROF_OS_READ, "read", "/data/train/*.jpg", .nr = 25, .nr_of_queue = 5}};

	says_of(loop(OF_WORKERS), worker(60, 5, 3, &work),
		"The loop waits for loader workers, which run data.py(9): decode 45 % of the "
		"time; more of them can save at most 8.000 ms per step (80.0 %)");
	work.waits.nr = 50;
	says_of(loop(OF_WORKERS), worker(40, 5, 3, &work),
		"The loop waits for loader workers, which are in read(/data/train/*.jpg) 50 % of "
		"the time; more of them can save at most 8.000 ms per step (80.0 %)");
	work.has_code = false;
	work.waits.nr = 25;
	says_of(loop(OF_WORKERS), worker(60, 5, 3, &work),
		"The loop waits for loader workers, which are busy 85 % of the time; more of "
		"them can save at most 8.000 ms per step (80.0 %)");
}
END_TEST

/* The step shrinks as the time for a batch does, but not below what it takes without waiting. */
START_TEST(what_workers_do_most_has_a_saving)
{
	struct work work = {.path = "/data"};

	says_in("places", loop(OF_WORKERS), worker(5, 3, 2, &work),
		"50.0 % of the workers' time in read(/data/*.tar), 20.0 MB/s; without that a step "
		"takes up to 5.000 ms less");
	work = (struct work){.decoder_at = {40, 20}};
	says_in("places", loop(OF_WORKERS), worker(90, 5, 3, &work),
		"the workers decode 67.5 % of the time, 67 % of that at data.py(9): load; "
		"without that a step takes up to 6.750 ms less");
	work = (struct work){.waits = {GPROF_OS_READ, "read", "/data/train/*.jpg", .nr = 90}};
	says_in("places", loop(OF_WORKERS), worker(5, 3, 2, &work),
		"90.0 % of the workers' time at data.py(30): fetch, in read of "
		"/data/train/*.jpg; without that a step takes up to 8.000 ms less");
}
END_TEST

/* More workers would wait for the loop, too. */
START_TEST(workers_that_wait_for_the_loop_are_no_cause)
{
	const struct work work = {
		.waits = {GPROF_OS_READ, "read", "/data/train/*.jpg", .nr = 40, .nr_of_queue = 50}};

	says_of(loop(OF_WORKERS), worker(5, 3, 2, &work),
		"The loop waits for the data loader; batches ready in time would save 8.000 ms "
		"per step (80.0 %)");
}
END_TEST

START_TEST(what_is_not_clear_is_not_said)
{
	says(OF_WORKERS, 50, 10, 8,
		"The loop waits for the data loader; batches ready in time would save "
		"8.000 ms per step (80.0 %)");
	says(IN_LOOP, 90, 5, 8,
		"The loop waits for the data loader, which has no workers; batches ready "
		"in time would save 8.000 ms per step (80.0 %)");
}
END_TEST

/* The thread that moves a worker's batches to the loop runs operators; the first makes batches. */
START_TEST(workers_are_their_first_threads)
{
	says_of(loop(OF_WORKERS), worker(90, 5, 3, &(const struct work){.has_operators = true}),
		"The loop waits for loader workers, which compute 90 % of the time; more of them "
		"can save at most 8.000 ms per step (80.0 %)");
}
END_TEST

UNIT_SUITE("report/loader_workers", workers_that_compute_are_too_few_or_too_slow,
	the_line_that_workers_compute_is_named, the_stage_that_workers_compute_is_named,
	workers_that_do_not_run_are_blocked, the_call_that_blocks_them_is_named,
	what_workers_wait_for_is_named, workers_that_compute_and_wait_are_busy,
	workers_that_wait_for_the_loop_are_no_cause, what_is_not_clear_is_not_said,
	what_workers_do_most_has_a_saving, workers_are_their_first_threads,
	workers_that_storage_delays_want_a_faster_one,
	workers_without_cpus_for_all_of_them_are_counted)
