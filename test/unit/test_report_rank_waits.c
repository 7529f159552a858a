/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the communication waits for a rank, in the time budget and in what it is a cause of.
 */
#include "report/comm/rank_waits.h"

#include <string.h>

#include "report/budget/budget.h"
#include "report/session/summary.h"
#include "test/unit/report_ranks.h"

/* ---- the parts ---- */

static void check_parts(const struct table *table, uint64_t rank, uint64_t transfer,
	uint64_t unknown, uint64_t wait)
{
	ck_assert_uint_eq(ranks_part(table, rank, BUDGET_TRANSFER), transfer);
	ck_assert_uint_eq(ranks_part(table, rank, BUDGET_COMMUNICATION), unknown);
	ck_assert_uint_eq(ranks_part(table, rank, BUDGET_RANK_WAIT), wait);
}

static struct table *budget_of(struct process **processes, size_t nr)
{
	return tables_make(&view_budget, processes, nr, false);
}

static void add_collective(
	struct made *made, uint32_t sequence, uint64_t call, uint64_t begin, uint64_t end)
{
	ranks_launch(made,
		ranks_call(made, GPROF_NCCL_ALL_REDUCE, -1, sequence, 100, 100 * sequence + call),
		2, begin, end);
}

/*
 * Rank 1 comes to the first collective 150 ns later, and rank 0 to the second 50 ns. In the first
 * wait of rank 0 it computes for 50 ns, and for 30 ns something communicates that no call explains;
 * of the third there is no other rank.
 */
static struct process *rank_of(uint32_t rank)
{
	struct made made = ranks_open(rank, 2);

	made_shape(&made, "k", 1, 32, 16, 0);
	made_shape(&made, "ncclDevKernel_AllReduce", 1, 32, 16, 0);
	made_step(&made, 500, 6);
	made_step(&made, 1000, 7);
	add_collective(&made, 1, 1000, rank ? 1350 : 1200, 1500);
	if (!rank) {
		made_launch(&made, 1, 1110, 10, 1250, 1300);
		made_launch(&made, 2, 1130, 10, 1310, 1340);
	}
	add_collective(&made, 2, 1000, rank ? 1550 : 1600, 1700);
	if (!rank) {
		add_collective(&made, 3, 1000, 1800, 1850);
	}
	made_step(&made, 2000, 8);
	made_step(&made, 3000, 9);
	return ranks_close(&made);
}

START_TEST(communication_is_transfer_once_all_ranks_have_come)
{
	struct process *processes[] = {rank_of(0), rank_of(1)};
	struct table *table = budget_of(processes, 2);
	struct rank_waits waits;
	const char *wrong;
	size_t row;

	check_parts(table, 0, 150 + 100, 30 + 50, 150 - 50 - 30);
	check_parts(table, 1, 150 + 100, 0, 50);
	ck_assert_uint_eq(ranks_part(table, 0, BUDGET_COMPUTING), 50);
	table_destroy(table);
	/* As before in the plugin's parts. */
	table = tables_make(&view_breakdown, processes, 2, false);
	ck_assert_double_eq(
		tables_cell(table, tables_find(table, "step", "7", 0), "communication_ns")->number,
		150 + 100 + 30 + 50 + 150 - 50 - 30);
	table_destroy(table);
	/* Also where ranks are compared, which reads each by itself, however often. */
	rank_waits_read(&waits, processes, 2);
	for (size_t i = 0; i < 2; i++) {
		table = rank_spread_table(&view_budget,
			&(struct view_input){.processes = processes, .nr_processes = 2}, &waits,
			"total", &wrong);
		row = tables_find(table, "part", budget_part_texts[BUDGET_RANK_WAIT].title, 0);
		ck_assert_uint_eq(tables_number(table, row, "nr_ranks"), 2);
		ck_assert_uint_eq(tables_number(table, row, "max_ns"), 150 - 50 - 30);
		ck_assert_uint_eq(tables_number(table, row, "min_ns"), 50);
		table_destroy(table);
	}
	rank_waits_fini(&waits);
	/* Of a process alone nobody knows. */
	table = budget_of(processes, 1);
	check_parts(table, 0, 0, 300 - 50 + 100 + 50, 0);
	ck_assert_ptr_nonnull(strstr(table->note, "its waiting is unknown"));
	table_destroy(table);
	process_destroy(processes[0]);
	process_destroy(processes[1]);
}
END_TEST

/* ---- of hosts ---- */

/* Two collectives of 100 ns; rank 1 comes 40 ns later. */
static struct process *host_of(uint32_t rank)
{
	struct made made = ranks_open(rank, 2);

	made_step(&made, 500, 6);
	made_step(&made, 1000, 7);
	for (uint64_t at = 1200; at < 1800; at += 300) {
		made_op(&made, "gloo:all_reduce", at + 40 * rank, at + 100, 0);
	}
	made_step(&made, 2000, 8);
	made_step(&made, 3000, 9);
	return ranks_close(&made);
}

START_TEST(collectives_of_hosts_wait_as_well)
{
	struct process *processes[] = {host_of(0), host_of(1)};
	struct table *table = budget_of(processes, 2);

	check_parts(table, 0, 120, 0, 80);
	check_parts(table, 1, 120, 0, 0);
	table_destroy(table);
	table = tables_make(&view_headline, processes, 2, false);
	ck_assert_msg(strstr(table->figure,
			      "in communication (transfer 6.0, waiting for a rank 2.0)") != NULL,
		"%s", table->figure);
	table_destroy(table);
	process_destroy(processes[0]);
	process_destroy(processes[1]);
}
END_TEST

/* ---- painted ---- */

enum { NR_RANKS = 3, NR_COLLECTIVES = 30, PAINTED_NS = 8000 };

struct painted {
	bool is[PAINTED_NS][NR_BUDGET_PARTS];
	uint64_t ns[NR_BUDGET_PARTS];
};

static void paint(struct painted *painted, unsigned int part, uint64_t begin, uint64_t end)
{
	for (uint64_t i = begin; i < end; i++) {
		painted->is[i][part] = true;
	}
}

/* The first that applies. */
static void sum(struct painted *painted)
{
	for (uint64_t i = 0; i < PAINTED_NS; i++) {
		for (unsigned int part = 0; part < NR_BUDGET_BUSY; part++) {
			if (painted->is[i][part]) {
				painted->ns[part]++;
				break;
			}
		}
	}
}

struct collective {
	uint64_t begins[NR_RANKS], ends[NR_RANKS], last;
	bool has[NR_RANKS], is_whole;
};

/* Those of one rank may overlap, on streams of their own; some lack a rank. */
static void make_collectives(struct collective *all, uint64_t *seed)
{
	for (uint64_t i = 0; i < NR_COLLECTIVES; i++) {
		struct collective *one = &all[i];

		*one = (struct collective){.is_whole = true};
		for (unsigned int rank = 0; rank < NR_RANKS; rank++) {
			one->begins[rank] = 3000 + 120 * i + unit_below(seed, 200);
			one->ends[rank] = one->begins[rank] + unit_below(seed, 300);
			one->has[rank] = unit_below(seed, 12) != 0;
			one->is_whole &= one->has[rank];
			one->last = one->begins[rank] > one->last ? one->begins[rank] : one->last;
		}
	}
}

static struct process *write_rank(
	uint32_t rank, const struct collective *all, struct painted *painted, uint64_t *seed)
{
	struct made made = ranks_open(rank, NR_RANKS);

	made_shape(&made, "k", 1, 32, 16, 0);
	made_shape(&made, "ncclDevKernel_AllReduce", 1, 32, 16, 0);
	made_step(&made, 500, 6);
	made_step(&made, 1000, 7);
	for (uint32_t i = 0; i < NR_COLLECTIVES; i++) {
		uint64_t begin = all[i].begins[rank], end = all[i].ends[rank], until = all[i].last;
		uint64_t other = 3000 + 120 * i + unit_below(seed, 100);

		until = until < end ? until : end;
		if (all[i].has[rank]) {
			ranks_launch(&made,
				ranks_call(&made, GPROF_NCCL_ALL_REDUCE, -1, i + 1, 100,
					1000 + 40 * i),
				2, begin, end);
			paint(painted, all[i].is_whole ? BUDGET_RANK_WAIT : BUDGET_COMMUNICATION,
				begin, all[i].is_whole ? until : end);
			paint(painted, BUDGET_TRANSFER, all[i].is_whole ? until : end, end);
		}
		if (unit_below(seed, 3) == 0) {
			made_launch(&made, 1, 1020 + 40 * i, 5, other, other + 40);
			paint(painted, BUDGET_COMPUTING, other, other + 40);
		}
	}
	made_step(&made, PAINTED_NS, 8);
	made_step(&made, PAINTED_NS + 1000, 9);
	sum(painted);
	return ranks_close(&made);
}

START_TEST(random_collectives_are_as_painted)
{
	static struct painted painted[NR_RANKS];
	uint64_t seed = 5, nr_waits = 0;

	for (unsigned int round = 0; round < 30; round++) {
		struct collective all[NR_COLLECTIVES];
		struct process *processes[NR_RANKS];
		struct table *table;
		uint64_t step_ns = 0;

		memset(painted, 0, sizeof(painted));
		make_collectives(all, &seed);
		for (uint32_t rank = 0; rank < NR_RANKS; rank++) {
			processes[rank] = write_rank(rank, all, &painted[rank], &seed);
		}
		table = budget_of(processes, NR_RANKS);
		for (uint32_t rank = 0; rank < NR_RANKS; rank++) {
			for (unsigned int part = 0; part < NR_BUDGET_BUSY; part++) {
				ck_assert_uint_eq(
					ranks_part(table, rank, part), painted[rank].ns[part]);
			}
			nr_waits += painted[rank].ns[BUDGET_RANK_WAIT] != 0;
			step_ns += PAINTED_NS - 1000 + 1000;
		}
		for (size_t row = 0; row < table->nr_rows; row++) {
			step_ns -= tables_number(table, row, "total_ns");
		}
		ck_assert_uint_eq(step_ns, 0);
		table_destroy(table);
		for (uint32_t rank = 0; rank < NR_RANKS; rank++) {
			process_destroy(processes[rank]);
		}
	}
	ck_assert_uint_gt(nr_waits, 60);
}
END_TEST

/* ---- findings ---- */

enum { NR_STEPS = 12 };

static void add_wait(struct made *made, uint64_t begin, uint64_t end)
{
	struct gprof_row_api *row = gen_row(made->gen, GPROF_TABLE_api);

	row->begin = begin;
	row->dur = end;
	row->thread = 1;
	row->call = made->sync;
	row->correlation = ++made->correlation;
}

/* In each step all compute for 3,000 ns, and the late rank for `late_ns` more; then they transfer
 * for 1,000. */
static struct process *late_of(
	uint32_t rank, uint64_t late_ns, uint32_t (*late_in)(uint32_t step), uint64_t transfer_ns)
{
	struct made made = ranks_open(rank, NR_RANKS);
	uint64_t at = 1000;

	made_shape(&made, "k", 1, 32, 16, 0);
	made_shape(&made, "ncclDevKernel_AllReduce", 1, 32, 16, 0);
	for (uint32_t step = 0; step < NR_STEPS; step++) {
		uint64_t begin = at + 3100 + (late_in(step) == rank ? late_ns : 0);
		uint64_t end = at + 3100 + late_ns + transfer_ns;

		made_step(&made, at, step);
		made_launch(&made, 1, at + 10, 5, at + 100, begin);
		ranks_launch(&made,
			ranks_call(&made, GPROF_NCCL_ALL_REDUCE, -1, step + 1, 100, at + 20), 2,
			begin, end);
		add_wait(&made, at + 40, end + 10);
		at = end + 20;
	}
	made_step(&made, at, NR_STEPS);
	return ranks_close(&made);
}

static uint32_t always_one(uint32_t step)
{
	(void)step;
	return 1;
}

static uint32_t in_turn(uint32_t step)
{
	return step % NR_RANKS;
}

static bool are_unranked; /* no launcher says which rank a process is */

/* What the row of that cause costs; its sentence has `words`. */
static double reach_of(const char *cause, const char *words, uint64_t late_ns,
	uint32_t (*late_in)(uint32_t step), uint64_t transfer_ns)
{
	struct process *processes[NR_RANKS];
	struct table *table;
	const struct table_cell *saved;
	double reach_ns;
	size_t row;

	for (uint32_t rank = 0; rank < NR_RANKS; rank++) {
		processes[rank] = late_of(rank, late_ns, late_in, transfer_ns);
		processes[rank]->rank = are_unranked ? -1 : processes[rank]->rank;
	}
	table = tables_make(&view_findings, processes, NR_RANKS, false);
	row = tables_find(table, "cause", cause, 0);
	reach_ns = tables_cell(table, row, "reach_ns")->number;
	saved = tables_cell(table, row, "saved_ns");
	ck_assert(!saved->is_known || saved->number <= reach_ns);
	ck_assert_msg(strstr(tables_cell(table, row, "sentence")->text, words) != NULL, "%s",
		tables_cell(table, row, "sentence")->text);
	table_destroy(table);
	for (uint32_t rank = 0; rank < NR_RANKS; rank++) {
		process_destroy(processes[rank]);
	}
	return reach_ns;
}

START_TEST(a_late_rank_costs_the_exposed_waiting)
{
	/* The others wait 2,000 ns. */
	double ns = reach_of("straggler", " for rank 1, whose kernels", 2000, always_one, 1000);

	ck_assert_double_gt(ns, 1500);
	ck_assert_double_le(ns, 2000 + 1e-6);
	/* Two of three ranks wait, for one after the other. */
	ns = reach_of("straggler", " for each other", 2000, in_turn, 1000);
	ck_assert_double_eq_tol(ns, 2000 * 2 / 3.0, 1e-6);
	/* Less than a step shows. */
	ns = reach_of("straggler", ", mostly for rank 1", 200, always_one, 1000);
	ck_assert_double_eq_tol(ns, 200, 1e-6);
}
END_TEST

/* The mean over all processes, with the late one, is a third less. */
START_TEST(a_late_process_without_a_rank_costs_the_same)
{
	double ns = reach_of("straggler", " for rank 1, whose kernels", 2000, always_one, 1000);

	are_unranked = true;
	ck_assert_double_eq_tol(
		reach_of("straggler", " for process ", 2000, always_one, 1000), ns, 1e-6);
	are_unranked = false;
}
END_TEST

START_TEST(hidden_communication_would_save_the_transfer)
{
	double ns = reach_of("comm_exposed", "hiding it", 2000, always_one, 1000);

	ck_assert_double_eq_tol(ns, 1000, 1e-6);
}
END_TEST

START_TEST(nonsense_of_several_breaks_nothing)
{
	static const struct view_class *const views[] = {
		&view_budget, &view_gpu_summary, &view_headline, &view_findings};

	for (uint64_t seed = 1; seed < 30; seed++) {
		struct process *processes[3];

		for (uint64_t i = 0; i < 3; i++) {
			const char *path =
				streams_path(i ? i > 1 ? "2.gprof" : "1.gprof" : "0.gprof");
			struct gen *gen = gen_open(path);

			gen_wild(gen, seed + (i ? i - 1 : 0));
			gen_close(gen, NULL);
			processes[i] = streams_process(path);
		}
		for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
			table_destroy(tables_make(views[i], processes, 3, false));
		}
		for (size_t i = 0; i < 3; i++) {
			process_destroy(processes[i]);
		}
	}
}
END_TEST

UNIT_SUITE("report/rank_waits", communication_is_transfer_once_all_ranks_have_come,
	collectives_of_hosts_wait_as_well, random_collectives_are_as_painted,
	a_late_rank_costs_the_exposed_waiting, a_late_process_without_a_rank_costs_the_same,
	hidden_communication_would_save_the_transfer, nonsense_of_several_breaks_nothing)
