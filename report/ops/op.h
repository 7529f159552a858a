/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators, autograd nodes and ranges of a framework, and what their names say about phases of a
 * training step.
 */
#ifndef REPORT_OPS_OP_H
#define REPORT_OPS_OP_H

#include "report/model/model.h"

/* The role of an operator in the phases of a step; see phase.h. */
enum op_class {
	OP_RANGE, /* a user's range: only its content counts */
	OP_OTHER, /* any other: part of the forward pass, if of anything */
	OP_DATALOADER,
	OP_FORWARD, /* named so by the framework (Paddle) */
	OP_BACKWARD,
	OP_OPTIMIZATION,
	OP_CLEARING,  /* Optimizer.zero_grad: before or after Forward */
	OP_REDUCTION, /* ends Backward: takes over gradients of other processes after a wait */
};

/* at::RecordScope::USER_SCOPE, and Paddle's kinds (phi::TracerEventType). */
enum {
	OP_TORCH_BACKWARD = 1,
	OP_TORCH_USER = 7,
	OP_TORCH_ANNOTATION = 128, /* in traces only: a range whose name has a class */
	OP_PADDLE_OPERATOR = 0,
	OP_PADDLE_DATALOADER = 1,
	OP_PADDLE_STEP = 2,
	OP_PADDLE_USER = 7,
	OP_PADDLE_INNER = 8,
	OP_PADDLE_FORWARD = 9,
	OP_PADDLE_BACKWARD = 10,
	OP_PADDLE_OPTIMIZATION = 11,
	OP_PADDLE_COMMUNICATION = 12,
	OP_PADDLE_PYTHON_OP = 13,
	OP_PADDLE_PYTHON_USER = 14,
	OP_PADDLE_DYNAMIC_LAUNCH = 15,
	OP_PADDLE_STATIC_LAUNCH = 16,
};

/* Kinds of operators that a view may ask for; see op_view. */
enum op_is {
	OP_IS_OPERATOR = 1,  /* no module, and no range of the user */
	OP_IS_USER = 2,	     /* see op_is_user */
	OP_IS_MODULE = 4,    /* see op_is_module */
	OP_IS_IN_MODULE = 8, /* at any depth */
	OP_IS_STACKED = 16,  /* it, or another one of the process, has a Python stack */
	OP_IS_ALL = 31,
	OP_IS_AROUND = 32,  /* a module, a step or a user's range: no operator, but contains some */
	OP_IS_COVERED = 64, /* an operator that is neither contains it */
	OP_IS_CAPTURED = 128, /* it launched nothing, but nodes of a graph; see op_view.replay */
};

struct op {
	uint64_t begin, end; /* ticks */
	uint32_t thread;
	uint32_t name;	   /* of string_pool.h */
	uint32_t shape;	   /* of string_pool.h, 0: not recorded */
	uint32_t py_stack; /* at its begin, 0: not recorded */
	uint16_t depth;
	uint8_t framework, scope;
	uint8_t is;		 /* of enum op_is */
	uint8_t wanted;		 /* for op_walk.c: by which filters, a bit each */
	const struct op *parent; /* the enclosing one, NULL if none */
	/*
	 * Of operators directly in it, or in a module in it; and its taken_ticks: those in which an
	 * operator runs that began later and outlasts it, as no nested one does. The rest is its
	 * own, and such times of all operators of a thread do not overlap.
	 */
	uint64_t child_ticks;
	uint64_t taken_ticks;
	uint64_t part_ticks;	/* of these: of parts (op_is_part), without operators in them */
	uint64_t nr_activities; /* GPU activities that it launched itself */
	uint64_t gpu_self_ns;	/* their times */
	uint64_t gpu_total_ns;	/* with those of everything in it */
	uint64_t graph_self_ns; /* of gpu_self_ns: in CUDA graphs */
	uint64_t module_ticks;	/* of a module: of the modules directly in it */
	uint64_t module_gpu_ns; /* and what those launched */
	/* for op_walk.c */
	uint8_t phase;		/* enum op_class; OP_RANGE: none */
	uint32_t segment;	/* of phases; UINT32_MAX: none */
	uint32_t inner_segment; /* of a module: of the last operator in it so far */
	uint32_t copy;		/* for graph_nodes.c: a number, see op_is_replay */
	/*
	 * For a convolution without strides: the positions of its output, as in convolution.h. 0:
	 * unknown.
	 */
	double positions;
};

/* Does a launch of a graph run it, as op_view.replay says? It has no call then, and no position. */
static inline bool op_is_replay(const struct op *op)
{
	return op->copy != 0;
}

/*
 * The name of an operator's row in tables: steps of PyTorch's profiler, ProfilerStep#7, have one
 * row, ProfilerStep*, as in PyTorch.
 */
uint32_t op_row_name(uint32_t name);

/* The meaning of an operator's name. */
struct op_kind {
	uint64_t key;
	uint32_t row_name;   /* see op_row_name */
	uint8_t class;	     /* enum op_class */
	uint8_t is;	     /* OP_IS_OPERATOR, _USER or _MODULE; OP_IS_AROUND */
	bool is_user;	     /* see op_is_user */
	bool is_step;	     /* see op_is_step */
	bool is_convolution; /* of PyTorch, also backward */
	uint8_t formula;     /* for flops.h: whether it has one; 0: not asked yet */
	bool is_executor;    /* runs a static program of Paddle's on other threads */
	uint8_t compiler;    /* enum op_compiler */
	bool is_compiled;    /* see op_is_compiled */
	bool is_asked;	     /* for op_walk.c: `wanted` is set */
	uint8_t wanted;	     /* as in struct op */
};

/* A cache of recent answers by name, since few names recur often. One thread only. */
#define OP_KINDS 1024u
extern struct op_kind op_kinds[OP_KINDS];
void op_kind_find(struct op_kind *kind, uint32_t name, uint8_t framework, uint8_t scope);

static inline struct op_kind *op_kind(uint32_t name, uint8_t framework, uint8_t scope)
{
	uint64_t key = 1ull << 63 | (uint64_t)name << 16 | (uint64_t)framework << 8 | scope;
	struct op_kind *kind = &op_kinds[(name + 61u * scope) % OP_KINDS];

	if (__builtin_expect(kind->key != key, 0)) {
		kind->key = key;
		op_kind_find(kind, name, framework, scope);
	}
	return kind;
}

static inline enum op_class op_class(uint32_t name, uint8_t framework, uint8_t scope)
{
	return (enum op_class)op_kind(name, framework, scope)->class;
}

/* Who makes the batches of an operator of class OP_DATALOADER, by PyTorch's names. */
enum op_loader {
	OP_LOADER_UNKNOWN = 1u,
	OP_LOADER_IN_LOOP = 2u, /* the training loop itself */
	OP_LOADER_WORKERS = 4u,
};

enum op_loader op_loader_of(uint32_t name);

/*
 * What compiles in it? torch.compile marks its stages (dynamo_timed), or counts the time in them
 * (hooks_torch_compile.c). JAX marks tracing, lowering and compiling. Stages nest; the outermost
 * one is a compilation. Files that the pool of threads of torch.compile compiles are none: the loop
 * waits for them in another stage.
 */
#define OP_COUNTED_PREFIX "pytorch.wait_counter."
enum op_compiler {
	OP_COMPILER_NONE,
#define COMPILER(name, title, does, change, reason) OP_COMPILER_##name,
#include "report/ops/compiler.def"
	NR_OP_COMPILERS,
};

/* The texts of tables and sentences for each compiler: see compiler.def. */
extern const struct op_compiler_text {
	const char *title, *does, *change, *reason;
} op_compiler_texts[NR_OP_COMPILERS];

static inline enum op_compiler op_compiler(uint32_t name, uint8_t framework, uint8_t scope)
{
	return (enum op_compiler)op_kind(name, framework, scope)->compiler;
}

static inline bool op_is_compilation(uint32_t name, uint8_t framework, uint8_t scope)
{
	return op_compiler(name, framework, scope) != OP_COMPILER_NONE;
}

/*
 * Does it run code that torch.compile compiled? "Torch-Compiled Region: 0/2" is version 2 of code
 * 0. PyTorch 2.3 does not number it.
 */
#define OP_COMPILED_PREFIX "Torch-Compiled Region"
static inline bool op_is_compiled(uint32_t name, uint8_t framework, uint8_t scope)
{
	return op_kind(name, framework, scope)->is_compiled;
}

/* Is it a compilation, and no stage of another one? */
bool op_is_whole_compilation(const struct op *op);

/* Does it run on a thread of its own if there are GPUs? */
bool op_class_is_backward(enum op_class class);

/* Does something within class `outer` form a part of the step of its own? */
bool op_class_breaks_out(enum op_class outer, enum op_class class);

/* Is it a call of a torch.nn.Module? That is no operator, but contains operators. */
static inline bool op_is_module(uint8_t framework, uint8_t scope)
{
	return framework == GPROF_FRAMEWORK_PYTHON && scope == GPROF_PYTHON_MODULE;
}

/* Does it mark a whole step: ProfilerStep#N of PyTorch's profiler, ProfileStep of Paddle's? */
static inline bool op_is_step(uint32_t name, uint8_t framework, uint8_t scope)
{
	return op_kind(name, framework, scope)->is_step;
}

/*
 * Is it a part of the operator that it lies in and none of its own: a stage as Paddle marks them
 * (infer_meta, kernel launch, Local_...GradNode), or a range?
 */
static inline bool op_is_part(uint8_t framework, uint8_t scope)
{
	return framework == GPROF_FRAMEWORK_PADDLE &&
	       (scope == OP_PADDLE_INNER || scope == OP_PADDLE_DYNAMIC_LAUNCH ||
		       scope == OP_PADDLE_STATIC_LAUNCH || scope == OP_PADDLE_USER ||
		       scope == OP_PADDLE_PYTHON_USER);
}

/* Does the process name any module, any convolution of PyTorch, any stage of a compilation? */
bool op_has_modules(const struct process *process);
bool op_has_convolutions(const struct process *process);
bool op_has_compilations(const struct process *process);

/*
 * The class and number of a module, "Linear_1" of "nn.Module: Linear_1 layers.1.fc", which are
 * nr_bytes. A blank and its path in the outermost module may follow.
 */
const char *op_module_name(uint32_t name, size_t *nr_bytes);

/* "Net_0/Conv2d_0/aten::conv2d": the modules around an operator, and its name, of string_pool.h. */
uint32_t op_full_name(const struct op *op);

/* Is it a range of the user: record_function, Paddle's UserDefined, but no step and no phase? */
static inline bool op_is_user(uint32_t name, uint8_t framework, uint8_t scope)
{
	return op_kind(name, framework, scope)->is_user;
}

/* The innermost operator at or around `op`, beyond modules and users' ranges; NULL if none. */
const struct op *op_operator_around(const struct op *op);

/* The name of an op row, by its id or its own text. */
uint32_t op_name(const struct process *process, uint64_t op_name_id, uint64_t string);

/* Does the process have any operator rows? */
bool op_has_any(const struct process *process);

/* ---- Paddle's event types ---- */

/*
 * The event type in Paddle's terms (phi::TracerEventType) for operators of any framework. An
 * operator within another one is an OperatorInner.
 */

enum event_type {
	EVENT_OPERATOR,
	EVENT_OPERATOR_INNER, /* also Paddle's stages of an operator, but for these two */
	EVENT_DYNAMIC_LAUNCH,
	EVENT_STATIC_LAUNCH,
	EVENT_USER_DEFINED,
	EVENT_PYTHON_USER_DEFINED,
	EVENT_COMMUNICATION, /* of the host, if the framework says so */
	NR_EVENT_TYPES,
	EVENT_NONE = NR_EVENT_TYPES, /* steps, phases and modules, which other tables show */
};

extern const char *const event_type_names[NR_EVENT_TYPES];

/* Its parents decide, so `op` must be one that a view receives. */
enum event_type event_type_of(const struct op *op);

/* Is it an operator or a stage of one? And the innermost such around it, NULL if none. */
bool event_is_operator(const struct op *op);
const struct op *event_outer_operator(const struct op *op);

/* Is it a stage of an operator, as Paddle marks them? */
bool event_is_stage(const struct op *op);

/* Is it a computing stage of Paddle's that lies in no other one? */
bool event_is_compute(const struct op *op);

/* Is the range about copies or sets? Paddle separates these from other user ranges by name. */
bool event_is_manipulation(const char *name);

#endif
