/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that are odd together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/comm/sanity.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

#define MOST 16u

static struct process *processes[MOST];
static size_t nr_processes;
static char told[4096];

static void take(const char *sentence)
{
	ck_assert_ptr_null(strchr(sentence, '\n'));
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s\n", sentence);
}

/* What is said of those that were added, which go. */
static const char *odd(bool is_part, bool is_wrong)
{
	*told = 0;
	ck_assert_int_eq(sanity_check(processes, nr_processes, is_part, take), is_wrong);
	while (nr_processes) {
		process_destroy(processes[--nr_processes]);
	}
	return told;
}

static struct gen *begin(const char *name, const char *rank, const char *world, const char *host)
{
	struct gen *gen = gen_open(streams_path(name));

	if (rank) {
		gen_info(gen, "rank.world", rank);
	}
	if (world) {
		gen_info(gen, "rank.world_size", world);
	}
	gen_info(gen, "host.name", host);
	return gen;
}

static void end(struct gen *gen, const char *name)
{
	gen_close(gen, "exit");
	processes[nr_processes++] = streams_process(streams_path(name));
}

/* With a kernel, so that it is one that trains. */
static void add(const char *rank, const char *world, const char *host)
{
	char name[32];
	struct gen *gen;

	snprintf(name, sizeof(name), "%zu.gprof", nr_processes);
	gen = begin(name, rank, world, host);
	gen_row(gen, GPROF_TABLE_kernel);
	end(gen, name);
}

START_TEST(what_is_usual_is_not_told)
{
	struct gen *worker;

	ck_assert_str_eq(odd(false, false), "");
	add("3", "8", "a"); /* one of a job */
	ck_assert_str_eq(odd(false, false), "");
	add(NULL, NULL, "a");
	add("0", "2", "a");
	worker = begin("worker.gprof", "0", "2", "a");
	end(worker, "worker.gprof"); /* has its parent's RANK and no device */
	add("1", "2", "a");
	ck_assert_str_eq(odd(false, false), "");
}
END_TEST

START_TEST(hosts)
{
	add("0", "3", "b");
	add("1", "3", "a");
	add("2", "3", "b");
	ck_assert_str_eq(odd(false, false), "the processes belong to 2 hosts (a, b): 1 processes "
					    "share too few NCCL operations: they are placed by "
					    "wall clocks, which may differ\n");
	for (int i = 0; i < 6; i++) {
		const char name[] = {(char)('f' - i), 0};

		add(NULL, NULL, name);
	}
	ck_assert_str_eq(odd(false, true),
		"the processes belong to 6 hosts (a, b, c, d, ...): 5 processes share too few NCCL "
		"operations: they are placed by wall clocks, which may differ; some "
		"have no rank and may belong to other jobs; tables add them up\n");
}
END_TEST

static void add_of_job(const char *job, bool has_work)
{
	struct gen *gen = begin("job.gprof", NULL, NULL, "a");

	gen_info(gen, "job.id", job);
	if (has_work) {
		gen_row(gen, GPROF_TABLE_kernel);
	}
	end(gen, "job.gprof");
}

START_TEST(jobs)
{
	add_of_job("4711", true);
	add_of_job("4711", true);
	add_of_job("a shell's", false);
	ck_assert_str_eq(odd(false, false), "");
	add_of_job("4711", true);
	add_of_job("4712", true);
	ck_assert_str_eq(odd(false, true),
		"the processes belong to 2 jobs (4711, 4712); tables add "
		"them up. Select one job by path or --pid\n");
	add("0", "2", "a");
	add("1", "8", "a");
	ck_assert_str_eq(odd(true, true), "the processes belong to 2 job sizes (2, 8); tables add "
					  "them up. Select one job by path or --pid\n");
}
END_TEST

START_TEST(ranks_that_are_missing)
{
	add("1", "8", "a");
	add("2", "8", "a");
	add("5", "8", "a");
	ck_assert_str_eq(odd(false, true), "missing ranks: 0,3-4,6-7 (of 8)\n");
	add("1", "8", "a");
	add("2", "8", "a");
	ck_assert_str_eq(odd(true, false), "");
	add("0", NULL, "a");
	add("2", NULL, "a");
	ck_assert_str_eq(odd(false, true), "missing ranks: 1\n");
	add("0", "9223372036854775807", "a");
	add("9223372036854775806", "9223372036854775807", "a");
	ck_assert_str_eq(odd(false, true), "missing ranks: 1-9223372036854775805 "
					   "(of 9223372036854775807)\n");
}
END_TEST

START_TEST(ranks_that_are_there_twice)
{
	add("0", "2", "a");
	add("0", "2", "a");
	add("1", "2", "a");
	add("1", "2", "a");
	add("1", "2", "a");
	ck_assert_str_eq(odd(false, true),
		"more than one process has rank 0-1, as with several runs; tables add them up. "
		"Select one run by path or --pid\n");
}
END_TEST

static void add_step(struct gen *gen, uint64_t tick, uint64_t number)
{
	struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

	step->time = tick;
	step->step = number;
}

START_TEST(time_that_goes_back)
{
	struct gen *gen = begin("back.gprof", NULL, NULL, "a");
	char expected[4400];

	add_step(gen, 100, 7);
	add_step(gen, 200, 8);
	add_step(gen, 150, 9);
	add_step(gen, 300, 10);
	add_step(gen, 299, 11);
	end(gen, "back.gprof");
	snprintf(expected, sizeof(expected),
		"'%s': step 9 starts before its predecessor, step 8 (2 cases): the clock went "
		"back, "
		"or several loops count steps; such steps have no length\n",
		streams_path("back.gprof"));
	ck_assert_str_eq(odd(false, true), expected);
	gen = begin("jump.gprof", NULL, NULL, "a");
	gen_anchor(gen, 1000, 5000, 0);
	gen_anchor(gen, 2000, 6000, 0);
	gen_anchor(gen, 3000, 5500, 0);
	gen_anchor(gen, 4000, 8000, 0);
	end(gen, "jump.gprof");
	snprintf(expected, sizeof(expected),
		"'%s': 1 clock readings went back; times near them are wrong\n",
		streams_path("jump.gprof"));
	ck_assert_str_eq(odd(false, true), expected);
}
END_TEST

START_TEST(all_that_is_odd_of_times_is_told_in_one_line)
{
	struct gen *gen = begin("odd.gprof", NULL, NULL, "a");
	char expected[4400];

	add_step(gen, 100, 7);
	add_step(gen, 200, 8);
	add_step(gen, 150, 9);
	gen_anchor(gen, 1000, 5000, 0);
	gen_anchor(gen, 2000, 6000, 0);
	gen_anchor(gen, 3000, 5500, 0);
	gen_anchor(gen, 4000, 8000, 0);
	end(gen, "odd.gprof");
	snprintf(expected, sizeof(expected),
		"'%s': step 9 starts before its predecessor, step 8 (1 cases): the clock went "
		"back, or several loops count steps; such steps have no length; "
		"1 clock readings went back; times near them are wrong\n",
		streams_path("odd.gprof"));
	ck_assert_str_eq(odd(false, true), expected);
}
END_TEST

START_TEST(steps_that_overlap)
{
	struct gen *gen = begin("two.gprof", NULL, NULL, "a");
	char expected[4400];

	for (uint64_t i = 0; i < 6; i++) {
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

		step->time = 100 * i;
		step->step = i / 2;
		step->thread = 1 + i % 2;
	}
	end(gen, "two.gprof");
	snprintf(expected, sizeof(expected),
		"'%s': several threads count steps, so steps overlap; each step ends where the "
		"next "
		"one starts\n",
		streams_path("two.gprof"));
	ck_assert_str_eq(odd(false, true), expected);
	gen = begin("one.gprof", NULL, NULL, "a");
	for (uint64_t i = 0; i < 6; i++) { /* another thread goes on */
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

		step->time = 100 * i;
		step->step = i;
		step->thread = 1 + i / 3;
	}
	end(gen, "one.gprof");
	ck_assert_str_eq(odd(false, false), "");
}
END_TEST

/* Rows come thread by thread. */
START_TEST(steps_that_two_threads_end_by_turns)
{
	struct gen *gen = begin("turns.gprof", NULL, NULL, "a");

	for (uint64_t i = 0; i < 8; i++) {
		uint64_t number = i < 4 ? 2 * i : 2 * (i - 4) + 1;
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

		step->time = 100 * number;
		step->step = number;
		step->thread = 1 + i / 4;
	}
	end(gen, "turns.gprof");
	ck_assert_str_eq(odd(false, false), "");
}
END_TEST

static void add_trace(const char *name, const char *text)
{
	streams_write(streams_path(name), text, strlen(text));
	processes[nr_processes++] = streams_process(streams_path(name));
}

#define LAUNCH(id, ts)                                                                            \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":" \
	"1,\"ts\":" ts ",\"dur\":2,\"args\":{\"correlation\":" id "}}"
#define WORK(id, ts)                                                                     \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":" ts \
	",\"dur\":3,\"args\":{\"device\":0,\"stream\":7,\"correlation\":" id "}}"

/*
 * Launches 5 (its two kernels end before and after it) and 7; 6 is in order, 0 is no id. Clocks of
 * host and GPU are never known to the last ns.
 */
START_TEST(work_before_its_launch_is_told_and_kept)
{
	add_trace("early.json",
		"[" LAUNCH("5", "10") "," WORK("5", "4") "," WORK("5", "9.999") "," LAUNCH(
			"6", "20") "," WORK("6", "20") "," LAUNCH("7", "30") "," WORK("7",
			"28.9") "," LAUNCH("0", "40") "," WORK("0", "1") "]");
	ck_assert_ptr_nonnull(strstr(odd(false, true), "of 2 launches"));
	add_trace("early.json", "[" LAUNCH("6", "20") "," WORK("6", "19.5") "]");
	ck_assert_str_eq(odd(false, false), "");
}
END_TEST

#define NAMED(name)                                                                          \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" \
	"1,\"dur\":2}"

/* As old recorders wrote them under Paddle's own profiler; the steps around it have no length. */
START_TEST(step_ends_without_a_time_are_told)
{
	static const uint64_t times[] = {1000, 7105422756981438811u, 3000, 5000};
	char expected[4400];
	struct gen *gen = begin("ends.gprof", NULL, NULL, "a");
	const struct process *process;

	for (size_t i = 0; i < 4; i++) {
		struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

		row->time = times[i];
		row->step = i;
		row->how = i ? GPROF_STEP_OPTIMIZER : 0;
	}
	end(gen, "ends.gprof");
	process = processes[0];
	ck_assert(model_step_is_gap(&process->steps[0]) && model_step_is_gap(&process->steps[1]));
	ck_assert(!model_step_is_gap(&process->steps[2]));
	for (size_t i = 0; i + 1 < process->nr_steps; i++) {
		ck_assert_uint_le(process->steps[i].tick, process->steps[i + 1].tick);
		ck_assert_uint_le(process->steps[i + 1].tick, 5000);
	}
	snprintf(expected, sizeof(expected),
		"'%s': 1 step ends have no time (older versions wrote such ends under Paddle's own "
		"profiler); the steps before and after them are excluded\n",
		streams_path("ends.gprof"));
	ck_assert_str_eq(odd(false, true), expected);
}
END_TEST

/* Each name once; one that is cut within a character was none of these. */
START_TEST(names_that_are_no_utf8_are_told)
{
	char expected[4400], text[2 * GPROF_TEXT_BYTES], *at = text;

	add_trace("names.json", "[" NAMED("a\xff") "," NAMED("b\xc3(") "," NAMED("a\xff") "]");
	snprintf(expected, sizeof(expected),
		"'%s': 2 names are not valid UTF-8; invalid bytes show as \\xNN, in JSON as "
		"U+FFFD\n",
		streams_path("names.json"));
	ck_assert_str_eq(odd(false, true), expected);
	at = stpcpy(at, "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1,\"dur\":2,\"name\":\"x");
	for (size_t i = 0; i < GPROF_TEXT_BYTES / 2; i++) {
		at = stpcpy(at, "\xc3\xa4");
	}
	stpcpy(at, "\"}]");
	add_trace("names.json", text);
	ck_assert_str_eq(odd(false, false), "");
}
END_TEST

/* Of a thread's name as many characters are kept as fit; none is cut apart. */
START_TEST(names_of_threads_are_cut_between_characters)
{
	char text[2048], *at = text;

	at = stpcpy(at, "[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":1,"
			"\"args\":{\"name\":\"");
	for (size_t i = 0; i < 200; i++) {
		at = stpcpy(at, i ? "\xc3\xa4" : "x");
	}
	at = stpcpy(at, "\"}}," NAMED("a") ",");
	at = stpcpy(at, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,"
			"\"args\":{\"name\":\"");
	for (size_t i = 0; i < 200; i++) {
		at = stpcpy(at, "\xc3\xa4");
	}
	stpcpy(at, "\"}},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":2,"
		   "\"ts\":1,\"dur\":2}]");
	add_trace("threads.json", text);
	ck_assert_str_eq(odd(false, false), "");
}
END_TEST

START_TEST(what_views_found_is_told_once)
{
	sanity_add("'%s': the view %s lacks %u events", "a.gprof", "x", 7u);
	sanity_add("'%s': the view %s lacks %u events", "a.gprof", "x", 7u);
	sanity_add("another");
	ck_assert_str_eq(odd(false, true), "'a.gprof': the view x lacks 7 events\nanother\n");
	ck_assert_str_eq(odd(false, false), "");
}
END_TEST

UNIT_SUITE("odd", what_is_usual_is_not_told, hosts, jobs, ranks_that_are_missing,
	ranks_that_are_there_twice, time_that_goes_back,
	all_that_is_odd_of_times_is_told_in_one_line, steps_that_overlap,
	steps_that_two_threads_end_by_turns, work_before_its_launch_is_told_and_kept,
	step_ends_without_a_time_are_told, names_that_are_no_utf8_are_told,
	names_of_threads_are_cut_between_characters, what_views_found_is_told_once)
