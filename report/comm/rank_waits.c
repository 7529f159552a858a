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
	*waits = (struct rank_waits){.nr_processes = nr_processes};
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

/* Operators are read only for what several processes do together on their hosts. */
bool rank_waits_needs(const struct rank_waits *waits, struct process *process, unsigned int table)
{
	return waits->nr_processes > 1 &&
	       (table != GPROF_TABLE_op || host_collective_is_in(process));
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
	for (size_t i = 0; i < nr_processes && nr_processes > 1; i++) {
		host_collective_read(&waits->host_ops, processes[i]);
		nccl_ops_read(&waits->ops, processes[i]);
		waits->host_ops.nr_processes++;
	}
}

/* ---- operations by process ---- */

/* Can a process look it up: is it matched, and has it a key? */
static bool is_known(const struct nccl_op *op)
{
	return op->is_matched && (op->library || op->correlation);
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

	nccl_match(&waits->ops, &nccl);
	waits->nr_matched = nccl.nr_matched + host_collective_match(&waits->host_ops);
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

	if (waits->nr_processes < 2) {
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

const struct nccl_op *rank_waits_kernel(const struct rank_waits *waits, uint64_t correlation)
{
	const uint32_t *place = idmap_get(&waits->kernels, correlation);

	return place ? &waits->ops.ops[*place - 1] : NULL;
}

const struct nccl_op *rank_waits_call(const struct rank_waits *waits, uint64_t begin_ns)
{
	const uint32_t *place = idmap_get(&waits->calls, begin_ns);

	return place ? &waits->host_ops.ops[*place - 1] : NULL;
}
