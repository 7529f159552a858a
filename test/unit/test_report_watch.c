/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that grow while they are read: whatever was written when, the numbers are the same. */
#include "report/cli/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/stream/block_index.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

static void add_window(
	struct gen *gen, uint64_t time, uint64_t step, uint32_t window, uint8_t state)
{
	struct gprof_row_window *row = gen_row(gen, GPROF_TABLE_window);

	row->time = time;
	row->step = step;
	row->window = window;
	row->state = state;
}

static void add_sample(struct gen *gen, uint64_t time, uint8_t metric, uint64_t value)
{
	struct gprof_row_sample *row = gen_row(gen, GPROF_TABLE_sample);

	row->time = time;
	row->metric = metric;
	row->value = value;
	row->device = 0;
}

/* The begin of step n; they come in an order of their own. */
static void add_step(struct gen *gen, uint64_t n)
{
	struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

	row->time = 1000 * n + n * n;
	row->step = n;
}

static void end_group(struct gen *gen)
{
	gen_flush(gen);
	gen_row(gen, GPROF_TABLE_checkpoint);
	gen_flush(gen);
}

enum { NR_GROUPS = 20 };

/* Ten steps a group; record window k from the second half of group 4 k + 1 to that of 4 k + 3. */
static void write_job(const char *path, const char *how)
{
	struct gen *gen = gen_open(path);

	end_group(gen);
	for (uint64_t group = 0; group < NR_GROUPS; group++) {
		struct gprof_row_loss *loss = gen_row(gen, GPROF_TABLE_loss);

		loss->count = group;
		for (uint64_t k = 0; k < 10; k++) {
			add_step(gen, 10 * group + 9 - k);
		}
		if (group % 4 == 3) {
			add_window(gen, 10000 * group + 2, 10 * group, (uint32_t)group / 4 + 1,
				GPROF_WINDOW_CLOSED);
		}
		if (group % 4 == 1) {
			add_window(gen, 10000 * group + 1, 10 * group, (uint32_t)group / 4 + 1,
				GPROF_WINDOW_RECORD);
		}
		add_sample(gen, 10000 * group, GPROF_METRIC_GPU_BUSY_PERCENT, group);
		add_sample(gen, 10000 * group, GPROF_METRIC_PROCESS_CPU_NS, 5000 * group);
		add_sample(gen, 10000 * group, GPROF_METRIC_PROCESS_RSS_BYTES, 100 + group);
		end_group(gen);
	}
	gen_close(gen, how);
}

static void check_numbers(const struct watch_process *p)
{
	ck_assert_uint_eq(p->steps, 199);
	/* The first began with the recording. */
	ck_assert_uint_eq(p->all.nr_steps, 198);
	ck_assert_uint_eq(p->all.steps_ns, 198 * 1000 + 199 * 199 - 1);
	ck_assert_uint_eq(p->last_step_ns, 1000 + 199 * 199 - 198 * 198);
	ck_assert_uint_eq(p->nr_lost, 190);
	ck_assert_uint_eq(p->nr_groups, 21);
	ck_assert_uint_eq(p->nr_closed, 5);
	ck_assert_uint_eq(p->closed[4].number, 5);
	ck_assert(!p->is_open);
	ck_assert_int_eq(p->gpu_percent[0], 19);
	ck_assert_int_eq(p->gpu_percent[1], -1);
	ck_assert_uint_eq(p->all.nr_gpu_samples, 20);
	ck_assert_uint_eq(p->all.gpu_percent, 190);
	ck_assert_uint_eq(p->cpu_ns, 95000);
	ck_assert_uint_eq(p->resident_bytes, 119);
}

START_TEST(numbers_are_the_same_however_the_stream_grows)
{
	static const size_t pieces[] = {1u << 30, 4096, 1000, 177};
	const char *whole = streams_path("whole.gprof");
	unsigned char *bytes;
	size_t nr_bytes;

	write_job(whole, NULL);
	bytes = streams_read(whole, &nr_bytes);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		const char *dir = streams_path("dir"), *path = streams_path("dir/a.gprof.part");
		struct watch watch = {.dir = dir};

		ck_assert(i || !mkdir(dir, 0700));
		for (size_t n = pieces[i];; n += pieces[i]) {
			streams_write(path, bytes, n < nr_bytes ? n : nr_bytes);
			ck_assert_int_eq(watch_look(&watch), 0);
			if (n >= nr_bytes) {
				break;
			}
		}
		ck_assert_uint_eq(watch.nr_processes, 1);
		check_numbers(watch.processes[0]);
		watch_fini(&watch);
	}
	free(bytes);
}
END_TEST

static void add_stall(struct gen *gen, uint32_t stall, uint8_t item)
{
	struct gprof_row_hang *row = gen_row(gen, GPROF_TABLE_hang);

	row->hang = stall;
	row->item = item;
}

/* The stream so far, with so many rows of stalls: 1 began and ended, 2 began, and so on. */
static void write_stalls(const char *path, const char *made, uint32_t nr_rows)
{
	struct gen *gen = gen_open(made);
	unsigned char *bytes;
	size_t nr_bytes;

	end_group(gen);
	for (uint32_t i = 0; i < nr_rows; i++) {
		add_stall(gen, i / 2 + 1, i % 2 ? GPROF_HANG_ENDED : GPROF_HANG_BEGAN);
		end_group(gen);
	}
	gen_close(gen, NULL);
	bytes = streams_read(made, &nr_bytes);
	streams_write(path, bytes, nr_bytes);
	free(bytes);
}

static bool is_told(struct watch *watch, bool (*take)(struct watch *watch, struct buf *who))
{
	struct buf who = {0};
	bool has_any = take(watch, &who);

	ck_assert_uint_eq(has_any ? 8 : 0, who.nr_bytes); /* pid 4242 */
	buf_fini(&who);
	return has_any;
}

START_TEST(each_stall_is_told_once_and_once_that_it_is_over)
{
	const char *dir = streams_path("stalls"), *path = streams_path("stalls/a.gprof.part");
	const char *made = streams_path("stalls.gprof");
	struct watch watch = {.dir = dir};
	/* Rows so far; is then a stall reported, and its end? The first one was before. */
	static const struct {
		uint32_t nr_rows;
		bool has_stall, is_over;
	} looks[] = {{2, false, false}, {3, true, false}, {3, false, false}, {4, false, true},
		{4, false, false}, {6, true, true}, {6, false, false}};

	ck_assert(!mkdir(dir, 0700));
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		write_stalls(path, made, looks[i].nr_rows);
		ck_assert_int_eq(watch_look(&watch), 0);
		ck_assert_int_eq(is_told(&watch, watch_next_hangs), looks[i].has_stall);
		ck_assert_int_eq(is_told(&watch, watch_next_recovered), looks[i].is_over);
	}
	watch_fini(&watch);
}
END_TEST

/* The blocks so far are forgotten at each look. */
START_TEST(memory_is_that_of_what_is_new)
{
	const char *path = streams_path("long.gprof.part");
	unsigned char *bytes;
	struct stream *stream;
	size_t nr_bytes, most = 0;

	write_job(path, NULL);
	bytes = streams_read(path, &nr_bytes);
	streams_write(path, bytes, 8192);
	stream = streams_open(path);
	stream_index_follow(stream);
	for (size_t n = 8192; n < nr_bytes; n += 512) {
		streams_write(path, bytes, n);
		stream_index_grow(stream, n);
		most = stream->nr_blocks > most ? stream->nr_blocks : most;
	}
	ck_assert_uint_gt(most, 0);
	ck_assert_uint_lt(most, 8);
	stream_close(stream);
	free(bytes);
}
END_TEST

/* A damaged block is passed over once it cannot be one that is being written. */
START_TEST(damage_does_not_stop_the_watch)
{
	const char *dir = streams_path("bad"), *path = streams_path("bad/a.gprof.part");
	struct watch watch = {.dir = dir};
	unsigned char *bytes;
	size_t nr_bytes, end, at;

	ck_assert_int_eq(mkdir(dir, 0700), 0);
	write_job(path, NULL);
	bytes = streams_read(path, &nr_bytes);
	at = streams_block(bytes, nr_bytes, GPROF_TABLE_loss, &end);
	streams_write(path, bytes, at);
	ck_assert_int_eq(watch_look(&watch), 0);
	ck_assert_uint_eq(watch.processes[0]->steps, 0);
	bytes[at + 4] ^= 0xff;
	streams_write(path, bytes, nr_bytes);
	ck_assert_int_eq(watch_look(&watch), 0);
	ck_assert_uint_eq(watch.processes[0]->steps, 0);
	ck_assert_int_eq(truncate(path, (off_t)nr_bytes + (65 << 20)), 0);
	ck_assert_int_eq(watch_look(&watch), 0);
	ck_assert_uint_eq(watch.processes[0]->steps, 199);
	watch_fini(&watch);
	free(bytes);
}
END_TEST

START_TEST(windows_are_told_once_in_order_and_with_their_late_records)
{
	const char *dir = streams_path("told"), *path = streams_path("told/a.gprof.part");
	const char *whole = streams_path("all.gprof");
	struct watch watch = {.dir = dir};
	unsigned int nr_told = 0;
	unsigned char *bytes;
	uint32_t number;
	size_t nr_bytes;

	ck_assert_int_eq(mkdir(dir, 0700), 0);
	write_job(whole, NULL);
	bytes = streams_read(whole, &nr_bytes);
	for (size_t n = nr_bytes / 2;; n += 200) {
		streams_write(path, bytes, n < nr_bytes ? n : nr_bytes);
		ck_assert_int_eq(watch_look(&watch), 0);
		while (watch_take_window(&watch, &number)) {
			const struct watch_process *p = watch.processes[0];

			ck_assert_uint_eq(number, 2 + nr_told++);
			ck_assert_uint_ge(p->nr_groups, p->closed[number - 1].group + 2);
		}
		if (n >= nr_bytes) {
			break;
		}
	}
	/* Of the five, 1 was closed before; 5 has no two groups behind it. */
	ck_assert_uint_eq(nr_told, 3);
	watch.processes[0]->ending = PROCESS_EXIT_ENDED;
	ck_assert(watch_take_window(&watch, &number));
	ck_assert_uint_eq(number, 5);
	ck_assert(!watch_take_window(&watch, &number));
	watch_fini(&watch);
	free(bytes);
}
END_TEST

START_TEST(a_stream_that_was_renamed_has_ended)
{
	const char *dir = streams_path("over"), *part = streams_path("over/a.gprof.part");
	const char *path = streams_path("over/a.gprof");
	struct watch watch = {.dir = dir};

	ck_assert_int_eq(mkdir(dir, 0700), 0);
	write_job(part, NULL);
	ck_assert_int_eq(watch_look(&watch), 0);
	watch.processes[0]->ending = PROCESS_EXIT_RUNS;
	ck_assert(!watch_is_over(&watch));
	ck_assert_int_eq(rename(part, path), 0);
	ck_assert_int_eq(watch_look(&watch), 0);
	ck_assert(watch_is_over(&watch));
	ck_assert_uint_eq(watch.nr_processes, 1);
	watch_fini(&watch);
}
END_TEST

static const char *text_of(struct buf *out)
{
	buf_char(out, '\0');
	return out->bytes;
}

START_TEST(line_and_metrics_have_the_numbers)
{
	const char *dir = streams_path("line"), *path = streams_path("line/a.gprof.part");
	struct watch watch = {.dir = dir};
	struct buf line = {0}, metrics = {0};
	const char *text;

	ck_assert_int_eq(mkdir(dir, 0700), 0);
	write_job(path, "exit");
	ck_assert_int_eq(watch_look(&watch), 0);
	watch_add_line(&line, &watch);
	ck_assert_str_eq(text_of(&line), "0/1 running, 0 recording, steps 199, mean step 0.001 ms, "
					 "GPU 10 % (NVML), CPU 50 %, 190 events lost");
	watch_add_metrics(&metrics, &watch);
	text = text_of(&metrics);
	ck_assert_ptr_nonnull(
		strstr(text, "# TYPE gprof_steps_total counter\n"
			     "gprof_steps_total{host=\"?\",pid=\"4242\",rank=\"\"} 199\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "gprof_step_duration_seconds_sum{host=\"?\",pid=\"4242\","
			     "rank=\"\"} 0.000237600\n"));
	ck_assert_ptr_nonnull(strstr(text, ",rank=\"\",gpu=\"0\"} 0.19\n"));
	buf_fini(&line);
	buf_fini(&metrics);
	watch_fini(&watch);
}
END_TEST

START_TEST(a_process_without_steps_has_no_numbers_of_them)
{
	const char *dir = streams_path("none"), *path = streams_path("none/a.gprof.part");
	struct watch watch = {.dir = dir};
	struct buf metrics = {0};
	struct gen *gen;

	ck_assert_int_eq(mkdir(dir, 0700), 0);
	gen = gen_open(path);
	add_step(gen, 0); /* where recording began */
	add_sample(gen, 10000, GPROF_METRIC_PROCESS_CPU_NS, 5000);
	end_group(gen);
	gen_close(gen, "exit");
	ck_assert_int_eq(watch_look(&watch), 0);
	watch_add_metrics(&metrics, &watch);
	ck_assert_ptr_null(strstr(text_of(&metrics), "\ngprof_steps_total{"));
	ck_assert_ptr_null(strstr(metrics.bytes, "step_duration_seconds{"));
	ck_assert_ptr_null(strstr(metrics.bytes, "step_duration_seconds_count{"));
	ck_assert_ptr_nonnull(strstr(metrics.bytes, "\ngprof_process_running{"));
	buf_fini(&metrics);
	watch_fini(&watch);
}
END_TEST

UNIT_SUITE("report/watch", numbers_are_the_same_however_the_stream_grows,
	memory_is_that_of_what_is_new, damage_does_not_stop_the_watch,
	windows_are_told_once_in_order_and_with_their_late_records,
	each_stall_is_told_once_and_once_that_it_is_over, a_stream_that_was_renamed_has_ended,
	line_and_metrics_have_the_numbers, a_process_without_steps_has_no_numbers_of_them)
