/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that hang or were killed: on each communicator the first collective that not all ranks
 * called. If all called the same ones, the last, if some may not have finished it. Ranks agree on
 * the numbers of collectives; the view never goes by time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/comm/nccl_names.h"
#include "report/comm/nccl_ops.h"
#include "report/util/numbers.h"
#include "report/analysis/view.h"
#include "report/util/sort.h"

/* Spans in a list of ranks; behind them it is cut. */
#define MAX_SPANS 16u
/* A communicator of more ranks is damage. */
#define MAX_RANKS (1u << 20)

struct missing_collectives_view {
	struct view_input input;
	struct nccl_ops ops;
};

/* One rank of the current communicator. */
struct rank {
	uint32_t last;	   /* the number of its last collective, 0: none is recorded */
	uint32_t finished; /* of the last one with a kernel that ended, 0: none */
};

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct missing_collectives_view *view = context;

	(void)process;
	nccl_ops_add_batch(&view->ops, batch);
}

static void end(void *context, struct process *process)
{
	struct missing_collectives_view *view = context;

	nccl_ops_end(&view->ops, process);
}

static void fini(void *state)
{
	struct missing_collectives_view *view = state;

	nccl_ops_fini(&view->ops);
}

/* ---- a communicator ---- */

static int by_communicator(const void *a, const void *b)
{
	const struct nccl_op *x = a, *y = b;

	return ORDER(COMPARE(x->key, y->key), COMPARE(x->sequence, y->sequence));
}

/* The collectives of a group have numbers that follow on each other. */
static uint32_t last_number(const struct nccl_op *op)
{
	return op->sequence + op->nr_calls - 1;
}

/* Ended in another way than by itself and well: only then something may be left undone. */
static bool has_failed(const struct process *process)
{
	return !process->is_ended || strcmp(process_fact(process, "end.how", ""), "abort") == 0 ||
	       process_number(process, "end.code") > 0;
}

static bool has_failed_any(
	const struct missing_collectives_view *view, const struct nccl_op *ops, size_t nr_ops)
{
	for (size_t i = 0; i < nr_ops; i++) {
		if (ops[i].process < view->input.nr_processes &&
			has_failed(view->input.processes[ops[i].process])) {
			return true;
		}
	}
	return false;
}

static struct rank *find_ranks(const struct nccl_op *ops, size_t nr_ops)
{
	struct rank *ranks = mem_zeroed(ops->nr_ranks, sizeof(*ranks));

	for (size_t i = 0; i < nr_ops; i++) {
		struct rank *rank = &ranks[ops[i].rank];
		uint32_t last = last_number(&ops[i]);

		rank->last = last > rank->last ? last : rank->last;
		if ((nccl_op_has_time(&ops[i]) || ops[i].is_captured) && last > rank->finished) {
			rank->finished = last;
		}
	}
	return ranks;
}

/* The number of the collective that is waited for, 0 if none is known to be. */
static uint32_t find_pending(const struct rank *ranks, uint32_t nr_ranks)
{
	uint32_t least = UINT32_MAX, most = 0, least_finished = UINT32_MAX;

	for (uint32_t i = 0; i < nr_ranks; i++) {
		if (!ranks[i].last) {
			continue;
		}
		least = ranks[i].last < least ? ranks[i].last : least;
		most = ranks[i].last > most ? ranks[i].last : most;
		/* Without any kernel of a rank nothing is known of their ends. */
		if (ranks[i].finished && ranks[i].finished < least_finished) {
			least_finished = ranks[i].finished;
		}
	}
	if (least < most) {
		return least + 1;
	}
	return least_finished < most ? most : 0;
}

enum which { WHICH_ARRIVED, WHICH_ABSENT, WHICH_UNKNOWN, WHICH_UNFINISHED, NR_WHICH };

struct shown_row {
	const char *communicator, *operation;
	uint64_t bytes;
	uint32_t nr_ranks, number;
	struct buf lists[NR_WHICH];
};

static bool is_of(const struct rank *rank, uint32_t number, enum which which)
{
	switch (which) {
	case WHICH_ARRIVED:
		return rank->last >= number;
	case WHICH_ABSENT:
		return rank->last && rank->last < number;
	case WHICH_UNKNOWN:
		return !rank->last;
	default:
		return rank->last >= number && rank->finished && rank->finished < number;
	}
}

static void add_list(const struct rank *ranks, uint32_t nr_ranks, uint32_t number, enum which which,
	struct buf *out)
{
	uint64_t *list = mem_zeroed(nr_ranks, sizeof(*list));
	size_t nr = 0;

	for (uint32_t i = 0; i < nr_ranks; i++) {
		if (is_of(&ranks[i], number, which)) {
			list[nr++] = i;
		}
	}
	if (nr) {
		numbers_print(list, nr, MAX_SPANS, out);
	}
	free(list);
}

static void add_row(struct table *table, const struct nccl_op *ops, size_t nr_ops,
	const struct rank *ranks, uint32_t number)
{
	char key[17];
	struct shown_row row = {.communicator = key,
		.bytes = UINT64_MAX,
		.nr_ranks = ops->nr_ranks,
		.number = number};

	snprintf(key, sizeof(key), "%016" PRIx64, ops->key);
	for (size_t i = 0; i < nr_ops; i++) {
		if (ops[i].sequence <= number && number <= last_number(&ops[i])) {
			row.operation = nccl_names_op(ops[i].kind);
			row.bytes = ops[i].bytes;
			break;
		}
	}
	for (enum which which = 0; which < NR_WHICH; which++) {
		add_list(ranks, row.nr_ranks, number, which, &row.lists[which]);
	}
	table_add(table, &row);
	for (enum which which = 0; which < NR_WHICH; which++) {
		buf_fini(&row.lists[which]);
	}
}

static void add_communicator(const struct missing_collectives_view *view, struct table *table,
	const struct nccl_op *ops, size_t nr_ops)
{
	struct rank *ranks;
	uint32_t number;

	if (!has_failed_any(view, ops, nr_ops)) {
		return;
	}
	ranks = find_ranks(ops, nr_ops);
	number = find_pending(ranks, ops->nr_ranks);
	if (number) {
		add_row(table, ops, nr_ops, ranks, number);
	}
	free(ranks);
}

/* ---- all ---- */

/* Collectives whose number and rank are known, to the front; their number. */
static size_t keep_numbered(struct nccl_ops *ops)
{
	size_t nr = 0;

	for (size_t i = 0; i < ops->nr_ops; i++) {
		const struct nccl_op *op = &ops->ops[i];

		if (nccl_op_is_numbered(op) && op->rank >= 0 && op->nr_ranks <= MAX_RANKS &&
			(uint32_t)op->rank < op->nr_ranks) {
			ops->ops[nr++] = *op;
		}
	}
	return nr;
}

/* The operations of one communicator; damaged ones may differ in its size. */
static size_t length_at(const struct nccl_op *ops, size_t nr_ops)
{
	size_t nr = 1;

	while (nr < nr_ops && ops[nr].key == ops->key && ops[nr].nr_ranks == ops->nr_ranks) {
		nr++;
	}
	return nr;
}

static const struct table_column columns[] = {
	TABLE_COLUMN(
		"communicator", "Communicator", TABLE_TEXT, TABLE_MEMBER(shown_row, communicator)),
	TABLE_COLUMN("ranks", "Ranks", TABLE_COUNT, .help = "ranks of the communicator",
		TABLE_MEMBER(shown_row, nr_ranks)),
	TABLE_COLUMN("number", "Number", TABLE_COUNT,
		.help = "number of the operation in its communicator",
		TABLE_MEMBER(shown_row, number)),
	TABLE_COLUMN("name", "Operation", TABLE_TEXT, TABLE_MEMBER(shown_row, operation)),
	TABLE_COLUMN("bytes", "Size", TABLE_SIZE, TABLE_MEMBER(shown_row, bytes)),
	TABLE_COLUMN("arrived", "Called by ranks", TABLE_TEXT, .help = "ranks that called it",
		TABLE_BUF(shown_row, lists[WHICH_ARRIVED])),
	TABLE_COLUMN("absent", "Missing ranks", TABLE_TEXT, .help = "ranks that did not call it",
		TABLE_BUF(shown_row, lists[WHICH_ABSENT])),
	TABLE_COLUMN("unknown", "Not recorded", TABLE_TEXT, .help = "ranks without a recording",
		TABLE_BUF(shown_row, lists[WHICH_UNKNOWN])),
	TABLE_COLUMN("unfinished", "No end recorded", TABLE_TEXT,
		.help = "ranks whose operation has no recorded end",
		TABLE_BUF(shown_row, lists[WHICH_UNFINISHED])),
};

static void fill_table(void *state, struct table *table)
{
	struct missing_collectives_view *view = state;
	struct nccl_op *ops = view->ops.ops;
	size_t nr_ops = keep_numbered(&view->ops);

	if (nr_ops) {
		qsort(ops, nr_ops, sizeof(*ops), by_communicator);
	}
	for (size_t at = 0, nr; at < nr_ops; at += nr) {
		nr = length_at(&ops[at], nr_ops - at);
		add_communicator(view, table, &ops[at], nr);
	}
}

VIEW(missing_collectives, 170) = {
	.name = "missing-collectives",
	.subject = VIEW_ABOUT_DISTRIBUTED,
	.help = "collectives that some ranks never called or finished, of a job that hangs or was "
		"killed",
	.about = "Covers processes that still run or did not end well, as of their last events. "
		 "Each row is the first collective of a communicator that not all ranks called, or "
		 "the last one if all did. Ranks are those of the communicator. A call that did "
		 "not return yet, or outside record windows, is not recorded.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Missing collectives",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct missing_collectives_view),
	.scan = {(const struct scan_want[]){{GPROF_TABLE_nccl, NCCL_OPS_MASK, 0}}, 1, NULL, NULL,
		on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
