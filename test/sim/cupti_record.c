/* SPDX-License-Identifier: Apache-2.0 */
/* Records, one function a kind: from what the model reports to CUPTI's layout of 13.0. */
#include "test/sim/cupti.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SIM_CUPTI_ZERO=n: every nth record of the device has no times, as without device buffers. */
/* A kernel that is launched with many threads was compiled for few registers. */
static uint16_t registers(const struct sim_op *op)
{
	unsigned int threads = op->block.x * op->block.y * op->block.z;
	unsigned int most = 65536 / (threads ? threads : 1) / 8 * 8;

	return (uint16_t)(most < (unsigned int)op->function->registers
				  ? most
				  : (unsigned int)op->function->registers);
}

static bool is_zeroed(void)
{
	static _Atomic long zero_every = -1;
	static _Atomic long nr;
	long n = atomic_load_explicit(&zero_every, memory_order_relaxed);

	if (n < 0) {
		const char *text = getenv("SIM_CUPTI_ZERO");

		n = text ? atol(text) : 0;
		atomic_store(&zero_every, n);
	}
	return n > 0 && atomic_fetch_add(&nr, 1) % n == n - 1;
}

void cupti_sim_put_kernel(const struct sim_op *op)
{
	bool is_zero = is_zeroed();
	struct cupti_kernel k = {.kind = cupti_sim_is_on(CUPTI_KIND_CONCURRENT_KERNEL)
						 ? CUPTI_KIND_CONCURRENT_KERNEL
						 : CUPTI_KIND_KERNEL};
	static _Atomic int64_t next_grid_id = 1;

	k.registers_per_thread = registers(op);
	k.start_ns = is_zero ? 0 : op->start_ns;
	k.end_ns = is_zero ? 0 : op->end_ns;
	k.completed_ns = 0;
	k.device_id = op->device_id;
	k.context_id = op->context_id;
	k.stream_id = op->stream_id;
	k.grid[0] = (int32_t)op->grid.x;
	k.grid[1] = (int32_t)op->grid.y;
	k.grid[2] = (int32_t)op->grid.z;
	k.block[0] = (int32_t)op->block.x;
	k.block[1] = (int32_t)op->block.y;
	k.block[2] = (int32_t)op->block.z;
	k.static_shared_bytes = op->function->static_shared_bytes;
	k.dynamic_shared_bytes = (int32_t)op->shared_bytes;
	k.correlation_id = op->correlation_id;
	k.grid_id = atomic_fetch_add(&next_grid_id, 1);
	k.name = op->function->name;
	if (atomic_load(&cupti_sim_latency)) {
		k.queued_ns = op->queued_ns;
		k.submitted_ns = op->queued_ns + 500;
	}
	k.launch_type = op->launch_type;
	k.graph_node_id = op->graph_node_id;
	k.graph_id = op->graph_id;
	k.channel_id = 8;
	k.channel_type = 1;
	cupti_sim_put(&k, sizeof(k), op->end_ns, true);
}

void cupti_sim_put_copy(const struct sim_op *op)
{
	bool is_zero = is_zeroed();
	struct cupti_memcpy m = {.kind = CUPTI_KIND_MEMCPY,
		.copy_kind = op->copy_kind,
		.src_kind = op->src_kind,
		.dst_kind = op->dst_kind,
		.flags = op->is_async ? CUPTI_FLAG_ASYNC : 0,
		.bytes = op->bytes,
		.start_ns = is_zero ? 0 : op->start_ns,
		.end_ns = is_zero ? 0 : op->end_ns,
		.device_id = op->device_id,
		.context_id = op->context_id,
		.stream_id = op->stream_id,
		.correlation_id = op->correlation_id,
		.graph_node_id = op->graph_node_id,
		.graph_id = op->graph_id,
		.channel_id = 12,
		.channel_type = 2,
		.copy_count = 1};

	cupti_sim_put(&m, sizeof(m), op->end_ns, true);
}

void cupti_sim_put_peer(const struct sim_op *op)
{
	struct cupti_memcpy_peer m = {.kind = CUPTI_KIND_MEMCPY2,
		.copy_kind = CUPTI_COPY_PTOP,
		.src_kind = op->src_kind,
		.dst_kind = op->dst_kind,
		.flags = op->is_async ? CUPTI_FLAG_ASYNC : 0,
		.bytes = op->bytes,
		.start_ns = op->start_ns,
		.end_ns = op->end_ns,
		.device_id = op->device_id,
		.context_id = op->context_id,
		.stream_id = op->stream_id,
		.src_device_id = op->src_device_id,
		.src_context_id = op->src_device_id + 1,
		.dst_device_id = op->dst_device_id,
		.dst_context_id = op->dst_device_id + 1,
		.correlation_id = op->correlation_id,
		.graph_node_id = op->graph_node_id,
		.graph_id = op->graph_id};

	cupti_sim_put(&m, sizeof(m), op->end_ns, true);
}

void cupti_sim_put_set(const struct sim_op *op)
{
	struct cupti_memset m = {.kind = CUPTI_KIND_MEMSET,
		.value = op->value,
		.bytes = op->bytes,
		.start_ns = op->start_ns,
		.end_ns = op->end_ns,
		.device_id = op->device_id,
		.context_id = op->context_id,
		.stream_id = op->stream_id,
		.correlation_id = op->correlation_id,
		.flags = op->is_async ? CUPTI_FLAG_ASYNC : 0,
		.memory_kind = op->dst_kind,
		.graph_node_id = op->graph_node_id,
		.graph_id = op->graph_id,
		.channel_id = 8,
		.channel_type = 1};

	cupti_sim_put(&m, sizeof(m), op->end_ns, true);
}

_Atomic bool cupti_sim_has_all_syncs = true;

void cupti_sim_put_sync(const struct sim_op *op)
{
	struct cupti_sync s = {.kind = CUPTI_KIND_SYNCHRONIZATION,
		.type = op->sync_type,
		.start_ns = op->start_ns,
		.end_ns = op->end_ns,
		.correlation_id = op->correlation_id,
		.context_id = op->context_id,
		.stream_id = op->stream_id,
		.event_id = op->event_id,
		.return_value = (uint32_t)op->result};

	if (op->result && !atomic_load(&cupti_sim_has_all_syncs)) {
		return;
	}
	cupti_sim_put(&s, sizeof(s), op->end_ns, false);
}

void cupti_sim_put_memory(const struct sim_op *op)
{
	struct cupti_memory m = {.kind = CUPTI_KIND_MEMORY2,
		.operation = op->is_release ? CUPTI_MEMORY_RELEASE : CUPTI_MEMORY_ALLOCATION,
		.memory_kind = op->src_kind,
		.correlation_id = op->correlation_id,
		.address = op->address,
		.bytes = op->bytes,
		.time_ns = op->start_ns,
		.process_id = (uint32_t)getpid(),
		.device_id = op->device_id,
		.context_id = op->context_id,
		.stream_id = op->stream_id,
		.is_async = op->is_async};

	if (op->is_async) {
		m.pool.type = 1;
	}
	cupti_sim_put(&m, sizeof(m), op->end_ns, false);
}

void cupti_sim_put_graph(const struct sim_op *op)
{
	struct cupti_graph g = {.kind = CUPTI_KIND_GRAPH_TRACE,
		.correlation_id = op->correlation_id,
		.start_ns = op->start_ns,
		.end_ns = op->end_ns,
		.device_id = op->device_id,
		.graph_id = op->graph_id,
		.context_id = op->context_id,
		.stream_id = op->stream_id,
		.end_device_id = op->device_id,
		.end_context_id = op->context_id};

	cupti_sim_put(&g, sizeof(g), op->end_ns, true);
}

void cupti_sim_put_event(const struct sim_op *op)
{
	struct cupti_event e = {.kind = CUPTI_KIND_CUDA_EVENT,
		.correlation_id = op->correlation_id,
		.context_id = op->context_id,
		.stream_id = op->stream_id,
		.event_id = op->event_id,
		.device_id = op->device_id};

	cupti_sim_put(&e, sizeof(e), op->end_ns, false);
}

void cupti_sim_put_device(const struct sim_device *d)
{
	struct cupti_device r = {.kind = CUPTI_KIND_DEVICE,
		.memory_bandwidth = 4800000000u,
		.memory_bytes = d->memory_bytes,
		.constant_bytes = 65536,
		.l2_bytes = 62914560,
		.threads_per_warp = 32,
		.core_clock_khz = 1980000,
		.nr_copy_engines = 3,
		.nr_multiprocessors = 132,
		.max_ipc = 4,
		.max_warps_per_multiprocessor = 64,
		.max_blocks_per_multiprocessor = 32,
		.max_shared_bytes_per_multiprocessor = 233472,
		.max_registers_per_multiprocessor = 65536,
		.max_registers_per_block = 65536,
		.max_shared_bytes_per_block = 49152,
		.max_threads_per_block = 1024,
		.max_block_dim = {1024, 1024, 64},
		.max_grid_dim = {2147483647, 65535, 65535},
		.capability_major = 9,
		.id = (uint32_t)d->index,
		.is_ecc_enabled = 1,
		.name = d->name,
		.is_cuda_visible = 1};

	memcpy(r.uuid, d->uuid, sizeof(r.uuid));
	cupti_sim_put(&r, sizeof(r), 0, false);
}

void cupti_sim_put_context(const struct sim_context *c)
{
	struct cupti_context r = {.kind = CUPTI_KIND_CONTEXT,
		.context_id = c->uid,
		.device_id = (uint32_t)c->device->index,
		.compute_api_kind = 1,
		.null_stream_id = SIM_LEGACY_STREAM_ID,
		.nr_multiprocessors = 132};

	cupti_sim_put(&r, sizeof(r), 0, false);
}

void cupti_sim_put_stream(const struct sim_stream *s)
{
	struct cupti_stream r = {.kind = CUPTI_KIND_STREAM,
		.context_id = s->context->uid,
		.stream_id = s->id,
		.priority = (uint32_t)s->priority,
		.flag = s->is_legacy   ? CUPTI_STREAM_NULL
			: s->flags & 1 ? CUPTI_STREAM_NON_BLOCKING
				       : CUPTI_STREAM_DEFAULT};

	cupti_sim_put(&r, sizeof(r), 0, false);
}

void cupti_sim_put_flush(uint64_t start_ns, uint64_t end_ns)
{
	struct cupti_overhead o = {.kind = CUPTI_KIND_OVERHEAD,
		.overhead_kind = CUPTI_OVERHEAD_CUPTI_BUFFER_FLUSH,
		.object_kind = CUPTI_OBJECT_THREAD,
		.start_ns = start_ns,
		.end_ns = end_ns};

	o.object_id.pt.process_id = (uint32_t)getpid();
	o.object_id.pt.thread_id = (uint32_t)gettid();
	cupti_sim_put(&o, sizeof(o), end_ns, false);
}
