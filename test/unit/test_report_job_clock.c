/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks on hosts whose clocks are off and drift: all that reads times has them on one clock. */
#include "report/comm/job_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/session/common_options.h"
#include "report/timeline/chrome.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define START_NS  1000000000000ull
#define STEP_NS	  50000000ull
#define CUPTI_NS  700000000ull /* CUPTI's clock is ahead of the host's */
#define NOISE_NS  4000
#define NEAR_NS	  20000
#define LAUNCH_NS 100000

enum { NR = 3, NR_STEPS = 200, DURATION = 2000000 };

extern const struct view_class view_gpu_trace, view_distributed;

struct host {
	const char *boot;
	int64_t ahead_ns;
	double ppm;
};

static const struct host off[NR] = {{"a", 0, 0}, {"b", -3000000000, 100}, {"c", 2500000000, -80}};

static uint64_t host_time(const struct host *host, uint64_t ns)
{
	return ns + (uint64_t)host->ahead_ns +
	       (uint64_t)(int64_t)((double)(ns - START_NS) * host->ppm * 1e-6);
}

static uint64_t step_time(uint32_t step)
{
	return START_NS + step * STEP_NS;
}

static void add_step(struct gen *gen, const struct host *host, uint32_t step, uint64_t *seed)
{
	uint32_t place = gen_place(gen, 0, 1, 7);
	uint16_t id = gen_call(gen, "cuLaunchKernelEx", GPROF_API_DRIVER);
	uint64_t at = host_time(host, step_time(step)), end = at + DURATION;
	struct gprof_row_nccl *call = gen_row(gen, GPROF_TABLE_nccl);
	struct gprof_row_api *launch = gen_row(gen, GPROF_TABLE_api);
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	call->begin = at - LAUNCH_NS;
	call->dur = at - LAUNCH_NS / 2;
	launch->thread = call->thread = 1;
	call->correlation_before = step;
	launch->correlation = kernel->correlation = call->correlation = step + 1;
	call->comm = 1;
	call->sequence = step + 1;
	call->group = step + 1;
	call->bytes = 1000;
	call->peer = -1;
	call->kind = GPROF_NCCL_ALL_REDUCE;
	launch->begin = at - LAUNCH_NS + 10;
	launch->dur = at - LAUNCH_NS / 2 - 10;
	launch->call = id;
	launch->source = GPROF_SOURCE_CALLBACK;
	kernel->begin = at + CUPTI_NS;
	kernel->dur = end + CUPTI_NS + unit_random(seed) % NOISE_NS;
	kernel->place = place;
}

static struct process *rank_process(int32_t rank, const struct host *host, uint64_t key)
{
	uint64_t seed = 11 + (uint64_t)rank;
	struct gprof_row_nccl_comm *comm;
	char name[32], text[16];
	struct gen *gen;

	snprintf(name, sizeof(name), "rank%d.gprof", (int)rank);
	snprintf(text, sizeof(text), "%d", (int)rank);
	gen = gen_open(streams_path(name));
	gen_info(gen, "host.boot_id", host->boot);
	gen_info(gen, "host.name", host->boot);
	gen_info(gen, "rank.world", text);
	gen_info(gen, "rank.world_size", "3");
	for (uint32_t step = 0; step <= NR_STEPS; step += NR_STEPS / 4) {
		uint64_t ns = host_time(host, step_time(step));

		gen_anchor(gen, ns, ns, ns + CUPTI_NS);
	}
	comm = gen_row(gen, GPROF_TABLE_nccl_comm);
	comm->id = 1;
	comm->key = key;
	comm->rank = rank;
	comm->nr_ranks = NR;
	for (uint32_t step = 0; step < NR_STEPS; step++) {
		add_step(gen, host, step, &seed);
	}
	gen_flush(gen);
	gen_close(gen, "exit");
	return streams_process(streams_path(name));
}

static const char *told(struct process *const *processes, size_t nr)
{
	static char text[512];
	struct buf buf = {0};

	job_clock_print(processes, nr, "", &buf);
	snprintf(text, sizeof(text), "%.*s", (int)buf.nr_bytes, buf.bytes);
	buf_fini(&buf);
	return text;
}

static void destroy(struct process **processes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		process_destroy(processes[i]);
	}
}

static void check_near(uint64_t have, uint64_t want)
{
	ck_assert_uint_le(have > want ? have - want : want - have, NEAR_NS);
}

/* Both clocks of a process, at the begin, the middle and the end. */
static void check_process(struct process *process, const struct host *host)
{
	for (uint32_t step = 0; step <= NR_STEPS; step += NR_STEPS / 8) {
		uint64_t ns = step_time(step), local = host_time(host, ns);

		check_near(clock_map_time(&process->host_clock, local), ns);
		check_near(clock_map_time(&process->device_clock, local + CUPTI_NS), ns);
	}
	check_near(process->first_ns, START_NS - LAUNCH_NS);
}

START_TEST(seconds_and_drift_are_found)
{
	struct process *processes[NR];

	for (int32_t i = 0; i < NR; i++) {
		processes[i] = rank_process(i, &off[i], 9);
	}
	ck_assert_ptr_nonnull(strstr(told(processes, NR),
		"2 processes share too few NCCL operations: they are placed by wall clocks"));
	job_clock_align(processes, NR);
	for (int i = 0; i < NR; i++) {
		check_process(processes[i], &off[i]);
		ck_assert_int_eq(processes[i]->is_clock_fitted, i != 0);
		ck_assert_uint_le(processes[i]->clock_error_ns, NOISE_NS);
	}
	ck_assert_uint_ge(processes[1]->clock_error_ns, NOISE_NS / 4);
	ck_assert_msg(strstr(told(processes, NR), "clocks of 2 processes are aligned") &&
			      !strstr(told(processes, NR), "wall"),
		"%s", told(processes, NR));
	destroy(processes, NR);
}
END_TEST

/* A third rank was not recorded, or not chosen. */
START_TEST(some_of_the_ranks_are_enough)
{
	struct process *processes[] = {rank_process(0, &off[0], 9), rank_process(2, &off[2], 9)};

	job_clock_align(processes, 2);
	check_process(processes[1], &off[2]);
	destroy(processes, 2);
}
END_TEST

START_TEST(tables_have_one_clock_and_say_how_exact)
{
	struct process *processes[NR];
	struct table *table;

	for (int32_t i = 0; i < NR; i++) {
		processes[i] = rank_process(i, &off[i], 9);
	}
	job_clock_align(processes, NR);
	table = tables_make(&view_gpu_trace, processes, NR, false);
	ck_assert_uint_eq(table->nr_rows, NR * NR_STEPS);
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		/* By begins: those of a step beside each other. */
		check_near(cells[0].integer, row / NR * STEP_NS + LAUNCH_NS);
	}
	ck_assert_msg(strstr(table->note, "95 % agree within") != NULL, "%s", table->note);
	table_destroy(table);
	table = tables_make(&view_distributed, processes, NR, false);
	ck_assert_uint_eq(table->nr_rows, NR);
	ck_assert_msg(strstr(table->note, "95 % agree within") != NULL, "%s", table->note);
	table_destroy(table);
	destroy(processes, NR);
}
END_TEST

/* As commands read them. */
START_TEST(commands_and_timelines_have_it)
{
	static const char *const names[] = {"rank0.gprof", "rank1.gprof", "rank2.gprof"};
	const struct common_options asked = {0};
	struct buf out = {0};
	struct cmd_input input;
	char *paths[NR];

	for (int32_t i = 0; i < NR; i++) {
		process_destroy(rank_process(i, &off[i], 9));
		paths[i] = strdup(streams_path(names[i]));
	}
	ck_assert_int_eq(common_options_open(&asked, &input, paths, NR), CMD_GOOD);
	ck_assert_uint_eq(input.nr_processes, NR);
	check_process(input.processes[1], &off[1]);
	chrome_write(input.processes, NR, &(struct chrome_file){.name = "x"}, &out);
	buf_char(&out, 0);
	ck_assert_ptr_nonnull(strstr(out.bytes, "\"clocks\": \"clocks of 2 processes are aligned"));
	buf_fini(&out);
	common_options_close(&input);
	for (int i = 0; i < NR; i++) {
		free(paths[i]);
	}
}
END_TEST

START_TEST(where_nothing_matches_wall_clocks_stay)
{
	struct process *processes[] = {rank_process(0, &off[0], 9), rank_process(1, &off[1], 8)};
	uint64_t local = host_time(&off[1], step_time(NR_STEPS / 2));

	job_clock_align(processes, 2);
	ck_assert(!processes[1]->is_clock_fitted);
	ck_assert_uint_eq(clock_map_time(&processes[1]->host_clock, local), local);
	ck_assert_ptr_nonnull(strstr(told(processes, 2),
		"1 processes share too few NCCL operations: they are placed by wall clocks"));
	destroy(processes, 2);
}
END_TEST

/* Of one host, the ends of collectives tell nothing better than its clock. */
START_TEST(processes_of_one_host_stay_as_they_are)
{
	static const struct host same = {"a", 5000, 0};
	struct process *processes[] = {rank_process(0, &off[0], 9), rank_process(1, &same, 9)};

	job_clock_align(processes, 2);
	ck_assert(!processes[1]->is_clock_fitted);
	ck_assert_str_eq(told(processes, 2), "");
	destroy(processes, 2);
}
END_TEST

UNIT_SUITE("report/job_clock", seconds_and_drift_are_found, some_of_the_ranks_are_enough,
	tables_have_one_clock_and_say_how_exact, commands_and_timelines_have_it,
	where_nothing_matches_wall_clocks_stay, processes_of_one_host_stay_as_they_are)
