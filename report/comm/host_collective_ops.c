/* SPDX-License-Identifier: Apache-2.0 */
#include "report/comm/host_collective_ops.h"

#include <string.h>

#include "report/util/buf.h"
#include "report/comm/job_clock.h"
#include "report/model/select.h"

/* Whose operations they are. */
struct taker {
	struct nccl_ops *ops;
	struct process *process;
};

static void take(void *context, const struct host_collective *comm)
{
	struct taker *taker = context;
	struct nccl_ops *ops = taker->ops;
	struct clock_map *clock = &taker->process->host_clock;
	const char *name = host_comm_names[comm->library];

	ops->ops = array_grow(ops->ops, ops->nr_ops, &ops->capacity, sizeof(*ops->ops));
	ops->ops[ops->nr_ops] = (struct nccl_op){
		.bytes = comm->bytes,
		.is_unsized = !comm->has_bytes,
		.begin_ns = clock_map_time(clock, comm->begin),
		.end_ns = clock_map_time(clock, comm->end),
		.nr_calls = 1,
		.rank = -1,
		.peer = -1,
		.boot = job_clock_of(taker->process),
		.process = ops->nr_processes,
		.id = (uint32_t)ops->nr_ops,
		.name = string_pool_intern(name, strlen(name)),
		.kind = comm->kind,
		.library = comm->library,
	};
	ops->nr_ops++;
}

void host_collective_ops_take(
	struct nccl_ops *ops, struct process *process, const struct batch *batch)
{
	struct taker taker = {ops, process};

	host_collective_take(process, batch, false, take, &taker);
}

void host_collective_ops_read(struct nccl_ops *ops, struct process *process)
{
	struct stream *stream = process->stream;
	uint32_t mask = HOST_COLLECTIVE_MASK | select_mask(process, GPROF_TABLE_op);
	bool has_any = host_collective_is_in(process);

	for (size_t i = 0; has_any && i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_op &&
			!stream_load(stream, i, mask, 0, &batch)) {
			select_cut(process, &batch);
			host_collective_ops_take(ops, process, &batch);
		}
	}
}
