/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL's collectives one by one: when their ranks arrived, which came last, and how long the
 * transfer took. The view `communication` has read and matched the operations; its rows are sums
 * over them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/comm/nccl_names.h"
#include "report/util/buf.h"
#include "report/util/sort.h"
#include "report/views/communication.h"

#define MAX_COLLECTIVES 1000u
/* The figure on the page has no more. */
#define MAX_DRAWN	64u
#define MAX_DRAWN_RANKS 16384u

struct collective {
	const struct nccl_op *const *ops; /* by rank */
	size_t nr_ops;			  /* as many as ranks if it is matched */
	const struct nccl_op *first, *last;
	uint64_t spread_ns, wait_ns;
	bool is_matched; /* else its waits are what ranks measured, and all else is unknown */
};

static int by_collective(const void *a, const void *b)
{
	const struct nccl_op *x = *(const struct nccl_op *const *)a;
	const struct nccl_op *y = *(const struct nccl_op *const *)b;
	int order = COMPARE(x->key, y->key);

	order = order ? order : COMPARE(x->sequence, y->sequence);
	return order ? order : COMPARE(x->rank, y->rank);
}

/*
 * The widest spread first; of equal ones the first collective. Then those whose spread is unknown,
 * by their waits.
 */
static int by_spread(const void *a, const void *b)
{
	const struct collective *x = a, *y = b;
	int order = y->is_matched - x->is_matched;

	order = order ? order : COMPARE(y->spread_ns, x->spread_ns);
	order = order || x->is_matched ? order : COMPARE(y->wait_ns, x->wait_ns);
	return order ? order : by_collective(x->ops, y->ops);
}

/*
 * The operations of collectives whose ranks are all here with times on one clock, and of those that
 * a rank measured; the caller frees them.
 */
static const struct nccl_op **list_known(const struct nccl_ops *ops, size_t *nr)
{
	const struct nccl_op **list = mem_zeroed(ops->nr_ops + 1, sizeof(*list));

	*nr = 0;
	for (size_t i = 0; i < ops->nr_ops; i++) {
		const struct nccl_op *op = &ops->ops[i];

		if (nccl_op_is_numbered(op) && (op->is_matched || nccl_op_is_measured(op))) {
			list[(*nr)++] = op;
		}
	}
	if (*nr) {
		qsort(list, *nr, sizeof(*list), by_collective);
	}
	return list;
}

/* The operations from the first on that belong to its collective. */
static size_t count_ops(const struct nccl_op *const *ops, size_t nr)
{
	size_t of = 1;

	while (of < nr && ops[of]->key == ops[0]->key && ops[of]->sequence == ops[0]->sequence) {
		of++;
	}
	return of;
}

static struct collective collective_of(const struct nccl_op *const *ops, size_t nr)
{
	struct collective one = {.ops = ops,
		.nr_ops = nr,
		.first = ops[0],
		.last = ops[0],
		.is_matched = ops[0]->is_matched};

	for (size_t i = 0; i < nr; i++) {
		one.wait_ns += nccl_op_wait_ns(ops[i]);
		if (one.is_matched) {
			one.first = ops[i]->begin_ns < one.first->begin_ns ? ops[i] : one.first;
			one.last = ops[i]->is_last ? ops[i] : one.last;
		}
	}
	one.spread_ns = one.is_matched ? one.last->begin_ns - one.first->begin_ns : UINT64_MAX;
	return one;
}

/* All of them, the widest spread first; the caller frees them. */
static struct collective *list_collectives(
	const struct nccl_op *const *ops, size_t nr_ops, size_t *nr)
{
	struct collective *list = mem_zeroed(nr_ops + 1, sizeof(*list));

	*nr = 0;
	for (size_t i = 0; i < nr_ops; i += list[*nr - 1].nr_ops) {
		list[(*nr)++] = collective_of(&ops[i], count_ops(&ops[i], nr_ops - i));
	}
	if (*nr) {
		qsort(list, *nr, sizeof(*list), by_spread);
	}
	return list;
}

/* The rank in the job where that is known, else in the communicator. */
static int64_t job_rank(const struct view_input *input, const struct nccl_op *op)
{
	const struct process *process = input->processes[op->process];

	return process->rank >= 0 ? process->rank : op->rank;
}

struct arrival_row {
	struct collective one;
	struct nccl_inside inside; /* over all ranks */
	uint64_t step, bytes, transfer_ns;
	uint32_t sequence, nr_ranks;
	int64_t first_rank, last_rank;
	const char *name, *communicator, *waited_for;
};

static const struct table_column columns[] = {
	TABLE_COLUMN("step", "Step", TABLE_ID, .help = "step of the last rank",
		TABLE_MEMBER(arrival_row, step)),
	TABLE_COLUMN("name", "Operation", TABLE_TEXT, TABLE_MEMBER(arrival_row, name)),
	TABLE_COLUMN("communicator", "Communicator", TABLE_TEXT, .help = "ID of the communicator",
		TABLE_MEMBER(arrival_row, communicator)),
	TABLE_COLUMN("number", "Number", TABLE_ID,
		.help = "number of the call on its communicator, from 1",
		TABLE_MEMBER(arrival_row, sequence)),
	TABLE_COLUMN(
		"bytes", "Size", TABLE_SIZE, .is_minor = true, TABLE_MEMBER(arrival_row, bytes)),
	TABLE_COLUMN("ranks", "Ranks", TABLE_COUNT, .help = "ranks of the communicator",
		TABLE_MEMBER(arrival_row, nr_ranks)),
	TABLE_COLUMN("spread_ns", "Arrival spread", TABLE_TIME,
		.help = "from the start of the first rank's kernel to that of the last one",
		TABLE_MEMBER(arrival_row, one.spread_ns)),
	TABLE_COLUMN("transfer_ns", "Transfer", TABLE_TIME,
		.help = "from the start of the last rank's kernel to the end of all",
		TABLE_MEMBER(arrival_row, transfer_ns)),
	TABLE_COLUMN("waiting_ns", "Waiting", TABLE_TIME,
		.help = "sum over the ranks; without a spread, over those that measured it",
		TABLE_MEMBER(arrival_row, one.wait_ns)),
	TABLE_COLUMN("first_rank", "First rank", TABLE_COUNT, .is_minor = true,
		TABLE_MEMBER(arrival_row, first_rank)),
	TABLE_COLUMN("last_rank", "Last rank", TABLE_COUNT, .is_major = true,
		TABLE_MEMBER(arrival_row, last_rank)),
	HOW_COLUMNS(arrival_row),
	TABLE_COLUMN("waited_for", "Transfers waited for", TABLE_TEXT,
		.help = "what the network transfers of all ranks waited for most: own GPU, peer, "
			"data, or network",
		TABLE_MEMBER(arrival_row, waited_for)),
};

static void add_arrival(
	const struct view_input *input, const struct collective *one, struct table *table)
{
	const struct nccl_op *last = one->last;
	const struct process *process = input->processes[last->process];
	bool has_step = last->step && last->step <= process->nr_steps;
	char key[17];
	struct arrival_row row = {.one = *one,
		.step = has_step ? process->steps[last->step - 1].step : UINT64_MAX,
		.bytes = last->is_unsized ? UINT64_MAX : last->bytes,
		.transfer_ns = one->is_matched ? last->transfer_ns : UINT64_MAX,
		.sequence = last->sequence,
		.nr_ranks = last->nr_ranks,
		.first_rank = one->is_matched ? job_rank(input, one->first) : -1,
		.last_rank = one->is_matched ? job_rank(input, last) : -1,
		.name = nccl_names_op(last->kind),
		.communicator = key};

	snprintf(key, sizeof(key), "%016" PRIx64, last->key);
	for (size_t i = 0; i < one->nr_ops; i++) {
		nccl_inside_add(&row.inside, &one->ops[i]->inside);
	}
	if (nccl_waits_ns(&row.inside.waits)) {
		row.waited_for = nccl_waits_most(&row.inside.waits);
	}
	table_add(table, &row);
}

/* For each collective its ranks: [rank, arrival after the first one, wait, transfer]. */
static char *arrivals_json(const struct view_input *input, const struct collective *list, size_t nr)
{
	struct buf json = {0};
	size_t nr_ranks = 0;

	for (size_t i = 0; i < nr && i < MAX_DRAWN && list[i].is_matched; i++) {
		const struct collective *one = &list[i];
		uint64_t first_ns = one->first->begin_ns, last_ns = one->last->begin_ns;

		nr_ranks += one->nr_ops;
		if (nr_ranks > MAX_DRAWN_RANKS) {
			break;
		}
		buf_text(&json, i ? ",\n[" : "[\n[");
		for (size_t k = 0; k < one->nr_ops; k++) {
			const struct nccl_op *op = one->ops[k];

			buf_printf(&json, "%s[%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
				k ? "," : "", job_rank(input, op), op->begin_ns - first_ns,
				op->wait_ns, op->end_ns > last_ns ? op->end_ns - last_ns : 0);
		}
		buf_char(&json, ']');
	}
	if (json.nr_bytes) {
		buf_char(&json, ']');
		buf_char(&json, '\0');
	}
	return json.bytes;
}

static void fill_arrivals_table(void *state, struct table *table)
{
	struct communication_view *communication = state;
	const struct view_input *input = communication_input(communication);
	const struct nccl_match *match = communication_match(communication);
	const struct nccl_ops *all = communication_ops(communication);
	size_t nr_ops, nr;
	const struct nccl_op **ops = list_known(all, &nr_ops);
	uint64_t nr_measured = 0;
	struct collective *list = list_collectives(ops, nr_ops, &nr);

	for (size_t i = 0; i < nr_ops; i++) {
		nr_measured += !ops[i]->is_matched;
	}
	communication_hide_how(communication, table);
	for (size_t i = 0; i < nr && i < MAX_COLLECTIVES; i++) {
		add_arrival(input, &list[i], table);
	}
	table->figure_json = arrivals_json(input, list, nr);
	if (nr > MAX_COLLECTIVES) {
		table_note(table, "Of %zu collectives these are the %u with the widest spread.", nr,
			MAX_COLLECTIVES);
	}
	if (match->nr_alone || match->nr_in_graphs || match->nr_collectives > match->nr_matched) {
		table_note(table,
			"%" PRIu64 " collectives are not here%s: not all of their ranks are known "
			"with times on one clock. The view communication has the reasons.",
			match->nr_alone + match->nr_in_graphs + match->nr_collectives -
				match->nr_matched,
			nr_measured ? ", or without a spread" : "");
	}
	measured_waits_note(table, nr_measured);
	if (!nr && !match->nr_alone && !match->nr_in_graphs && !match->nr_collectives &&
		input->nr_processes > 1) {
		table_note(table, "No call of NCCL with its communicator and number is recorded.");
	}
	view_note_fit(table, input->processes, input->nr_processes);
	free(list);
	free(ops);
}

VIEW(arrivals, 149) = {
	.name = "arrivals",
	.subject = VIEW_ABOUT_DISTRIBUTED,
	.help = "collectives one by one: when their ranks arrive, and how long they transfer",
	.about = "The calls of all ranks belong together by communicator and number, never by "
		 "time. A rank arrives when its kernel starts. Ranks wait until the last one "
		 "arrives; the transfer lasts from then to the end of all kernels.",
	.is_empty_hidden = true,
	.title = "Collectives by arrival of their ranks",
	VIEW_COLUMNS(columns),
	.shows = &view_communication,
	.fill = fill_arrivals_table,
};
