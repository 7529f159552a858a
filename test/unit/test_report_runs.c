/* SPDX-License-Identifier: Apache-2.0 */
#include "report/session/run_choice.h"

#include <stdio.h>
#include <string.h>

#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

#define MOST 16u

static struct runs_process all[MOST];
static size_t nr;

static uint32_t text(const char *bytes)
{
	return string_pool_intern(bytes, strlen(bytes));
}

/* The next process, from second `begin` to `end`; its pid is its place. */
static struct runs_process *add(uint64_t begin, uint64_t end)
{
	struct runs_process *process = &all[nr++];
	char name[32];

	snprintf(name, sizeof(name), "d/%zu.gprof", nr);
	*process = (struct runs_process){.path = text(name),
		.name = text(name + 2),
		.boot = text("boot"),
		.ancestors = text("99:5 1:1"),
		.pid = (uint32_t)nr,
		.start_ticks = (int64_t)(100 * begin),
		.rank = -1,
		.world = -1,
		.begin_ns = 1000000000 * begin,
		.end_ns = 1000000000 * end};
	return process;
}

static struct runs_process *add_rank(uint64_t begin, uint64_t end, int64_t rank, int64_t world)
{
	struct runs_process *process = add(begin, end);

	process->rank = rank;
	process->world = world;
	return process;
}

/* The runs of all in their order, "1 1 2", of which the next test starts anew. */
static const char *runs(void)
{
	static char shown[4 * MOST];
	size_t at = 0;

	runs_group(all, nr);
	shown[0] = '\0';
	for (size_t i = 0; i < nr; i++) {
		at += (size_t)snprintf(
			shown + at, sizeof(shown) - at, "%s%zu", i ? " " : "", all[i].run);
	}
	nr = 0;
	return shown;
}

START_TEST(launches_from_one_shell_are_several)
{
	add(1, 5);
	add(2, 3); /* also at the same time */
	add(7, 9);
	ck_assert_str_eq(runs(), "1 2 3");
	/* A path decides where the times are equal. */
	add(1, 2);
	add(1, 2);
	ck_assert_str_eq(runs(), "1 2");
}
END_TEST

START_TEST(one_id_is_one_run)
{
	add(1, 2)->id = text("a");
	add(5, 6)->id = text("b");
	add(7, 8)->id = text("a");
	ck_assert_str_eq(runs(), "1 2 1");
}
END_TEST

START_TEST(programs_of_a_script_have_its_launch)
{
	add(1, 2)->first = text("50:7");
	add(3, 4)->first = text("50:7");
	add(5, 6)->first = text("60:7");
	add(7, 8)->first = text("50:7");
	all[3].boot = text("another boot");
	ck_assert_str_eq(runs(), "1 1 2 3");
}
END_TEST

/* `unshare --pid` without a /proc of its own: pids of ancestors are those outside. */
START_TEST(a_launch_may_make_namespaces_of_pids)
{
	for (uint64_t i = 0; i < 3; i++) {
		struct runs_process *process = add(10 * i, 10 * i + 1);

		process->pid_namespace = text(i ? "pid:[3]" : "pid:[2]");
		process->ancestor_namespace = text(i < 2 ? "pid:[1]" : "pid:[4]");
		process->first = text("77:7");
	}
	ck_assert_str_eq(runs(), "1 1 2");
}
END_TEST

START_TEST(kin_are_one_run)
{
	struct runs_process *worker;

	add(1, 9);
	add(2, 3)->ancestors = text("77:7 1:100 99:5"); /* by a shell of the first */
	worker = add(4, 5);
	worker->ancestors = text("88:8");
	worker->forker = text("2.gprof");
	add(12, 13)->ancestors = text("1:1200 99:5"); /* the pid was used again */
	add(3, 4)->pid = 1;			      /* exec */
	all[4].start_ticks = 100;
	ck_assert_str_eq(runs(), "1 1 1 2 1");
}
END_TEST

START_TEST(workers_of_torchrun_are_one_run_also_after_restarts)
{
	for (int restart = 0; restart < 2; restart++) {
		for (int rank = 0; rank < 2; rank++) {
			add_rank(1 + 10 * (uint64_t)restart, 9 + 10 * (uint64_t)restart, rank, 2)
				->is_restarted = true;
		}
	}
	add_rank(30, 31, 0, 2)->ancestors = text("98:5 1:1");
	ck_assert_str_eq(runs(), "1 1 1 1 2");
}
END_TEST

START_TEST(ranks_of_one_parent_are_one_run_at_a_time)
{
	add_rank(1, 5, 0, 2);
	add_rank(1, 5, 1, 2);
	add_rank(6, 9, 0, 2);
	add_rank(6, 9, 1, 2);
	ck_assert_str_eq(runs(), "1 1 2 2");
	/* Two jobs at once, each with a launcher. */
	add_rank(1, 5, 0, 2)->ancestors = text("50:1 99:5");
	add_rank(1, 5, 0, 2)->ancestors = text("60:1 99:5");
	add_rank(2, 5, 1, 2)->ancestors = text("60:1 99:5");
	add_rank(2, 5, 1, 2)->ancestors = text("50:1 99:5");
	ck_assert_str_eq(runs(), "1 2 2 1");
	/* Of a moment, on a busy machine; and long after it. */
	add_rank(1, 5, 0, 2);
	add_rank(6, 9, 1, 2);
	add_rank(30, 31, 0, 2);
	ck_assert_str_eq(runs(), "1 1 2");
	/* A rank that is alone in its world has no others. */
	add_rank(1, 5, 0, 1);
	add_rank(1, 5, 1, 2);
	ck_assert_str_eq(runs(), "1 2");
}
END_TEST

START_TEST(a_rank_is_there_once)
{
	add_rank(1, 5, 0, 4);
	add_rank(2, 5, 0, 4);
	add_rank(3, 5, 1, 4);
	ck_assert_str_eq(runs(), "1 2 1");
}
END_TEST

/* The process of a rank on a host of its own. */
static struct runs_process *add_far(uint64_t begin, uint64_t end, int64_t rank, const char *boot)
{
	struct runs_process *process = add_rank(begin, end, rank, 2);

	process->boot = text(boot);
	return process;
}

START_TEST(ranks_of_a_job_are_one_run_on_all_hosts)
{
	for (int i = 0; i < 4; i++) {
		struct runs_process *process =
			add_far(i < 2 ? 1 : 6, i < 2 ? 5 : 9, i % 2, i % 2 ? "x" : "y");

		process->id = text(i == 0 ? "i" : i == 1 ? "j" : i == 2 ? "k" : "l");
		process->job = text("4711");
		process->job_step = text("0");
	}
	ck_assert_str_eq(runs(), "1 1 2 2");
	/* Clocks that differ take no rank of the next run. */
	add_far(100, 101, 0, "x");
	add_far(103, 104, 1, "y");
	add_far(108, 109, 0, "x");
	add_far(111, 112, 1, "y");
	add_far(120, 121, 0, "x");
	ck_assert_str_eq(runs(), "1 1 2 2 3");
	/* At the same time, but of two steps of it. */
	add_far(1, 5, 0, "x")->job_step = text("0");
	add_far(1, 5, 1, "y")->job_step = text("1");
	ck_assert_str_eq(runs(), "1 2");
}
END_TEST

START_TEST(ranks_with_one_master_are_one_run_on_all_hosts)
{
	for (int i = 0; i < 4; i++) {
		struct runs_process *process = add_far(1, 5, i % 2, i % 2 ? "x" : "y");

		process->id = text(i == 0 ? "i" : i == 1 ? "j" : i == 2 ? "k" : "l");
		process->master = text("node0");
		process->port = text(i < 2 ? "29500" : "29501");
	}
	ck_assert_str_eq(runs(), "1 1 2 2");
	/* With IDs alone, they are launches of their own; without, as in old streams, the time
	 * decides. */
	add_far(1, 5, 0, "x")->id = text("i");
	add_far(1, 5, 1, "y")->id = text("j");
	add_far(7, 9, 0, "x");
	add_far(7, 9, 1, "y");
	ck_assert_str_eq(runs(), "1 2 3 3");
}
END_TEST

START_TEST(without_parents_the_time_decides)
{
	add(1, 5)->ancestors = 0;
	add(2, 3)->ancestors = 0;
	add(6, 7)->ancestors = 0;
	add(2, 8);
	ck_assert_str_eq(runs(), "1 1 3 2");
}
END_TEST

/* What a reader in another container sees of two ranks in theirs. */
START_TEST(ranks_whose_ends_nobody_saw_may_have_lived_on)
{
	static const struct {
		uint64_t begin; /* of the second; the first ends at second 5 */
		int64_t rank;	/* of it */
		bool is_open[2];
		const char *runs;
	} cases[] = {{7, 1, {true, false}, "1 1"}, {27, 1, {true, false}, "1 2"},
		{7, 1, {false, true}, "1 2"}, {7, 0, {true, true}, "1 2"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		add_far(1, 5, 0, "x")->is_open = cases[i].is_open[0];
		add_far(cases[i].begin, 29, cases[i].rank, "x")->is_open = cases[i].is_open[1];
		all[0].ancestors = all[1].ancestors = 0;
		ck_assert_str_eq(runs(), cases[i].runs);
	}
	/* Programs that are no ranks are launches of their own. */
	add(1, 5)->is_open = true;
	add(7, 9);
	all[0].ancestors = all[1].ancestors = 0;
	ck_assert_str_eq(runs(), "1 2");
}
END_TEST

START_TEST(what_is_imported_is_of_no_run)
{
	add(1, 5)->is_trace = true;
	add(2, 3);
	ck_assert_str_eq(runs(), "0 1");
}
END_TEST

/* It last calls something 2 ms after its begin, and waits; its samples go on for 3 s. */
START_TEST(a_process_is_there_as_long_as_its_samples)
{
	const uint64_t begin = GEN_START_NS - GEN_REALTIME_OFFSET_NS;
	const char *path = streams_path("waits.gprof");
	struct gen *gen = gen_open(path);
	struct gprof_row_sample *sample;
	struct runs_process described;
	struct process *process;

	gen_anchor(gen, begin, begin, begin + GEN_CUPTI_OFFSET_NS);
	gen_launch(gen, begin + 2000000, 1, 1, 1);
	sample = gen_row(gen, GPROF_TABLE_sample);
	sample->time = begin + 3000000000u;
	sample->metric = GPROF_METRIC_PROCESS_CPU_NS;
	gen_close(gen, NULL);
	process = streams_process(path);
	described = runs_describe(process);
	ck_assert_uint_eq(described.end_ns - described.begin_ns, 3000000000u);
	ck_assert_uint_lt(process->last_ns - process->first_ns, 1000000000u);
	process_destroy(process);
}
END_TEST

/* ---- the choice ---- */

/* A stream of a launch of its own. */
static void add_stream(struct run_choice *choice, const char *name, const char *id, size_t folder)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	struct process *process;

	gen_info(gen, "host.boot_id", "some boot");
	gen_info(gen, "process.ancestors", "99:5");
	gen_info(gen, "config.GPROF_RUN", id);
	gen_close(gen, "exit");
	process = streams_process(path);
	run_choice_add(choice, process, NULL, folder);
	process_destroy(process);
}

/* Which are chosen of three in a folder, one in another, and one that is named itself. */
static const char *chosen(const char *asked, struct buf *others)
{
	static char *const folders[] = {"one", "the other"};
	static char shown[MOST];
	struct run_choice choice = {0};

	add_stream(&choice, "a.gprof", "11", 1);
	add_stream(&choice, "b.gprof", "cafe", 1);
	add_stream(&choice, "c.gprof", "22", 1);
	add_stream(&choice, "d.gprof", "33", 2);
	add_stream(&choice, "e.gprof", "44", 0);
	run_choice_make(&choice, asked);
	for (size_t i = 0; i < choice.nr; i++) {
		shown[i] = choice.processes[i].is_chosen ? 'x' : '.';
	}
	shown[choice.nr] = '\0';
	run_choice_add_others(others, &choice, folders, 2);
	buf_char(others, '\0');
	run_choice_fini(&choice);
	return shown;
}

START_TEST(the_newest_of_each_folder_is_chosen)
{
	static const struct {
		const char *asked, *chosen;
	} cases[] = {{NULL, "..xxx"}, {"all", "xxxxx"}, {"2", ".x..."}, {"1-2,4", "xx.x."},
		{"-2", "...xx"}, {"9", "....."}, {"cafe", ".x..."}, {"beef", "....."}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf others = {0};

		ck_assert_str_eq(chosen(cases[i].asked, &others), cases[i].chosen);
		if (i == 0) {
			ck_assert_str_eq(others.bytes,
				"2 older runs in one and the other folders: --run 1, --run 2; "
				"gprof-report runs one 'the other' lists them");
		} else if (i == 1) {
			ck_assert_str_eq(others.bytes, "");
		} else if (i == 2) {
			ck_assert_ptr_nonnull(strstr(others.bytes, ": --run 1 to --run 5;"));
		}
		buf_fini(&others);
	}
	ck_assert(run_choice_is_valid("all") && run_choice_is_valid("3-") &&
		  run_choice_is_valid("0123456789012345"));
	ck_assert(!run_choice_is_valid("") && !run_choice_is_valid("3-1"));
}
END_TEST

UNIT_SUITE("report/runs", launches_from_one_shell_are_several, one_id_is_one_run,
	programs_of_a_script_have_its_launch, a_launch_may_make_namespaces_of_pids, kin_are_one_run,
	workers_of_torchrun_are_one_run_also_after_restarts,
	ranks_of_one_parent_are_one_run_at_a_time, a_rank_is_there_once,
	ranks_of_a_job_are_one_run_on_all_hosts, ranks_with_one_master_are_one_run_on_all_hosts,
	without_parents_the_time_decides, ranks_whose_ends_nobody_saw_may_have_lived_on,
	what_is_imported_is_of_no_run, a_process_is_there_as_long_as_its_samples,
	the_newest_of_each_folder_is_chosen)
