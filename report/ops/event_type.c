/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/event_type.h"

#include <string.h>

const char *const event_type_names[NR_EVENT_TYPES] = {
	"Operator", "OperatorInner", "UserDefined", "PythonUserDefined", "Communication"};

static enum event_type paddle_type(const struct op *op)
{
	switch (op->scope) {
	case OP_PADDLE_OPERATOR:
	case OP_PADDLE_PYTHON_OP:
		return EVENT_OPERATOR;
	case OP_PADDLE_INNER:
	case OP_PADDLE_DYNAMIC_LAUNCH:
	case OP_PADDLE_STATIC_LAUNCH:
		return EVENT_OPERATOR_INNER;
	case OP_PADDLE_COMMUNICATION:
		return EVENT_COMMUNICATION;
	case OP_PADDLE_USER:
	case OP_PADDLE_PYTHON_USER:
		if (!op_is_user(op->name, op->framework, op->scope)) {
			return EVENT_NONE; /* the whole of Backward */
		}
		return op->scope == OP_PADDLE_USER ? EVENT_USER_DEFINED : EVENT_PYTHON_USER_DEFINED;
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

/* Whatever it lies in. */
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
	enum event_type type = own_type(op);

	return type == EVENT_OPERATOR || type == EVENT_OPERATOR_INNER;
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

	/* Paddle says itself what is a stage; an operator in another one is an operator. */
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
