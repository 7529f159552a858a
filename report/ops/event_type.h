/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of event something is in Paddle's terms (phi::TracerEventType), for operators of any
 * framework: an operator in no other one is an Operator, one in another an OperatorInner.
 */
#ifndef REPORT_OPS_EVENT_TYPE_H
#define REPORT_OPS_EVENT_TYPE_H

#include "report/ops/op.h"

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
