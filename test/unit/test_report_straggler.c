/* SPDX-License-Identifier: Apache-2.0 */
/* Eight ranks whose steps are equally long, as they meet in each; one comes late. */
#include "report/comm/straggler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "test/unit/report_made.h"

#define LENGTH_NS 100000000
#define DELAY_NS  30000000

enum { NR = 8, NR_STEPS = 20, SLOW = 5 };

extern const struct view_class view_stragglers;

static struct straggler ranks[NR];

/* Each computes for 50 ms, copies for 5, and waits for the rest but for some jitter. */
static void make(void)
{
	uint64_t seed = 3;

	for (int r = 0; r < NR; r++) {
		free(ranks[r].steps);
		ranks[r] = (struct straggler){.clock_mhz = 1900 + (uint64_t)r, .has_phases = true};
		ranks[r].steps = mem_zeroed(NR_STEPS, sizeof(*ranks[r].steps));
		ranks[r].nr_steps = NR_STEPS;
		for (uint32_t s = 0; s < NR_STEPS; s++) {
			int64_t jitter = (int64_t)(unit_random(&seed) % 1000000);
			struct straggler_step *step = &ranks[r].steps[s];

			/* As they come: the last one first. */
			*step = (struct straggler_step){
				.step = NR_STEPS - s, .length_ns = LENGTH_NS};
			step->ns[STRAGGLER_COMPUTATION] = 50000000 + jitter;
			step->ns[STRAGGLER_COPIES] = 5000000;
			step->ns[STRAGGLER_WAITING] = 45000000 - jitter;
			step->ns[STRAGGLER_PHASES + PHASE_FORWARD] = 40000000;
			step->ns[STRAGGLER_PHASES + PHASE_BACKWARD] = 60000000;
		}
	}
}

/* From that step on it is longer at something, and so long shorter at waiting. */
static void slow_down(int rank, enum straggler_figure figure, uint64_t since)
{
	for (int s = 0; s < NR_STEPS; s++) {
		struct straggler_step *step = &ranks[rank].steps[s];

		if (step->step >= since) {
			step->ns[figure] += DELAY_NS;
			step->ns[STRAGGLER_WAITING] -= DELAY_NS;
		}
	}
}

static void move_phase(int rank, enum phase from, enum phase to)
{
	for (int s = 0; s < NR_STEPS; s++) {
		ranks[rank].steps[s].ns[STRAGGLER_PHASES + from] -= DELAY_NS;
		ranks[rank].steps[s].ns[STRAGGLER_PHASES + to] += DELAY_NS;
	}
}

static void check_slow(enum straggler_cause cause, uint64_t since)
{
	const struct straggler *slow = &ranks[SLOW];

	stragglers_find(ranks, NR);
	for (int r = 0; r < NR; r++) {
		ck_assert_uint_eq(ranks[r].nr_compared, NR_STEPS);
		ck_assert_uint_eq(ranks[r].nr_late != 0, r == SLOW);
	}
	ck_assert_uint_eq(slow->since, since);
	ck_assert_uint_eq(slow->nr_delayed, NR_STEPS - since + 1);
	ck_assert_int_eq(slow->cause, cause);
	ck_assert_double_eq_tol(
		(double)slow->delay_ns / (double)slow->nr_delayed, DELAY_NS, DELAY_NS * 0.05);
}

START_TEST(each_cause_is_known_by_what_is_longer)
{
	static const struct {
		enum straggler_figure figure;
		enum straggler_cause cause;
	} cases[] = {{STRAGGLER_COMPUTATION, STRAGGLER_KERNELS},
		{STRAGGLER_COPIES, STRAGGLER_COPIED}, {STRAGGLER_IDLE, STRAGGLER_HOST}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make();
		slow_down(SLOW, cases[i].figure, 1);
		check_slow(cases[i].cause, 1);
		ck_assert_int_eq(ranks[SLOW].phase, -1);
	}
	make();
	slow_down(SLOW, STRAGGLER_IDLE, 1);
	move_phase(SLOW, PHASE_BACKWARD, PHASE_DATALOADER);
	check_slow(STRAGGLER_LOADER, 1);
	ck_assert_int_eq(ranks[SLOW].phase, PHASE_DATALOADER);
	make();
	slow_down(SLOW, STRAGGLER_IDLE, 1);
	move_phase(SLOW, PHASE_BACKWARD, PHASE_DATALOADER);
	ranks[0].has_phases = false; /* then those of nobody are compared */
	check_slow(STRAGGLER_HOST, 1);
	ck_assert_int_eq(ranks[SLOW].phase, -1);
	make();
	slow_down(SLOW, STRAGGLER_COMPUTATION, 1);
	move_phase(SLOW, PHASE_BACKWARD, PHASE_FORWARD);
	ranks[SLOW].clock_mhz = 1200;
	check_slow(STRAGGLER_CLOCK, 1);
	ck_assert_int_eq(ranks[SLOW].phase, PHASE_FORWARD);
}
END_TEST

START_TEST(it_is_known_since_when)
{
	make();
	slow_down(SLOW, STRAGGLER_IDLE, 13);
	check_slow(STRAGGLER_HOST, 13);
}
END_TEST

/* Once is no habit: it is counted, but the rank is no straggler since then. */
START_TEST(a_single_late_step_is_counted)
{
	make();
	ranks[SLOW].steps[NR_STEPS - 4].ns[STRAGGLER_WAITING] -= DELAY_NS;
	stragglers_find(ranks, NR);
	ck_assert_uint_eq(ranks[SLOW].nr_late, 1);
	ck_assert_uint_eq(ranks[SLOW].nr_delayed, 0);
}
END_TEST

/* Steps of other lengths: nobody met, or not all of the step was recorded. */
START_TEST(what_nothing_explains_is_unknown)
{
	make();
	for (int s = 0; s < NR_STEPS; s++) {
		ranks[SLOW].steps[s].ns[STRAGGLER_WAITING] -= DELAY_NS;
		ranks[SLOW].steps[s].length_ns -= DELAY_NS;
	}
	check_slow(STRAGGLER_UNKNOWN, 1);
}
END_TEST

/* It does nothing for longer, but comes later, if all clocks are one. */
START_TEST(a_late_begin_is_a_cause)
{
	for (int has_begins = 0; has_begins < 2; has_begins++) {
		make();
		for (int r = 0; r < NR; r++) {
			ranks[r].has_begins = has_begins;
		}
		for (int s = 0; s < NR_STEPS; s++) {
			ranks[SLOW].steps[s].ns[STRAGGLER_WAITING] -= DELAY_NS;
			ranks[SLOW].steps[s].ns[STRAGGLER_BEGIN] += DELAY_NS;
			ranks[SLOW].steps[s].length_ns -= DELAY_NS;
		}
		check_slow(has_begins ? STRAGGLER_LATE : STRAGGLER_UNKNOWN, 1);
	}
}
END_TEST

static void be_late(int rank, uint64_t step)
{
	for (int s = 0; s < NR_STEPS; s++) {
		if (ranks[rank].steps[s].step == step) {
			ranks[rank].steps[s].ns[STRAGGLER_WAITING] -= DELAY_NS;
		}
	}
}

/* Late in 7 of 20 steps, here and there, also in the last two: chance, of two ranks even more so.
 */
START_TEST(who_is_late_now_and_then_is_no_straggler)
{
	static const uint64_t late[] = {2, 5, 6, 11, 14, 19, 20};

	for (size_t nr = 2; nr <= NR; nr += NR - 2) {
		make();
		for (size_t i = 0; i < sizeof(late) / sizeof(late[0]); i++) {
			be_late(1, late[i]);
		}
		stragglers_find(ranks, nr);
		ck_assert_uint_eq(ranks[1].nr_late, 7);
		ck_assert_uint_eq(ranks[1].nr_delayed, 0);
		be_late(1, 16);
		be_late(1, 17);
		be_late(1, 18);
		stragglers_find(ranks, nr);
		ck_assert_uint_eq(ranks[1].nr_delayed, 0);
	}
}
END_TEST

/* The last step alone may be chance, too. */
START_TEST(the_last_step_alone_is_not_enough)
{
	for (uint64_t nr = 1; nr <= 3; nr++) {
		make();
		for (uint64_t i = 0; i < nr; i++) {
			be_late(SLOW, NR_STEPS - i);
		}
		stragglers_find(ranks, NR);
		ck_assert_uint_eq(ranks[SLOW].nr_late, nr);
		ck_assert_uint_eq(ranks[SLOW].nr_delayed, nr < 2 ? 0 : nr);
	}
}
END_TEST

START_TEST(of_two_one_is_compared_with_the_other)
{
	make();
	slow_down(1, STRAGGLER_IDLE, 1);
	stragglers_find(ranks, 2);
	ck_assert_uint_eq(ranks[1].nr_delayed, NR_STEPS);
	ck_assert_uint_eq(ranks[0].nr_late, 0);
	make();
	slow_down(0, STRAGGLER_IDLE, 1);
	stragglers_find(ranks, 1);
	ck_assert_uint_eq(ranks[0].nr_compared, 0);
	make();
	for (int s = 0; s < NR_STEPS; s++) {
		ranks[1].steps[s].step += 100; /* other steps */
	}
	stragglers_find(ranks, 2);
	ck_assert_uint_eq(ranks[0].nr_compared, 0);
}
END_TEST

/* ---- of streams ---- */

/* A stream of that rank, and the shapes of a kernel that computes and of one that communicates. */
static struct made rank_open(uint32_t rank, uint32_t shapes[2])
{
	char name[32], number[16];
	struct made made;

	snprintf(name, sizeof(name), "rank%u.gprof", rank);
	snprintf(number, sizeof(number), "%u", rank);
	made = made_open(name);
	gen_info(made.gen, "host.boot_id", "one boot");
	gen_info(made.gen, "rank.world", number);
	shapes[0] = made_shape(&made, "gemm", 1, 32, 16, 0);
	shapes[1] = made_shape(&made, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1, 32, 16, 0);
	return made;
}

/* 10 ms steps that end with a collective until 9 ms; the slow one has an early 4 ms of idleness. */
static struct process *rank_process(uint32_t rank, bool is_slow)
{
	uint32_t shapes[2];
	struct made made = rank_open(rank, shapes);
	uint64_t late = is_slow ? 4000000 : 0;

	for (uint64_t step = 0; step < 6; step++) {
		uint64_t at = 100000000 + step * 10000000;

		made_step(&made, at, step);
		made_kernel(&made, shapes[0], 0, at + late, at + late + 3000000);
		made_kernel(&made, shapes[1], 0, at + late + 3000000, at + 9000000);
	}
	gen_flush(made.gen);
	gen_close(made.gen, "exit");
	return streams_process(made.path);
}

START_TEST(the_table_names_rank_cause_and_delay)
{
	struct process *processes[3];
	struct table *table;

	for (uint32_t i = 0; i < 3; i++) {
		processes[i] = rank_process(i, i == 1);
	}
	table = tables_make(&view_stragglers, processes, 3, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "rank"), 1);
	ck_assert_uint_eq(tables_number(table, 0, "steps"), 5);
	ck_assert_uint_eq(tables_number(table, 0, "late_steps"), 5);
	ck_assert_uint_eq(tables_number(table, 0, "total_ns"), 20000000);
	ck_assert_double_eq_tol(tables_cell(table, 0, "delay_ns")->number, 4e6, 1);
	ck_assert_double_eq_tol(tables_cell(table, 0, "delay_pct")->number, 40, 1e-6);
	ck_assert_double_eq_tol(tables_cell(table, 0, "idle_ns")->number, 4e6, 1);
	ck_assert_str_eq(tables_cell(table, 0, "cause")->text, "host");
	ck_assert(!tables_cell(table, 0, "phase")->is_known);
	table_destroy(table);
	table = tables_make(&view_stragglers, processes, 1, false);
	ck_assert_uint_eq(table->nr_rows, 0);
	ck_assert_msg(strstr(table->note, "nothing to compare") != NULL, "%s", table->note);
	table_destroy(table);
	for (int i = 0; i < 3; i++) {
		process_destroy(processes[i]);
	}
}
END_TEST

/* 10 ms steps whose host is ahead; forward and backward compute 1 ms, the slow one 4 ms longer. */
static struct process *trained_process(uint32_t rank, enum phase slow)
{
	uint32_t shapes[2];
	struct made made = rank_open(rank, shapes);
	uint64_t forward = slow == PHASE_FORWARD ? 5000000 : 1000000;
	uint64_t backward = slow == PHASE_BACKWARD ? 5000000 : 1000000;

	for (uint64_t step = 0; step < 6; step++) {
		uint64_t at = 100000000 + step * 10000000;

		made_step(&made, at, step);
		made_op(&made, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
			at + 1000, at + 2000, 0);
		made_launch(&made, shapes[0], at + 3000, 100, at + 10000, at + 10000 + forward);
		made_op(&made, "aten::linear", at + 2500, at + 4000, 0);
		made_launch(&made, shapes[0], at + 5000, 100, at + 10000 + forward,
			at + 10000 + forward + backward);
		made_launch(&made, shapes[1], at + 6000, 100, at + 10000 + forward + backward,
			at + 9000000);
		made_op(&made, "autograd::engine::evaluate_function: AddmmBackward0", at + 4500,
			at + 7000, 0);
		made_op(&made, "Optimizer.step#SGD.step", at + 8000, at + 9000, 0);
	}
	gen_flush(made.gen);
	gen_close(made.gen, "exit");
	return streams_process(made.path);
}

/* Also where the phase launches what the others wait in, and so has less of it. */
START_TEST(slow_kernels_are_of_the_phase_that_launched_them)
{
	static const enum phase cases[] = {PHASE_FORWARD, PHASE_BACKWARD};

	for (size_t i = 0; i < 2; i++) {
		struct process *processes[3];
		struct table *table;

		for (uint32_t k = 0; k < 3; k++) {
			processes[k] = trained_process(k, k == 1 ? cases[i] : PHASE_OTHERS);
		}
		table = tables_make(&view_stragglers, processes, 3, false);
		ck_assert_uint_eq(table->nr_rows, 1);
		ck_assert_uint_eq(tables_number(table, 0, "rank"), 1);
		ck_assert_uint_eq(tables_number(table, 0, "total_ns"), 20000000);
		ck_assert_str_eq(tables_cell(table, 0, "cause")->text, "slow kernels");
		ck_assert_str_eq(tables_cell(table, 0, "phase")->text, phase_names[cases[i]]);
		table_destroy(table);
		for (int k = 0; k < 3; k++) {
			process_destroy(processes[k]);
		}
	}
}
END_TEST

START_TEST(nonsense_breaks_nothing)
{
	tables_of_nonsense(&view_stragglers, false);
}
END_TEST

UNIT_SUITE("report/straggler", each_cause_is_known_by_what_is_longer, it_is_known_since_when,
	a_single_late_step_is_counted, what_nothing_explains_is_unknown, a_late_begin_is_a_cause,
	who_is_late_now_and_then_is_no_straggler, the_last_step_alone_is_not_enough,
	of_two_one_is_compared_with_the_other, the_table_names_rank_cause_and_delay,
	slow_kernels_are_of_the_phase_that_launched_them, nonsense_breaks_nothing)
