/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a CPU as the finding has them: how long, of which threads, and who uses the CPUs. */
#include <stdlib.h>
#include <string.h>

#include "test/unit/report_made.h"

#define MS    1000000ull
#define STEPS 40u

enum { FIRST = 1, SECOND, FIRST_TID = 4242, SECOND_TID = 4243, NO_DEVICE = 255 };

/* What rises within 100 ms, in ms. */
struct rises {
	uint32_t waits, second_waits, process_cpu, host_busy;
	uint32_t allowed, limit; /* CPUs; limit 0: none */
	uint32_t held;		 /* by the limit */
	uint32_t threads;	 /* that compute, by CPU samples */
	bool has_launches;	 /* instead of operators */
};

static void sample(struct made *made, uint64_t at, uint8_t metric, uint64_t value)
{
	struct gprof_row_sample *row = gen_row(made->gen, GPROF_TABLE_sample);

	row->time = at;
	row->value = value;
	row->metric = metric;
	row->device = NO_DEVICE;
}

static void thread_times(struct made *made, uint64_t at, uint32_t thread, uint64_t waits)
{
	struct gprof_row_thread_cpu *row = gen_row(made->gen, GPROF_TABLE_thread_cpu);

	row->time = at;
	row->cpu_ns = at / 10;
	row->wait_ns = waits;
	row->thread = thread;
}

static void samples(struct made *made, uint64_t at, uint64_t number, const struct rises *rises)
{
	thread_times(made, at, FIRST, number * rises->waits * MS);
	if (rises->second_waits) {
		thread_times(made, at, SECOND, number * rises->second_waits * MS);
	}
	sample(made, at, GPROF_METRIC_PROCESS_CPU_NS, number * rises->process_cpu * MS);
	sample(made, at, GPROF_METRIC_PROCESS_ALLOWED_CPUS, rises->allowed);
	if (rises->limit) {
		sample(made, at, GPROF_METRIC_CGROUP_LIMIT_MILLI_CPUS, rises->limit * 1000ull);
		sample(made, at, GPROF_METRIC_CGROUP_THROTTLED_NS, number * rises->held * MS);
	}
	for (uint32_t i = 0; i < rises->threads; i++) {
		struct gprof_row_cpu_sample *row = gen_row(made->gen, GPROF_TABLE_cpu_sample);

		row->time = at + i;
		row->ns = 30 * MS;
		row->task = FIRST_TID + i;
	}
	sample(made, at, GPROF_METRIC_HOST_CPU_BUSY_NS, number * rises->host_busy * MS);
}

/* Steps of 10 ms on a host of 4 CPUs: an operator, or a launch of 10 us with a kernel of 2 ms. */
static const char *recorded(const char *name, const struct rises *rises)
{
	struct made made = made_open(name);
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);

	gen_thread(made.gen, FIRST, FIRST_TID, NULL);
	gen_thread(made.gen, SECOND, SECOND_TID, NULL);
	gen_info(made.gen, "host.cpus", "4");
	for (uint32_t i = 0; i <= STEPS; i++) {
		uint64_t at = (10 + 10 * i) * MS;

		if (i % 10 == 0) {
			samples(&made, at, i / 10, rises);
		}
		made_step(&made, at, i + 1);
		if (i < STEPS && rises->has_launches) {
			made_launch(&made, shape, at, 10000, at + 20000, at + 2 * MS);
		} else if (i < STEPS) {
			made_op(&made, "aten::mm", at, at + 9 * MS, 0);
		}
	}
	gen_close(made.gen, "exit");
	return made.path;
}

/* Returns what the finding saves of a step in us; 0 if there is none. Sets *sentence, if wanted. */
static int64_t saved_us(const char *name, struct rises rises, char **sentence)
{
	struct table *table = tables_of(&view_findings, recorded(name, &rises), false);
	int64_t us = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		if (!strcmp(tables_cell(table, i, "cause")->text, "cpu_wait")) {
			us = tables_cell(table, i, "saved_ns")->integer / 1000;
			if (sentence) {
				*sentence = strdup(tables_cell(table, i, "sentence")->text);
			}
		}
	}
	table_destroy(table);
	return us;
}

static void has(char *sentence, const char *text)
{
	ck_assert_msg(sentence && strstr(sentence, text), "%s: no '%s'", sentence, text);
	free(sentence);
}

START_TEST(waits_of_the_loop_can_be_saved)
{
	struct rises rises = {.waits = 40, .process_cpu = 60, .host_busy = 390, .allowed = 4};
	char *sentence = NULL;

	ck_assert_int_eq(saved_us("cpu.gprof", rises, &sentence), 4000);
	has(sentence, "The loop waits for a CPU, which other processes use; fewer of them, or a "
		      "CPU of its own, can save 4.000 ms per step (40.0 %)");
	rises.waits = 2;
	ck_assert_int_eq(saved_us("few.gprof", rises, NULL), 0);
}
END_TEST

/* Other threads than the loop's wait for work of it as well. */
START_TEST(waits_of_others_do_not_count_without_a_gpu)
{
	const struct rises rises = {
		.waits = 10, .second_waits = 50, .process_cpu = 60, .host_busy = 390, .allowed = 4};

	ck_assert_int_eq(saved_us("others.gprof", rises, NULL), 1000);
}
END_TEST

/* What a process leaves of its CPUs is the most that it can gain. */
START_TEST(own_threads_that_fill_the_cpus_are_no_finding)
{
	struct rises rises = {.waits = 60, .process_cpu = 400, .host_busy = 400, .allowed = 4};
	char *sentence = NULL;

	ck_assert_int_eq(saved_us("full.gprof", rises, NULL), 0);
	rises.process_cpu = 300;
	ck_assert_int_eq(saved_us("three.gprof", rises, &sentence), 2500);
	has(sentence, "which other threads use; fewer threads (OMP_NUM_THREADS) can save 2.500 ms");
}
END_TEST

/* The loop may need what they make, so what the process leaves of its CPUs is a bound. */
START_TEST(more_own_threads_than_cpus_are_named)
{
	struct rises rises = {
		.waits = 60, .process_cpu = 300, .host_busy = 310, .allowed = 4, .threads = 6};
	char *sentence = NULL;

	ck_assert_int_eq(saved_us("crowd.gprof", rises, &sentence), 2500);
	has(sentence, "The loop waits for a CPU: 6 threads of its process share 4 of them; fewer "
		      "threads (OMP_NUM_THREADS) can save at most 2.500 ms per step (25.0 %)");
	rises.threads = 4; /* each has one */
	saved_us("fit.gprof", rises, &sentence);
	has(sentence, "which other threads use");
	rises.threads = 6;
	rises.process_cpu = 400; /* they do as much as they can */
	ck_assert_int_eq(saved_us("full6.gprof", rises, NULL), 0);
	/* On some of the CPUs of a host its own use tells. */
	rises.allowed = 3;
	rises.process_cpu = 210;
	saved_us("part6.gprof", rises, &sentence);
	has(sentence, "6 threads of its process share 3 of them");
	rises.process_cpu = 100;
	saved_us("others6.gprof", rises, &sentence);
	has(sentence, "which other threads or processes use");
}
END_TEST

/* The limit of a container holds threads back although CPUs are free. */
START_TEST(a_limit_that_holds_the_loop_back_is_named)
{
	struct rises rises = {.waits = 50,
		.process_cpu = 100,
		.host_busy = 110,
		.allowed = 4,
		.limit = 1,
		.held = 60};
	char *sentence = NULL;

	ck_assert_int_eq(saved_us("limit.gprof", rises, &sentence), 5000);
	has(sentence,
		"The loop waits for a CPU: its container (cgroup) may use 1 of them; a higher "
		"limit or fewer threads can save 5.000 ms per step (50.0 %)");
	rises.held = 20;
	rises.host_busy = 390;
	saved_us("other.gprof", rises, &sentence);
	has(sentence, "which other processes use");
}
END_TEST

/* On some of the CPUs of a host, nothing says who uses them. */
START_TEST(a_part_of_the_cpus_does_not_show_who_uses_it)
{
	const struct rises rises = {.waits = 40, .process_cpu = 60, .host_busy = 390, .allowed = 2};
	char *sentence = NULL;

	ck_assert_int_eq(saved_us("part.gprof", rises, &sentence), 4000);
	has(sentence, "which other threads or processes use; fewer of them");
}
END_TEST

/* Launches may come from any thread; while a kernel runs, a wait costs nothing. */
START_TEST(waits_beside_a_gpu_count_while_it_is_idle)
{
	struct rises rises = {.second_waits = 30,
		.process_cpu = 60,
		.host_busy = 390,
		.allowed = 4,
		.has_launches = true};
	char *sentence = NULL;

	ck_assert_int_eq(saved_us("gpu.gprof", rises, &sentence), 3000);
	has(sentence, "The host waits for a CPU, ");
	rises.waits = 60;
	ck_assert_int_eq(saved_us("idle.gprof", rises, NULL), 8010);
}
END_TEST

UNIT_SUITE("report/cpu_waits", waits_of_the_loop_can_be_saved,
	waits_of_others_do_not_count_without_a_gpu, own_threads_that_fill_the_cpus_are_no_finding,
	more_own_threads_than_cpus_are_named, a_limit_that_holds_the_loop_back_is_named,
	a_part_of_the_cpus_does_not_show_who_uses_it, waits_beside_a_gpu_count_while_it_is_idle)
