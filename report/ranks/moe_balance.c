/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that exchange with all others of a communicator: how evenly they receive, and how long they
 * compute between two all-to-alls. A rank with busy experts makes the others wait. An all-to-all is
 * NCCL's, or a group of sends and receives with all other ranks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/comm/nccl_match.h"
#include "report/gpu/overlap.h"
#include "report/analysis/view.h"
#include "report/util/sort.h"

enum { MIN_RANKS = 3 }; /* of a group: two may be neighbours of a pipeline */

/* An operation's part in the exchange, by the operation's id. */
struct expert_op {
	bool is_exchange;
	uint64_t received_bytes;
	uint64_t computation_ns; /* since the one before it ended; of the first 0 */
};

/* A rank of a communicator; in a step, if the view separates steps. */
struct expert_row {
	uint64_t key, step; /* step: 1 + its number; 0 before the first */
	int32_t rank;	    /* of the communicator */
	uint32_t process, device;
	uint64_t nr, received_bytes, computation_ns;
	uint64_t nr_matched, caused_ns; /* of which waiting is known; the others waited for it */
};

struct expert_view {
	struct view_input input;
	struct nccl_ops ops;
	struct expert_op *infos; /* as ops.nr_ops */
	size_t infos_capacity;
	size_t first; /* of the current process, in ops */
	struct overlap overlap;
	struct expert_row *rows;
	size_t nr_rows, rows_capacity;
};

/* ---- operations ---- */

/* Of a group, whose sides are given: does it meet all other ranks? Sums up what it receives. */
static bool meets_all(const struct nccl_op *op, const struct nccl_side *sides, size_t nr,
	uint64_t *received_bytes)
{
	bool *is_met;
	uint32_t nr_met = 0;

	if (op->nr_ranks < MIN_RANKS || nr + 1 < op->nr_ranks) {
		return false;
	}
	is_met = mem_zeroed(op->nr_ranks, sizeof(*is_met));
	for (size_t i = 0; i < nr; i++) {
		int32_t peer = sides[i].is_receive ? sides[i].from : sides[i].to;

		*received_bytes += sides[i].is_receive ? sides[i].bytes : 0;
		if (peer != op->rank && (uint32_t)peer < op->nr_ranks && !is_met[peer]) {
			is_met[peer] = true;
			nr_met++;
		}
	}
	free(is_met);
	return nr_met + 1 == op->nr_ranks;
}

/* Finds the exchanges of the process that was read last; its sides stand as its operations do. */
static void find_exchanges(struct expert_view *view, size_t side)
{
	const struct nccl_ops *ops = &view->ops;

	for (size_t i = view->first; i < ops->nr_ops; i++) {
		const struct nccl_op *op = &ops->ops[i];
		struct expert_op info = {0};
		size_t first = side;

		while (side < ops->nr_sides && ops->sides[side].op == op->id) {
			side++;
		}
		if (op->kind == GPROF_NCCL_ALL_TO_ALL) {
			info.is_exchange = !op->is_unsized;
			info.received_bytes = op->bytes;
		} else if (nccl_op_is_p2p(op)) {
			info.is_exchange =
				side > first && meets_all(op, &ops->sides[first], side - first,
							&info.received_bytes);
		}
		view->infos =
			array_grow(view->infos, i, &view->infos_capacity, sizeof(*view->infos));
		view->infos[i] = info;
	}
}

/* The overlap shows what ran between the ends of all-to-alls. */
static void begin(void *context, struct process *process)
{
	struct expert_view *view = context;
	struct nccl_ops *ops = &view->ops;
	size_t side = ops->nr_sides, nr = 0;
	uint64_t *bounds;

	view->first = ops->nr_ops;
	nccl_ops_read(ops, process);
	find_exchanges(view, side);
	bounds = mem_zeroed(2 * (ops->nr_ops - view->first) + 1, sizeof(*bounds));
	for (size_t i = view->first; i < ops->nr_ops; i++) {
		if (view->infos[i].is_exchange && nccl_op_has_time(&ops->ops[i])) {
			bounds[nr++] = ops->ops[i].begin_ns;
			bounds[nr++] = ops->ops[i].end_ns;
		}
	}
	if (nr) {
		qsort(bounds, nr, sizeof(*bounds), by_u64);
	}
	overlap_begin(&view->overlap, process);
	overlap_set_bounds(&view->overlap, bounds, nr);
	free(bounds);
}

static void on_activity(void *context, const struct gpu_activity *activity)
{
	overlap_take(&((struct expert_view *)context)->overlap, activity);
}

/* ---- computation ---- */

static int by_begin(const void *a, const void *b)
{
	const struct nccl_op *x = *(struct nccl_op *const *)a, *y = *(struct nccl_op *const *)b;

	return COMPARE(x->begin_ns, y->begin_ns);
}

/* Those with times on a device, by their begins. */
static size_t list_exchanges(
	const struct expert_view *view, uint32_t device, const struct nccl_op **list)
{
	size_t nr = 0;

	for (size_t i = view->first; i < view->ops.nr_ops; i++) {
		const struct nccl_op *op = &view->ops.ops[i];

		if (view->infos[i].is_exchange && nccl_op_has_time(op) && op->device == device) {
			list[nr++] = op;
		}
	}
	if (nr) {
		qsort(list, nr, sizeof(*list), by_begin);
	}
	return nr;
}

static void add_computation(
	struct expert_view *view, const struct overlap_device *device, const struct nccl_op **list)
{
	const struct overlap *overlap = &view->overlap;
	size_t nr = list_exchanges(view, device->device, list), at = 0;
	uint64_t end_ns = 0;

	for (size_t i = 0; i < nr; i++) {
		struct expert_op *info = &view->infos[list[i]->id];

		while (at < overlap->nr_bounds && overlap->bounds[at] < end_ns) {
			at++;
		}
		for (; i && at < overlap->nr_bounds && overlap->bounds[at] < list[i]->begin_ns;
			at++) {
			info->computation_ns +=
				at + 1 < device->nr_steps
					? overlap_any(&device->steps[at + 1], OVERLAP_COMPUTATION)
					: 0;
		}
		end_ns = list[i]->end_ns > end_ns ? list[i]->end_ns : end_ns;
	}
}

static void end(void *context, struct process *process)
{
	struct expert_view *view = context;
	const struct nccl_op **list =
		mem_zeroed(view->ops.nr_ops - view->first + 1, sizeof(const struct nccl_op *));

	(void)process;
	overlap_end(&view->overlap);
	for (size_t i = view->overlap.first; i < view->overlap.nr_devices; i++) {
		add_computation(view, &view->overlap.devices[i], list);
	}
	free(list);
}

/* ---- rows ---- */

static int by_step(const struct expert_row *x, const struct expert_row *y)
{
	return ORDER(COMPARE(x->key, y->key), COMPARE(x->step, y->step));
}

static int by_rank(const void *a, const void *b)
{
	const struct expert_row *x = a, *y = b;

	return ORDER(by_step(x, y), COMPARE((uint32_t)x->rank, (uint32_t)y->rank));
}

static int by_process(const void *a, const void *b)
{
	return ORDER(by_rank(a, b), COMPARE(((const struct expert_row *)a)->process,
					    ((const struct expert_row *)b)->process));
}

/* Who computed longest comes first. */
static int by_computation(const void *a, const void *b)
{
	const struct expert_row *x = a, *y = b;

	return ORDER(COMPARE(y->computation_ns, x->computation_ns), by_process(a, b));
}

/* With --detail, that of the step. */
static uint64_t step_of(const struct expert_view *view, const struct nccl_op *op)
{
	const struct process *process = view->input.processes[op->process];

	return view->input.is_detailed && op->step ? process->steps[op->step - 1].step + 1 : 0;
}

static void add_op(struct expert_view *view, const struct nccl_op *op)
{
	const struct expert_op *info = &view->infos[op->id];
	struct expert_row row = {.key = op->key,
		.step = step_of(view, op),
		.rank = op->rank,
		.process = op->process,
		.device = op->device,
		.nr = 1,
		.received_bytes = info->received_bytes,
		.computation_ns = info->computation_ns,
		.nr_matched = op->is_matched,
		.caused_ns = op->caused_ns};

	view->rows =
		array_grow(view->rows, view->nr_rows, &view->rows_capacity, sizeof(*view->rows));
	view->rows[view->nr_rows++] = row;
}

static void add_up(struct expert_view *view)
{
	size_t nr = 0;

	for (size_t i = 0; i < view->ops.nr_ops; i++) {
		const struct nccl_op *op = &view->ops.ops[i];

		if (view->infos[op->id].is_exchange && op->key && op->rank >= 0) {
			add_op(view, op);
		}
	}
	if (view->nr_rows) {
		qsort(view->rows, view->nr_rows, sizeof(*view->rows), by_process);
	}
	for (size_t i = 0; i < view->nr_rows; i++) {
		struct expert_row *row = &view->rows[i], *sum = nr ? &view->rows[nr - 1] : NULL;

		if (!sum || by_process(sum, row)) {
			view->rows[nr++] = *row;
			continue;
		}
		sum->nr += row->nr;
		sum->received_bytes += row->received_bytes;
		sum->computation_ns += row->computation_ns;
		sum->nr_matched += row->nr_matched;
		sum->caused_ns += row->caused_ns;
	}
	view->nr_rows = nr;
}

/* Adds the waits. A group waits for the last of its other sides. */
static void add_waits(struct expert_view *view)
{
	for (size_t i = 0; i < view->ops.nr_ops && view->nr_rows; i++) {
		const struct nccl_op *op = &view->ops.ops[i];
		struct expert_row wanted = {.key = op->key,
			.step = step_of(view, op),
			.rank = (int32_t)op->late_rank - 1};
		struct expert_row *row;

		if (!view->infos[op->id].is_exchange || !op->late_rank) {
			continue;
		}
		row = bsearch(&wanted, view->rows, view->nr_rows, sizeof(wanted), by_rank);
		if (row) {
			row->caused_ns += op->wait_ns;
		}
	}
}

/* ---- the table ---- */

struct shown_row {
	struct expert_row expert;
	const struct process *process;
	uint64_t step, caused_ns;
	double received_bytes, computation_ns; /* means */
	const char *communicator;
};

/* The ranks of a communicator, in a step if the view separates steps; shares are of their mean. */
static void add_ranks(
	const struct expert_view *view, struct expert_row *rows, size_t nr, struct table *table)
{
	double received_bytes = 0, computation_ns = 0;
	char key[17];

	for (size_t i = 0; i < nr; i++) {
		received_bytes += (double)rows[i].received_bytes / (double)nr;
		computation_ns += (double)rows[i].computation_ns / (double)nr;
	}
	qsort(rows, nr, sizeof(*rows), by_computation);
	for (size_t i = 0; i < nr; i++) {
		struct shown_row row = {.expert = rows[i],
			.process = view->input.processes[rows[i].process],
			.step = rows[i].step ? rows[i].step - 1 : UINT64_MAX,
			.caused_ns = rows[i].nr_matched ? rows[i].caused_ns : UINT64_MAX,
			.received_bytes = received_bytes,
			.computation_ns = computation_ns,
			.communicator = key};

		snprintf(key, sizeof(key), "%016" PRIx64, rows[i].key);
		table_add(table, &row);
	}
}

static const struct table_column columns[] = {
	VIEW_DEVICE_COLUMNS(shown_row, process, expert.device),
	TABLE_COLUMN("step", "Step", TABLE_ID, TABLE_MEMBER(shown_row, step)),
	TABLE_COLUMN(
		"communicator", "Communicator", TABLE_TEXT, TABLE_MEMBER(shown_row, communicator)),
	TABLE_COLUMN("all_to_alls", "All-to-alls", TABLE_COUNT, TABLE_MEMBER(shown_row, expert.nr)),
	TABLE_COLUMN("received_bytes", "Received", TABLE_SIZE,
		.help = "bytes received in all-to-alls",
		TABLE_MEMBER(shown_row, expert.received_bytes)),
	TABLE_COLUMN("received_pct", "Received % of mean", TABLE_PERCENT,
		.help = "received bytes, as a share of the mean over the ranks of the "
			"communicator",
		TABLE_SHARE(shown_row, expert.received_bytes, received_bytes)),
	TABLE_COLUMN("computation_ns", "Computation between", TABLE_TIME,
		.help = "from the end of an all-to-all to the start of the next",
		TABLE_MEMBER(shown_row, expert.computation_ns)),
	TABLE_COLUMN("computation_pct", "Computation % of mean", TABLE_PERCENT,
		.help = "that computation, as a share of the mean over the ranks",
		TABLE_SHARE(shown_row, expert.computation_ns, computation_ns)),
	TABLE_COLUMN("late_wait_ns", "Waited for it", TABLE_TIME,
		.help = "time that other ranks waited in all-to-alls that it entered last",
		TABLE_MEMBER(shown_row, caused_ns)),
};

static void fill_table(void *state, struct table *table)
{
	struct expert_view *view = state;
	struct nccl_match match;

	table_set_wide(table, "step", !view->input.is_detailed);
	nccl_match(&view->ops, &match);
	add_up(view);
	add_waits(view);
	for (size_t at = 0, nr; at < view->nr_rows; at += nr) {
		nr = 1;
		while (at + nr < view->nr_rows && !by_step(&view->rows[at], &view->rows[at + nr])) {
			nr++;
		}
		add_ranks(view, &view->rows[at], nr, table);
	}
	view_note_ranks(table, view->input.processes, view->input.nr_processes);
	view_note_clock(table, view->input.processes, view->input.nr_processes);
}

static void fini(void *state)
{
	struct expert_view *view = state;

	nccl_ops_fini(&view->ops);
	overlap_fini(&view->overlap);
	free(view->infos);
	free(view->rows);
}

VIEW(moe_balance, 130) = {
	.name = "moe-balance",
	.subject = VIEW_ABOUT_DISTRIBUTED,
	.help = "balance of experts: what ranks receive, compute and wait between all-to-alls; by "
		"step with --detail",
	.about = "Compares what ranks compute from the end of an all-to-all to the start of the "
		 "next. Means are over the recorded ranks of the communicator. A group of sends "
		 "and receives with all other ranks counts as an all-to-all.",
	.is_empty_hidden = true,
	.title = "MoE balance",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct expert_view),
	.scan = {.begin = begin, .end = end, .on_activity = on_activity},
	.fill = fill_table,
	.fini = fini,
};
