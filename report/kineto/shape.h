/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes and types of an operator's inputs, from Kineto's "Input Dims" and "Input type" to the text
 * that the recorder writes: "float32[64,3,32,32], int64[64], scalar", without what comes behind the
 * last tensor. Lists of tensors count as scalars, as they do there.
 */
#ifndef REPORT_KINETO_SHAPE_H
#define REPORT_KINETO_SHAPE_H

#include "collector/format/intern.h"
#include "report/kineto/json.h"
#include "report/kineto/out.h"

struct kineto_shapes {
	struct intern known; /* by the two texts as they stand in the trace */
	uint32_t *ids;	     /* of op_shape, by the number in `known` */
	size_t capacity;
	uint32_t nr_ids;
	struct buf key, text;
};

void kineto_shapes_init(struct kineto_shapes *shapes);
void kineto_shapes_fini(struct kineto_shapes *shapes);

/* The id of an op_shape row for these tokens (types may be 0), 0 if there is no tensor. */
uint32_t kineto_shapes_id(struct kineto_shapes *shapes, const struct kineto_json *json, int dims,
	int types, struct kineto_out *out);

/* Kineto's word for a type of elements as the recorder calls it; NULL if it has none. */
const char *kineto_shape_type(const char *name, size_t nr_bytes);

#endif
