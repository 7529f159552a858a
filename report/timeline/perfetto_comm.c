/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "report/comm/host_collectives.h"
#include "report/comm/nccl_names.h"
#include "report/timeline/perfetto.h"
#include "report/util/text.h"

/* Flows of calls and of autograd have other bits above; a collective's is that of its last bits. */
#define COLLECTIVE_FLOW (1ull << 62)

static int by_collective(const void *a, const void *b)
{
	const struct nccl_op *x = a, *y = b;

	if (x->library != y->library) {
		return x->library < y->library ? -1 : 1;
	}
	if (x->key != y->key) {
		return x->key < y->key ? -1 : 1;
	}
	if (x->sequence != y->sequence) {
		return x->sequence < y->sequence ? -1 : 1;
	}
	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1)
				  : (x->process > y->process) - (x->process < y->process);
}

void perfetto_comm_read(
	struct perfetto *pftrace, struct process *const *processes, size_t nr_processes)
{
	if (!timeline_shows(&pftrace->timeline, TIMELINE_GPU)) {
		return;
	}
	for (size_t i = 0; i < nr_processes; i++) {
		host_collective_ops_read(&pftrace->collectives, processes[i]);
		nccl_ops_read(&pftrace->collectives, processes[i]);
	}
	if (pftrace->collectives.nr_ops) {
		qsort(pftrace->collectives.ops, pftrace->collectives.nr_ops,
			sizeof(*pftrace->collectives.ops), by_collective);
	}
}

static bool is_shown(const struct perfetto *pftrace, const struct nccl_op *op)
{
	const struct timeline *timeline = &pftrace->timeline;
	uint64_t ahead_ns = timeline->base_ns - (uint64_t)timeline->offset_ns;

	return nccl_op_has_time(op) &&
	       timeline_picks(timeline, op->begin_ns - ahead_ns, op->end_ns - ahead_ns);
}

/* Rows count the communicators of the process at hand; one that nobody knows is one of them. */
static size_t row_of(struct perfetto *pftrace, const struct nccl_op *op, uint32_t nr)
{
	struct buf text = {0};
	size_t nr_bytes, row;
	const char *name = string_pool_text(op->name, &nr_bytes);

	buf_text(&text, op->library ? "process groups of " : "NCCL communicator ");
	text_add_shown(&text, name, nr_bytes, 0);
	buf_char(&text, '\0');
	row = perfetto_other_row(pftrace, PERFETTO_ROW_COMM, nr, text.bytes);
	buf_fini(&text);
	return row;
}

void perfetto_comm_take(struct perfetto *pftrace, uint32_t process)
{
	const struct nccl_ops *ops = &pftrace->collectives;
	uint64_t ahead_ns = pftrace->timeline.base_ns - (uint64_t)pftrace->timeline.offset_ns;
	uint32_t nr_comms = 0;
	uint64_t key = 0;
	uint8_t library = 0;

	for (size_t i = 0; i < ops->nr_ops; i++) {
		const struct nccl_op *op = &ops->ops[i];
		const char *kind = nccl_names_op(op->kind);
		struct perfetto_slice *slice;

		if (op->process != process || !is_shown(pftrace, op)) {
			continue;
		}
		nr_comms += !nr_comms || op->key != key || op->library != library;
		key = op->key;
		library = op->library;
		slice = perfetto_add_slice(pftrace, PERFETTO_COLLECTIVE,
			row_of(pftrace, op, nr_comms), string_pool_intern(kind, strlen(kind)),
			op->begin_ns - ahead_ns, op->end_ns - ahead_ns);
		slice->category = PERFETTO_COMM;
		slice->value = i;
	}
}

/* Sends and receives count by peer, and groups of several kinds are no collective. */
static bool is_collective(const struct nccl_op *op)
{
	return op->key && op->sequence && op->kind != GPROF_NCCL_SEND &&
	       op->kind != GPROF_NCCL_RECV && op->kind < NCCL_OPS_SEND_RECV;
}

/* Operations of one collective stand beside each other: is another one of them in the file? */
static bool has_other(const struct nccl_ops *ops, size_t i)
{
	const struct nccl_op *op = &ops->ops[i];

	for (int step = -1; step < 2; step += 2) {
		size_t k = i + (size_t)step;

		if (k < ops->nr_ops && ops->ops[k].key == op->key &&
			ops->ops[k].sequence == op->sequence && ops->ops[k].kind == op->kind &&
			ops->ops[k].process != op->process && nccl_op_has_time(&ops->ops[k])) {
			return true;
		}
	}
	return false;
}

void perfetto_comm_args(
	struct perfetto *pftrace, struct perfetto_event *event, const struct perfetto_slice *slice)
{
	const struct nccl_ops *ops = &pftrace->collectives;
	const struct nccl_op *op = &ops->ops[slice->value];

	if (!op->is_unsized) {
		perfetto_event_uint(event, PERFETTO_KEY_BYTES, op->bytes);
	}
	if (slice->dur_ns && nccl_op_is_sized(op)) {
		perfetto_event_double(
			event, PERFETTO_KEY_ALGBW, (double)op->bytes / (double)slice->dur_ns);
	}
	if (op->sequence) {
		perfetto_event_uint(event, PERFETTO_KEY_SEQUENCE, op->sequence);
	}
	if (is_collective(op) && has_other(ops, slice->value)) {
		perfetto_event_flow(event,
			COLLECTIVE_FLOW |
				(((op->key ^ op->kind) * 0x9e3779b97f4a7c15u ^ op->sequence) &
					(COLLECTIVE_FLOW - 1)));
	}
}

/* ---- calls ---- */

void perfetto_comm_calls(struct perfetto *pftrace, const struct batch *b)
{
	struct timeline *timeline = &pftrace->timeline;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_nccl_begin][i];
		struct perfetto_slice *slice;

		if (!b->col[COL_nccl_thread][i]) { /* traces of others have operators for them */
			continue;
		}
		slice = perfetto_add_slice(pftrace, PERFETTO_NCCL_CALL,
			perfetto_thread_row(pftrace, b->col[COL_nccl_thread][i]),
			nccl_names_call((uint8_t)b->col[COL_nccl_kind][i]),
			timeline_host_ns(timeline, begin),
			timeline_host_ns(timeline, begin + b->col[COL_nccl_dur][i]));
		slice->category = PERFETTO_NCCL_API;
		slice->value = b->col[COL_nccl_bytes][i];
		slice->graph = (uint32_t)b->col[COL_nccl_sequence][i];
		slice->place = (uint32_t)b->col[COL_nccl_comm][i];
		slice->shape = (uint32_t)b->col[COL_nccl_result][i];
	}
}

void perfetto_comm_call_args(
	struct perfetto *pftrace, struct perfetto_event *event, const struct perfetto_slice *slice)
{
	if (slice->value) {
		perfetto_event_uint(event, PERFETTO_KEY_BYTES, slice->value);
	}
	if (slice->graph) {
		perfetto_event_uint(event, PERFETTO_KEY_SEQUENCE, slice->graph);
	}
	if (slice->place) {
		perfetto_event_text(event, PERFETTO_KEY_COMM,
			nccl_names_comm(pftrace->timeline.process, slice->place));
	}
	if (slice->shape) {
		perfetto_event_int(event, PERFETTO_KEY_RESULT, (int32_t)slice->shape);
	}
}
