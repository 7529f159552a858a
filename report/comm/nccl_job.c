/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The communication of a whole job in one call, for the views communication and distributed and for
 * TensorBoard's page. Operations of hosts are read first, as nccl_ops_read() ends the process and
 * thereby counts it; all are then matched together.
 */
#include "report/comm/nccl_job.h"

#include "report/comm/host_collectives.h"

/*
 * A collective is transferred once, whatever the number of ranks, so its last rank alone counts it.
 * A send or receive is its own transfer, after its wait. Of what one rank measured of its waits the
 * unknown rest of the kernel's time does not count.
 */
void nccl_sums_add(struct nccl_sums *sums, const struct nccl_op *op)
{
	uint64_t ns = nccl_op_has_time(op) ? op->end_ns - op->begin_ns : 0;

	sums->nr_calls += op->nr_calls;
	sums->nr_in_graphs += op->is_in_graph ? op->nr_calls : 0;
	sums->bytes += op->bytes;
	sums->is_unsized |= op->is_unsized;
	sums->lacks_speed |= !nccl_op_is_sized(op);
	sums->nr_timed += nccl_op_has_time(op) ? op->nr_calls : 0;
	sums->timed_ns += ns;
	sums->timed_bytes += nccl_op_has_time(op) ? op->bytes : 0;
	if (op->is_matched) {
		sums->nr_with_wait += op->nr_calls;
		sums->known_ns += ns;
		sums->wait_ns += op->wait_ns;
	} else if (nccl_op_is_measured(op)) {
		sums->nr_with_wait += op->nr_calls;
		sums->known_ns += op->measured.known_ns;
		sums->wait_ns += op->measured.wait_ns;
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

void nccl_job_read(struct nccl_job *job, struct process *const *processes, size_t nr_processes)
{
	*job = (struct nccl_job){.ops = {.has_measured = true}, .processes = processes};
	for (size_t i = 0; i < nr_processes; i++) {
		host_collective_read(&job->ops, processes[i]);
		nccl_ops_read(&job->ops, processes[i]);
	}
	nccl_match(&job->ops, &job->match);
	nccl_ops_drop_captured(&job->ops);
}

void nccl_job_fini(struct nccl_job *job)
{
	nccl_ops_fini(&job->ops);
}
