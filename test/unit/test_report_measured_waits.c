/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for other ranks, as NCCL's profiler plugin measured them on one rank, and their parts of
 * the time budget.
 */
#include "report/comm/measured_waits.h"

#include <stdlib.h>
#include <string.h>

#include "report/budget/budget.h"
#include "report/reduce/reduced.h"
#include "test/unit/report_ranks.h"

#define US 1000ull

extern const struct view_class view_arrivals;

/* ---- operations by themselves ---- */

enum { NR_OPS = 8 };

struct found {
	struct measured_op ops[NR_OPS];
	bool is_set[NR_OPS], are_sends[NR_OPS];
};

static bool takes_sends(void *context, uint32_t op)
{
	return ((struct found *)context)->are_sends[op];
}

static void set(void *context, uint32_t op, const struct measured_op *measured)
{
	struct found *found = context;

	ck_assert_uint_lt(op, NR_OPS);
	ck_assert(!found->is_set[op]);
	found->is_set[op] = true;
	found->ops[op] = *measured;
}

static void find(struct measured_waits *waits, struct found *found,
	const struct measured_transfer *transfers, size_t nr)
{
	struct measured_transfers all = {0};

	for (size_t i = 0; i < nr; i++) {
		measured_transfers_add(&all, &transfers[i]);
	}
	measured_waits_find(waits, &all, takes_sends, set, found);
	measured_transfers_fini(&all);
}

/* A receive of ten steps, each at its pace of `usual` us but for the first and the pause. */
static struct measured_transfer receive_of(uint32_t op, uint64_t begin, uint64_t end,
	uint64_t first, uint64_t usual, uint64_t pause_after, uint64_t pause)
{
	return (struct measured_transfer){.op = op,
		.steps = 10,
		.begin_ns = begin * US,
		.end_ns = end * US,
		.first_ns = first * US,
		.later_ns = (8 * usual + pause) * US,
		.pause_ns = pause * US,
		.pause_after_ns = pause_after * US,
		.is_receive = true};
}

static struct measured_transfer send_of(uint32_t op)
{
	return (struct measured_transfer){.op = op,
		.steps = 10,
		.begin_ns = 1000 * US,
		.end_ns = 5000 * US,
		.first_ns = 500 * US,
		.first_after_ns = 300 * US};
}

static void check_wait(const struct measured_waits *waits, const struct measured_op *op, size_t i,
	uint64_t begin, uint64_t end)
{
	ck_assert_uint_lt(i, op->nr);
	ck_assert_uint_eq(waits->items[op->first + i].begin_ns, begin * US);
	ck_assert_uint_eq(waits->items[op->first + i].end_ns, end * US);
}

START_TEST(an_operation_waits_while_all_of_its_receives_do)
{
	const struct measured_transfer transfers[] = {
		/* Two channels, of which the second one gets data earlier and pauses earlier. */
		receive_of(1, 1000, 9000, 1010, 10, 3000, 2010),
		receive_of(1, 1200, 9000, 710, 10, 1300, 3010),
		/* The other comes before the last one's data, and ends. */
		receive_of(2, 1000, 9000, 4010, 10, 4200, 10),
		receive_of(2, 1000, 2000, 110, 10, 300, 10),
		/* Nothing is under way in between. */
		receive_of(3, 1000, 2000, 510, 10, 600, 10),
		receive_of(3, 5000, 6000, 510, 10, 600, 10),
		/* A send that no receive goes along with, and one with receives. */
		send_of(4),
		send_of(5),
		{.op = 1,
			.steps = 1,
			.begin_ns = 500 * US,
			.end_ns = 10000 * US,
			.first_ns = 5 * US},
	};
	struct measured_waits waits = {0};
	struct found found = {.are_sends = {[4] = true}};

	find(&waits, &found, transfers, sizeof(transfers) / sizeof(transfers[0]));
	ck_assert_uint_eq(found.ops[1].begin_ns, 1000 * US);
	ck_assert_uint_eq(found.ops[1].end_ns, 9000 * US);
	/* Data that end a wait were under way for 10 us. */
	ck_assert_uint_eq(found.ops[1].nr, 2);
	check_wait(&waits, &found.ops[1], 0, 1000, 1900);
	check_wait(&waits, &found.ops[1], 1, 4000, 5500);
	ck_assert_uint_eq(found.ops[2].nr, 2);
	check_wait(&waits, &found.ops[2], 0, 1000, 1100);
	check_wait(&waits, &found.ops[2], 1, 2000, 5000);
	ck_assert_uint_eq(found.ops[3].nr, 2);
	check_wait(&waits, &found.ops[3], 0, 1000, 1500);
	check_wait(&waits, &found.ops[3], 1, 5000, 5500);
	ck_assert_uint_eq(found.ops[4].nr, 1);
	check_wait(&waits, &found.ops[4], 0, 1300, 1800);
	ck_assert(!found.is_set[5] && !found.is_set[0]);
	measured_waits_fini(&waits);
}
END_TEST

START_TEST(a_network_at_work_is_no_wait_for_a_rank)
{
	const struct measured_transfer transfers[] = {
		/* A slow network, whose first data take as long as eight at a time would. */
		receive_of(0, 0, 90000, 8000, 1000, 20000, 7000),
		/* Waits that are much longer than the others, and yet short. */
		receive_of(1, 0, 1000, 99, 0, 200, 99),
		receive_of(2, 0, 1000, 100, 0, 200, 100),
		/* No pace is known of so few steps, nor without any wait. */
		{.op = 3,
			.steps = 3,
			.end_ns = 1000 * US,
			.first_ns = 500 * US,
			.is_receive = true},
		{.op = 4, .steps = 10, .end_ns = 1000 * US, .is_receive = true},
		/* One that shows no pace is enough. */
		receive_of(5, 0, 1000, 500, 10, 600, 10),
		{.op = 5,
			.steps = 1,
			.end_ns = 1000 * US,
			.first_ns = 500 * US,
			.is_receive = true},
	};
	struct measured_waits waits = {0};
	struct found found = {0};

	find(&waits, &found, transfers, sizeof(transfers) / sizeof(transfers[0]));
	ck_assert(found.is_set[0] && found.is_set[1] && found.is_set[2]);
	ck_assert_uint_eq(found.ops[0].nr, 0);
	ck_assert_uint_eq(found.ops[1].nr, 0);
	ck_assert_uint_eq(found.ops[2].nr, 2);
	ck_assert(!found.is_set[3] && !found.is_set[4] && !found.is_set[5]);
	measured_waits_fini(&waits);
}
END_TEST

/* ---- painted ---- */

enum { PAINTED_US = 20000, NR_TRANSFERS = 12 };

/* How the op uses a microsecond, bit by bit. */
enum { IS_UNDERWAY = 1, MOVES = 2 };

static void paint(uint8_t *painted, const struct measured_transfer *transfer)
{
	uint64_t usual = (transfer->later_ns - transfer->pause_ns) / US / 8;
	uint64_t first = transfer->first_after_ns / US, pause = transfer->pause_after_ns / US;
	uint64_t first_us = transfer->first_ns / US, pause_us = transfer->pause_ns / US;

	first_us = first_us > 8 * usual && first_us >= usual + 100 ? first_us - usual : 0;
	pause_us = pause_us > 8 * usual && pause_us >= usual + 100 ? pause_us - usual : 0;
	for (uint64_t i = 0; i < (transfer->end_ns - transfer->begin_ns) / US; i++) {
		bool waits = (i >= first && i < first + first_us) ||
			     (i >= pause && i < pause + pause_us);

		painted[transfer->begin_ns / US + i] |= IS_UNDERWAY | (waits ? 0 : MOVES);
	}
}

static struct measured_transfer random_receive(uint64_t *seed)
{
	uint64_t begin = unit_below(seed, 6000), usual = unit_below(seed, 60);
	uint64_t first = unit_below(seed, 4000), after = unit_below(seed, 50);
	uint64_t pause_after = after + first + unit_below(seed, 2000);
	uint64_t pause = usual + unit_below(seed, 3000);
	struct measured_transfer transfer = receive_of((uint32_t)unit_below(seed, NR_OPS), begin,
		begin + pause_after + pause + unit_below(seed, 3000), first + 1, usual,
		pause_after + 1, pause);

	transfer.first_after_ns = after * US;
	return transfer;
}

START_TEST(random_receives_are_as_painted)
{
	static uint8_t painted[PAINTED_US];
	uint64_t seed = 3, nr_waits = 0;

	for (unsigned int round = 0; round < 200; round++) {
		struct measured_transfer transfers[NR_TRANSFERS];
		struct measured_waits waits = {0};
		struct found found = {0};

		for (size_t i = 0; i < NR_TRANSFERS; i++) {
			transfers[i] = random_receive(&seed);
		}
		find(&waits, &found, transfers, NR_TRANSFERS);
		for (uint32_t op = 0; op < NR_OPS; op++) {
			uint64_t waited = 0, want = 0;

			memset(painted, 0, sizeof(painted));
			for (size_t i = 0; i < NR_TRANSFERS; i++) {
				if (transfers[i].op == op) {
					paint(painted, &transfers[i]);
				}
			}
			for (size_t i = 0; i < found.ops[op].nr; i++) {
				const struct measured_wait *wait =
					&waits.items[found.ops[op].first + i];

				for (uint64_t k = wait->begin_ns / US; k < wait->end_ns / US; k++) {
					ck_assert_uint_eq(painted[k], IS_UNDERWAY);
					waited++;
				}
			}
			for (uint64_t i = 0; i < PAINTED_US; i++) {
				want += painted[i] == IS_UNDERWAY;
			}
			ck_assert_uint_eq(waited, want);
			nr_waits += found.ops[op].nr;
		}
		measured_waits_fini(&waits);
	}
	ck_assert_uint_gt(nr_waits, 400);
}
END_TEST

/* Any numbers: waits lie within their operation, in the order of time. */
START_TEST(nonsense_stays_within_its_operation)
{
	uint64_t seed = 11;

	for (unsigned int round = 0; round < 500; round++) {
		struct measured_transfer transfers[NR_TRANSFERS];
		struct measured_waits waits = {0};
		struct found found = {0};

		for (size_t i = 0; i < NR_TRANSFERS; i++) {
			uint64_t *numbers[] = {&transfers[i].begin_ns, &transfers[i].end_ns,
				&transfers[i].first_ns, &transfers[i].first_after_ns,
				&transfers[i].later_ns, &transfers[i].pause_ns,
				&transfers[i].pause_after_ns};

			for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
				*numbers[k] = unit_random(&seed) >> unit_below(&seed, 64);
			}
			transfers[i].op = (uint32_t)unit_below(&seed, NR_OPS);
			transfers[i].steps = (uint32_t)unit_below(&seed, 20);
			transfers[i].is_receive = unit_below(&seed, 4) != 0;
		}
		find(&waits, &found, transfers, NR_TRANSFERS);
		for (uint32_t op = 0; op < NR_OPS; op++) {
			uint64_t until_ns = found.ops[op].begin_ns;

			for (size_t i = 0; i < found.ops[op].nr; i++) {
				const struct measured_wait *wait =
					&waits.items[found.ops[op].first + i];

				ck_assert_uint_ge(wait->begin_ns, until_ns);
				ck_assert_uint_lt(wait->begin_ns, wait->end_ns);
				until_ns = wait->end_ns;
			}
			ck_assert_uint_le(until_ns, found.ops[op].end_ns);
		}
		measured_waits_fini(&waits);
	}
}
END_TEST

/* ---- the time budget ---- */

static struct made open_rank(uint32_t rank)
{
	struct made made = ranks_open(rank, 2);
	struct gprof_row_nccl_comm *comm = gen_row(made.gen, GPROF_TABLE_nccl_comm);

	comm->id = 2;
	comm->key = RANKS_KEY + 1;
	comm->rank = (int32_t)rank;
	comm->nr_ranks = 2;
	made_shape(&made, "k", 1, 32, 16, 0);
	made_shape(&made, "ncclDevKernel_AllReduce", 1, 32, 16, 0);
	return made;
}

/* A row of NCCL's for the call on that communicator; times in us. */
static void add_op(struct made *made, uint64_t op, uint32_t comm, uint64_t call)
{
	struct gprof_row_nccl_op *row = gen_row(made->gen, GPROF_TABLE_nccl_op);

	row->op = op;
	row->call_begin = call * US;
	row->time = call * US + 1;
	row->comm = comm;
	row->kind = GPROF_NCCL_ALL_REDUCE;
	row->version = 6;
}

static void add_transfer(struct made *made, uint64_t op, const struct measured_transfer *transfer)
{
	struct gprof_row_nccl_channel *row = gen_row(made->gen, GPROF_TABLE_nccl_channel);

	row->begin = transfer->begin_ns;
	row->dur = transfer->end_ns;
	row->op = op;
	row->steps = transfer->steps;
	row->first_ns = transfer->first_ns;
	row->first_after_ns = transfer->first_after_ns;
	row->later_ns = transfer->later_ns;
	row->pause_ns = transfer->pause_ns;
	row->pause_after_ns = transfer->pause_after_ns;
	row->what = transfer->is_receive ? GPROF_NCCL_CHANNEL_RECV : GPROF_NCCL_CHANNEL_SEND;
}

/* A collective's call and kernel, in us. */
static void add_collective(struct made *made, uint32_t comm, uint32_t sequence, uint64_t call,
	uint64_t begin, uint64_t end)
{
	struct gprof_row_nccl *row =
		ranks_call(made, GPROF_NCCL_ALL_REDUCE, -1, sequence, 100, call * US);

	row->comm = comm;
	ranks_launch(made, row, 2, begin * US, end * US);
}

/*
 * Operations of two communicators at the same time:
 *
 *   us                      2000  2500 3000 3990          5900          7900 8000  8500  9000
 *   a kernel computes              ====
 *   communicator 1           |-waits-------|---data comes----------------|?|
 *   communicator 2                                         6000 |--waits-----------|data|
 */
static struct process *lone_rank(void)
{
	const struct measured_transfer one = receive_of(1, 1500, 7900, 2500, 10, 5000, 10);
	const struct measured_transfer two = receive_of(2, 5900, 9000, 2610, 10, 2800, 10);
	struct made made = open_rank(0);

	made_step(&made, 500 * US, 6);
	made_step(&made, 1000 * US, 7);
	add_collective(&made, 1, 1, 1010, 2000, 8000);
	made_launch(&made, 1, 1030 * US, US, 2500 * US, 3000 * US);
	add_collective(&made, 2, 1, 1050, 6000, 9000);
	add_collective(&made, 1, 2, 1070, 10000, 10500); /* without transfers */
	add_collective(&made, 1, 3, 1090, 11000, 11500); /* in a graph that ran twice */
	ranks_call(&made, GPROF_NCCL_ALL_REDUCE, -1, 4, 100, 1110 * US);
	add_op(&made, 1, 1, 1010);
	add_op(&made, 2, 2, 1050);
	add_op(&made, 3, 1, 1070);
	add_op(&made, 4, 1, 1090);
	add_op(&made, 5, 1, 1090);
	add_op(&made, 6, 1, 1110); /* without a kernel */
	add_op(&made, 7, 2, 1010); /* of no call */
	for (uint64_t op = 4; op < 8; op++) {
		const struct measured_transfer other =
			receive_of(0, 2000, 12000, 5000, 10, 6000, 10);

		add_transfer(&made, op, &other);
	}
	/* Beside the receive, and none of this process's operations. */
	add_transfer(&made, 1,
		&(struct measured_transfer){
			.begin_ns = 1500 * US, .end_ns = 7950 * US, .steps = 1, .first_ns = 5});
	add_transfer(&made, 0, &two);
	add_transfer(&made, 99, &two);
	add_transfer(&made, 1, &one);
	add_transfer(&made, 2, &two);
	made_step(&made, 12000 * US, 8);
	made_step(&made, 13000 * US, 9);
	return ranks_close(&made);
}

static void check_part(const struct table *table, uint64_t rank, unsigned int part, uint64_t us)
{
	ck_assert_msg(ranks_part(table, rank, part) == us * US, "%s: %llu instead of %llu us",
		budget_part_texts[part].title,
		(unsigned long long)ranks_part(table, rank, part) / US, (unsigned long long)us);
}

START_TEST(a_rank_alone_divides_what_NCCL_measured)
{
	struct process *process = lone_rank();
	struct table *table = tables_make(&view_budget, &process, 1, false);
	uint64_t sum_ns = 0;

	check_part(table, 0, BUDGET_COMPUTING, 500);
	check_part(table, 0, BUDGET_RANK_WAIT, 500 + 990 + 500);
	check_part(table, 0, BUDGET_TRANSFER, 7900 - 3990 + 500);
	check_part(table, 0, BUDGET_COMMUNICATION, 100 + 500 + 500);
	for (size_t row = 0; row < table->nr_rows; row++) {
		sum_ns += tables_number(table, row, "total_ns");
	}
	ck_assert_uint_eq(sum_ns, 12000 * US);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(a_summary_of_a_rank_has_the_same_parts)
{
	struct process *process = lone_rank();
	struct reduced reduced;

	process_destroy(process);
	reduced = streams_reduced(streams_path("rank0.gprof"));
	ck_assert_uint_eq(reduced.nr_processes, 1);
	{
		struct reduced_process one = reduced_process(&reduced, 0);
		const uint64_t *later = &one.facts[REDUCED_LATER_PARTS];

		for (unsigned int i = 0; i < NR_BUDGET_LATER_PARTS; i++) {
			uint64_t want = budget_later_parts[i] == BUDGET_TRANSFER    ? 4410 * US
					: budget_later_parts[i] == BUDGET_RANK_WAIT ? 1990 * US
										    : 0;

			ck_assert_uint_eq(later[i], want);
		}
		reduced_process_fini(&one);
	}
	reduced_fini(&reduced);
}
END_TEST

/* Rank 1 comes 1,000 us later; NCCL's own measure, of either, would be another one. */
static struct process *rank_of_two(uint32_t rank)
{
	const struct measured_transfer one = receive_of(1, 1500, 7900, 3500, 10, 5600, 10);
	struct made made = open_rank(rank);

	made_step(&made, 500 * US, 6);
	made_step(&made, 1000 * US, 7);
	add_collective(&made, 1, 1, 1010, rank ? 3000 : 2000, 8000);
	add_op(&made, 1, 1, 1010);
	add_transfer(&made, 1, &one);
	if (!rank) { /* rank 1 has no such operation */
		add_collective(&made, 1, 2, 1030, 9000, 9500);
		add_op(&made, 2, 1, 1030);
		add_transfer(&made, 2,
			&(struct measured_transfer){.begin_ns = 9000 * US,
				.end_ns = 9500 * US,
				.steps = 10,
				.first_ns = 200 * US,
				.is_receive = true});
	}
	made_step(&made, 10000 * US, 8);
	made_step(&made, 11000 * US, 9);
	return ranks_close(&made);
}

START_TEST(what_ranks_show_together_counts_first)
{
	struct process *processes[] = {rank_of_two(0), rank_of_two(1)};
	struct table *table = tables_make(&view_budget, processes, 2, false);

	check_part(table, 0, BUDGET_RANK_WAIT, 1000 + 200);
	check_part(table, 0, BUDGET_TRANSFER, 5000 + 300);
	check_part(table, 0, BUDGET_COMMUNICATION, 0);
	check_part(table, 1, BUDGET_RANK_WAIT, 0);
	check_part(table, 1, BUDGET_TRANSFER, 5000);
	table_destroy(table);
	table = tables_make(&view_budget, &processes[1], 1, false);
	check_part(table, 1, BUDGET_RANK_WAIT, 4990 - 3000);
	check_part(table, 1, BUDGET_TRANSFER, 7900 - 4990);
	check_part(table, 1, BUDGET_COMMUNICATION, 100);
	table_destroy(table);
	process_destroy(processes[0]);
	process_destroy(processes[1]);
}
END_TEST

/* ---- views of communication ---- */

START_TEST(views_of_communication_have_the_same_waits)
{
	struct process *process = lone_rank();
	struct table *table = tables_make(&view_communication, &process, 1, false);
	uint64_t waiting_ns = 0, transfer_ns = 0;

	/* Also while a kernel computes, and while the other operation transfers. */
	for (size_t row = 0; row < table->nr_rows; row++) {
		waiting_ns += tables_number(table, row, "waiting_ns");
		transfer_ns += tables_number(table, row, "transfer_ns");
	}
	ck_assert_uint_eq(waiting_ns, (1990 + 2500) * US);
	ck_assert_uint_eq(transfer_ns, (7900 - 3990 + 500) * US);
	ck_assert_ptr_nonnull(strstr(table->note, "what one rank measured: 2."));
	table_destroy(table);
	table = tables_make(&view_distributed, &process, 1, false);
	ck_assert_uint_eq(tables_number(table, 0, "waiting_ns"), (1990 + 2500) * US);
	ck_assert_uint_eq(tables_number(table, 0, "transfer_ns"), (7900 - 3990 + 500) * US);
	table_destroy(table);
	table = tables_make(&view_arrivals, &process, 1, false);
	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_uint_eq(tables_number(table, 0, "waiting_ns"), 2500 * US);
	ck_assert_uint_eq(tables_number(table, 1, "waiting_ns"), 1990 * US);
	ck_assert(!tables_cell(table, 0, "spread_ns")->is_known);
	ck_assert(!tables_cell(table, 0, "transfer_ns")->is_known);
	ck_assert(!tables_cell(table, 0, "last_rank")->is_known);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

/* A collective whose first data come then, in us after the step's begin; its kernel begins at
 * 5,000. */
static void add_data(struct made *made, uint64_t op, uint8_t kind, uint32_t comm, uint32_t sequence,
	uint64_t step, uint64_t call, uint64_t data, uint64_t begin)
{
	const struct measured_transfer transfer =
		receive_of(0, step + 100, step + 9000, data - 100, 10, 6000, 10);
	struct gprof_row_nccl *row = ranks_call(made, kind, -1, sequence, 100, (step + call) * US);

	row->comm = comm;
	ranks_launch(made, row, 2, (step + begin) * US, (step + 9000) * US);
	add_op(made, op, comm, step + call);
	add_transfer(made, op, &transfer);
}

/*
 * In a late step of 10,000 us data of two communicators come 3,000 us and 2,000 us before their
 * kernels, which run at the same time. Data of a broadcast are early in each.
 */
static struct process *late_rank(bool (*is_late)(uint32_t step))
{
	struct made made = open_rank(0);

	for (uint32_t i = 0; i < 8; i++) {
		uint64_t step = 1000 + 10000 * i, data = is_late(i) ? 2000 : 7000;

		made_step(&made, step * US, i);
		add_data(&made, 3 * i + 1, GPROF_NCCL_ALL_REDUCE, 1, i + 1, step, 20, data, 5000);
		add_data(&made, 3 * i + 2, GPROF_NCCL_ALL_GATHER, 2, 2 * i + 1, step, 40,
			data + 1000, 5000);
		add_data(&made, 3 * i + 3, GPROF_NCCL_BROADCAST, 2, 2 * i + 2, step, 60, 200, 8900);
	}
	made_step(&made, 81000 * US, 8);
	return ranks_close(&made);
}

static bool never(uint32_t step)
{
	(void)step;
	return false;
}

static bool once(uint32_t step)
{
	return step == 2;
}

static bool from_four_on(uint32_t step)
{
	return step >= 4;
}

START_TEST(a_rank_alone_knows_that_it_comes_late)
{
	bool (*const no_rule[])(uint32_t) = {never, once};
	struct process *process = late_rank(from_four_on);
	struct table *table = tables_make(&view_stragglers, &process, 1, false);

	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "steps"), 8);
	ck_assert_uint_eq(tables_number(table, 0, "late_steps"), 4);
	ck_assert_uint_eq(tables_number(table, 0, "since_step"), 4);
	ck_assert_uint_eq(tables_number(table, 0, "total_ns"), 4 * 3000 * US);
	ck_assert(!tables_cell(table, 0, "computation_ns")->is_known);
	ck_assert_ptr_nonnull(
		strstr(table->note, "Kernels of the others waited at least that long"));
	table_destroy(table);
	process_destroy(process);
	for (size_t i = 0; i < 2; i++) {
		process = late_rank(no_rule[i]);
		table = tables_make(&view_stragglers, &process, 1, false);
		ck_assert_uint_eq(table->nr_rows, 0);
		ck_assert_ptr_null(strstr(table->note, "measured"));
		table_destroy(table);
		process_destroy(process);
	}
}
END_TEST

START_TEST(a_rank_alone_waits_for_data_of_others)
{
	struct process *process = late_rank(never);
	struct table *table = tables_make(&view_findings, &process, 1, false);
	size_t row = tables_find(table, "cause", "straggler", 0);
	double reach_ns = tables_cell(table, row, "reach_ns")->number;

	ck_assert_msg(strstr(tables_cell(table, row, "sentence")->text,
			      "for data of others; record all ranks") != NULL,
		"%s", tables_cell(table, row, "sentence")->text);
	table_destroy(table);
	/* It costs what the budget has: 1,990 us a step. */
	table = tables_make(&view_budget, &process, 1, false);
	check_part(table, 0, BUDGET_RANK_WAIT, 7 * 1990);
	ck_assert_double_eq_tol(reach_ns, 1990.0 * US, 1);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/measured_waits", an_operation_waits_while_all_of_its_receives_do,
	a_network_at_work_is_no_wait_for_a_rank, random_receives_are_as_painted,
	nonsense_stays_within_its_operation, a_rank_alone_divides_what_NCCL_measured,
	a_summary_of_a_rank_has_the_same_parts, what_ranks_show_together_counts_first,
	views_of_communication_have_the_same_waits, a_rank_alone_knows_that_it_comes_late,
	a_rank_alone_waits_for_data_of_others)
