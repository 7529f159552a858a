/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps of devices, and the steps that a data loader held back. */
#include "report/gpu/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define START 1000000ull

static void add_kernel(struct gen *gen, uint32_t place, uint64_t begin, uint64_t end)
{
	struct gprof_row_kernel *row = gen_row(gen, GPROF_TABLE_kernel);

	row->begin = begin;
	row->dur = end;
	row->place = place;
}

static void take_activity(void *context, const struct gpu_activity *activity)
{
	gaps_take(context, activity);
}

static struct gaps *gaps_of(struct process *process)
{
	struct gaps *gaps = calloc(1, sizeof(*gaps));
	static const uint32_t mask = COL_BIT(COL_kernel_begin) | COL_BIT(COL_kernel_dur) |
				     COL_BIT(COL_kernel_place) | COL_BIT(COL_kernel_correlation) |
				     COL_BIT(COL_kernel_shape);
	size_t before = unit_memory();
	struct gpu_activities works;

	gpu_activities_begin(&works, process, take_activity, gaps);
	for (size_t i = 0; i < process->stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(process->stream, i) == GPROF_TABLE_kernel) {
			ck_assert(!stream_load(process->stream, i, mask, 0, &batch));
			gpu_activities_take(&works, &batch);
			ck_assert_uint_le(unit_memory() - before, 2 * GPU_ACTIVITIES_WAIT_BYTES);
		}
	}
	gpu_activities_end(&works);
	gaps_end(gaps);
	return gaps;
}

/* ---- against every nanosecond ---- */

#define SPAN 60000u

START_TEST(gaps_of_random_work_are_those_of_every_nanosecond)
{
	static uint8_t busy[SPAN + 1];
	uint64_t seed = 3;

	for (unsigned int round = 0; round < 30; round++) {
		const char *path = streams_path("gaps.gprof");
		struct gen *gen = gen_open(path);
		uint32_t places[2] = {gen_place(gen, 5, 1, 7), gen_place(gen, 5, 1, 8)};
		uint64_t nr = 0, ns = 0, first = SPAN, last = 0;
		size_t at = 0;
		struct process *process;
		struct gaps *gaps;

		memset(busy, 0, sizeof(busy));
		for (unsigned int i = 0; i < 1 + unit_random(&seed) % 150; i++) {
			uint64_t begin = unit_random(&seed) % (SPAN - 800);
			uint64_t end = begin + 1 + unit_random(&seed) % 800;

			add_kernel(gen, places[i % 2], START + begin, START + end);
			memset(busy + begin, 1, end - begin);
			first = begin < first ? begin : first;
			last = end > last ? end : last;
			if (i % 20 == 19) {
				gen_flush(gen);
			}
		}
		gen_close(gen, "exit");
		process = streams_process(path);
		gaps = gaps_of(process);
		for (uint64_t i = first; i < last; i++) {
			ns += !busy[i];
			nr += !busy[i] && busy[i - 1];
			if (!busy[i] && busy[i + 1]) {
				ck_assert_uint_lt(at, gaps->nr);
				ck_assert_uint_eq(gaps->items[at++].end, START + i + 1);
			}
		}
		ck_assert_uint_eq(gaps->nr_all, nr);
		ck_assert_uint_eq(gaps->all_ns, ns);
		ck_assert_uint_eq(gaps->kept_ns, ns);
		for (unsigned int i = 0; i < 50; i++) {
			uint64_t begin = unit_random(&seed) % SPAN;
			uint64_t end = begin + unit_random(&seed) % (SPAN - begin);

			ns = 0;
			for (uint64_t k = begin; k < end; k++) {
				ns += !busy[k];
			}
			ck_assert_uint_eq(gaps_idle_in(gaps, START + begin, START + end), ns);
		}
		gaps_fini(gaps);
		free(gaps);
		process_destroy(process);
	}
}
END_TEST

START_TEST(the_longest_gaps_are_kept)
{
	const char *path = streams_path("many.gprof");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, 0, 1, 7);
	uint64_t now = START, seed = 8, nr = GAPS_MAX + 1000, all_ns = 0, kept_ns = 0;
	uint32_t nr_by_length[2000] = {0};
	struct process *process;
	struct gaps *gaps;

	add_kernel(gen, place, now - 1, now);
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t length = 1 + unit_random(&seed) % 1999;

		nr_by_length[length]++;
		all_ns += length;
		now += length;
		add_kernel(gen, place, now, now + 1);
		now++;
	}
	for (uint64_t length = 1999, left = GAPS_MAX; left; length--) {
		uint64_t here = nr_by_length[length] < left ? nr_by_length[length] : left;

		kept_ns += here * length;
		left -= here;
	}
	gen_close(gen, "exit");
	process = streams_process(path);
	gaps = gaps_of(process);
	ck_assert_uint_eq(gaps->nr, GAPS_MAX);
	ck_assert_uint_eq(gaps->nr_all, nr);
	ck_assert_uint_eq(gaps->all_ns, all_ns);
	ck_assert_uint_eq(gaps->kept_ns, kept_ns);
	gaps_fini(gaps);
	free(gaps);
	process_destroy(process);
}
END_TEST

/* ---- steps that were held back ---- */

#define MS 1000000ull

/*
 * Steps of 100 ms: the loop waits for `wait` ms from the begin of each. A kernel runs from 2 ms to
 * 90 ms of it where the device is ahead of the loop, else from the end of the wait.
 */
static const char *waits(const char *name, const char *loader_name, const uint64_t *wait_ms,
	const bool *is_ahead, uint32_t nr_steps)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	uint32_t loader = gen_op_name(gen, loader_name), place = gen_place(gen, 0, 1, 7);

	gen_info(gen, "process.pid", "4242");
	add_kernel(gen, place, START - MS, START);
	for (uint32_t i = 0; i <= nr_steps; i++) {
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);
		uint64_t begin = START + i * 100 * MS;
		struct gprof_row_op *op;

		step->time = begin;
		step->step = i;
		if (i == nr_steps) {
			break;
		}
		op = gen_row(gen, GPROF_TABLE_op);
		op->begin = begin;
		op->dur = begin + wait_ms[i] * MS;
		op->thread = op->end_thread = 1;
		op->op_name = loader;
		add_kernel(gen, place, begin + (is_ahead[i] ? 2 : wait_ms[i]) * MS,
			begin + 100 * MS - MS / 2);
	}
	gen_close(gen, "exit");
	return path;
}

static const char *held(const struct table *table, size_t row)
{
	return tables_cell(table, row, "delayed")->text;
}

START_TEST(a_wait_holds_a_step_back_if_the_device_waits_too)
{
	static const uint64_t wait_ms[] = {40, 40, 5, 6, 0};
	static const bool is_ahead[] = {false, true, false, false, false};
	const char *path =
		waits("waits.gprof", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
			wait_ms, is_ahead, 5);
	struct table *table = tables_of(&view_data_loading_steps, path, false);

	ck_assert_uint_eq(table->nr_rows, 5);
	ck_assert_str_eq(held(table, 0), "yes");
	ck_assert_uint_eq(tables_number(table, 0, "wait_ns"), 40 * MS);
	ck_assert_uint_eq(tables_number(table, 0, "gpu_idle_ns"), 40 * MS);
	ck_assert_str_eq(held(table, 1), "no"); /* 2 ms of the device */
	ck_assert_uint_eq(tables_number(table, 1, "gpu_idle_ns"), 2 * MS);
	ck_assert_str_eq(held(table, 2), "no"); /* just 5 % */
	ck_assert_str_eq(held(table, 3), "yes");
	ck_assert_str_eq(held(table, 4), "no");
	ck_assert_uint_eq(tables_number(table, 3, "ready"), 0);
	ck_assert_str_eq(tables_cell(table, 0, "stage")->text, "main process: no workers");
	ck_assert(!tables_cell(table, 1, "stage")->is_known);
	ck_assert_ptr_nonnull(strstr(table->note, "2 of 5 steps"));
	table_destroy(table);
}
END_TEST

/*
 * A child that is looked at so often, and uses so much CPU time in the 100 ms between; the worker
 * with that number, or NULL.
 */
static struct process *worker(
	uint32_t nr_samples, uint64_t cpu_ms, const char *parent, const char *number)
{
	const char *path = streams_path("worker.gprof");
	struct gen *gen = gen_open(path);

	gen_info(gen, "process.pid", "4243");
	gen_info(gen, "process.parent_stream", parent);
	if (number) {
		gen_info(gen, "loader.worker", number);
		gen_info(gen, "loader.workers", "8");
	}
	for (uint32_t i = 0; i < nr_samples; i++) {
		struct gprof_row_sample *sample = gen_row(gen, GPROF_TABLE_sample);

		sample->time = START + i * 100 * MS;
		sample->value = (5 + i * cpu_ms) * MS;
		sample->metric = GPROF_METRIC_PROCESS_CPU_NS;
		sample->device = 255;
	}
	gen_close(gen, "exit");
	return streams_process(path);
}

START_TEST(the_stage_is_told_by_the_time_of_workers)
{
	static const uint64_t wait_ms[] = {40, 40, 40};
	static const bool is_ahead[] = {false, false, false};
	static const struct {
		uint64_t cpu_ms;
		const char *stage;
	} cases[] = {{95, "workers"}, {80, "transfer: "}};

	for (size_t i = 0; i < 2; i++) {
		struct process *two[2] = {
			streams_process(waits("loop.gprof",
				"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
				wait_ms, is_ahead, 3)),
			worker(4, cases[i].cpu_ms, "loop.gprof", NULL)};
		struct table *table = tables_make(&view_data_loading_steps, two, 2, false);

		ck_assert_uint_eq(table->nr_rows, 3);
		for (size_t k = 0; k < 3; k++) {
			ck_assert_uint_eq(tables_number(table, k, "workers"), 1);
			ck_assert_uint_eq(
				tables_number(table, k, "worker_cpu_ns"), cases[i].cpu_ms * MS);
			ck_assert_ptr_eq(
				strstr(tables_cell(table, k, "stage")->text, cases[i].stage),
				tables_cell(table, k, "stage")->text);
		}
		table_destroy(table);
		process_destroy(two[0]);
		process_destroy(two[1]);
	}
}
END_TEST

START_TEST(a_worker_that_was_looked_at_once_tells_no_stage)
{
	static const uint64_t wait_ms[] = {40};
	static const bool is_ahead[] = {false};
	struct process *two[2] = {
		streams_process(waits("loop.gprof",
			"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", wait_ms,
			is_ahead, 1)),
		worker(1, 95, "loop.gprof", "5")};
	struct table *table = tables_make(&view_data_loading_steps, two, 2, false);

	ck_assert(!tables_cell(table, 0, "workers")->is_known);
	ck_assert_str_eq(
		tables_cell(table, 0, "stage")->text, "unknown: too few samples of the workers");
	table_destroy(table);
	process_destroy(two[0]);
	process_destroy(two[1]);
}
END_TEST

START_TEST(workers_are_told_by_their_number)
{
	static const uint64_t wait_ms[] = {40};
	static const bool is_ahead[] = {false};
	struct process *all[3] = {
		streams_process(waits("loop.gprof",
			"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", wait_ms,
			is_ahead, 1)),
		worker(4, 95, "loop.gprof", "5"), worker(4, 95, "loop.gprof", NULL)};
	struct table *table = tables_make(&view_data_loading, all, 3, false);

	ck_assert_uint_eq(table->nr_rows, 3);
	ck_assert_str_eq(tables_cell(table, 0, "role")->text, "loop");
	ck_assert(!tables_cell(table, 0, "worker")->is_known);
	ck_assert_str_eq(tables_cell(table, 1, "role")->text, "loader worker");
	ck_assert_uint_eq(tables_number(table, 1, "worker"), 5);
	ck_assert_uint_eq(tables_number(table, 1, "parent"), GEN_PID);
	ck_assert_str_eq(tables_cell(table, 2, "role")->text, "started by the loop");
	ck_assert(!tables_cell(table, 2, "worker")->is_known);
	table_destroy(table);
	/* Also where the loop did not record, and where the worker alone is looked at. */
	table = tables_make(&view_data_loading, all + 1, 2, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "worker"), 5);
	ck_assert(!tables_cell(table, 0, "parent")->is_known);
	table_destroy(table);
	for (size_t i = 0; i < 3; i++) {
		process_destroy(all[i]);
	}
}
END_TEST

/* One stream of the device is written behind all of another: few of those wait in memory. */
START_TEST(a_stream_that_is_written_late_does_not_fill_the_memory)
{
	const char *path = streams_path("late.gprof");
	struct gen *gen = gen_open(path);
	uint64_t nr = (1u << 18) + 100000;
	struct process *process;
	struct gaps *gaps;

	for (uint32_t stream = 0; stream < 2; stream++) {
		uint32_t place = gen_place(gen, 0, 1, 7 + stream);

		for (uint64_t i = 0; i < nr; i++) {
			uint64_t begin = START + 100 * i + 50 * stream;

			add_kernel(gen, place, begin, begin + 10);
			if (i % 30000 == 29999) {
				gen_flush(gen);
			}
		}
		gen_flush(gen);
	}
	gen_close(gen, "exit");
	process = streams_process(path);
	gaps = gaps_of(process);
	ck_assert_uint_eq(gaps->nr_all, 2 * nr - 1);
	ck_assert_uint_eq(gaps->all_ns, 40 * (2 * nr - 1));
	gaps_fini(gaps);
	free(gaps);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/gaps", gaps_of_random_work_are_those_of_every_nanosecond,
	the_longest_gaps_are_kept, a_stream_that_is_written_late_does_not_fill_the_memory,
	a_wait_holds_a_step_back_if_the_device_waits_too, the_stage_is_told_by_the_time_of_workers,
	a_worker_that_was_looked_at_once_tells_no_stage, workers_are_told_by_their_number)
