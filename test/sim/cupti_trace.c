/* SPDX-License-Identifier: Apache-2.0 */
/* What the model reports to CUPTI: operations and calls become records and callbacks. */
#include "test/sim/cupti.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/sim/graph.h"

__thread struct cupti_sim_external cupti_sim_external;
_Atomic bool cupti_sim_latency;
_Atomic int cupti_sim_thread_id_type;

static _Atomic bool kinds[CUPTI_KIND_END];

bool cupti_sim_is_on(uint32_t kind)
{
	return atomic_load_explicit(&kinds[kind], memory_order_relaxed);
}

static void on_op(const struct sim_op *op)
{
	switch (op->kind) {
	case SIM_OP_KERNEL:
		cupti_sim_pm_kernel(op);
		cupti_sim_put_kernel(op);
		break;
	case SIM_OP_COPY:
		if (op->is_peer && cupti_sim_is_on(CUPTI_KIND_MEMCPY2)) {
			cupti_sim_put_peer(op);
		} else if (!op->is_peer && cupti_sim_is_on(CUPTI_KIND_MEMCPY)) {
			cupti_sim_put_copy(op);
		}
		break;
	case SIM_OP_SET:
		cupti_sim_put_set(op);
		break;
	case SIM_OP_SYNC:
		cupti_sim_put_sync(op);
		break;
	case SIM_OP_MEMORY:
		cupti_sim_put_memory(op);
		break;
	case SIM_OP_GRAPH:
		cupti_sim_put_graph(op);
		break;
	case SIM_OP_RECORD:
		cupti_sim_put_event(op);
		break;
	default:
		break;
	}
}

/* Which operations of the model the enabled kinds need. */
static void update_ops(void)
{
	uint32_t ops = 0;

	ops |= cupti_sim_is_on(CUPTI_KIND_KERNEL) || cupti_sim_is_on(CUPTI_KIND_CONCURRENT_KERNEL)
		       ? 1u << SIM_OP_KERNEL
		       : 0;
	ops |= cupti_sim_is_on(CUPTI_KIND_MEMCPY) || cupti_sim_is_on(CUPTI_KIND_MEMCPY2)
		       ? 1u << SIM_OP_COPY
		       : 0;
	ops |= cupti_sim_is_on(CUPTI_KIND_MEMSET) ? 1u << SIM_OP_SET : 0;
	ops |= cupti_sim_is_on(CUPTI_KIND_SYNCHRONIZATION) ? 1u << SIM_OP_SYNC : 0;
	ops |= cupti_sim_is_on(CUPTI_KIND_MEMORY2) ? 1u << SIM_OP_MEMORY : 0;
	ops |= cupti_sim_is_on(CUPTI_KIND_GRAPH_TRACE) ? 1u << SIM_OP_GRAPH : 0;
	ops |= cupti_sim_is_on(CUPTI_KIND_CUDA_EVENT) ? 1u << SIM_OP_RECORD : 0;
	atomic_store(&cupti_sim_trace.whole_graphs, cupti_sim_is_on(CUPTI_KIND_GRAPH_TRACE));
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

/* What exists already: devices, and the primary contexts that were made. */
void cupti_sim_kind_dump(uint32_t kind)
{
	struct sim_core *core = cupti_sim_core();

	for (int i = 0; core->is_initialized() && i < core->device_count(); i++) {
		const struct sim_device *d = core->device(i);
		/* Another thread may make it meanwhile. */
		const struct sim_context *primary = __atomic_load_n(&d->primary, __ATOMIC_ACQUIRE);

		if (kind == CUPTI_KIND_DEVICE) {
			cupti_sim_put_device(d);
		} else if (kind == CUPTI_KIND_CONTEXT && primary) {
			cupti_sim_put_context(primary);
		} else if (kind == CUPTI_KIND_STREAM && primary) {
			cupti_sim_put_stream(primary->legacy);
		}
	}
}

static void on_resource(uint32_t cbid, struct sim_context *context, struct sim_stream *stream)
{
	struct cupti_resource_data data = {.context = context, .stream = stream};

	if (cbid == CUPTI_RESOURCE_CONTEXT_CREATED) {
		if (cupti_sim_is_on(CUPTI_KIND_DEVICE)) {
			cupti_sim_put_device(context->device);
		}
		if (cupti_sim_is_on(CUPTI_KIND_CONTEXT)) {
			cupti_sim_put_context(context);
		}
	}
	if (stream && cupti_sim_is_on(CUPTI_KIND_STREAM) &&
		(cbid == CUPTI_RESOURCE_CONTEXT_CREATED || cbid == CUPTI_RESOURCE_STREAM_CREATED)) {
		cupti_sim_put_stream(stream);
	}
	cupti_sim_call_subscribers(CUPTI_DOMAIN_RESOURCE, cbid, &data);
}

static void on_graph_node(uint32_t cbid, struct sim_node *node)
{
	struct cupti_graph_data graph = {.graph = node->graph, .node = node};
	struct cupti_resource_data data = {.descriptor = &graph};
	int type = 0;

	if (node->original) {
		graph.original_graph = node->original->graph;
		graph.original_node = node->original;
	}
	cupti_sim_core()->graph_node_type(node, &type);
	graph.node_type = (uint32_t)type;
	cupti_sim_call_subscribers(CUPTI_DOMAIN_RESOURCE, cbid, &data);
}

static void call_back(struct sim_frame *f, enum cupti_site site)
{
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

	cupti_sim_call_subscribers(f->domain, f->cbid, &data);
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
	if (cupti_sim_is_on(CUPTI_KIND_EXTERNAL_CORRELATION)) {
		put_externals(f);
	}
}

struct sim_trace cupti_sim_trace = {.enter = on_enter,
	.leave = on_leave,
	.op = on_op,
	.resource = on_resource,
	.graph_node = on_graph_node};
