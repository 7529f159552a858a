/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's graphs: from CUDA's parameters to the model's operations. */
#include "test/sim/api.h"
#include "test/sim/graph_params.h"
#include "test/sim/model.h"

#define PTR(p) ((void *)(uintptr_t)(p))

struct instantiate_params {
	unsigned long long flags;
	cu_stream upload_stream;
	cu_graph_node error_node;
	int result;
};

/* A node's parameters behind its type; those of a copy begin with flags and a context. */
struct node_params {
	int type, reserved[3];
	union {
		struct kernel_params kernel;
		struct {
			int flags, reserved;
			cu_context context;
			cu_memcpy3d copy;
		} copy;
		struct set_params set;
		struct host_params host;
		cu_graph child;
		cu_event event;
	};
};

enum {
	NODE_KERNEL,
	NODE_COPY,
	NODE_SET,
	NODE_HOST,
	NODE_CHILD,
	NODE_EMPTY,
	NODE_WAIT,
	NODE_RECORD
};

static int kernel_op(struct sim_op *op, const struct kernel_params *p, bool has_kernel)
{
	struct sim_function *f = p ? p->function : NULL;

	if (p && !f && has_kernel) {
		f = p->kernel;
	}
	if (!f || f->magic != SIM_FUNCTION_MAGIC) {
		return p ? SIM_INVALID_HANDLE : SIM_INVALID_VALUE;
	}
	*op = (struct sim_op){.kind = SIM_OP_KERNEL,
		.function = f,
		.grid = p->grid,
		.block = p->block,
		.shared_bytes = p->shared_bytes,
		.args = p->args};
	return SIM_OK;
}

static int copy_op(struct sim_op *op, const cu_memcpy3d *p)
{
	*op = (struct sim_op){.kind = SIM_OP_COPY};
	int r = sim_driver_copy_3d(&op->copy, p);

	if (r == SIM_OK) {
		sim_describe(op);
	}
	return r;
}

static int set_op(struct sim_op *op, const struct set_params *p)
{
	if (!p || !p->dst) {
		return SIM_INVALID_VALUE;
	}
	*op = (struct sim_op){.kind = SIM_OP_SET,
		.copy = SIM_ROWS(PTR(p->dst), p->pitch_bytes, NULL, 0, p->width * p->element_bytes,
			p->height),
		.value = p->value,
		.element_bytes = p->element_bytes};
	sim_describe(op);
	return SIM_OK;
}

static int host_op(struct sim_op *op, const struct host_params *p)
{
	if (!p || !p->fn) {
		return SIM_INVALID_VALUE;
	}
	*op = (struct sim_op){.kind = SIM_OP_HOST, .host_fn = p->fn, .host_data = p->data};
	return SIM_OK;
}

static int event_op(struct sim_op *op, int kind, cu_event event)
{
	*op = (struct sim_op){.kind = kind, .event = event};
	return event ? SIM_OK : SIM_INVALID_VALUE;
}

/* Of any node without a graph in it. */
static int node_op(struct sim_op *op, const struct node_params *p)
{
	switch (p ? p->type : -1) {
	case NODE_KERNEL:
		return kernel_op(op, &p->kernel, true);
	case NODE_COPY:
		return copy_op(op, &p->copy.copy);
	case NODE_SET:
		return set_op(op, &p->set);
	case NODE_HOST:
		return host_op(op, &p->host);
	case NODE_EMPTY:
		*op = (struct sim_op){.kind = SIM_OP_EMPTY};
		return SIM_OK;
	case NODE_WAIT:
		return event_op(op, SIM_OP_WAIT, p->event);
	case NODE_RECORD:
		return event_op(op, SIM_OP_RECORD, p->event);
	default:
		return p ? SIM_NOT_SUPPORTED : SIM_INVALID_VALUE;
	}
}

static int add(cu_graph_node *node, cu_graph graph, const cu_graph_node *deps, size_t nr_deps,
	int r, const struct sim_op *op)
{
	if (r != SIM_OK) {
		return r;
	}
	return node ? sim_graph_add(node, graph, (void *const *)deps, nr_deps, op, NULL)
		    : SIM_INVALID_VALUE;
}

/* Parameters of version 1 end before the kernel. */
static int add_kernel(cu_graph_node *node, cu_graph graph, const cu_graph_node *deps,
	size_t nr_deps, const struct kernel_params *params, bool has_kernel)
{
	struct sim_op op;
	int r = kernel_op(&op, params, has_kernel);

	return add(node, graph, deps, nr_deps, r, &op);
}

cu_result api_cuGraphCreate(cu_graph *ph_graph, unsigned int flags)
{
	return ph_graph && !flags ? sim_graph_create(ph_graph) : SIM_INVALID_VALUE;
}

cu_result api_cuGraphClone(cu_graph *ph_graph_clone, cu_graph original_graph)
{
	return ph_graph_clone ? sim_graph_clone(ph_graph_clone, original_graph) : SIM_INVALID_VALUE;
}

cu_result api_cuGraphDestroy(cu_graph h_graph)
{
	return sim_graph_destroy(h_graph);
}

cu_result api_cuGraphAddKernelNode(cu_graph_node *ph_graph_node, cu_graph h_graph,
	const cu_graph_node *dependencies, size_t num_dependencies,
	const cu_kernel_node_params_v1 *node_params)
{
	return add_kernel(
		ph_graph_node, h_graph, dependencies, num_dependencies, node_params, false);
}

cu_result api_cuGraphAddKernelNode_v2(cu_graph_node *ph_graph_node, cu_graph h_graph,
	const cu_graph_node *dependencies, size_t num_dependencies,
	const cu_kernel_node_params *node_params)
{
	return add_kernel(
		ph_graph_node, h_graph, dependencies, num_dependencies, node_params, true);
}

cu_result api_cuGraphAddMemcpyNode(cu_graph_node *ph_graph_node, cu_graph h_graph,
	const cu_graph_node *dependencies, size_t num_dependencies, const cu_memcpy3d *copy_params,
	cu_context ctx)
{
	struct sim_op op;
	int r = copy_op(&op, copy_params);

	(void)ctx;
	return add(ph_graph_node, h_graph, dependencies, num_dependencies, r, &op);
}

cu_result api_cuGraphAddMemsetNode(cu_graph_node *ph_graph_node, cu_graph h_graph,
	const cu_graph_node *dependencies, size_t num_dependencies,
	const cu_memset_node_params *memset_params, cu_context ctx)
{
	struct sim_op op;
	int r = set_op(&op, memset_params);

	(void)ctx;
	return add(ph_graph_node, h_graph, dependencies, num_dependencies, r, &op);
}

cu_result api_cuGraphAddHostNode(cu_graph_node *ph_graph_node, cu_graph h_graph,
	const cu_graph_node *dependencies, size_t num_dependencies,
	const cu_host_node_params *node_params)
{
	struct sim_op op;
	int r = host_op(&op, node_params);

	return add(ph_graph_node, h_graph, dependencies, num_dependencies, r, &op);
}

cu_result api_cuGraphAddChildGraphNode(cu_graph_node *ph_graph_node, cu_graph h_graph,
	const cu_graph_node *dependencies, size_t num_dependencies, cu_graph child_graph)
{
	struct sim_op op = {.kind = SIM_OP_CHILD};

	if (!ph_graph_node || !child_graph) {
		return SIM_INVALID_VALUE;
	}
	return sim_graph_add(ph_graph_node, h_graph, (void *const *)dependencies, num_dependencies,
		&op, child_graph);
}

cu_result api_cuGraphAddEmptyNode(cu_graph_node *ph_graph_node, cu_graph h_graph,
	const cu_graph_node *dependencies, size_t num_dependencies)
{
	struct sim_op op = {.kind = SIM_OP_EMPTY};

	return add(ph_graph_node, h_graph, dependencies, num_dependencies, SIM_OK, &op);
}

cu_result api_cuGraphAddEventRecordNode(cu_graph_node *ph_graph_node, cu_graph h_graph,
	const cu_graph_node *dependencies, size_t num_dependencies, cu_event event)
{
	struct sim_op op;
	int r = event_op(&op, SIM_OP_RECORD, event);

	return add(ph_graph_node, h_graph, dependencies, num_dependencies, r, &op);
}

cu_result api_cuGraphAddEventWaitNode(cu_graph_node *ph_graph_node, cu_graph h_graph,
	const cu_graph_node *dependencies, size_t num_dependencies, cu_event event)
{
	struct sim_op op;
	int r = event_op(&op, SIM_OP_WAIT, event);

	return add(ph_graph_node, h_graph, dependencies, num_dependencies, r, &op);
}

cu_result api_cuGraphAddNode(cu_graph_node *ph_graph_node, cu_graph h_graph,
	const cu_graph_node *dependencies, size_t num_dependencies,
	cu_graph_node_params *node_params)
{
	const struct node_params *p = node_params;
	struct sim_op op;

	if (p && p->type == CUDA_NODE_CONDITIONAL) {
		struct cuda_conditional_node *conditional = node_params;

		return conditional->nr_bodies == 1
			       ? sim_graph_add_conditional(ph_graph_node, h_graph,
					 (void *const *)dependencies, num_dependencies,
					 conditional->handle, conditional->condition,
					 &conditional->bodies)
			       : SIM_NOT_SUPPORTED;
	}
	if (p && p->type == NODE_CHILD) {
		return api_cuGraphAddChildGraphNode(
			ph_graph_node, h_graph, dependencies, num_dependencies, p->child);
	}
	int r = node_op(&op, p);

	return add(ph_graph_node, h_graph, dependencies, num_dependencies, r, &op);
}

cu_result api_cuGraphAddNode_v2(cu_graph_node *ph_graph_node, cu_graph h_graph,
	const cu_graph_node *dependencies, const cu_graph_edge_data *dependency_data,
	size_t num_dependencies, cu_graph_node_params *node_params)
{
	(void)dependency_data;
	return api_cuGraphAddNode(
		ph_graph_node, h_graph, dependencies, num_dependencies, node_params);
}

cu_result api_cuGraphDestroyNode(cu_graph_node h_node)
{
	return sim_graph_remove(h_node);
}

cu_result api_cuGraphAddDependencies(cu_graph h_graph, const cu_graph_node *from,
	const cu_graph_node *to, size_t num_dependencies)
{
	return sim_graph_depend(
		h_graph, (void *const *)from, (void *const *)to, num_dependencies, true);
}

cu_result api_cuGraphAddDependencies_v2(cu_graph h_graph, const cu_graph_node *from,
	const cu_graph_node *to, const cu_graph_edge_data *edge_data, size_t num_dependencies)
{
	(void)edge_data;
	return sim_graph_depend(
		h_graph, (void *const *)from, (void *const *)to, num_dependencies, true);
}

cu_result api_cuGraphInstantiate(cu_graph_exec *ph_graph_exec, cu_graph h_graph,
	cu_graph_node *ph_error_node, char *log_buffer, size_t buffer_size)
{
	(void)ph_error_node;
	(void)log_buffer;
	(void)buffer_size;
	return sim_graph_instantiate(ph_graph_exec, h_graph);
}

cu_result api_cuGraphInstantiate_v2(cu_graph_exec *ph_graph_exec, cu_graph h_graph,
	cu_graph_node *ph_error_node, char *log_buffer, size_t buffer_size)
{
	return api_cuGraphInstantiate(
		ph_graph_exec, h_graph, ph_error_node, log_buffer, buffer_size);
}

cu_result api_cuGraphInstantiateWithFlags(
	cu_graph_exec *ph_graph_exec, cu_graph h_graph, unsigned long long flags)
{
	(void)flags;
	return sim_graph_instantiate(ph_graph_exec, h_graph);
}

cu_result api_cuGraphInstantiateWithParams(cu_graph_exec *ph_graph_exec, cu_graph h_graph,
	cu_graph_instantiate_params *instantiate_params)
{
	struct instantiate_params *p = instantiate_params;
	int r = p ? sim_graph_instantiate(ph_graph_exec, h_graph) : SIM_INVALID_VALUE;

	if (p) {
		p->error_node = NULL;
		p->result = r != SIM_OK; /* CUDA_GRAPH_INSTANTIATE_ERROR */
	}
	return r;
}

cu_result api_cuGraphLaunch(cu_graph_exec h_graph, cu_stream stream)
{
	return sim_graph_launch(h_graph, stream);
}

cu_result api_cuGraphUpload(cu_graph_exec h_graph, cu_stream stream)
{
	(void)h_graph;
	return sim_resolve(stream) ? SIM_OK : SIM_INVALID_HANDLE;
}

cu_result api_cuGraphExecDestroy(cu_graph_exec h_graph)
{
	return sim_graph_exec_destroy(h_graph);
}

/* The first word that either form fills is the result: 0, or CU_GRAPH_EXEC_UPDATE_ERROR. */
static int update(cu_graph_exec exec, cu_graph graph, int *result)
{
	int r = sim_graph_update(exec, graph);

	if (result) {
		*result = r != SIM_OK;
	}
	return r;
}

cu_result api_cuGraphExecUpdate(cu_graph_exec graph_exec, cu_graph h_graph,
	cu_graph_node *h_error_node_out, cu_graph_exec_update_result *update_result_out)
{
	(void)h_error_node_out;
	return update(graph_exec, h_graph, (int *)update_result_out);
}

cu_result api_cuGraphExecUpdate_v2(
	cu_graph_exec graph_exec, cu_graph h_graph, cu_graph_exec_update_result_info *result_info)
{
	return update(graph_exec, h_graph, (int *)result_info);
}

/* A kernel's new arguments need room of their own; the old ones go. */
static int set(cu_graph_exec exec, cu_graph_node node, int r, struct sim_op *made)
{
	struct sim_op *op = r == SIM_OK ? sim_graph_exec_op(exec, node) : NULL;

	if (!op) {
		return r == SIM_OK ? SIM_INVALID_VALUE : r;
	}
	if (op->kind != made->kind) {
		return SIM_INVALID_VALUE;
	}
	r = made->kind == SIM_OP_KERNEL ? sim_args_keep(made) : SIM_OK;
	if (r == SIM_OK) {
		sim_args_drop(op);
		*op = *made;
	}
	return r;
}

static int set_kernel(
	cu_graph_exec exec, cu_graph_node node, const struct kernel_params *params, bool has_kernel)
{
	struct sim_op made;
	int r = kernel_op(&made, params, has_kernel);

	return set(exec, node, r, &made);
}

cu_result api_cuGraphExecKernelNodeSetParams(
	cu_graph_exec graph_exec, cu_graph_node h_node, const cu_kernel_node_params_v1 *node_params)
{
	return set_kernel(graph_exec, h_node, node_params, false);
}

cu_result api_cuGraphExecKernelNodeSetParams_v2(
	cu_graph_exec graph_exec, cu_graph_node h_node, const cu_kernel_node_params *node_params)
{
	return set_kernel(graph_exec, h_node, node_params, true);
}

cu_result api_cuGraphNodeSetEnabled(
	cu_graph_exec graph_exec, cu_graph_node h_node, unsigned int is_enabled)
{
	return sim_graph_set_enabled(graph_exec, h_node, is_enabled != 0);
}

/* Not hooked. */
SIM_EXPORT int cuGraphExecMemcpyNodeSetParams(
	void *exec, void *node, const cu_memcpy3d *params, void *context);
SIM_EXPORT int cuGraphExecMemsetNodeSetParams(
	void *exec, void *node, const struct set_params *params, void *context);
SIM_EXPORT int cuGraphExecNodeSetParams(void *exec, void *node, const struct node_params *params);
SIM_EXPORT int cuGraphGetNodes(void *graph, void **nodes, size_t *nr);
SIM_EXPORT int cuGraphGetRootNodes(void *graph, void **nodes, size_t *nr);
SIM_EXPORT int cuGraphNodeGetType(void *node, int *type);

SIM_EXPORT int cuGraphExecMemcpyNodeSetParams(
	void *exec, void *node, const cu_memcpy3d *params, void *context)
{
	struct sim_op made;
	int r = copy_op(&made, params);

	(void)context;
	return set(exec, node, r, &made);
}

SIM_EXPORT int cuGraphExecMemsetNodeSetParams(
	void *exec, void *node, const struct set_params *params, void *context)
{
	struct sim_op made;
	int r = set_op(&made, params);

	(void)context;
	return set(exec, node, r, &made);
}

SIM_EXPORT int cuGraphExecNodeSetParams(void *exec, void *node, const struct node_params *params)
{
	struct sim_op made;
	int r = node_op(&made, params);

	return set(exec, node, r, &made);
}

SIM_EXPORT int cuGraphGetNodes(void *graph, void **nodes, size_t *nr)
{
	return sim_graph_nodes(graph, nodes, nr);
}

SIM_EXPORT int cuGraphGetRootNodes(void *graph, void **nodes, size_t *nr)
{
	return sim_graph_roots(graph, nodes, nr);
}

SIM_EXPORT int cuGraphNodeGetType(void *node, int *type)
{
	return sim_graph_node_type(node, type);
}
