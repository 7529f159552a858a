/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's graphs and capture, over the model. */
#include "test/sim/runtime.h"

#include <stdio.h>

cudart_error api_cudaGraphLaunch(cudart_graph_exec graph_exec, cudart_stream stream)
{
	return runtime_driver.cuGraphLaunch(graph_exec, stream);
}

cudart_error api_cudaGraphCreate(cudart_graph *p_graph, unsigned int flags)
{
	return runtime_driver.cuGraphCreate(p_graph, flags);
}

cudart_error api_cudaGraphClone(cudart_graph *p_graph_clone, cudart_graph original_graph)
{
	return runtime_driver.cuGraphClone(p_graph_clone, original_graph);
}

cudart_error api_cudaGraphDestroy(cudart_graph graph)
{
	return runtime_driver.cuGraphDestroy(graph);
}

cudart_error api_cudaGraphDestroyNode(cudart_graph_node node)
{
	return runtime_driver.cuGraphDestroyNode(node);
}

/* 11 passes (exec, graph, error node, log, log size) where 12 and later pass flags. */
cudart_error api_cudaGraphInstantiate(unsigned long long w0, unsigned long long w1,
	unsigned long long w2, unsigned long long w3, unsigned long long w4)
{
	(void)w2;
	(void)w3;
	(void)w4;
	return runtime_driver.cuGraphInstantiateWithFlags(
		(void **)(uintptr_t)w0, (void *)(uintptr_t)w1, 0);
}

cudart_error api_cudaGraphInstantiateWithFlags(
	cudart_graph_exec *p_graph_exec, cudart_graph graph, unsigned long long flags)
{
	return runtime_driver.cuGraphInstantiateWithFlags(p_graph_exec, graph, flags);
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
	return runtime_driver.cuGraphExecDestroy(graph_exec);
}

cudart_error api_cudaGraphNodeSetEnabled(
	cudart_graph_exec graph_exec, cudart_graph_node h_node, unsigned int is_enabled)
{
	return runtime_driver.cuGraphNodeSetEnabled(graph_exec, h_node, is_enabled);
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

cudart_error api_cudaGraphConditionalHandleCreate(cudart_graph_conditional_handle *p_handle_out,
	cudart_graph graph, unsigned int default_launch_value, unsigned int flags)
{
	return runtime_model->graph_create_condition(
		p_handle_out, graph, default_launch_value, flags & 1);
}

/* The runtime's nodes of this kind have the driver's layout; other kinds have their own calls. */
cudart_error api_cudaGraphAddNode(unsigned long long w0, unsigned long long w1,
	unsigned long long w2, unsigned long long w3, unsigned long long w4, unsigned long long w5)
{
	bool has_edges = runtime_level >= 13000;
	struct cuda_conditional_node *params = (void *)(uintptr_t)(has_edges ? w5 : w4);

	if (!params || params->type != CUDA_NODE_CONDITIONAL || params->nr_bodies != 1) {
		return params ? SIM_NOT_SUPPORTED : SIM_INVALID_VALUE;
	}
	return runtime_model->graph_add_conditional((void **)(uintptr_t)w0, (void *)(uintptr_t)w1,
		(void *const *)(uintptr_t)w2, has_edges ? w4 : w3, params->handle,
		params->condition, &params->bodies);
}

cudart_error api_cudaStreamBeginCapture(cudart_stream stream, cudart_stream_capture_mode mode)
{
	return runtime_driver.cuStreamBeginCapture_v2(stream, mode);
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
	return runtime_driver.cuStreamEndCapture(stream, p_graph);
}

cudart_error api_cudaStreamIsCapturing(
	cudart_stream stream, cudart_stream_capture_status *p_capture_status)
{
	return runtime_driver.cuStreamIsCapturing(stream, p_capture_status);
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

/* 12's names for its longer forms: (stream, status, id, graph, ...). */
cudart_error api_cudaStreamGetCaptureInfo_v2(unsigned long long w0, unsigned long long w1,
	unsigned long long w2, unsigned long long w3, unsigned long long w4, unsigned long long w5)
{
	size_t *nr = (size_t *)(uintptr_t)w5;

	(void)w4;
	if (nr) {
		*nr = 0;
	}
	return runtime_model->capture_status((void *)(uintptr_t)w0, (int *)(uintptr_t)w1,
		(unsigned long long *)(uintptr_t)w2, (void **)(uintptr_t)w3);
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
	return runtime_core() ? runtime_model->graph_node_type(node, type)
			      : SIM_INSUFFICIENT_DRIVER;
}
