/* SPDX-License-Identifier: Apache-2.0 */
/* What the model tells CUPTI: operations and calls become records and callbacks. */
#include "test/sim/cupti.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cupti_sim_subscriber *_Atomic cupti_sim_subscriber;
__thread struct cupti_sim_external cupti_sim_external;
_Atomic bool cupti_sim_latency;
_Atomic int cupti_sim_thread_id_type;

static _Atomic bool kinds[CUPTI_KIND_END];

static bool is_on(uint32_t kind)
{
	return atomic_load_explicit(&kinds[kind], memory_order_relaxed);
}

/* SIM_CUPTI_ZERO=n: every nth record of the device has no times, as without device buffers. */
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

static void put_kernel(const struct sim_op *op)
{
	bool is_zero = is_zeroed();
	struct cupti_kernel k = {.kind = is_on(CUPTI_KIND_CONCURRENT_KERNEL)
						 ? CUPTI_KIND_CONCURRENT_KERNEL
						 : CUPTI_KIND_KERNEL};
	static _Atomic int64_t next_grid_id = 1;

	k.registers_per_thread = (uint16_t)op->function->registers;
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

static void put_copy(const struct sim_op *op)
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

static void put_peer(const struct sim_op *op)
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

static void put_set(const struct sim_op *op)
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

static void put_sync(const struct sim_op *op)
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

	cupti_sim_put(&s, sizeof(s), op->end_ns, false);
}

static void put_memory(const struct sim_op *op)
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

static void put_graph(const struct sim_op *op)
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

static void put_event(const struct sim_op *op)
{
	struct cupti_event e = {.kind = CUPTI_KIND_CUDA_EVENT,
		.correlation_id = op->correlation_id,
		.context_id = op->context_id,
		.stream_id = op->stream_id,
		.event_id = op->event_id,
		.device_id = op->device_id};

	cupti_sim_put(&e, sizeof(e), op->end_ns, false);
}

static void on_op(const struct sim_op *op)
{
	switch (op->kind) {
	case SIM_OP_KERNEL:
		put_kernel(op);
		break;
	case SIM_OP_COPY:
		if (op->is_peer && is_on(CUPTI_KIND_MEMCPY2)) {
			put_peer(op);
		} else if (!op->is_peer && is_on(CUPTI_KIND_MEMCPY)) {
			put_copy(op);
		}
		break;
	case SIM_OP_SET:
		put_set(op);
		break;
	case SIM_OP_SYNC:
		put_sync(op);
		break;
	case SIM_OP_MEMORY:
		put_memory(op);
		break;
	case SIM_OP_GRAPH:
		put_graph(op);
		break;
	case SIM_OP_RECORD:
		put_event(op);
		break;
	default:
		break;
	}
}

/* Which operations of the model the enabled kinds need. */
static void update_ops(void)
{
	uint32_t ops = 0;

	ops |= is_on(CUPTI_KIND_KERNEL) || is_on(CUPTI_KIND_CONCURRENT_KERNEL) ? 1u << SIM_OP_KERNEL
									       : 0;
	ops |= is_on(CUPTI_KIND_MEMCPY) || is_on(CUPTI_KIND_MEMCPY2) ? 1u << SIM_OP_COPY : 0;
	ops |= is_on(CUPTI_KIND_MEMSET) ? 1u << SIM_OP_SET : 0;
	ops |= is_on(CUPTI_KIND_SYNCHRONIZATION) ? 1u << SIM_OP_SYNC : 0;
	ops |= is_on(CUPTI_KIND_MEMORY2) ? 1u << SIM_OP_MEMORY : 0;
	ops |= is_on(CUPTI_KIND_GRAPH_TRACE) ? 1u << SIM_OP_GRAPH : 0;
	ops |= is_on(CUPTI_KIND_CUDA_EVENT) ? 1u << SIM_OP_RECORD : 0;
	atomic_store(&cupti_sim_trace.whole_graphs, is_on(CUPTI_KIND_GRAPH_TRACE));
	atomic_store(&cupti_sim_trace.ops, ops);
}

void cupti_sim_want_one(uint32_t kind, uint32_t cbid, bool on)
{
	int domain = kind == CUPTI_KIND_DRIVER ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME;

	if (on) {
		atomic_fetch_or(&cupti_sim_trace.want[domain - 1][cbid], SIM_WANT_RECORD);
	} else {
		atomic_fetch_and(
			&cupti_sim_trace.want[domain - 1][cbid], (uint8_t)~SIM_WANT_RECORD);
	}
}

void cupti_sim_want_all(uint32_t kind, bool on)
{
	for (uint32_t cbid = 1; cbid < CUPTI_SIM_MAX_CBIDS; cbid++) {
		cupti_sim_want_one(kind, cbid, on);
	}
}

bool cupti_sim_kind_set(uint32_t kind, bool on)
{
	if (!cupti_sim_stride(kind)) {
		return false;
	}
	atomic_store(&kinds[kind], on);
	if (kind == CUPTI_KIND_DRIVER || kind == CUPTI_KIND_RUNTIME) {
		cupti_sim_want_all(kind, on);
	}
	update_ops();
	return true;
}

static void put_device(const struct sim_device *d)
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

static void put_context(const struct sim_context *c)
{
	struct cupti_context r = {.kind = CUPTI_KIND_CONTEXT,
		.context_id = c->uid,
		.device_id = (uint32_t)c->device->index,
		.compute_api_kind = 1,
		.null_stream_id = SIM_LEGACY_STREAM_ID,
		.nr_multiprocessors = 132};

	cupti_sim_put(&r, sizeof(r), 0, false);
}

static void put_stream(const struct sim_stream *s)
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

/* What exists already: devices, and the primary contexts that were made. */
void cupti_sim_kind_dump(uint32_t kind)
{
	struct sim_core *core = cupti_sim_core();

	for (int i = 0; core->is_initialized() && i < core->device_count(); i++) {
		const struct sim_device *d = core->device(i);

		if (kind == CUPTI_KIND_DEVICE) {
			put_device(d);
		} else if (kind == CUPTI_KIND_CONTEXT && d->primary) {
			put_context(d->primary);
		} else if (kind == CUPTI_KIND_STREAM && d->primary) {
			put_stream(d->primary->legacy);
		}
	}
}

static void on_resource(uint32_t cbid, struct sim_context *context, struct sim_stream *stream)
{
	struct cupti_sim_subscriber *s = atomic_load(&cupti_sim_subscriber);

	if (cbid == CUPTI_RESOURCE_CONTEXT_CREATED) {
		if (is_on(CUPTI_KIND_DEVICE)) {
			put_device(context->device);
		}
		if (is_on(CUPTI_KIND_CONTEXT)) {
			put_context(context);
		}
	}
	if (stream && is_on(CUPTI_KIND_STREAM) &&
		(cbid == CUPTI_RESOURCE_CONTEXT_CREATED || cbid == CUPTI_RESOURCE_STREAM_CREATED)) {
		put_stream(stream);
	}
	if (s && cbid < 64 && atomic_load(&s->resource[cbid])) {
		struct cupti_resource_data data = {.context = context, .stream = stream};

		s->callback(s->userdata, CUPTI_DOMAIN_RESOURCE, cbid, &data);
	}
}

static void call_back(struct sim_frame *f, enum cupti_site site)
{
	struct cupti_sim_subscriber *s = atomic_load(&cupti_sim_subscriber);
	const struct sim_thread *t = f->thread;
	struct sim_context *context = t->depth ? t->stack[t->depth - 1] : NULL;
	struct cupti_callback_data data = {.site = site,
		.function_name = f->name,
		.function_params = f->params,
		.function_return_value = site == CUPTI_SITE_EXIT ? f->result : NULL,
		.symbol_name = f->symbol,
		.context = context,
		.context_uid = context ? context->uid : 0,
		.correlation_data = &f->correlation_data,
		.correlation_id = f->correlation_id};

	if (s) {
		s->callback(s->userdata, f->domain, f->cbid, &data);
	}
}

static void on_enter(struct sim_frame *f)
{
	if (f->flags & SIM_WANT_CALLBACK) {
		call_back(f, CUPTI_SITE_ENTER);
	}
}

static void put_externals(const struct sim_frame *f)
{
	for (uint32_t kind = 0; kind < 8; kind++) {
		int nr = cupti_sim_external.nr[kind];

		if (nr > 0) {
			struct cupti_external e = {.kind = CUPTI_KIND_EXTERNAL_CORRELATION,
				.external_kind = kind,
				.external_id = cupti_sim_external.of[kind][nr - 1],
				.correlation_id = f->correlation_id};

			cupti_sim_put(&e, sizeof(e), 0, false);
		}
	}
}

static void on_leave(struct sim_frame *f)
{
	if (f->flags & SIM_WANT_CALLBACK) {
		call_back(f, CUPTI_SITE_EXIT);
	}
	if (!(f->flags & SIM_WANT_RECORD)) {
		return;
	}
	struct cupti_api a = {
		.kind = f->domain == CUPTI_DOMAIN_DRIVER ? CUPTI_KIND_DRIVER : CUPTI_KIND_RUNTIME,
		.cbid = f->cbid,
		.start_ns = f->start_ns,
		.end_ns = cupti_sim_core()->now(),
		.process_id = (uint32_t)getpid(),
		.thread_id = atomic_load(&cupti_sim_thread_id_type) == CUPTI_THREAD_ID_SYSTEM
				     ? f->thread->tid
				     : (uint32_t)(uintptr_t)pthread_self(),
		.correlation_id = f->correlation_id,
		.return_value = (uint32_t) * (int *)f->result};

	cupti_sim_put(&a, sizeof(a), a.end_ns, false);
	if (is_on(CUPTI_KIND_EXTERNAL_CORRELATION)) {
		put_externals(f);
	}
}

struct sim_trace cupti_sim_trace = {
	.enter = on_enter, .leave = on_leave, .op = on_op, .resource = on_resource};
