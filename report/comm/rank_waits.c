/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches the operations of all ranks and keeps, for each, how long it waits: see rank_waits.h.
 * Matching sorts operations by communicator. The walk comes process by process, so by_process()
 * lists them that way, and rank_waits_begin() puts those of the current process into its maps.
 */
#include "report/comm/rank_waits.h"

#include <stdlib.h>

#include "report/comm/nccl_match.h"

void rank_waits_init(struct rank_waits *waits, size_t nr_processes)
{
	*waits = (struct rank_waits){.nr_processes = nr_processes, .ops = {.has_measured = true}};
	idmap_init(&waits->kernels, sizeof(uint32_t));
	idmap_init(&waits->calls, sizeof(uint32_t));
}

void rank_waits_fini(struct rank_waits *waits)
{
	nccl_ops_fini(&waits->ops);
	nccl_ops_fini(&waits->host_ops);
	idmap_fini(&waits->kernels);
	idmap_fini(&waits->calls);
	free(waits->places);
	free(waits->host_places);
}

/* ---- the scan ---- */

/* Did NCCL's plugin see transfers over the network? */
static bool has_transfers(const struct process *process)
{
	return stream_table(process->stream, GPROF_TABLE_nccl_channel) != NULL;
}

/* Operators are read only for what several processes do together on their hosts. */
bool rank_waits_needs(const struct rank_waits *waits, struct process *process, unsigned int table)
{
	if (table == GPROF_TABLE_op) {
		return waits->nr_processes > 1 && host_collective_is_in(process);
	}
	return waits->nr_processes > 1 || has_transfers(process);
}

void rank_waits_add_batch(
	struct rank_waits *waits, struct process *process, const struct batch *batch)
{
	if (batch->table == GPROF_TABLE_op) {
		host_collective_add_batch(&waits->host_ops, process, batch);
	} else {
		nccl_ops_add_batch(&waits->ops, batch);
	}
}

void rank_waits_end(struct rank_waits *waits, struct process *process)
{
	nccl_ops_end(&waits->ops, process);
	waits->host_ops.nr_processes++;
}

void rank_waits_read(
	struct rank_waits *waits, struct process *const *processes, size_t nr_processes)
{
	rank_waits_init(waits, nr_processes);
	for (size_t i = 0; i < nr_processes; i++) {
		if (nr_processes > 1) {
			host_collective_read(&waits->host_ops, processes[i]);
		}
		if (rank_waits_needs(waits, processes[i], GPROF_TABLE_nccl)) {
			nccl_ops_read(&waits->ops, processes[i]);
		}
		waits->host_ops.nr_processes++;
	}
}

/* ---- operations by process ---- */

/* Can a process look it up: is it matched or measured, and has it a key? */
static bool is_known(const struct nccl_op *op)
{
	return (op->is_matched || nccl_op_is_measured(op)) && (op->library || op->correlation);
}

/*
 * The indices of those that are known, process by process (a counting sort). The caller frees
 * them.
 */
static uint32_t *by_process(const struct nccl_ops *ops, size_t *nr)
{
	size_t *starts = mem_zeroed((size_t)ops->nr_processes + 1, sizeof(*starts));
	uint32_t *places;

	*nr = 0;
	for (size_t i = 0; i < ops->nr_ops; i++) {
		starts[ops->ops[i].process + 1] += is_known(&ops->ops[i]);
		*nr += is_known(&ops->ops[i]);
	}
	for (size_t i = 0; i < ops->nr_processes; i++) {
		starts[i + 1] += starts[i];
	}
	places = mem_zeroed(*nr + 1, sizeof(*places));
	for (size_t i = 0; i < ops->nr_ops; i++) {
		if (is_known(&ops->ops[i])) {
			places[starts[ops->ops[i].process]++] = (uint32_t)i;
		}
	}
	free(starts);
	return places;
}

static void match(struct rank_waits *waits)
{
	struct nccl_match nccl;

	if (waits->nr_processes > 1) {
		nccl_match(&waits->ops, &nccl);
		waits->nr_matched = nccl.nr_matched + host_collective_match(&waits->host_ops);
	}
	waits->nr_measured = nccl_ops_measured(&waits->ops);
	waits->places = by_process(&waits->ops, &waits->nr_places);
	waits->host_places = by_process(&waits->host_ops, &waits->nr_host_places);
}

static void put(struct idmap *map, uint64_t id, uint32_t place)
{
	*(uint32_t *)idmap_put(map, id) = place + 1;
}

/* The first process of the walk has all operations matched, since the scan is over by then. */
void rank_waits_begin(struct rank_waits *waits)
{
	const struct nccl_op *ops = waits->ops.ops, *host_ops = waits->host_ops.ops;
	size_t process = waits->nr_begun++;

	if (waits->nr_processes < 2 && !waits->ops.nr_ops) {
		return;
	}
	if (!waits->places) {
		match(waits);
	}
	idmap_fini(&waits->kernels);
	idmap_fini(&waits->calls);
	idmap_init(&waits->kernels, sizeof(uint32_t));
	idmap_init(&waits->calls, sizeof(uint32_t));
	for (; waits->at < waits->nr_places && ops[waits->places[waits->at]].process == process;
		waits->at++) {
		put(&waits->kernels, ops[waits->places[waits->at]].correlation,
			waits->places[waits->at]);
	}
	for (; waits->host_at < waits->nr_host_places &&
		host_ops[waits->host_places[waits->host_at]].process == process;
		waits->host_at++) {
		put(&waits->calls, host_ops[waits->host_places[waits->host_at]].begin_ns,
			waits->host_places[waits->host_at]);
	}
}

void rank_waits_begin_again(struct rank_waits *waits)
{
	waits->nr_begun = waits->at = waits->host_at = 0;
}

static const struct nccl_op *find_kernel(const struct rank_waits *waits, uint64_t correlation)
{
	const uint32_t *place = idmap_get(&waits->kernels, correlation);

	return place ? &waits->ops.ops[*place - 1] : NULL;
}

const struct nccl_op *rank_waits_kernel(const struct rank_waits *waits, uint64_t correlation)
{
	const struct nccl_op *op = find_kernel(waits, correlation);

	return op && op->is_matched ? op : NULL;
}

const struct nccl_op *rank_waits_call(const struct rank_waits *waits, uint64_t begin_ns)
{
	const uint32_t *place = idmap_get(&waits->calls, begin_ns);

	return place ? &waits->host_ops.ops[*place - 1] : NULL;
}

/* ---- what a kernel or call does at a time ---- */

struct division {
	uint64_t begin_ns, end_ns;
	void (*add)(void *context, enum rank_waits_part part, uint64_t begin_ns, uint64_t end_ns);
	void *context;
};

static void add_piece(const struct division *division, enum rank_waits_part part, uint64_t begin_ns,
	uint64_t end_ns)
{
	division->add(division->context, part, begin_ns, end_ns);
}

/* It waits until the last rank has come, from its begin on. */
static void divide_matched(const struct division *division, const struct nccl_op *op)
{
	uint64_t begin_ns = division->begin_ns, all_ns = division->end_ns - begin_ns;
	uint64_t wait_ns = op->wait_ns < all_ns ? op->wait_ns : all_ns;

	add_piece(division, RANK_WAITS_TRANSFER, begin_ns + wait_ns, division->end_ns);
	add_piece(division, RANK_WAITS_WAIT, begin_ns, begin_ns + wait_ns);
}

/*
 * Between its measured waits it transfers, from the first of its transfers over the network to the
 * last one; what it does before and behind them is unknown.
 */
static void divide_measured(const struct division *division, const struct measured_op *op,
	const struct measured_wait *waits)
{
	uint64_t begin_ns = division->begin_ns, end_ns = division->end_ns;
	uint64_t first_ns = op->begin_ns > begin_ns ? op->begin_ns : begin_ns;
	uint64_t last_ns = op->end_ns < end_ns ? op->end_ns : end_ns;

	first_ns = first_ns < end_ns ? first_ns : end_ns;
	last_ns = last_ns > first_ns ? last_ns : first_ns;
	add_piece(division, RANK_WAITS_UNKNOWN, last_ns, end_ns);
	for (size_t i = op->nr; i-- > 0 && last_ns > first_ns;) {
		uint64_t from_ns = waits[i].begin_ns > first_ns ? waits[i].begin_ns : first_ns;
		uint64_t until_ns = waits[i].end_ns < last_ns ? waits[i].end_ns : last_ns;

		if (from_ns < until_ns) {
			add_piece(division, RANK_WAITS_TRANSFER, until_ns, last_ns);
			add_piece(division, RANK_WAITS_WAIT, from_ns, until_ns);
			last_ns = from_ns;
		}
	}
	add_piece(division, RANK_WAITS_TRANSFER, first_ns, last_ns);
	add_piece(division, RANK_WAITS_UNKNOWN, begin_ns, first_ns);
}

void rank_waits_divide_kernel(const struct rank_waits *waits, uint64_t correlation,
	uint64_t begin_ns, uint64_t end_ns,
	void (*add)(void *context, enum rank_waits_part part, uint64_t begin_ns, uint64_t end_ns),
	void *context)
{
	const struct division division = {begin_ns, end_ns, add, context};
	const struct nccl_op *op = waits ? find_kernel(waits, correlation) : NULL;

	if (!op) {
		add_piece(&division, RANK_WAITS_UNKNOWN, begin_ns, end_ns);
	} else if (op->is_matched) {
		divide_matched(&division, op);
	} else {
		divide_measured(
			&division, &op->measured, waits->ops.measured.items + op->measured.first);
	}
}

void rank_waits_divide_call(const struct rank_waits *waits, uint64_t begin_ns, uint64_t end_ns,
	void (*add)(void *context, enum rank_waits_part part, uint64_t begin_ns, uint64_t end_ns),
	void *context)
{
	const struct division division = {begin_ns, end_ns, add, context};
	const struct nccl_op *op = waits ? rank_waits_call(waits, begin_ns) : NULL;

	if (op) {
		divide_matched(&division, op);
	} else {
		add_piece(&division, RANK_WAITS_UNKNOWN, begin_ns, end_ns);
	}
}
