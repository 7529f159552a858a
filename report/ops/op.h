/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators, autograd nodes and ranges of a framework as the views see them, and what a name says
 * of the part of a training step that it belongs to.
 */
#ifndef REPORT_OPS_OP_H
#define REPORT_OPS_OP_H

#include "report/model/model.h"

/* What an operator is to the phases of a step; see phase.h. */
enum op_class {
	OP_RANGE, /* the user's: says nothing, what lies in it does */
	OP_OTHER, /* work: of the forward pass, if anything */
	OP_DATALOADER,
	OP_FORWARD, /* says so itself (Paddle) */
	OP_BACKWARD,
	OP_OPTIMIZATION,
	OP_CLEARING,  /* Optimizer.zero_grad: may come before or after Forward */
	OP_REDUCTION, /* ends Backward: other processes' gradients, waited for, are taken over */
};

/* at::RecordScope::USER_SCOPE, and Paddle's kinds (phi::TracerEventType). */
enum {
	OP_TORCH_BACKWARD = 1,
	OP_TORCH_USER = 7,
	OP_TORCH_ANNOTATION = 128, /* in traces only: a range whose name tells what it is */
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

/* What views that want few operators ask for; see op_view. */
enum op_is {
	OP_IS_OPERATOR = 1,  /* no module, and no range that the user named */
	OP_IS_USER = 2,	     /* see op_is_user */
	OP_IS_MODULE = 4,    /* see op_is_module */
	OP_IS_IN_MODULE = 8, /* directly */
	OP_IS_STACKED = 16,  /* it has a Python stack, or others of the process have */
	OP_IS_ALL = 31,
};

struct op {
	uint64_t begin, end; /* ticks */
	uint32_t thread;
	uint32_t name;	   /* of names.h */
	uint32_t shape;	   /* of names.h, 0 not recorded */
	uint32_t py_stack; /* as it began, 0 not taken */
	uint16_t depth;
	uint8_t framework, scope;
	uint8_t is;		 /* of enum op_is */
	const struct op *parent; /* the one that it lies in, NULL if in none */
	uint64_t child_ticks; /* of operators that lie in it, or in a module in it, but in no other
			       */
	uint64_t nr_activities; /* records of device work that it launched itself */
	uint64_t gpu_self_ns;	/* their times */
	uint64_t gpu_total_ns;	/* with those of all that lie in it */
	uint64_t module_ticks;	/* of a module: of the modules directly in it */
	uint64_t module_gpu_ns; /* and what those launched */
	/* for op_walk.c */
	uint8_t phase;	  /* enum op_class; OP_RANGE: none */
	uint32_t segment; /* of phases */
};

/* What the name of an operator says. */
struct op_kind {
	uint64_t key;
	uint8_t class;	  /* enum op_class */
	uint8_t is;	  /* OP_IS_OPERATOR, _USER or _MODULE */
	bool is_user;	  /* see op_is_user */
	bool is_executor; /* runs a static program of Paddle's; its operators are on other threads
			   */
};

/* What was asked for last, by name: few names come again and again. Of one thread. */
#define OP_KINDS 1024u
extern struct op_kind op_kinds[OP_KINDS];
void op_kind_find(struct op_kind *kind, uint32_t name, uint8_t framework, uint8_t scope);

static inline const struct op_kind *op_kind(uint32_t name, uint8_t framework, uint8_t scope)
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

/* Does it run on a thread of its own, where there are GPUs? */
bool op_class_is_backward(enum op_class class);

/* Is what lies in something of class `outer` a part of the step by itself? */
bool op_class_breaks_out(enum op_class outer, enum op_class class);

/* A call of a torch.nn.Module: no operator, but operators lie in it. */
static inline bool op_is_module(uint8_t framework, uint8_t scope)
{
	return framework == GPROF_FRAMEWORK_PYTHON && scope == GPROF_PYTHON_MODULE;
}

/* A range that the user named: record_function, Paddle's UserDefined, no step and no phase. */
static inline bool op_is_user(uint32_t name, uint8_t framework, uint8_t scope)
{
	return op_kind(name, framework, scope)->is_user;
}

/* The name of an op row: by its id, or its own text. */
uint32_t op_name(const struct process *process, uint64_t op_name_id, uint64_t string);

/* Has the process any op? */
bool op_has_any(const struct process *process);

/* ---- Paddle's event types ---- */

/*
 * What kind of event something is in Paddle's terms (phi::TracerEventType), for operators of any
 * framework: an operator in no other one is an Operator, one in another an OperatorInner.
 */

enum event_type {
	EVENT_OPERATOR,
	EVENT_OPERATOR_INNER, /* Paddle's stages of an operator, too */
	EVENT_USER_DEFINED,
	EVENT_PYTHON_USER_DEFINED,
	EVENT_COMMUNICATION, /* of the host, where the framework says so */
	NR_EVENT_TYPES,
	EVENT_NONE = NR_EVENT_TYPES, /* steps, phases and modules: these are told otherwise */
};

extern const char *const event_type_names[NR_EVENT_TYPES];

/* Its own parents decide, so it must be one that a view is told of. */
enum event_type event_type_of(const struct op *op);

/* Is it an operator or a stage of one, and the one that it lies in directly? NULL if in none. */
bool event_is_operator(const struct op *op);
const struct op *event_outer_operator(const struct op *op);

/* Is it a stage of Paddle's that computes, and lies in no other one? */
bool event_is_compute(const struct op *op);

/* Is a range of that name about copies or sets? So Paddle tells them from other ranges of users. */
bool event_is_manipulation(const char *name);

#endif
