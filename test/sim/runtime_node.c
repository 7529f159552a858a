/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's graph nodes: from CUDA's parameters to the model's operations. */
#include "test/sim/graph_params.h"
#include "test/sim/runtime.h"

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
	runtime_model->describe(op);
	return SIM_OK;
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
	op->value = p->value;
	op->element_bytes = p->element_bytes;
	runtime_model->describe(op);
	return SIM_OK;
}

static int add(cudart_graph_node *node, cudart_graph graph, const cudart_graph_node *deps,
	size_t nr_deps, const struct sim_op *op)
{
	return node ? runtime_model->graph_add(node, graph, (void *const *)deps, nr_deps, op, NULL)
		    : SIM_INVALID_VALUE;
}

cudart_error api_cudaGraphAddKernelNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies,
	const cudart_kernel_node_params *p_node_params)
{
	const cudart_kernel_node_params *p = p_node_params;
	struct sim_function *f = p ? runtime_function(p->func) : NULL;

	if (!f) {
		return p ? SIM_INVALID_DEVICE_FUNCTION : SIM_INVALID_VALUE;
	}
	struct kernel_params params = {.function = f,
		.grid = p->grid,
		.block = p->block,
		.shared_bytes = p->shared_bytes,
		.args = p->args,
		.extra = p->extra};

	return runtime_driver.cuGraphAddKernelNode_v2(
		p_graph_node, graph, p_dependencies, num_dependencies, &params);
}

cudart_error api_cudaGraphAddMemcpyNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies,
	const cudart_memcpy3d_parms *p_copy_params)
{
	cu_memcpy3d copy;
	int r = p_copy_params && (p_copy_params->src_array || p_copy_params->dst_array)
			? SIM_NOT_SUPPORTED
			: runtime_copy_3d(&copy, p_copy_params);

	return r == SIM_OK ? runtime_driver.cuGraphAddMemcpyNode(p_graph_node, graph,
				     p_dependencies, num_dependencies, &copy, NULL)
			   : r;
}

cudart_error api_cudaGraphAddMemcpyNode1D(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies, void *dst,
	const void *src, size_t bytes, cudart_memcpy_kind kind)
{
	cudart_memcpy3d_parms row = {.src_ptr = {.ptr = (void *)(uintptr_t)src, .pitch = bytes},
		.dst_ptr = {.ptr = dst, .pitch = bytes},
		.extent = {bytes, 1, 1},
		.kind = kind};

	return api_cudaGraphAddMemcpyNode(
		p_graph_node, graph, p_dependencies, num_dependencies, &row);
}

cudart_error api_cudaGraphAddMemsetNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies,
	const cudart_memset_params *p_memset_params)
{
	const cudart_memset_params *p = p_memset_params;

	if (!p) {
		return SIM_INVALID_VALUE;
	}
	struct set_params params = {.dst = (uintptr_t)p->dst,
		.pitch_bytes = p->pitch_bytes,
		.value = p->value,
		.element_bytes = p->element_bytes,
		.width = p->width,
		.height = p->height};

	return runtime_driver.cuGraphAddMemsetNode(
		p_graph_node, graph, p_dependencies, num_dependencies, &params, NULL);
}

cudart_error api_cudaGraphAddHostNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies,
	const cudart_host_node_params *p_node_params)
{
	struct host_params params;

	if (!p_node_params) {
		return SIM_INVALID_VALUE;
	}
	params = (struct host_params){p_node_params->fn, p_node_params->user_data};
	return runtime_driver.cuGraphAddHostNode(
		p_graph_node, graph, p_dependencies, num_dependencies, &params);
}

cudart_error api_cudaGraphAddChildGraphNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies, cudart_graph child_graph)
{
	return runtime_driver.cuGraphAddChildGraphNode(
		p_graph_node, graph, p_dependencies, num_dependencies, child_graph);
}

cudart_error api_cudaGraphAddEmptyNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies)
{
	return runtime_driver.cuGraphAddEmptyNode(
		p_graph_node, graph, p_dependencies, num_dependencies);
}

cudart_error api_cudaGraphAddEventRecordNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies, cudart_event event)
{
	return runtime_driver.cuGraphAddEventRecordNode(
		p_graph_node, graph, p_dependencies, num_dependencies, event);
}

cudart_error api_cudaGraphAddEventWaitNode(cudart_graph_node *p_graph_node, cudart_graph graph,
	const cudart_graph_node *p_dependencies, size_t num_dependencies, cudart_event event)
{
	return runtime_driver.cuGraphAddEventWaitNode(
		p_graph_node, graph, p_dependencies, num_dependencies, event);
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
	return add(p_graph_node, graph, p_dependencies, num_dependencies, &op);
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
	return add(p_graph_node, graph, p_dependencies, num_dependencies, &op);
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
