/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of an operator's inputs, read from the text that recordings have of them. */
#ifndef REPORT_OPS_INPUT_SHAPES_H
#define REPORT_OPS_INPUT_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#define INPUT_SHAPES_DIMS    8u
#define INPUT_SHAPES_TENSORS 4u
#define INPUT_SHAPES_LISTS   6u
#define INPUT_SHAPES_MASK    3u

struct input_dims {
	double sizes[INPUT_SHAPES_DIMS];
	unsigned int nr;
};

struct input_shapes {
	struct input_dims tensors[INPUT_SHAPES_TENSORS]; /* without scalars and unknown inputs */
	struct input_dims lists[INPUT_SHAPES_LISTS];	 /* of integers */
	unsigned int nr_tensors, nr_lists;
	bool mask[INPUT_SHAPES_MASK]; /* a list of three truth values */
	bool has_mask;
	double positions; /* of a convolution's output if there are no strides; not read */
};

/*
 * Reads "float32[64,3], scalar, ?, (2,2), (true,true,false)", a number of string_pool.h. False for
 * any other form, and without tensors. Further inputs than there is room for are left out.
 */
bool input_shapes_read(uint32_t shape, struct input_shapes *inputs);

/* The product of the sizes from `first` on, before `end`. */
double input_dims_product(const struct input_dims *dims, unsigned int first, unsigned int end);

#endif
