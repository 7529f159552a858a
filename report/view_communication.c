/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL's operations by communicator and kind (--detail: and size): how much they moved, how fast,
 * and what of their kernels' time was waiting for the last rank. Unlike `collectives`, which goes
 * by the names of kernels, it knows the calls.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/job_clock.h"
#include "report/nccl_match.h"
#include "report/nccl_name.h"
#include "report/odd.h"
#include "report/view.h"

struct communication_view {
	struct nccl_ops ops;
	struct view_input input;
	bool is_by_size;
};

static void *create(const struct view_input *input)
{
	struct communication_view *view = mem_zeroed(1, sizeof(*view));

	view->input = *input;
	view->is_by_size = input->is_detailed;
	return view;
}

static void take(void *context, struct process *process, const struct batch *batch)
{
	struct communication_view *view = context;

	(void)process;
	nccl_ops_take(&view->ops, batch);
}

static void end(void *context, struct process *process)
{
	struct communication_view *view = context;

	nccl_ops_end(&view->ops, process);
}

enum column {
	NAME,
	COMMUNICATOR,
	RANKS,
	CALLS,
	BYTES,
	MEAN_BYTES,
	TIME,
	WAITING,
	WAITING_SHARE,
	TRANSFER,
	ALGBW,
	BUSBW,
	LATE_RANK,
	LATE_SHARE,
	LATE_NS,
	NR_COLUMNS,
};

/* Of the operations of a row. */
struct sums {
	uint64_t nr_calls, bytes;
	uint64_t timed_ns, timed_bytes; /* of those whose kernels are known */
	uint64_t matched_ns, wait_ns;	/* of the kernels of those that are matched */
	uint64_t nr_matched;		/* collectives counted once, not by ranks */
	uint64_t transfer_ns, transfer_bytes;
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* One that nobody knows is another one in each process. */
static int by_row(const struct nccl_op *x, const struct nccl_op *y, bool is_by_size)
{
	int order = compare(x->key, y->key);

	order = order || x->key ? order : compare(x->process, y->process);
	order = order ? order : compare(x->kind, y->kind);
	return order || !is_by_size ? order : compare(x->bytes, y->bytes);
}

static int by_kind(const void *a, const void *b)
{
	int order = by_row(a, b, true);

	return order ? order
		     : compare((uint32_t)((const struct nccl_op *)a)->rank,
			       (uint32_t)((const struct nccl_op *)b)->rank);
}

static void add(struct sums *sums, const struct nccl_op *op)
{
	uint64_t ns = nccl_op_has_time(op) ? op->end_ns - op->begin_ns : 0;

	sums->nr_calls += op->nr_calls;
	sums->bytes += op->bytes;
	sums->timed_ns += ns;
	sums->timed_bytes += nccl_op_has_time(op) ? op->bytes : 0;
	if (op->is_matched) {
		sums->matched_ns += ns;
		sums->wait_ns += op->wait_ns;
	}
	if (op->is_last) {
		sums->nr_matched++;
		sums->transfer_ns += op->transfer_ns;
		sums->transfer_bytes += op->bytes;
	}
	if (op->is_matched && nccl_op_is_p2p(op)) {
		sums->nr_matched++;
		sums->transfer_ns += ns - op->wait_ns;
		sums->transfer_bytes += op->bytes;
	}
}

/* 1 + the rank that an operation names as the last to come, 0 if it names none. */
static uint32_t late_of(const struct nccl_op *op)
{
	return op->is_last ? (uint32_t)op->rank + 1 : op->late_rank;
}

/* The rank for which the others waited longest. */
static void fill_late(
	const struct nccl_op *ops, size_t nr, uint64_t nr_matched, struct table_cell *cells)
{
	struct late {
		uint64_t nr, ns;
	} * late;
	uint32_t nr_ranks = 0, most = 0;

	for (size_t i = 0; i < nr; i++) {
		nr_ranks = late_of(&ops[i]) > nr_ranks ? late_of(&ops[i]) : nr_ranks;
	}
	late = mem_zeroed(nr_ranks + 1, sizeof(*late));
	for (size_t i = 0; i < nr; i++) {
		uint32_t rank = late_of(&ops[i]);

		if (rank) {
			late[rank - 1].nr++;
			late[rank - 1].ns += ops[i].is_last ? ops[i].caused_ns : ops[i].wait_ns;
		}
	}
	for (uint32_t rank = 0; rank < nr_ranks; rank++) {
		most = late[rank].ns > late[most].ns ? rank : most;
	}
	if (late[most].ns) {
		table_set_integer(&cells[LATE_RANK], most);
		table_set_share(&cells[LATE_SHARE], (double)late[most].nr, (double)nr_matched);
		table_set_integer(&cells[LATE_NS], late[most].ns);
	}
	free(late);
}

static void fill_speed(const struct nccl_op *op, const struct sums *sums, struct table_cell *cells)
{
	uint64_t ns = sums->nr_matched ? sums->transfer_ns : sums->timed_ns;
	uint64_t bytes = sums->nr_matched ? sums->transfer_bytes : sums->timed_bytes;
	double rate = ns ? (double)bytes * 1e9 / (double)ns : 0;

	if (ns) {
		table_set_number(&cells[ALGBW], rate);
	}
	if (ns && op->nr_ranks) {
		table_set_number(&cells[BUSBW], rate * nccl_op_bus_factor(op->kind, op->nr_ranks));
	}
}

static void fill(const struct nccl_op *ops, size_t nr, struct table_cell *cells)
{
	struct sums sums = {0};
	char key[17];

	for (size_t i = 0; i < nr; i++) {
		add(&sums, &ops[i]);
	}
	table_set_string(&cells[NAME], nccl_name_op(ops->kind));
	if (ops->key) {
		snprintf(key, sizeof(key), "%016" PRIx64, ops->key);
		table_set_string(&cells[COMMUNICATOR], key);
	}
	if (ops->nr_ranks) {
		table_set_integer(&cells[RANKS], ops->nr_ranks);
	}
	table_set_integer(&cells[CALLS], sums.nr_calls);
	table_set_integer(&cells[BYTES], sums.bytes);
	table_set_number(&cells[MEAN_BYTES], (double)sums.bytes / (double)sums.nr_calls);
	if (sums.timed_ns) {
		table_set_integer(&cells[TIME], sums.timed_ns);
	}
	if (sums.nr_matched) {
		table_set_integer(&cells[WAITING], sums.wait_ns);
		table_set_share(
			&cells[WAITING_SHARE], (double)sums.wait_ns, (double)sums.matched_ns);
		table_set_integer(&cells[TRANSFER], sums.matched_ns - sums.wait_ns);
		fill_late(ops, nr, sums.nr_matched, cells);
	}
	fill_speed(ops, &sums, cells);
}

/* ---- what is to be said about it ---- */

static void tell_op(const struct nccl_op *op, struct buf *text)
{
	buf_printf(text, "%s of %" PRIu64 " bytes on rank %" PRId32, nccl_name_op(op->kind),
		op->bytes, op->rank);
}

/* What is wrong with the program, if anything: said loudly, and the exit status tells it. */
static void tell_errors(const struct nccl_match *match, struct buf *text)
{
	struct buf errors = {0};

	if (match->nr_differing) {
		const struct nccl_op *one = match->differing[0], *other = match->differing[1];

		buf_printf(&errors,
			"ranks do not call the same in %" PRIu64
			" collectives; the first is number %" PRIu32 " of %016" PRIx64 ", ",
			match->nr_differing, one->sequence, one->key);
		tell_op(one, &errors);
		buf_text(&errors, " and ");
		tell_op(other, &errors);
	}
	if (match->nr_p2p_differing) {
		const struct nccl_side *send = match->p2p_differing[0];

		buf_printf(&errors,
			"%s%" PRIu64 " sends have receives of other sizes; the first is number "
			"%" PRIu32 " of %016" PRIx64 " from rank %" PRId32 " to rank %" PRId32
			", Send of %" PRIu64 " bytes and Recv of %" PRIu64,
			errors.nr_bytes ? "; " : "", match->nr_p2p_differing, send->sequence,
			send->key, send->from, send->to, send->bytes,
			match->p2p_differing[1]->bytes);
	}
	if (errors.nr_bytes) {
		buf_printf(
			text, "; ERROR IN THE PROGRAM: %.*s", (int)errors.nr_bytes, errors.bytes);
		odd_add("error in the program: %.*s", (int)errors.nr_bytes, errors.bytes);
	}
	buf_fini(&errors);
}

static void tell_match(const struct nccl_match *match, struct buf *text)
{
	uint64_t nr_p2p_unknown = match->nr_p2p - match->nr_p2p_matched;

	tell_errors(match, text);
	if (match->nr_fitted) {
		buf_printf(text,
			"; %zu clocks are aligned with another by the ends of collectives, or of "
			"sends and receives, of "
			"which 95 %% "
			"agree within %.1f us",
			match->nr_fitted, (double)match->error_ns / 1e3);
	}
	if (match->nr_alone) {
		buf_printf(text,
			"; %" PRIu64 " calls have no number or no common communicator, by which "
			"those of other ranks would be found",
			match->nr_alone);
	}
	if (match->nr_missing || match->nr_untimed || match->nr_clocks) {
		buf_printf(text, "; of %" PRIu64 " collectives", match->nr_collectives);
	}
	if (match->nr_missing) {
		buf_printf(text, ", %" PRIu64 " are not here of all ranks", match->nr_missing);
	}
	if (match->nr_untimed) {
		buf_printf(text, ", of %" PRIu64 " not all kernels are known", match->nr_untimed);
	}
	if (match->nr_clocks) {
		buf_printf(text, ", %" PRIu64 " are of clocks that nothing compares",
			match->nr_clocks);
	}
	if (nr_p2p_unknown) {
		buf_printf(text,
			"; of %" PRIu64 " sends and receives, %" PRIu64
			" lack another side with the times of its kernel on a common clock",
			match->nr_p2p, nr_p2p_unknown);
	}
	if (match->nr_alone || match->nr_missing || match->nr_untimed || match->nr_clocks ||
		nr_p2p_unknown) {
		buf_text(text, ": their waiting is not known, and where no other is in a row, its "
			       "bandwidths include it");
	}
}

static struct table *make_table(void *context)
{
	static const struct table_column columns[NR_COLUMNS] = {
		{"name", "Operation", TABLE_TEXT, false},
		{"communicator", "Communicator", TABLE_TEXT, false},
		{"ranks", "Ranks", TABLE_COUNT, false},
		{"calls", "Calls", TABLE_COUNT, false},
		{"bytes", "Size", TABLE_SIZE, true},
		{"avg_bytes", "Avg size", TABLE_MEAN_SIZE, false},
		{"time_ns", "Kernels", TABLE_TIME, false},
		{"waiting_ns", "Waiting", TABLE_TIME, false},
		{"waiting_pct", "Waiting % of kernels", TABLE_PERCENT, false},
		{"transfer_ns", "Transfer", TABLE_TIME, false},
		{"algbw_bytes_per_s", "Algbw", TABLE_RATE, false},
		{"busbw_bytes_per_s", "Busbw", TABLE_RATE, false},
		{"late_rank", "Late rank", TABLE_COUNT, false},
		{"late_pct", "Late % of ops", TABLE_PERCENT, false},
		{"late_wait_ns", "Waited for it", TABLE_TIME, false},
	};
	struct communication_view *view = context;
	struct nccl_ops *ops = &view->ops;
	struct table *table = table_create("communication", "NCCL operations", columns, NR_COLUMNS);
	struct nccl_match match;
	struct buf text = {0};

	nccl_match(ops, &match);
	tell_match(&match, &text);
	job_clock_tell_fit(view->input.processes, view->input.nr_processes, "; ", &text);
	buf_char(&text, 0);
	if (ops->nr_ops) {
		qsort(ops->ops, ops->nr_ops, sizeof(*ops->ops), by_kind);
	}
	for (size_t at = 0, nr; at < ops->nr_ops; at += nr) {
		nr = 1;
		while (at + nr < ops->nr_ops &&
			!by_row(&ops->ops[at], &ops->ops[at + nr], view->is_by_size)) {
			nr++;
		}
		fill(&ops->ops[at], nr, table_add_row(table));
	}
	table_sort(table, "time");
	table_note(table,
		"sums over ranks; kernels joined to their calls by ids; waiting: until the last "
		"rank's kernel began; bandwidths as nccl-tests has them, from then to the end; "
		"late "
		"rank: of the communicator, for which the others waited longest; sends and "
		"receives wait for their other sides%s",
		text.bytes);
	buf_fini(&text);
	return table;
}

static void destroy(void *context)
{
	struct communication_view *view = context;

	nccl_ops_fini(&view->ops);
	free(view);
}

static const struct scan_want wants[] = {{GPROF_TABLE_nccl, NCCL_OPS_MASK, 0}};

const struct view_class view_communication = {
	.name = "communication",
	.help = "NCCL's operations by communicator: sizes, bandwidths, waiting and late ranks",
	.is_default = true,
	.is_empty_hidden = true,
	.scan = {wants, 1, NULL, NULL, take, end},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
