/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's graphs and capture, over the model. */
#include "test/sim/runtime.h"

#include <stdio.h>

cudart_error api_cudaGraphLaunch(cudart_graph_exec graph_exec, cudart_stream stream)
{
	return RUNTIME_NESTED(cuGraphLaunch, runtime_model->graph_launch(graph_exec, stream));
}

cudart_error api_cudaGraphCreate(cudart_graph *p_graph, unsigned int flags)
{
	return p_graph && !flags ? runtime_model->graph_create(p_graph) : SIM_INVALID_VALUE;
}

cudart_error api_cudaGraphClone(cudart_graph *p_graph_clone, cudart_graph original_graph)
{
	return runtime_model->graph_clone(p_graph_clone, original_graph);
}

cudart_error api_cudaGraphDestroy(cudart_graph graph)
{
	return runtime_model->graph_destroy(graph);
}

static int kernel_op(struct sim_op *op, const cudart_kernel_node_params *p)
{
	struct sim_function *f = p ? runtime_function(p->func) : NULL;

	if (!f) {
		return p ? SIM_INVALID_DEVICE_FUNCTION : SIM_INVALID_VALUE;
	}
	*op = (struct sim_op){.kind = SIM_OP_KERNEL, .function = f};
	op->grid = p->grid;
	op->block = p->block;
	op->shared_bytes = p->shared_bytes;
	op->args = p->args;
	return SIM_OK;
}

/* One end of a copy node: linear memory only. */
static int copy_op(struct sim_op *op, const cudart_memcpy3d_parms *p)
{
	if (!p || p->src_array || p->dst_array) {
		return p ? SIM_NOT_SUPPORTED : SIM_INVALID_VALUE;
	}
	*op = (struct sim_op){.kind = SIM_OP_COPY};
	op->copy.dst = (char *)p->dst_ptr.ptr + p->dst_pos.y * p->dst_ptr.pitch + p->dst_pos.x;
	op->copy.src =
		(const char *)p->src_ptr.ptr + p->src_pos.y * p->src_ptr.pitch + p->src_pos.x;
	op->copy.width = p->extent.width;
	op->copy.height = p->extent.height;
	op->copy.depth = p->extent.depth;
	op->copy.dst_pitch = p->dst_ptr.pitch;
	op->copy.src_pitch = p->src_ptr.pitch;
	op->copy.dst_slice = p->dst_ptr.pitch * p->dst_ptr.ysize;
	op->copy.src_slice = p->src_ptr.pitch * p->src_ptr.ysize;
	return SIM_OK;
}

/* What the copy is called in records: by where its ends lie. */
static void copy_describe(struct sim_op *op)
{
	static const uint8_t kinds[2][2] = {
		{CUPTI_COPY_HTOH, CUPTI_COPY_DTOH}, {CUPTI_COPY_HTOD, CUPTI_COPY_DTOD}};

	op->src_kind = (uint8_t)runtime_model->space_of(op->copy.src, NULL, NULL, NULL);
	op->dst_kind = (uint8_t)runtime_model->space_of(op->copy.dst, NULL, NULL, NULL);
	op->copy_kind = kinds[op->dst_kind > SIM_PINNED][op->src_kind > SIM_PINNED];
	op->bytes = (uint64_t)op->copy.width * op->copy.height * op->copy.depth;
}

static int set_op(struct sim_op *op, const cudart_memset_params *p)
{
	if (!p || !p->dst) {
		return SIM_INVALID_VALUE;
	}
	*op = (struct sim_op){.kind = SIM_OP_SET};
	op->copy.dst = p->dst;
	op->copy.width = p->width * p->element_bytes;
	op->copy.height = p->height;
	op->copy.depth = 1;
	op->copy.dst_pitch = p->pitch_bytes;
	op->bytes = (uint64_t)op->copy.width * p->height;
	op->value = p->value;
	op->element_bytes = p->element_bytes;
	op->dst_kind = (uint8_t)runtime_model->space_of(p->dst, NULL, NULL, NULL);
	return SIM_OK;
}

static int add(cudart_graph_node *node, cudart_graph graph, const cudart_graph_node *deps,
	size_t nr_deps, const struct sim_op *op, void *child)
{
	return node ? runtime_model->graph_add(node, graph, (void *const *)deps, nr_deps, op, child)
		    : SIM_INVALID_VALUE;
}

cudart_error api_cudaGraphAddKernelNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies,
	const cudart_kernel_node_params *p_node_params)
{
	struct sim_op op;
	int r = kernel_op(&op, p_node_params);

	return r == SIM_OK ? add(p_graph_node, graph, p_dependencies, num_dependencies, &op, NULL)
			   : r;
}

cudart_error api_cudaGraphAddMemcpyNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies,
	const cudart_memcpy3d_parms *p_copy_params)
{
	struct sim_op op;
	int r = copy_op(&op, p_copy_params);

	if (r != SIM_OK) {
		return r;
	}
	copy_describe(&op);
	return add(p_graph_node, graph, p_dependencies, num_dependencies, &op, NULL);
}

cudart_error api_cudaGraphAddMemcpyNode1D(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies, void *dst,
	const void *src, size_t bytes, cudart_memcpy_kind kind)
{
	struct sim_op op = {.kind = SIM_OP_COPY, .copy = SIM_ROW(dst, src, bytes)};

	(void)kind;
	copy_describe(&op);
	return add(p_graph_node, graph, p_dependencies, num_dependencies, &op, NULL);
}

cudart_error api_cudaGraphAddMemsetNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies,
	const cudart_memset_params *p_memset_params)
{
	struct sim_op op;
	int r = set_op(&op, p_memset_params);

	return r == SIM_OK ? add(p_graph_node, graph, p_dependencies, num_dependencies, &op, NULL)
			   : r;
}

cudart_error api_cudaGraphAddHostNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies,
	const cudart_host_node_params *p_node_params)
{
	struct sim_op op = {.kind = SIM_OP_HOST};

	if (!p_node_params || !p_node_params->fn) {
		return SIM_INVALID_VALUE;
	}
	op.host_fn = p_node_params->fn;
	op.host_data = p_node_params->user_data;
	return add(p_graph_node, graph, p_dependencies, num_dependencies, &op, NULL);
}

cudart_error api_cudaGraphAddChildGraphNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies, cudart_graph child_graph)
{
	struct sim_op op = {.kind = SIM_OP_CHILD};

	return child_graph ? add(p_graph_node, graph, p_dependencies, num_dependencies, &op,
				     child_graph)
			   : SIM_INVALID_VALUE;
}

cudart_error api_cudaGraphAddEmptyNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies)
{
	struct sim_op op = {.kind = SIM_OP_EMPTY};

	return add(p_graph_node, graph, p_dependencies, num_dependencies, &op, NULL);
}

cudart_error api_cudaGraphAddEventRecordNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies, cudart_event event)
{
	struct sim_op op = {.kind = SIM_OP_RECORD, .event = event};

	return event ? add(p_graph_node, graph, p_dependencies, num_dependencies, &op, NULL)
		     : SIM_INVALID_VALUE;
}

cudart_error api_cudaGraphAddEventWaitNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies, cudart_event event)
{
	struct sim_op op = {.kind = SIM_OP_WAIT, .event = event};

	return event ? add(p_graph_node, graph, p_dependencies, num_dependencies, &op, NULL)
		     : SIM_INVALID_VALUE;
}

/* The address of an allocation node is fixed when the node is added, as with the real ones. */
cudart_error api_cudaGraphAddMemAllocNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies,
	cudart_mem_alloc_node_params *node_params)
{
	struct sim_op op = {.kind = SIM_OP_MEMORY, .src_kind = SIM_DEVICE, .is_async = 1};

	if (!node_params || !node_params->bytes) {
		return SIM_INVALID_VALUE;
	}
	int r = runtime_model->alloc(
		&node_params->dptr, node_params->bytes, SIM_DEVICE, false, NULL);

	if (r != SIM_OK) {
		return r;
	}
	op.address = (uintptr_t)node_params->dptr;
	op.bytes = node_params->bytes;
	return add(p_graph_node, graph, p_dependencies, num_dependencies, &op, NULL);
}

cudart_error api_cudaGraphAddMemFreeNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies, void *dptr)
{
	struct sim_op op = {.kind = SIM_OP_MEMORY, .src_kind = SIM_DEVICE, .is_async = 1};
	size_t bytes = 0;

	if (runtime_model->space_of(dptr, NULL, NULL, &bytes) != SIM_DEVICE) {
		return SIM_INVALID_VALUE;
	}
	op.address = (uintptr_t)dptr;
	op.bytes = bytes;
	op.is_release = 1;
	return add(p_graph_node, graph, p_dependencies, num_dependencies, &op, NULL);
}

cudart_error api_cudaGraphDestroyNode(cudart_graph_node node)
{
	return runtime_model->graph_remove(node);
}

/* 11 passes (exec, graph, error node, log, log size) where 12 and later pass flags. */
cudart_error api_cudaGraphInstantiate(unsigned long long w0, unsigned long long w1,
	unsigned long long w2, unsigned long long w3, unsigned long long w4)
{
	(void)w2;
	(void)w3;
	(void)w4;
	return runtime_model->graph_instantiate((void **)(uintptr_t)w0, (void *)(uintptr_t)w1);
}

cudart_error api_cudaGraphInstantiateWithFlags(
	cudart_graph_exec *p_graph_exec, cudart_graph graph, unsigned long long flags)
{
	(void)flags;
	return runtime_model->graph_instantiate(p_graph_exec, graph);
}

/* 11 ends in (error node, result), 12 and later in one structure whose first word is the result. */
cudart_error api_cudaGraphExecUpdate(
	unsigned long long w0, unsigned long long w1, unsigned long long w2, unsigned long long w3)
{
	int r = runtime_model->graph_update((void *)(uintptr_t)w0, (void *)(uintptr_t)w1);
	int *result = (int *)(uintptr_t)(runtime_level >= 12000 ? w2 : w3);

	if (result) {
		*result = r == SIM_OK ? 0 : 1;
	}
	return r;
}

cudart_error api_cudaGraphUpload(cudart_graph_exec graph_exec, cudart_stream stream)
{
	return graph_exec && runtime_model->resolve(stream) ? SIM_OK : SIM_INVALID_VALUE;
}

cudart_error api_cudaGraphExecDestroy(cudart_graph_exec graph_exec)
{
	return runtime_model->graph_exec_destroy(graph_exec);
}

/* Copies where and how big, not the arguments: those need a new node. */
static int kernel_params_set(struct sim_op *op, const cudart_kernel_node_params *p)
{
	struct sim_op made;
	int r = op ? kernel_op(&made, p) : SIM_INVALID_VALUE;

	if (r == SIM_OK && op->function->cpu) {
		return SIM_NOT_SUPPORTED;
	}
	if (r == SIM_OK) {
		op->function = made.function;
		op->grid = made.grid;
		op->block = made.block;
		op->shared_bytes = made.shared_bytes;
	}
	return r;
}

cudart_error api_cudaGraphExecKernelNodeSetParams(cudart_graph_exec graph_exec,
	cudart_graph_node node, const cudart_kernel_node_params *p_node_params)
{
	return kernel_params_set(runtime_model->graph_exec_op(graph_exec, node), p_node_params);
}

cudart_error api_cudaGraphKernelNodeSetParams(
	cudart_graph_node node, const cudart_kernel_node_params *p_node_params)
{
	return kernel_params_set(runtime_model->graph_node_op(node), p_node_params);
}

cudart_error api_cudaGraphExecMemcpyNodeSetParams(cudart_graph_exec graph_exec,
	cudart_graph_node node, const cudart_memcpy3d_parms *p_node_params)
{
	struct sim_op *op = runtime_model->graph_exec_op(graph_exec, node), made;
	int r = op ? copy_op(&made, p_node_params) : SIM_INVALID_VALUE;

	if (r == SIM_OK) {
		copy_describe(&made);
		*op = made;
	}
	return r;
}

cudart_error api_cudaGraphExecMemsetNodeSetParams(cudart_graph_exec graph_exec,
	cudart_graph_node node, const cudart_memset_params *p_node_params)
{
	struct sim_op *op = runtime_model->graph_exec_op(graph_exec, node);

	return op ? set_op(op, p_node_params) : SIM_INVALID_VALUE;
}

cudart_error api_cudaGraphExecHostNodeSetParams(cudart_graph_exec graph_exec,
	cudart_graph_node node, const cudart_host_node_params *p_node_params)
{
	struct sim_op *op = runtime_model->graph_exec_op(graph_exec, node);

	if (!op || !p_node_params) {
		return SIM_INVALID_VALUE;
	}
	op->host_fn = p_node_params->fn;
	op->host_data = p_node_params->user_data;
	return SIM_OK;
}

cudart_error api_cudaGraphNodeSetEnabled(
	cudart_graph_exec graph_exec, cudart_graph_node h_node, unsigned int is_enabled)
{
	return runtime_model->graph_set_enabled(graph_exec, h_node, is_enabled != 0);
}

cudart_error api_cudaGraphGetNodes(cudart_graph graph, cudart_graph_node *nodes, size_t *num_nodes)
{
	return runtime_model->graph_nodes(graph, nodes, num_nodes);
}

cudart_error api_cudaGraphDebugDotPrint(cudart_graph graph, const char *path, unsigned int flags)
{
	size_t nr = 0;
	int r = runtime_model->graph_nodes(graph, NULL, &nr);
	FILE *f = r == SIM_OK && path ? fopen(path, "w") : NULL;

	(void)flags;
	if (!f) {
		return r == SIM_OK ? SIM_INVALID_VALUE : r;
	}
	fprintf(f, "digraph dot { /* %zu nodes */ }\n", nr);
	return fclose(f) == 0 ? SIM_OK : SIM_INVALID_VALUE;
}

cudart_error api_cudaGraphAddDependencies(unsigned long long w0, unsigned long long w1,
	unsigned long long w2, unsigned long long w3, unsigned long long w4)
{
	size_t nr = runtime_level >= 13000 ? w4 : w3;

	return runtime_model->graph_depend((void *)(uintptr_t)w0, (void *const *)(uintptr_t)w1,
		(void *const *)(uintptr_t)w2, nr, true);
}

cudart_error api_cudaGraphRemoveDependencies(unsigned long long w0, unsigned long long w1,
	unsigned long long w2, unsigned long long w3, unsigned long long w4)
{
	size_t nr = runtime_level >= 13000 ? w4 : w3;

	return runtime_model->graph_depend((void *)(uintptr_t)w0, (void *const *)(uintptr_t)w1,
		(void *const *)(uintptr_t)w2, nr, false);
}

cudart_error api_cudaStreamBeginCapture(cudart_stream stream, cudart_stream_capture_mode mode)
{
	return runtime_model->capture_begin(stream, mode, NULL);
}

cudart_error api_cudaStreamBeginCaptureToGraph(cudart_stream stream, cudart_graph graph,
	const cudart_graph_node *dependencies, const cudart_graph_edge_data *dependency_data,
	size_t num_dependencies, cudart_stream_capture_mode mode)
{
	(void)dependencies;
	(void)dependency_data;
	if (num_dependencies) {
		return SIM_NOT_SUPPORTED;
	}
	return graph ? runtime_model->capture_begin(stream, mode, graph) : SIM_INVALID_VALUE;
}

cudart_error api_cudaStreamEndCapture(cudart_stream stream, cudart_graph *p_graph)
{
	return runtime_model->capture_end(stream, p_graph);
}

cudart_error api_cudaStreamIsCapturing(
	cudart_stream stream, cudart_stream_capture_status *p_capture_status)
{
	return runtime_model->capture_status(stream, p_capture_status, NULL, NULL);
}

/* Every form begins with (stream, status, id); later ones also give the graph. */
cudart_error api_cudaStreamGetCaptureInfo(unsigned long long w0, unsigned long long w1,
	unsigned long long w2, unsigned long long w3, unsigned long long w4, unsigned long long w5,
	unsigned long long w6)
{
	bool is_long = runtime_level >= 13000;
	size_t *nr = (size_t *)(uintptr_t)w6;

	(void)w4;
	(void)w5;
	if (is_long && nr) {
		*nr = 0;
	}
	return runtime_model->capture_status((void *)(uintptr_t)w0, (int *)(uintptr_t)w1,
		(unsigned long long *)(uintptr_t)w2, is_long ? (void **)(uintptr_t)w3 : NULL);
}

cudart_error api_cudaThreadExchangeStreamCaptureMode(cudart_stream_capture_mode *mode)
{
	struct sim_thread *t = runtime_model->thread();

	if (!mode || *mode < 0 || *mode > 2) {
		return SIM_INVALID_VALUE;
	}
	int was = t->capture_mode;

	t->capture_mode = *mode;
	*mode = was;
	return SIM_OK;
}

cudart_error api_cudaDeviceGraphMemTrim(int device)
{
	return runtime_model->device(device) ? SIM_OK : SIM_INVALID_DEVICE;
}

/* Not hooked: what programs ask about graphs. */
SIM_EXPORT int cudaGraphGetRootNodes(void *graph, void **nodes, size_t *nr);
SIM_EXPORT int cudaGraphNodeGetType(void *node, int *type);

SIM_EXPORT int cudaGraphGetRootNodes(void *graph, void **nodes, size_t *nr)
{
	return runtime_core() ? runtime_model->graph_roots(graph, nodes, nr)
			      : SIM_INSUFFICIENT_DRIVER;
}

SIM_EXPORT int cudaGraphNodeGetType(void *node, int *type)
{
	/* kernel, copy, set, host, event record, event wait, empty, memory, -, -, child */
	static const int types[] = {0, 1, 2, 3, 7, 6, 5, 10, -1, -1, 4};
	const struct sim_op *op = runtime_core() ? runtime_model->graph_node_op(node) : NULL;

	if (!op || !type) {
		return SIM_INVALID_VALUE;
	}
	*type = op->kind == SIM_OP_MEMORY && op->is_release ? 11 : types[op->kind];
	return SIM_OK;
}
