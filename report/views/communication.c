/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL operations by communicator and kind, with --detail also by size: bytes, speed, and how much
 * of the kernels' time was waiting for the last rank. The view `collectives` goes by the names of
 * kernels; this one knows the calls. Operations that hosts carry out (gloo, MPI, UCC) are rows by
 * library, because nothing distinguishes their process groups.
 */
#include <math.h>
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

	view->ops.has_measured = !view->input.is_merged;
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

struct keys_row {
	const char *name, *communicator;
	uint32_t nr_ranks;
};

static void fill_keys(uint32_t kind, uint32_t name, struct table_cell *cells)
{
	static const struct table_column keys[] = {
		TABLE_COLUMN("name", "", TABLE_TEXT, TABLE_MEMBER(keys_row, name)),
		TABLE_COLUMN("communicator", "", TABLE_TEXT, TABLE_MEMBER(keys_row, communicator)),
		TABLE_COLUMN("ranks", "", TABLE_COUNT, TABLE_NONZERO(keys_row, nr_ranks)),
	};
	const struct keys_row row = {nccl_names_op((uint8_t)kind),
		name ? string_pool_text(name, NULL) : NULL, NCCL_ROW_RANKS(kind)};

	TABLE_FILL(keys, &row, cells);
}

/* The row has members calls, bytes and time_ns. */
#define SIZE_COLUMNS(row)                                                                \
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(row, calls)),           \
		TABLE_COLUMN("bytes", "Size", TABLE_SIZE, .is_wide_only = true,          \
			.help = "bytes of all calls", TABLE_MEMBER(row, bytes)),         \
		TABLE_COLUMN("avg_bytes", "Avg size", TABLE_MEAN_SIZE, .is_minor = true, \
			.help = "bytes per call", TABLE_MEAN(row, bytes, calls)),        \
		TABLE_COLUMN("time_ns", "Kernels", TABLE_TIME,                           \
			.help = "sum over the kernels of all ranks", TABLE_MEMBER(row, time_ns))
/* The row has members algbw and busbw. */
#define RATE_COLUMNS(row)                                                                   \
	TABLE_COLUMN("algbw_bytes_per_s", "Algbw", TABLE_RATE, .is_minor = true,            \
		.help = "algorithm bandwidth, as in nccl-tests", TABLE_MEMBER(row, algbw)), \
		TABLE_COLUMN("busbw_bytes_per_s", "Busbw", TABLE_RATE,                      \
			.help = "bus bandwidth, as in nccl-tests", TABLE_MEMBER(row, busbw))

struct merged_row {
	uint64_t calls, bytes, time_ns, p99_ns, untimed;
	double avg_ns, median_ns, algbw, busbw;
};

static const struct table_column merged_columns[] = {
	SIZE_COLUMNS(merged_row),
	TABLE_COLUMN("avg_ns", "Avg", TABLE_MEAN_TIME, TABLE_MEMBER(merged_row, avg_ns)),
	TABLE_COLUMN("median_ns", "Med", TABLE_MEAN_TIME, TABLE_MEMBER(merged_row, median_ns)),
	TABLE_COLUMN("p99_ns", "p99", TABLE_TIME, TABLE_MEMBER(merged_row, p99_ns)),
	RATE_COLUMNS(merged_row),
	TABLE_COLUMN("untimed", "Untimed", TABLE_COUNT, .is_wide_only = true,
		TABLE_MEMBER(merged_row, untimed)),
};

static void fill_merged(const struct view_merged *row, struct table_cell *cells)
{
	uint32_t nr_ranks = NCCL_ROW_RANKS(row->kind);
	bool is_sized = nccl_op_kind_is_sized((uint8_t)row->kind, nr_ranks);
	struct keyed_stats_times times = keyed_stats_times_of(row->times, row->p99_ns, 0, 0);
	bool has_rate = row->times->count && times.total_ns && is_sized;
	double rate = rate_of((double)row->sums[MERGED_TIMED_BYTES], times.total_ns);
	const struct merged_row shown = {.calls = row->sums[MERGED_CALLS],
		.bytes = is_sized ? row->sums[MERGED_BYTES] : UINT64_MAX,
		.time_ns = times.total_ns,
		.p99_ns = times.p99_ns,
		.untimed = row->untimed,
		.avg_ns = times.avg_ns,
		.median_ns = times.median_ns,
		.algbw = has_rate ? rate : NAN,
		.busbw = has_rate && nr_ranks
				 ? rate * nccl_op_bus_factor((uint8_t)row->kind, nr_ranks)
				 : NAN};

	TABLE_FILL(merged_columns, &shown, cells);
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

static void add_notes(const struct nccl_match *match, uint64_t nr_measured, struct table *table)
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
		table_note(table,
			"Waiting is unknown for these operations%s; the bandwidths of rows without "
			"other operations include the waiting.",
			nr_measured ? ", unless one rank measured it" : "");
	}
	measured_waits_note(table, nr_measured);
}

/* ---- rows ---- */

struct communication_row {
	const char *name, *communicator;
	uint32_t group, nr_ranks;
	struct nccl_sums sums;
	uint64_t calls, bytes, time_ns, transfer_ns;
	double algbw, busbw;
	/* The rank for which the others waited longest: as the last in so many operations. */
	uint64_t late_rank, nr_late, nr_late_of, late_ns;
	struct nccl_inside inside;
	uint64_t waits_ns;
};

/* One that nobody knows is another one in each process, but not of libraries without communicators.
 */
static int by_row(const struct nccl_op *x, const struct nccl_op *y, bool is_by_size)
{
	int order = COMPARE(x->library, y->library);

	order = order ? order : COMPARE(x->key, y->key);
	order = order || x->key || x->library ? order : COMPARE(x->process, y->process);
	order = order ? order : COMPARE(x->kind, y->kind);
	return order || !is_by_size ? order : COMPARE(x->bytes, y->bytes);
}

static int by_kind(const void *a, const void *b)
{
	return ORDER(by_row(a, b, true), COMPARE((uint32_t)((const struct nccl_op *)a)->rank,
						 (uint32_t)((const struct nccl_op *)b)->rank));
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
static void add_late(const struct nccl_op *ops, size_t nr, struct communication_row *row)
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
		row->late_rank = most->rank;
		row->nr_late = most->nr;
		row->nr_late_of = row->sums.nr_matched;
		row->late_ns = most->ns;
	}
	idmap_fini(&lates);
}

static void add_speed(const struct nccl_op *op, struct communication_row *row)
{
	const struct nccl_sums *sums = &row->sums;
	uint64_t ns = sums->nr_matched ? sums->transfer_ns : sums->timed_ns;
	uint64_t bytes = sums->nr_matched ? sums->transfer_bytes : sums->timed_bytes;

	if (!ns || sums->lacks_speed) {
		return;
	}
	row->algbw = rate_of((double)bytes, ns);
	if (op->nr_ranks) {
		row->busbw = row->algbw * nccl_op_bus_factor(op->kind, op->nr_ranks);
	}
}

void communication_set_algorithm(const void *inside, struct table_cell *cell)
{
	const char *algorithm = nccl_inside_algorithm(inside);

	if (algorithm) {
		table_set_string(cell, algorithm);
	}
}

void communication_set_protocol(const void *inside, struct table_cell *cell)
{
	const char *protocol = nccl_inside_protocol(inside);

	if (protocol) {
		table_set_string(cell, protocol);
	}
}

static void add_row(const struct nccl_op *ops, size_t nr, struct table *table)
{
	struct communication_row row = {.name = nccl_names_op(ops->kind),
		.group = ops->group,
		.nr_ranks = ops->nr_ranks,
		.algbw = NAN,
		.busbw = NAN,
		.late_rank = UINT64_MAX};
	const struct nccl_sums *sums = &row.sums;
	char key[17];

	for (size_t i = 0; i < nr; i++) {
		nccl_sums_add(&row.sums, &ops[i]);
		nccl_inside_add(&row.inside, &ops[i].inside);
	}
	snprintf(key, sizeof(key), "%016" PRIx64, ops->key);
	row.communicator = ops->key	  ? key
			   : ops->library ? host_collective_names[ops->library]
					  : NULL;
	row.calls = sums->nr_calls;
	row.bytes = sums->is_unsized ? UINT64_MAX : sums->bytes;
	row.time_ns = sums->timed_ns ? sums->timed_ns : UINT64_MAX;
	row.transfer_ns = sums->known_ns - sums->wait_ns;
	row.waits_ns = nccl_waits_ns(&row.inside.waits);
	if (sums->nr_matched) {
		add_late(ops, nr, &row);
	}
	if (!sums->nr_with_wait) {
		row.sums.known_ns = 0; /* its parts are unknown */
	}
	add_speed(ops, &row);
	table_add(table, &row);
}

void communication_hide_how(const struct communication_view *view, struct table *table)
{
	static const char *const how[] = {"algorithm", "protocol", "channels"};
	static const char *const waits[] = {"own_gpu", "peer", "data", "network", "waited_for"};
	struct nccl_inside inside = {0};

	for (size_t i = 0; i < view->ops.nr_ops; i++) {
		nccl_inside_add(&inside, &view->ops.ops[i].inside);
	}
	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		table_set_wide(table, how[i], !inside.nr);
	}
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		table_set_wide(table, waits[i], !nccl_waits_ns(&inside.waits));
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

#define WAIT_COLUMN(key, title, member, what)                             \
	TABLE_COLUMN(key, title " % of waits", TABLE_PERCENT,             \
		.help = "share of the network transfers' waiting: " what, \
		TABLE_SHARE(communication_row, inside.waits.member, waits_ns))

static const struct table_column columns[] = {
	TABLE_COLUMN("name", "Operation", TABLE_TEXT, TABLE_MEMBER(communication_row, name)),
	TABLE_COLUMN("communicator", "Communicator", TABLE_TEXT, .help = "ID of the communicator",
		TABLE_MEMBER(communication_row, communicator)),
	TABLE_COLUMN("group", "Process group", TABLE_TEXT,
		.help = "process group of the framework, or the communicator's name in NCCL",
		TABLE_NONZERO(communication_row, group)),
	TABLE_COLUMN("ranks", "Ranks", TABLE_COUNT, .help = "ranks of the communicator",
		TABLE_NONZERO(communication_row, nr_ranks)),
	SIZE_COLUMNS(communication_row),
	TABLE_COLUMN("waiting_ns", "Waiting", TABLE_TIME,
		.help = "until the kernel of the last rank starts, or, of one rank, its data come",
		TABLE_IF(communication_row, sums.wait_ns, sums.nr_with_wait)),
	TABLE_COLUMN("waiting_pct", "Waiting % of kernels", TABLE_PERCENT,
		.help = "waiting, as a share of the kernels' time",
		TABLE_SHARE(communication_row, sums.wait_ns, sums.known_ns)),
	TABLE_COLUMN("transfer_ns", "Transfer", TABLE_TIME, .is_minor = true,
		.help = "from the start of the last kernel to the end, or, of one rank, while data "
			"come",
		TABLE_IF(communication_row, transfer_ns, sums.nr_with_wait)),
	RATE_COLUMNS(communication_row),
	TABLE_COLUMN("late_rank", "Late rank", TABLE_COUNT,
		.help = "rank of the communicator that the others waited for longest",
		TABLE_MEMBER(communication_row, late_rank)),
	TABLE_COLUMN("late_pct", "Late % of ops", TABLE_PERCENT,
		.help = "share of the operations in which it came last",
		TABLE_SHARE(communication_row, nr_late, nr_late_of)),
	TABLE_COLUMN("late_wait_ns", "Waited for it", TABLE_TIME,
		.help = "time that the others waited for it",
		TABLE_NONZERO(communication_row, late_ns)),
	TABLE_COLUMN("in_graphs", "In graphs", TABLE_COUNT,
		.help = "of the calls: that launches of CUDA graphs ran, once for each launch",
		TABLE_MEMBER(communication_row, sums.nr_in_graphs)),
	HOW_COLUMNS(communication_row),
	WAIT_COLUMN("own_gpu_pct", "Own GPU", own_gpu_ns, "for the rank's own GPU"),
	WAIT_COLUMN("peer_pct", "Peer", peer_ns, "until the receiving rank was ready"),
	WAIT_COLUMN("data_pct", "Data", data_ns, "until the sending rank's data arrived"),
	WAIT_COLUMN("network_pct", "Network", network_ns, "until the network had sent the data"),
};

static void fill_table(void *state, struct table *table)
{
	struct communication_view *view = state;
	struct nccl_ops *ops = &view->ops;

	table_set_wide(table, "group", !has_group(ops));
	communication_hide_how(view, table);
	communication_match(view);
	add_notes(&view->match, nccl_ops_measured(ops), table);
	nccl_ops_drop_captured(ops);
	table_set_wide(table, "in_graphs", !has_graph(ops));
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
		add_row(&ops->ops[at], nr, table);
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
