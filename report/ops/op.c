/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads meanings out of names: which phase an operator belongs to, whether it is a module, a step
 * or a user's range, and which of Paddle's event types it has. op_walk.c and loop.c ask for every
 * row, so op_kind() in the header caches by name, and only a miss comes here. Names are those that
 * the frameworks write; a new version of a framework that renames a range needs a line in
 * `prefixes`.
 */
#include "report/ops/op.h"

#include <string.h>

#include "report/util/buf.h"

/* Modules around one that its full name has, the innermost ones. */
#define MAX_MODULES 64u

static const struct {
	const char *prefix;
	enum op_class class;
} prefixes[] = {
	{"enumerate(DataLoader)#", OP_DATALOADER},
	{"enumerate(DataPipe)#", OP_DATALOADER},
	{"Optimizer.step#", OP_OPTIMIZATION},
	{"Optimizer.zero_grad#", OP_CLEARING},
	{"autograd::engine::evaluate_function: ", OP_BACKWARD},
	{"FullyShardedDataParallel._pre_backward", OP_BACKWARD},
	{"FullyShardedDataParallel._post_backward", OP_BACKWARD},
	{"FSDP::pre_backward", OP_BACKWARD},
	{"FSDP::post_backward", OP_BACKWARD},
	{"FSDP::root_post_backward", OP_BACKWARD},
	{"FSDP::finalize_backward", OP_BACKWARD},
	{"torch.distributed.ddp.reducer::copy_bucket_to_grad", OP_REDUCTION},
	{"ProfilerStep#", OP_RANGE},
};

struct op_kind op_kinds[OP_KINDS];

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum op_class torch_class(const char *name, uint8_t scope)
{
	if (scope == OP_TORCH_BACKWARD) {
		return OP_BACKWARD;
	}
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (begins_with(name, prefixes[i].prefix)) {
			return prefixes[i].class;
		}
	}
	/*
	 * DistributedDataParallel.forward and FSDP's ranges enclose operators like a user's range.
	 */
	return scope == OP_TORCH_USER ? OP_RANGE : OP_OTHER;
}

/* It encloses all of a backward pass in dynamic mode; its type is that of any C++ range. */
static bool is_paddle_backward(uint32_t name)
{
	return !strcmp(string_pool_text(name, NULL), "backward");
}

enum op_loader op_loader_of(uint32_t name)
{
	const char *text = string_pool_text(name, NULL);

	return strstr(text, "SingleProcess")	 ? OP_LOADER_IN_LOOP
	       : strstr(text, "MultiProcessing") ? OP_LOADER_WORKERS
						 : OP_LOADER_UNKNOWN;
}

static enum op_class paddle_class(uint32_t name, uint8_t scope)
{
	switch (scope) {
	case OP_PADDLE_DATALOADER:
		return OP_DATALOADER;
	case OP_PADDLE_FORWARD:
		return OP_FORWARD;
	case OP_PADDLE_BACKWARD:
		return OP_BACKWARD;
	case OP_PADDLE_OPTIMIZATION:
		return OP_OPTIMIZATION;
	case OP_PADDLE_STEP:
	case OP_PADDLE_USER:
		return is_paddle_backward(name) ? OP_BACKWARD : OP_RANGE;
	case OP_PADDLE_PYTHON_USER:
		return OP_RANGE;
	default:
		return OP_OTHER;
	}
}

static enum op_class find_class(uint32_t name, uint8_t framework, uint8_t scope)
{
	switch (framework) {
	case GPROF_FRAMEWORK_TORCH:
		return torch_class(string_pool_text(name, NULL), scope);
	case GPROF_FRAMEWORK_PADDLE:
		return paddle_class(name, scope);
	default:
		return OP_RANGE;
	}
}

bool op_class_is_backward(enum op_class class)
{
	return class == OP_BACKWARD || class == OP_REDUCTION;
}

/*
 * A phase inside a phase: a Backward inside of a user's range or of the forward pass counts apart,
 * recomputation inside Backward does not.
 */
bool op_class_breaks_out(enum op_class outer, enum op_class class)
{
	switch (outer) {
	case OP_RANGE:
		return class != OP_RANGE;
	case OP_OTHER:
	case OP_FORWARD:
		return op_class_is_backward(class) || class == OP_OPTIMIZATION ||
		       class == OP_CLEARING || class == OP_DATALOADER;
	case OP_OPTIMIZATION: /* its closure computes losses */
	case OP_CLEARING:
		return op_class_is_backward(class) || class == OP_DATALOADER;
	default: /* computation in Backward and loaders belongs to them */
		return false;
	}
}

uint32_t op_row_name(uint32_t name)
{
	static const char every[] = "ProfilerStep*";

	return begins_with(string_pool_text(name, NULL), "ProfilerStep#")
		       ? string_pool_intern(every, sizeof(every) - 1)
		       : name;
}

/* Paddle marks the backward pass with a range of the type that users' ranges have. */
static bool find_is_user(uint32_t name, uint8_t framework, uint8_t scope, enum op_class class)
{
	if (framework == GPROF_FRAMEWORK_PADDLE) {
		return scope == OP_PADDLE_PYTHON_USER ||
		       (scope == OP_PADDLE_USER && !is_paddle_backward(name));
	}
	if (framework == GPROF_FRAMEWORK_XLA) {
		return scope == GPROF_XLA_STEP;
	}
	if (framework == GPROF_FRAMEWORK_TORCH && scope == OP_TORCH_ANNOTATION) {
		return true; /* the trace counts steps, loaders and optimizers among them */
	}
	return framework == GPROF_FRAMEWORK_TORCH && scope == OP_TORCH_USER && class == OP_RANGE &&
	       !begins_with(string_pool_text(name, NULL), "ProfilerStep#");
}

const struct op_compiler_text op_compiler_texts[NR_OP_COMPILERS] = {
#define COMPILER(name, title, does, change, reason) \
	[OP_COMPILER_##name] = {title, does, change, reason},
#include "report/ops/compiler.def"
};

static bool is_torch_compilation(const char *name)
{
	static const char suffix[] = " (dynamo_timed)", in_pool[] = "compile_file";
	size_t nr_bytes = strlen(name), nr_suffix = sizeof(suffix) - 1;

	return begins_with(name, OP_COUNTED_PREFIX) ||
	       (nr_bytes > nr_suffix && !strcmp(name + nr_bytes - nr_suffix, suffix) &&
		       !begins_with(name, in_pool));
}

/* Functions of JAX that it annotates itself; older versions have backend_compile. */
static bool is_jax_compilation(const char *name)
{
	static const char *const functions[] = {"trace_to_jaxpr_dynamic", "trace_to_jaxpr_nounits",
		"lower_sharding_computation", "backend_compile", "backend_compile_and_load"};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!strcmp(name, functions[i])) {
			return true;
		}
	}
	return false;
}

/* Traces that gprof writes do not say that an operator is JAX's. */
static enum op_compiler find_compiler(const char *name, uint8_t framework)
{
	if (framework != GPROF_FRAMEWORK_TORCH && framework != GPROF_FRAMEWORK_XLA) {
		return OP_COMPILER_NONE;
	}
	return is_torch_compilation(name) ? OP_COMPILER_TORCH
	       : is_jax_compilation(name) ? OP_COMPILER_JAX
					  : OP_COMPILER_NONE;
}

bool op_is_whole_compilation(const struct op *op)
{
	const struct op *outer = op;

	if (!op_is_compilation(op->name, op->framework, op->scope)) {
		return false;
	}
	while ((outer = outer->parent)) {
		if (op_is_compilation(outer->name, outer->framework, outer->scope)) {
			return false;
		}
	}
	return true;
}

static bool find_is_convolution(const char *name)
{
	static const char *const parts[] = {
		"convolution", "conv1d", "conv2d", "conv3d", "conv_transpose", "conv_depthwise"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (begins_with(name, "aten::") && strstr(name, parts[i])) {
			return true;
		}
	}
	return false;
}

void op_kind_find(struct op_kind *kind, uint32_t name, uint8_t framework, uint8_t scope)
{
	enum op_class class = find_class(name, framework, scope);

	kind->is_asked = false;
	kind->formula = 0;
	kind->row_name = op_row_name(name);
	kind->class = (uint8_t) class;
	kind->is_user = find_is_user(name, framework, scope, class);
	kind->is_step = begins_with(string_pool_text(name, NULL), "ProfilerStep#") ||
			(framework == GPROF_FRAMEWORK_PADDLE && scope == OP_PADDLE_STEP);
	kind->is = kind->is_user ? OP_IS_USER : OP_IS_OPERATOR;
	if (op_is_module(framework, scope)) {
		kind->is = OP_IS_MODULE | OP_IS_AROUND;
	}
	if (kind->is_step || (kind->is_user && class == OP_RANGE)) {
		kind->is |= OP_IS_AROUND;
	}
	kind->is_convolution = framework == GPROF_FRAMEWORK_TORCH &&
			       find_is_convolution(string_pool_text(name, NULL));
	kind->compiler = (uint8_t)find_compiler(string_pool_text(name, NULL), framework);
	kind->is_compiled = framework == GPROF_FRAMEWORK_TORCH &&
			    begins_with(string_pool_text(name, NULL), OP_COMPILED_PREFIX);
	kind->is_executor = framework == GPROF_FRAMEWORK_PADDLE && scope == OP_PADDLE_USER &&
			    !strcmp(string_pool_text(name, NULL), "StandaloneExecutor::run");
}

const struct op *op_operator_around(const struct op *op)
{
	while (op && (op_is_module(op->framework, op->scope) ||
			     op_is_user(op->name, op->framework, op->scope))) {
		op = op->parent;
	}
	return op;
}

static const char module_prefix[] = "nn.Module: ";

static bool is_module_name(const char *name)
{
	return begins_with(name, module_prefix);
}

static bool has_name(const struct idmap *names, bool (*is_one)(const char *name))
{
	for (size_t i = 0; i < names->nr; i++) {
		const uint32_t *name = idmap_at(names, i);

		if (is_one(string_pool_text(*name, NULL))) {
			return true;
		}
	}
	return false;
}

bool op_has_modules(const struct process *process)
{
	return has_name(&process->op_names, is_module_name) ||
	       has_name(&process->strings, is_module_name);
}

bool op_has_convolutions(const struct process *process)
{
	return has_name(&process->op_names, find_is_convolution) ||
	       has_name(&process->strings, find_is_convolution);
}

static bool may_be_compilation(const char *name)
{
	return is_torch_compilation(name) || is_jax_compilation(name);
}

bool op_has_compilations(const struct process *process)
{
	return has_name(&process->op_names, may_be_compilation) ||
	       has_name(&process->strings, may_be_compilation);
}

const char *op_module_name(uint32_t name, size_t *nr_bytes)
{
	const char *text = string_pool_text(name, NULL);

	text += begins_with(text, module_prefix) ? sizeof(module_prefix) - 1 : 0;
	*nr_bytes = strcspn(text, " ");
	return text;
}

/* Collects from the inside out and writes from the outside in. */
uint32_t op_full_name(const struct op *op)
{
	uint32_t modules[MAX_MODULES], nr = 0, name;
	struct buf text = {0};

	for (const struct op *outer = op->parent; outer && nr < MAX_MODULES;
		outer = outer->parent) {
		if (outer->is & OP_IS_MODULE) {
			modules[nr++] = outer->name;
		}
	}
	if (!nr) {
		return op->name;
	}
	while (nr > 0) {
		size_t nr_bytes;
		const char *module = op_module_name(modules[--nr], &nr_bytes);

		buf_add(&text, module, nr_bytes);
		buf_text(&text, "/");
	}
	buf_text(&text, string_pool_text(op->name, NULL));
	name = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return name;
}

uint32_t op_name(const struct process *process, uint64_t op_name_id, uint64_t string)
{
	const uint32_t *name;

	if (!op_name_id) {
		return process_string(process, string);
	}
	name = op_name_id > UINT32_MAX ? NULL : idmap_get(&process->op_names, (uint32_t)op_name_id);
	return name ? *name : process_string(process, UINT32_MAX);
}

bool op_has_any(const struct process *process)
{
	const struct stream_table *table = stream_table(process->stream, GPROF_TABLE_op);

	return table && table->nr_rows;
}

/* ---- Paddle's event types ---- */

const char *const event_type_names[NR_EVENT_TYPES] = {"Operator", "OperatorInner",
	"DygraphKernelLaunch", "StaticKernelLaunch", "UserDefined", "PythonUserDefined",
	"Communication"};

static enum event_type paddle_type(const struct op *op)
{
	switch (op->scope) {
	case OP_PADDLE_OPERATOR:
	case OP_PADDLE_PYTHON_OP:
		return EVENT_OPERATOR;
	case OP_PADDLE_INNER:
		return EVENT_OPERATOR_INNER;
	case OP_PADDLE_DYNAMIC_LAUNCH:
		return EVENT_DYNAMIC_LAUNCH;
	case OP_PADDLE_STATIC_LAUNCH:
		return EVENT_STATIC_LAUNCH;
	case OP_PADDLE_COMMUNICATION:
		return EVENT_COMMUNICATION;
	case OP_PADDLE_USER:
		return EVENT_USER_DEFINED;
	case OP_PADDLE_PYTHON_USER:
		return EVENT_PYTHON_USER_DEFINED;
	default:
		return EVENT_NONE;
	}
}

static enum event_type torch_type(const struct op *op)
{
	enum op_class class = op_class(op->name, op->framework, op->scope);

	if (op->scope == OP_TORCH_USER) {
		return op_is_user(op->name, op->framework, op->scope) ? EVENT_USER_DEFINED
								      : EVENT_NONE;
	}
	return class == OP_DATALOADER || class == OP_OPTIMIZATION || class == OP_CLEARING ||
			       class == OP_RANGE
		       ? EVENT_NONE
		       : EVENT_OPERATOR;
}

/* Ignores what it lies in. */
static enum event_type own_type(const struct op *op)
{
	switch (op->framework) {
	case GPROF_FRAMEWORK_TORCH:
		return torch_type(op);
	case GPROF_FRAMEWORK_PADDLE:
		return paddle_type(op);
	default:
		return EVENT_NONE;
	}
}

bool event_is_operator(const struct op *op)
{
	return own_type(op) == EVENT_OPERATOR || event_is_stage(op);
}

bool event_is_stage(const struct op *op)
{
	enum event_type type = own_type(op);

	return type == EVENT_OPERATOR_INNER || type == EVENT_DYNAMIC_LAUNCH ||
	       type == EVENT_STATIC_LAUNCH;
}

const struct op *event_outer_operator(const struct op *op)
{
	const struct op *outer = op->parent;

	while (outer && !event_is_operator(outer)) {
		outer = outer->parent;
	}
	return outer;
}

enum event_type event_type_of(const struct op *op)
{
	enum event_type type = own_type(op);

	/* Paddle names stages itself; an operator in another one is an operator. */
	if (type == EVENT_OPERATOR && op->framework == GPROF_FRAMEWORK_TORCH &&
		event_outer_operator(op)) {
		return EVENT_OPERATOR_INNER;
	}
	return type;
}

static bool computes(const struct op *op)
{
	return op->framework == GPROF_FRAMEWORK_PADDLE &&
	       (op->scope == OP_PADDLE_DYNAMIC_LAUNCH || op->scope == OP_PADDLE_STATIC_LAUNCH ||
		       (op->scope == OP_PADDLE_INNER &&
			       strstr(string_pool_text(op->name, NULL), "compute")));
}

bool event_is_compute(const struct op *op)
{
	if (!computes(op)) {
		return false;
	}
	for (op = op->parent; op; op = op->parent) {
		if (computes(op)) {
			return false;
		}
	}
	return true;
}

bool event_is_manipulation(const char *name)
{
	return strcasestr(name, "memcpy") || strcasestr(name, "memorycopy") ||
	       strcasestr(name, "memset");
}
