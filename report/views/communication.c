/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL operations by communicator and kind, with --detail also by size: bytes, speed, and how much
 * of the kernels' time was waiting for the last rank. The view `collectives` goes by the names of
 * kernels; this one knows the calls. Operations that hosts carry out (gloo, MPI, UCC) are rows by
 * library, because nothing distinguishes their process groups.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/views/communication.h"

#include "report/comm/nccl_job.h"
#include "report/comm/host_collectives.h"
#include "report/comm/job_clock.h"
#include "report/comm/nccl_names.h"
#include "report/analysis/view.h"
#include "report/comm/sanity.h"
#include "report/util/rate.h"
#include "report/util/sort.h"

struct communication_view {
	struct nccl_ops ops;
	struct view_input input;
	/* For `reduce`: NCCL's operations by communicator and kind, with the times of kernels. */
	struct keyed_stats merged;
	uint64_t (*sums)[VIEW_MERGE_SUMS]; /* of its rows */
	size_t sum_capacity;
	/* communication_match sets them. */
	bool is_matched;
	struct nccl_match match;
};

const struct nccl_match *communication_match(struct communication_view *view)
{
	if (!view->is_matched) {
		nccl_match(&view->ops, &view->match);
		view->is_matched = true;
	}
	return &view->match;
}

const struct view_input *communication_input(const struct communication_view *view)
{
	return &view->input;
}

const struct nccl_ops *communication_ops(const struct communication_view *view)
{
	return &view->ops;
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct communication_view *view = context;

	if (batch->table == GPROF_TABLE_op) {
		host_collective_add_batch(&view->ops, process, batch);
	} else {
		nccl_ops_add_batch(&view->ops, batch);
	}
}

/* ---- rows that add up ---- */

/* Sums of such a row; bandwidths are of the bytes whose kernels' times are known. */
enum merged_sum { MERGED_BYTES, MERGED_TIMED_BYTES, MERGED_CALLS };

/* The name of its communicator, which is the same on all ranks; "" if that is not known. */
static uint32_t merged_name(const struct nccl_op *op)
{
	char text[17];
	int length = snprintf(text, sizeof(text), "%016" PRIx64, op->key);

	return string_pool_intern(text, op->key ? (size_t)length : 0);
}

static void merge_op(struct communication_view *view, const struct nccl_op *op)
{
	uint32_t name = merged_name(op);
	uint32_t kind = NCCL_ROW_KIND(
		op->kind, op->nr_ranks < NCCL_ROW_MAX_RANKS ? op->nr_ranks : NCCL_ROW_MAX_RANKS);
	size_t nr_rows = view->merged.nr_rows;
	uint32_t row = keyed_stats_find(&view->merged, (uint64_t)kind << 32 | name, name, kind);
	uint64_t *sums;

	if (row == nr_rows) {
		view->sums =
			array_grow(view->sums, nr_rows, &view->sum_capacity, sizeof(*view->sums));
		memset(view->sums[row], 0, sizeof(*view->sums));
	}
	sums = view->sums[row];
	sums[MERGED_BYTES] += op->bytes;
	sums[MERGED_CALLS] += op->nr_calls;
	if (nccl_op_has_time(op)) {
		sums[MERGED_TIMED_BYTES] += op->bytes;
		histogram_add(&view->merged.times, row, op->end_ns - op->begin_ns);
	} else {
		view->merged.rows[row].untimed++;
	}
}

static void end(void *context, struct process *process)
{
	struct communication_view *view = context;

	nccl_ops_end(&view->ops, process);
	for (size_t i = 0; view->input.is_merged && i < view->ops.nr_ops; i++) {
		if (!view->ops.ops[i].library && !view->ops.ops[i].is_captured) {
			merge_op(view, &view->ops.ops[i]);
		}
	}
}

static void get_sums(const void *state, uint64_t (*sums)[VIEW_MERGE_SUMS])
{
	const struct communication_view *view = state;

	if (view->sums) {
		memcpy(sums, view->sums, view->merged.nr_rows * sizeof(*sums));
	}
}

static void fill_keys(uint32_t kind, uint32_t name, struct table_cell *cells)
{
	uint32_t nr_ranks = NCCL_ROW_RANKS(kind);

	table_set_string(&cells[0], nccl_names_op((uint8_t)kind));
	if (name) {
		table_set_string(&cells[1], string_pool_text(name, NULL));
	}
	if (nr_ranks) {
		table_set_integer(&cells[2], nr_ranks);
	}
}

#define SIZE_COLUMNS                                                                     \
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT),                                     \
		TABLE_COLUMN("bytes", "Size", TABLE_SIZE, .is_wide_only = true,          \
			.help = "bytes of all calls"),                                   \
		TABLE_COLUMN("avg_bytes", "Avg size", TABLE_MEAN_SIZE, .is_minor = true, \
			.help = "bytes per call"),                                       \
		TABLE_COLUMN("time_ns", "Kernels", TABLE_TIME,                           \
			.help = "sum over the kernels of all ranks")
#define RATE_COLUMNS                                                             \
	TABLE_COLUMN("algbw_bytes_per_s", "Algbw", TABLE_RATE, .is_minor = true, \
		.help = "algorithm bandwidth, as in nccl-tests"),                \
		TABLE_COLUMN("busbw_bytes_per_s", "Busbw", TABLE_RATE,           \
			.help = "bus bandwidth, as in nccl-tests")

enum merged_column {
	MERGED_CALLS_COLUMN,
	MERGED_SIZE,
	MERGED_MEAN_SIZE,
	MERGED_TIME,
	MERGED_AVG,
	MERGED_MEDIAN,
	MERGED_P99,
	MERGED_ALGBW,
	MERGED_BUSBW,
	MERGED_UNTIMED,
};

static const struct table_column merged_columns[] = {
	SIZE_COLUMNS,
	TABLE_COLUMN("avg_ns", "Avg", TABLE_MEAN_TIME),
	TABLE_COLUMN("median_ns", "Med", TABLE_MEAN_TIME),
	TABLE_COLUMN("p99_ns", "p99", TABLE_TIME),
	RATE_COLUMNS,
	TABLE_COLUMN("untimed", "Untimed", TABLE_COUNT, .is_wide_only = true),
};

static void fill_merged_times(
	const struct view_merged *row, bool is_sized, struct table_cell *cells)
{
	uint64_t ns = histogram_sum(row->times);
	uint32_t nr_ranks = NCCL_ROW_RANKS(row->kind);
	double rate = rate_of((double)row->sums[MERGED_TIMED_BYTES], ns);

	table_set_integer(&cells[MERGED_TIME], ns);
	table_set_number(&cells[MERGED_AVG], histogram_mean(row->times));
	table_set_number(&cells[MERGED_MEDIAN], histogram_median(row->times));
	table_set_integer(&cells[MERGED_P99], row->p99_ns);
	if (ns && is_sized) {
		table_set_number(&cells[MERGED_ALGBW], rate);
	}
	if (ns && is_sized && nr_ranks) {
		table_set_number(&cells[MERGED_BUSBW],
			rate * nccl_op_bus_factor((uint8_t)row->kind, nr_ranks));
	}
}

static void fill_merged(const struct view_merged *row, struct table_cell *cells)
{
	uint64_t bytes = row->sums[MERGED_BYTES], nr_calls = row->sums[MERGED_CALLS];
	bool is_sized = nccl_op_kind_is_sized((uint8_t)row->kind, NCCL_ROW_RANKS(row->kind));

	table_set_integer(&cells[MERGED_CALLS_COLUMN], nr_calls);
	if (is_sized) {
		table_set_integer(&cells[MERGED_SIZE], bytes);
	}
	if (is_sized && nr_calls) {
		table_set_number(&cells[MERGED_MEAN_SIZE], (double)bytes / (double)nr_calls);
	}
	if (row->times->count) {
		fill_merged_times(row, is_sized, cells);
	}
	table_set_integer(&cells[MERGED_UNTIMED], row->untimed);
}

/* ---- notes ---- */

static void add_op(const struct nccl_op *op, struct buf *text)
{
	buf_printf(text, "%s of %" PRIu64 " bytes on rank %" PRId32, nccl_names_op(op->kind),
		op->bytes, op->rank);
}

/* Errors of the target are prominent and set the exit status. */
static void add_error(struct table *table, struct buf *error)
{
	if (error->nr_bytes) {
		table_note(
			table, "ERROR IN THE PROGRAM: %.*s.", (int)error->nr_bytes, error->bytes);
		sanity_add("error in the program: %.*s", (int)error->nr_bytes, error->bytes);
	}
	buf_fini(error);
}

static void add_errors(const struct nccl_match *match, struct table *table)
{
	struct buf calls = {0}, sizes = {0};

	if (match->nr_differing) {
		const struct nccl_op *one = match->differing[0], *other = match->differing[1];

		buf_printf(&calls,
			"ranks call different operations in %" PRIu64
			" collectives; the first is number %" PRIu32 " of %016" PRIx64 ", ",
			match->nr_differing, one->sequence, one->key);
		add_op(one, &calls);
		buf_text(&calls, " and ");
		add_op(other, &calls);
	}
	if (match->nr_p2p_differing) {
		const struct nccl_side *send = match->p2p_differing[0];

		buf_printf(&sizes,
			"%" PRIu64
			" sends differ in size from their receives; the first is number %" PRIu32
			" of %016" PRIx64 " from rank %" PRId32 " to rank %" PRId32
			", Send of %" PRIu64 " bytes and Recv of %" PRIu64,
			match->nr_p2p_differing, send->sequence, send->key, send->from, send->to,
			send->bytes, match->p2p_differing[1]->bytes);
	}
	add_error(table, &calls);
	add_error(table, &sizes);
}

static void add_notes(const struct nccl_match *match, struct table *table)
{
	uint64_t nr_p2p_unknown = match->nr_p2p - match->nr_p2p_matched;

	add_errors(match, table);
	if (match->nr_fitted) {
		table_note(table,
			"%zu clocks are aligned by the ends of common operations, of which "
			"95 %% agree within %.1f us.",
			match->nr_fitted, (double)match->error_ns / 1e3);
	}
	if (match->nr_alone) {
		table_note(table,
			"%" PRIu64
			" %s no number or no common communicator to match %s over ranks.",
			match->nr_alone, match->nr_alone == 1 ? "call has" : "calls have",
			match->nr_alone == 1 ? "it" : "them");
	}
	if (match->nr_in_graphs) {
		table_note(table,
			"%" PRIu64
			" %s of CUDA graphs %s no number: nothing says which belong together over "
			"ranks.",
			match->nr_in_graphs, match->nr_in_graphs == 1 ? "operation" : "operations",
			match->nr_in_graphs == 1 ? "has" : "have");
	}
	if (match->nr_missing) {
		table_note(table,
			"%" PRIu64 " of %" PRIu64 " collectives lack the calls of some ranks.",
			match->nr_missing, match->nr_collectives);
	}
	if (match->nr_untimed) {
		table_note(table,
			"%" PRIu64 " of %" PRIu64 " collectives lack the times of some kernels.",
			match->nr_untimed, match->nr_collectives);
	}
	if (match->nr_clocks) {
		table_note(table,
			"%" PRIu64 " of %" PRIu64
			" collectives are on ranks whose clocks are not aligned.",
			match->nr_clocks, match->nr_collectives);
	}
	if (nr_p2p_unknown) {
		table_note(table,
			"%" PRIu64 " of %" PRIu64 " sends and receives lack the other side, its "
			"kernel time or a common clock.",
			nr_p2p_unknown, match->nr_p2p);
	}
	if (match->nr_alone || match->nr_in_graphs || match->nr_missing || match->nr_untimed ||
		match->nr_clocks || nr_p2p_unknown) {
		table_note(table, "Waiting is unknown for these operations; the bandwidths of rows "
				  "without other operations "
				  "include the waiting.");
	}
}

/* ---- rows ---- */

enum column {
	NAME,
	COMMUNICATOR,
	GROUP,
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
	IN_GRAPHS,
	ALGORITHM,
	PROTOCOL,
	CHANNELS,
	OWN_GPU_SHARE,
	PEER_SHARE,
	DATA_SHARE,
	NETWORK_SHARE,
};

/* One that nobody knows is another one in each process, but not of libraries without communicators.
 */
static int by_row(const struct nccl_op *x, const struct nccl_op *y, bool is_by_size)
{
	int order = compare_u64(x->library, y->library);

	order = order ? order : compare_u64(x->key, y->key);
	order = order || x->key || x->library ? order : compare_u64(x->process, y->process);
	order = order ? order : compare_u64(x->kind, y->kind);
	return order || !is_by_size ? order : compare_u64(x->bytes, y->bytes);
}

static int by_kind(const void *a, const void *b)
{
	int order = by_row(a, b, true);

	return order ? order
		     : compare_u64((uint32_t)((const struct nccl_op *)a)->rank,
			       (uint32_t)((const struct nccl_op *)b)->rank);
}

/* 1 + the rank that an operation names as the last to come, 0 if it names none. */
static uint32_t late_of(const struct nccl_op *op)
{
	return op->is_last ? (uint32_t)op->rank + 1 : op->late_rank;
}

/* For one rank. */
struct late {
	uint32_t rank;
	uint64_t nr, ns;
};

/* Most, and of those that are equal the lowest rank. */
static const struct late *find_latest(const struct idmap *lates)
{
	const struct late *most = NULL;

	for (size_t i = 0; i < lates->nr; i++) {
		const struct late *late = idmap_at(lates, i);

		if (!most || late->ns > most->ns ||
			(late->ns == most->ns && late->rank < most->rank)) {
			most = late;
		}
	}
	return most;
}

/* The rank for which the others waited longest. */
static void fill_late(
	const struct nccl_op *ops, size_t nr, uint64_t nr_matched, struct table_cell *cells)
{
	const struct late *most;
	struct idmap lates;

	idmap_init(&lates, sizeof(struct late));
	for (size_t i = 0; i < nr; i++) {
		uint32_t rank = late_of(&ops[i]);

		if (rank) {
			struct late *late = idmap_put(&lates, rank);

			late->rank = rank - 1;
			late->nr++;
			late->ns += ops[i].is_last ? ops[i].caused_ns : ops[i].wait_ns;
		}
	}
	most = find_latest(&lates);
	if (most && most->ns) {
		table_set_integer(&cells[LATE_RANK], most->rank);
		table_set_share(&cells[LATE_SHARE], (double)most->nr, (double)nr_matched);
		table_set_integer(&cells[LATE_NS], most->ns);
	}
	idmap_fini(&lates);
}

static void fill_speed(
	const struct nccl_op *op, const struct nccl_sums *sums, struct table_cell *cells)
{
	uint64_t ns = sums->nr_matched ? sums->transfer_ns : sums->timed_ns;
	uint64_t bytes = sums->nr_matched ? sums->transfer_bytes : sums->timed_bytes;
	double rate = rate_of((double)bytes, ns);

	if (!ns || sums->lacks_speed) {
		return;
	}
	table_set_number(&cells[ALGBW], rate);
	if (op->nr_ranks) {
		table_set_number(&cells[BUSBW], rate * nccl_op_bus_factor(op->kind, op->nr_ranks));
	}
}

void communication_fill_how(const struct nccl_inside *inside, struct table_cell *cells)
{
	const char *algorithm = nccl_inside_algorithm(inside);
	const char *protocol = nccl_inside_protocol(inside);

	if (algorithm) {
		table_set_string(&cells[0], algorithm);
	}
	if (protocol) {
		table_set_string(&cells[1], protocol);
	}
	if (inside->channels) {
		table_set_integer(&cells[2], inside->channels);
	}
}

static void fill_inside(const struct nccl_op *ops, size_t nr, struct table_cell *cells)
{
	struct nccl_inside inside = {0};
	const struct nccl_waits *waits = &inside.waits;
	uint64_t ns;

	for (size_t i = 0; i < nr; i++) {
		nccl_inside_add(&inside, &ops[i].inside);
	}
	ns = nccl_waits_ns(waits);
	communication_fill_how(&inside, &cells[ALGORITHM]);
	if (ns) {
		table_set_share(&cells[OWN_GPU_SHARE], (double)waits->own_gpu_ns, (double)ns);
		table_set_share(&cells[PEER_SHARE], (double)waits->peer_ns, (double)ns);
		table_set_share(&cells[DATA_SHARE], (double)waits->data_ns, (double)ns);
		table_set_share(&cells[NETWORK_SHARE], (double)waits->network_ns, (double)ns);
	}
}

static void fill(const struct nccl_op *ops, size_t nr, struct table_cell *cells)
{
	struct nccl_sums sums = {0};
	char key[17];

	for (size_t i = 0; i < nr; i++) {
		nccl_sums_add(&sums, &ops[i]);
	}
	table_set_string(&cells[NAME], nccl_names_op(ops->kind));
	if (ops->key) {
		snprintf(key, sizeof(key), "%016" PRIx64, ops->key);
		table_set_string(&cells[COMMUNICATOR], key);
	} else if (ops->library) {
		table_set_string(&cells[COMMUNICATOR], host_collective_names[ops->library]);
	}
	if (ops->group) {
		table_set_string(&cells[GROUP], string_pool_text(ops->group, NULL));
	}
	if (ops->nr_ranks) {
		table_set_integer(&cells[RANKS], ops->nr_ranks);
	}
	table_set_integer(&cells[CALLS], sums.nr_calls);
	table_set_integer(&cells[IN_GRAPHS], sums.nr_in_graphs);
	if (!sums.is_unsized) {
		table_set_integer(&cells[BYTES], sums.bytes);
		table_set_number(&cells[MEAN_BYTES], (double)sums.bytes / (double)sums.nr_calls);
	}
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
	fill_inside(ops, nr, cells);
}

void communication_hide_how(
	const struct communication_view *view, struct table_column *how, struct table_column *end)
{
	struct nccl_inside inside = {0};

	for (size_t i = 0; i < view->ops.nr_ops; i++) {
		nccl_inside_add(&inside, &view->ops.ops[i].inside);
	}
	for (struct table_column *column = how; column < end; column++) {
		column->is_wide_only =
			column < how + NR_HOW_COLUMNS ? !inside.nr : !nccl_waits_ns(&inside.waits);
	}
}

static bool has_group(const struct nccl_ops *ops)
{
	for (size_t i = 0; i < ops->nr_ops; i++) {
		if (ops->ops[i].group) {
			return true;
		}
	}
	return false;
}

static bool has_graph(const struct nccl_ops *ops)
{
	for (size_t i = 0; i < ops->nr_ops; i++) {
		if (ops->ops[i].is_in_graph) {
			return true;
		}
	}
	return false;
}

#define WAIT_COLUMN(key, title, what)                         \
	TABLE_COLUMN(key, title " % of waits", TABLE_PERCENT, \
		.help = "share of the network transfers' waiting: " what)

static const struct table_column columns[] = {
	TABLE_COLUMN("name", "Operation", TABLE_TEXT),
	TABLE_COLUMN("communicator", "Communicator", TABLE_TEXT, .help = "ID of the communicator"),
	TABLE_COLUMN("group", "Process group", TABLE_TEXT,
		.help = "process group of the framework, or the communicator's name in NCCL"),
	TABLE_COLUMN("ranks", "Ranks", TABLE_COUNT, .help = "ranks of the communicator"),
	SIZE_COLUMNS,
	TABLE_COLUMN("waiting_ns", "Waiting", TABLE_TIME,
		.help = "until the kernel of the last rank starts"),
	TABLE_COLUMN("waiting_pct", "Waiting % of kernels", TABLE_PERCENT,
		.help = "waiting, as a share of the kernels' time"),
	TABLE_COLUMN("transfer_ns", "Transfer", TABLE_TIME, .is_minor = true,
		.help = "from the start of the last kernel to the end"),
	RATE_COLUMNS,
	TABLE_COLUMN("late_rank", "Late rank", TABLE_COUNT,
		.help = "rank of the communicator that the others waited for longest"),
	TABLE_COLUMN("late_pct", "Late % of ops", TABLE_PERCENT,
		.help = "share of the operations in which it came last"),
	TABLE_COLUMN("late_wait_ns", "Waited for it", TABLE_TIME,
		.help = "time that the others waited for it"),
	TABLE_COLUMN("in_graphs", "In graphs", TABLE_COUNT,
		.help = "of the calls: that launches of CUDA graphs ran, once for each launch"),
	HOW_COLUMNS,
	WAIT_COLUMN("own_gpu_pct", "Own GPU", "for the rank's own GPU"),
	WAIT_COLUMN("peer_pct", "Peer", "until the receiving rank was ready"),
	WAIT_COLUMN("data_pct", "Data", "until the sending rank's data arrived"),
	WAIT_COLUMN("network_pct", "Network", "until the network had sent the data"),
};

static void fill_table(void *state, struct table *table)
{
	struct communication_view *view = state;
	struct nccl_ops *ops = &view->ops;

	table->columns[GROUP].is_wide_only = !has_group(ops);
	communication_hide_how(
		view, &table->columns[ALGORITHM], &table->columns[NETWORK_SHARE] + 1);
	add_notes(communication_match(view), table);
	nccl_ops_drop_captured(ops);
	table->columns[IN_GRAPHS].is_wide_only = !has_graph(ops);
	view_note_fit(table, view->input.processes, view->input.nr_processes);
	if (ops->nr_ops) {
		qsort(ops->ops, ops->nr_ops, sizeof(*ops->ops), by_kind);
	}
	for (size_t at = 0, nr; at < ops->nr_ops; at += nr) {
		nr = 1;
		while (at + nr < ops->nr_ops &&
			!by_row(&ops->ops[at], &ops->ops[at + nr], view->input.is_detailed)) {
			nr++;
		}
		fill(&ops->ops[at], nr, table_add_row(table));
	}
	table_sort(table, "time");
	view_note_ranks(table, view->input.processes, view->input.nr_processes);
}

static void fini(void *state)
{
	struct communication_view *view = state;

	nccl_ops_fini(&view->ops);
	free(view->sums);
}

static const struct scan_want wants[] = {
	{GPROF_TABLE_nccl, NCCL_OPS_MASK, 0}, {GPROF_TABLE_op, HOST_COLLECTIVE_MASK, 0}};

VIEW(communication, 150) = {
	.name = "communication",
	.subject = VIEW_ABOUT_DISTRIBUTED,
	.help = "NCCL, gloo, MPI and UCC operations by communicator: sizes, bandwidths, waiting "
		"and late ranks",
	.about = "Times are sums over the kernels of all ranks, joined to their calls by "
		 "correlation ID. A rank waits until the kernel of the last rank starts; the "
		 "transfer lasts from then to the end. Sends and receives wait for their other "
		 "side. gloo, MPI and UCC run no kernels: their times are those of the calls, "
		 "their sizes those of the tensors (with GPROF_TORCH=shapes). Their process groups "
		 "and ranks are not recorded.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Communication operations",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct communication_view, merged),
	.merge = {.title = "NCCL operations",
		.keys = {"name", "communicator", "ranks"},
		.get_sums = get_sums,
		.fill_keys = fill_keys,
		.columns = merged_columns,
		.nr_columns = sizeof(merged_columns) / sizeof(merged_columns[0]),
		.fill = fill_merged,
		.sort = "time",
		.note = "Sums over ranks; medians and p99 are accurate to 1.6 %. Bandwidths "
			"include the waiting for other ranks. The rank with the least time in a "
			"communicator is mostly the one that the others wait for."},
	.scan = {wants, 2, host_collective_needs, NULL, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
