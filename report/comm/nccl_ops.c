/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes operations out of table nccl: calls in groups, and the kernels that they launched. Kernels
 * name no communicator and calls no kernel. The link is the correlation ID: the recorder notes the
 * IDs before and at the end of a call, and what the same thread launched in between belongs to it.
 *
 *   thread     ncclGroupStart  AllReduce  AllReduce  ncclGroupEnd
 *   IDs        100                                   after = 100, last = 103
 *   launches                                         101 (another thread's), 102, 103
 *
 * At the end of a process all spans are known; then the launches of the spans are read, and then
 * the kernels of the launches.
 */
#include "report/comm/nccl_ops.h"

#include <stdlib.h>
#include <string.h>

#include "report/comm/nccl_graph.h"
#include "report/util/buf.h"
#include "report/ops/phase.h"
#include "report/model/select.h"
#include "report/util/sort.h"

/* ---- launches ---- */

#define LAUNCH_MASK COLS(api, thread, correlation)

void nccl_launches_fini(struct nccl_launches *launches)
{
	free(launches->spans);
	free(launches->items);
	*launches = (struct nccl_launches){0};
}

void nccl_launches_clear(struct nccl_launches *launches)
{
	launches->nr_spans = launches->nr = launches->last_span = launches->last = 0;
}

void nccl_launches_add(struct nccl_launches *launches, const struct nccl_span *span)
{
	if (span->after == span->last) {
		return;
	}
	launches->spans = array_grow(launches->spans, launches->nr_spans, &launches->spans_capacity,
		sizeof(*launches->spans));
	launches->spans[launches->nr_spans++] = *span;
}

/* ---- spans ---- */

/* Sorts by thread, then by correlation ID, which rises with each launch of a thread. */
static int by_thread(const void *a, const void *b)
{
	const struct nccl_span *x = a, *y = b;

	return ORDER(COMPARE(x->thread, y->thread), COMPARE(x->last, y->last));
}

static bool ends_before(const struct nccl_span *span, uint32_t thread, uint64_t correlation)
{
	return span->thread < thread || (span->thread == thread && span->last < correlation);
}

/* The first span that does not end before a launch; mostly that of the previous launch. */
static size_t find_end(struct nccl_launches *launches, uint32_t thread, uint64_t correlation)
{
	const struct nccl_span *spans = launches->spans;
	size_t last = launches->last_span;

	if ((!last || ends_before(&spans[last - 1], thread, correlation)) &&
		(last == launches->nr_spans || !ends_before(&spans[last], thread, correlation))) {
		return last;
	}
	BISECT(last, 0, launches->nr_spans, ends_before(&spans[last], thread, correlation));
	launches->last_span = last;
	return last;
}

/* One subtraction tests both bounds: `after` < id <= `last`; IDs may wrap. */
static size_t find_op(struct nccl_launches *launches, uint32_t thread, uint64_t correlation)
{
	size_t at = find_end(launches, thread, correlation);
	const struct nccl_span *span = &launches->spans[at];

	return at < launches->nr_spans && span->thread == thread &&
			       correlation - span->after - 1 < span->last - span->after
		       ? span->op
		       : NCCL_LAUNCH_NONE;
}

/* ---- launches ---- */

static void add(struct nccl_launches *launches, uint64_t correlation, size_t op)
{
	if (op == NCCL_LAUNCH_NONE) {
		return;
	}
	launches->items = array_grow(
		launches->items, launches->nr, &launches->capacity, sizeof(*launches->items));
	launches->items[launches->nr++] = (struct nccl_launch){correlation, (uint32_t)op};
}

static int by_correlation(const void *a, const void *b)
{
	const struct nccl_launch *x = a, *y = b;

	return COMPARE(x->correlation, y->correlation);
}

static void add_launches(struct nccl_launches *launches, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t id = batch->col[COL_api_correlation][i];

		if (id) {
			add(launches, id,
				find_op(launches, (uint32_t)batch->col[COL_api_thread][i], id));
		}
	}
}

/* A span without a thread has exactly one launch, whose ID is known. */
void nccl_launches_read(struct nccl_launches *launches, struct stream *stream)
{
	if (!launches->nr_spans) {
		return;
	}
	qsort(launches->spans, launches->nr_spans, sizeof(*launches->spans), by_thread);
	for (size_t i = 0; i < launches->nr_spans && !launches->spans[i].thread; i++) {
		add(launches, launches->spans[i].last, launches->spans[i].op);
	}
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_block_table(stream, i);
		struct batch batch;

		if ((table == GPROF_TABLE_api || table == GPROF_TABLE_api_launch) &&
			!stream_load(stream, i, LAUNCH_MASK, 0, &batch)) {
			add_launches(launches, &batch);
		}
	}
	if (launches->nr) {
		qsort(launches->items, launches->nr, sizeof(*launches->items), by_correlation);
	}
}

/* Kernels come roughly in launch order, so the previous answer is mostly right again. */
size_t nccl_launches_find(struct nccl_launches *launches, uint64_t correlation)
{
	const struct nccl_launch *items = launches->items;
	size_t low = 0, high = launches->nr, last = launches->last;

	if (!launches->nr) {
		return NCCL_LAUNCH_NONE;
	}
	if (items[last].correlation <= correlation) {
		bool is_next = last + 1 < high && items[last + 1].correlation > correlation;

		low = last;
		high = is_next ? last + 1 : high;
	}
	BISECT(last, low + 1, high, items[last].correlation <= correlation);
	launches->last = --last;
	return items[last].correlation == correlation ? items[last].op : NCCL_LAUNCH_NONE;
}

/* ---- operations ---- */

#define KERNEL_MASK COLS(kernel, begin, dur, place, correlation)

struct nccl_call {
	uint64_t group, bytes, begin, end;
	uint32_t comm, sequence, thread;
	uint64_t after, last; /* correlation IDs of its launches */
	int32_t peer;
	uint8_t kind;
};

struct nccl_calls {
	struct nccl_call *items;
	size_t nr, capacity;
	struct nccl_launches launches;
	/* Which operation a call is part of; of the end of a group, one for each. */
	struct nccl_inside_call *of;
	size_t nr_of, of_capacity;
};

void nccl_ops_fini(struct nccl_ops *ops)
{
	free(ops->ops);
	free(ops->sides);
	measured_waits_fini(&ops->measured);
	if (ops->calls) {
		free(ops->calls->items);
		free(ops->calls->of);
		nccl_launches_fini(&ops->calls->launches);
		free(ops->calls);
	}
	*ops = (struct nccl_ops){0};
}

double nccl_op_bus_factor(uint8_t kind, uint32_t nr_ranks)
{
	double n = nr_ranks ? nr_ranks : 1;

	switch (kind) {
	case GPROF_NCCL_ALL_REDUCE:
		return 2 * (n - 1) / n;
	case GPROF_NCCL_ALL_GATHER:
	case GPROF_NCCL_REDUCE_SCATTER:
	case GPROF_NCCL_ALL_TO_ALL:
	case GPROF_NCCL_GATHER:
	case GPROF_NCCL_SCATTER:
		return (n - 1) / n;
	default:
		return 1;
	}
}

/* ---- calls ---- */

static bool is_move(uint64_t kind)
{
	return kind >= GPROF_NCCL_ALL_REDUCE && kind <= GPROF_NCCL_RECV;
}

/*
 * Table nccl has a row for each call and one for the end of a group, which carries the group's
 * launches.
 */
void nccl_ops_add_batch(struct nccl_ops *ops, const struct batch *b)
{
	struct nccl_calls *calls = ops->calls;

	if (!calls) {
		calls = ops->calls = mem_zeroed(1, sizeof(*calls));
	}
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t kind = b->col[COL_nccl_kind][i];

		/* A call that failed at once moved nothing; 7 is ncclInProgress. */
		if ((!is_move(kind) && kind != GPROF_NCCL_GROUP_END) ||
			(b->col[COL_nccl_result][i] && b->col[COL_nccl_result][i] != 7)) {
			continue;
		}
		calls->items = array_grow(
			calls->items, calls->nr, &calls->capacity, sizeof(*calls->items));
		calls->items[calls->nr++] = (struct nccl_call){
			.group = b->col[COL_nccl_group][i],
			.bytes = b->col[COL_nccl_bytes][i],
			.begin = b->col[COL_nccl_begin][i],
			.end = b->col[COL_nccl_begin][i] + b->col[COL_nccl_dur][i],
			.comm = (uint32_t)b->col[COL_nccl_comm][i],
			.sequence = (uint32_t)b->col[COL_nccl_sequence][i],
			.thread = (uint32_t)b->col[COL_nccl_thread][i],
			.after = b->col[COL_nccl_correlation_before][i],
			.last = b->col[COL_nccl_correlation][i],
			.peer = (int32_t)b->col[COL_nccl_peer][i],
			.kind = (uint8_t)kind,
		};
	}
}

/* By group and communicator, then in call order, with GROUP_END first. */
static int by_group(const void *a, const void *b)
{
	const struct nccl_call *x = a, *y = b;
	bool x_ends = x->kind == GPROF_NCCL_GROUP_END, y_ends = y->kind == GPROF_NCCL_GROUP_END;

	return ORDER(COMPARE(x->group, y->group), COMPARE(y_ends, x_ends),
		COMPARE(x->comm, y->comm), COMPARE(x->begin, y->begin));
}

/* ---- operations ---- */

/* Equal kinds stay; sends with receives are a kind of their own; all else is "of several kinds". */
static uint8_t join_kinds(uint8_t a, uint8_t b)
{
	bool is_p2p = (a == GPROF_NCCL_SEND || a == GPROF_NCCL_RECV || a == NCCL_OPS_SEND_RECV) &&
		      (b == GPROF_NCCL_SEND || b == GPROF_NCCL_RECV);

	return a == b ? a : is_p2p ? NCCL_OPS_SEND_RECV : NCCL_OPS_SEVERAL;
}

static struct nccl_op make_op(
	const struct nccl_ops *ops, struct process *process, const struct nccl_call *call)
{
	const struct model_nccl_comm *comm = idmap_get(&process->nccl_comms, call->comm);
	const struct phases steps = {.process = process, .nr_steps = process->nr_steps + 1};

	return (struct nccl_op){
		.key = comm ? comm->key : 0,
		.begin_ns = UINT64_MAX,
		.sequence = call->sequence,
		.nr_ranks = comm ? comm->nr_ranks : 0,
		.rank = comm ? comm->rank : -1,
		.peer = call->peer,
		.boot = process_clock(process),
		.process = ops->nr_processes,
		.id = (uint32_t)ops->nr_ops,
		.step = phases_step(&steps, call->begin),
		.device = UINT32_MAX,
		.name = nccl_names_comm(process, call->comm),
		.group = nccl_names_group(process, call->comm),
		.kind = call->kind,
	};
}

static void add_call(struct nccl_op *op, const struct nccl_call *call)
{
	uint64_t nr_parts = nccl_op_kind_is_wide(call->kind) && op->nr_ranks ? op->nr_ranks : 1;

	op->kind = join_kinds(op->kind, call->kind);
	op->is_unsized = !nccl_op_kind_is_sized(op->kind, op->nr_ranks);
	op->bytes += call->bytes * nr_parts;
	op->nr_calls++;
}

/*
 * Both sides of a transfer have the same numbers: who sends, who receives, and which one it is
 * between the two.
 */
static void add_side(struct nccl_ops *ops, const struct nccl_op *op, const struct nccl_call *call)
{
	bool is_receive = call->kind == GPROF_NCCL_RECV;

	if ((!is_receive && call->kind != GPROF_NCCL_SEND) || !op->key || op->rank < 0 ||
		call->peer < 0 || !call->sequence) {
		return;
	}
	ops->sides =
		array_grow(ops->sides, ops->nr_sides, &ops->sides_capacity, sizeof(*ops->sides));
	ops->sides[ops->nr_sides++] = (struct nccl_side){
		.key = op->key,
		.bytes = call->bytes,
		.from = is_receive ? call->peer : op->rank,
		.to = is_receive ? op->rank : call->peer,
		.sequence = call->sequence,
		.op = op->id,
		.is_receive = is_receive,
	};
}

static void note_op(struct nccl_calls *calls, uint64_t begin, uint32_t comm, size_t op)
{
	calls->of = array_grow(calls->of, calls->nr_of, &calls->of_capacity, sizeof(*calls->of));
	calls->of[calls->nr_of++] =
		(struct nccl_inside_call){.begin = begin, .comm = comm, .op = (uint32_t)op};
}

/* Adds the operation of the calls from `at` on that form a group. Returns where the next begins. */
static size_t add_group(struct nccl_ops *ops, struct process *process, size_t at)
{
	struct nccl_calls *calls = ops->calls;
	const struct nccl_call *first = &calls->items[at];
	size_t op = 0, nr_comms = 0, end = at;

	for (; end < calls->nr && calls->items[end].group == first->group; end++) {
		const struct nccl_call *call = &calls->items[end];

		if (call->kind == GPROF_NCCL_GROUP_END) {
			continue;
		}
		if (!nr_comms || call->comm != call[-1].comm) {
			ops->ops = array_grow(
				ops->ops, ops->nr_ops, &ops->capacity, sizeof(*ops->ops));
			ops->ops[ops->nr_ops] = make_op(ops, process, call);
			ops->nr_ops++;
			nr_comms++;
			if (first->kind == GPROF_NCCL_GROUP_END) {
				note_op(calls, first->begin, call->comm, ops->nr_ops - 1);
			}
		}
		op = ops->nr_ops - 1;
		note_op(calls, call->begin, call->comm, op);
		add_call(&ops->ops[op], call);
		add_side(ops, &ops->ops[op], call);
	}
	/* Kernels do not name their communicator. */
	nccl_launches_add(
		&calls->launches, &(struct nccl_span){first->thread, first->after, first->last,
					  nr_comms == 1 ? op : NCCL_LAUNCH_NONE});
	return end;
}

/* ---- kernels ---- */

/*
 * Several kernels of one operation count from the first begin to the last end. Then it has no
 * correlation ID: none of them stands for all.
 */
static void add_kernels(struct nccl_ops *ops, struct process *process, const struct batch *batch)
{
	for (uint32_t row = 0; row < batch->nr_rows; row++) {
		size_t place = nccl_launches_find(
			&ops->calls->launches, batch->col[COL_kernel_correlation][row]);
		struct nccl_op *op;
		uint64_t begin, end;

		if (place == NCCL_LAUNCH_NONE) {
			continue;
		}
		op = &ops->ops[place];
		begin = clock_map_time(&process->device_clock, batch->col[COL_kernel_begin][row]);
		end = begin + batch->col[COL_kernel_dur][row];
		op->correlation =
			op->begin_ns == UINT64_MAX ? batch->col[COL_kernel_correlation][row] : 0;
		op->begin_ns = begin < op->begin_ns ? begin : op->begin_ns;
		op->end_ns = end > op->end_ns ? end : op->end_ns;
		op->device = process_place(process, batch->col[COL_kernel_place][row]).device;
	}
}

static void join_kernels(struct nccl_ops *ops, struct process *process)
{
	struct nccl_launches *launches = &ops->calls->launches;
	struct stream *stream = process->stream;

	nccl_launches_read(launches, stream);
	for (size_t i = 0; launches->nr && i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_kernel &&
			!stream_load(stream, i, KERNEL_MASK, 0, &batch)) {
			add_kernels(ops, process, &batch);
		}
	}
	nccl_launches_clear(launches);
}

/* ---- graphs ---- */

static void sort_calls(struct nccl_calls *calls)
{
	if (calls->nr) {
		qsort(calls->items, calls->nr, sizeof(*calls->items), by_group);
	}
}

/* Adds all groups; those whose kernels are nodes of graphs are marked. */
static void add_groups(
	struct nccl_ops *ops, struct process *process, const struct nccl_graph *graph)
{
	struct nccl_calls *calls = ops->calls;

	sort_calls(calls);
	for (size_t at = 0; at < calls->nr;) {
		const struct nccl_call *first = &calls->items[at];
		size_t before = ops->nr_ops;

		at = add_group(ops, process, at);
		if (graph->nodes.nr_nodes &&
			nccl_graph_has(graph, first->thread, first->begin, first->end)) {
			for (size_t i = before; i < ops->nr_ops; i++) {
				ops->ops[i].is_captured = true;
			}
		}
	}
}

/* The calls of a whole process, as the capture need not be in the selected steps. */
static void read_calls(struct nccl_ops *ops, struct process *process)
{
	struct stream *stream = process->stream;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_nccl &&
			!stream_load(stream, i, NCCL_OPS_MASK, 0, &batch)) {
			nccl_ops_add_batch(ops, &batch);
		}
	}
}

/* As kernels do not name their communicator, a group over several has none here, either. */
static void read_captured(struct nccl_graph *graph, struct process *process)
{
	struct nccl_ops all = {0};

	read_calls(&all, process);
	if (all.calls) {
		sort_calls(all.calls);
	}
	for (size_t at = 0; all.calls && at < all.calls->nr;) {
		const struct nccl_call *first = &all.calls->items[at];
		size_t before = all.nr_ops;

		at = add_group(&all, process, at);
		if (all.nr_ops == before + 1 &&
			nccl_graph_has(graph, first->thread, first->begin, first->end)) {
			nccl_graph_add(
				graph, first->thread, first->begin, first->end, &all.ops[before]);
		}
	}
	nccl_ops_fini(&all);
}

void nccl_ops_drop_captured(struct nccl_ops *ops)
{
	size_t nr = 0;

	for (size_t i = 0; i < ops->nr_ops; i++) {
		if (!ops->ops[i].is_captured) {
			ops->ops[nr++] = ops->ops[i];
		}
	}
	ops->nr_ops = nr;
}

static void add_inside(void *context, uint32_t op, const struct nccl_inside *inside)
{
	struct nccl_ops *ops = context;

	nccl_inside_add(&ops->ops[op].inside, inside);
}

static bool is_send(void *context, uint32_t op)
{
	return ((struct nccl_ops *)context)->ops[op].kind == GPROF_NCCL_SEND;
}

/* Sums up what of the kernel's time is known. */
static void set_times(const struct nccl_ops *ops, struct nccl_op *op)
{
	struct measured_op *measured = &op->measured;
	uint64_t begin_ns = op->begin_ns > measured->begin_ns ? op->begin_ns : measured->begin_ns;
	uint64_t end_ns = op->end_ns < measured->end_ns ? op->end_ns : measured->end_ns;

	measured->known_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
	for (size_t i = 0; i < measured->nr; i++) {
		const struct measured_wait *wait = &ops->measured.items[measured->first + i];
		uint64_t from_ns = wait->begin_ns > begin_ns ? wait->begin_ns : begin_ns;
		uint64_t until_ns = wait->end_ns < end_ns ? wait->end_ns : end_ns;

		measured->wait_ns += until_ns > from_ns ? until_ns - from_ns : 0;
	}
}

/*
 * Operations with several kernels have none that stands for all. One with more rows than calls was
 * captured into a graph, and one with fewer lost some.
 */
static void set_measured(void *context, uint32_t op, const struct measured_op *measured)
{
	struct nccl_ops *ops = context;
	struct nccl_op *of = &ops->ops[op];

	if (of->inside.nr == of->nr_calls && of->correlation) {
		of->measured = *measured;
		set_times(ops, of);
	}
}

static void read_inside(struct nccl_ops *ops, struct process *process)
{
	struct nccl_calls *calls = ops->calls;
	struct measured_transfers transfers = {0};

	nccl_inside_read(process, calls->of, calls->nr_of, ops->has_measured ? &transfers : NULL,
		add_inside, ops);
	measured_waits_find(&ops->measured, &transfers, is_send, set_measured, ops);
	measured_transfers_fini(&transfers);
}

uint64_t nccl_ops_measured(const struct nccl_ops *ops)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < ops->nr_ops; i++) {
		nr += nccl_op_is_measured(&ops->ops[i]);
	}
	return nr;
}

void nccl_ops_end(struct nccl_ops *ops, struct process *process)
{
	struct nccl_calls *calls = ops->calls;
	struct nccl_graph graph = {0};

	if (stream_table(process->stream, GPROF_TABLE_nccl)) {
		nccl_graph_read(&graph, process);
	}
	if (calls && calls->nr) {
		add_groups(ops, process, &graph);
		join_kernels(ops, process);
		read_inside(ops, process);
		calls->nr = calls->nr_of = 0;
	}
	if (graph.nodes.nr_nodes) {
		read_captured(&graph, process);
		nccl_graph_add_replays(&graph, ops, process);
	}
	nccl_graph_fini(&graph);
	ops->nr_processes++;
}

void nccl_ops_read(struct nccl_ops *ops, struct process *process)
{
	struct stream *stream = process->stream;
	uint32_t mask = NCCL_OPS_MASK | select_mask(process, GPROF_TABLE_nccl);

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_nccl &&
			!stream_load(stream, i, mask, 0, &batch)) {
			select_cut(process, &batch);
			nccl_ops_add_batch(ops, &batch);
		}
	}
	nccl_ops_end(ops, process);
}
