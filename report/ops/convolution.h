/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the size of a convolution's output. Every position of it, in each image, takes as many
 * multiplications and additions as the weights have elements.
 *
 * The sizes follow from strides, padding and dilation. Many traces lack these. Then the backward
 * call with the same input and weights has them, in the gradient of the output. Without one, the
 * operator that reads the output next has them: one of the same thread, before its next
 * convolution, with an input of as many images and channels as the output has, in sizes that a
 * stride gives.
 *
 * Memory: that of the convolutions that differ in the sizes of input or weights.
 */
#ifndef REPORT_OPS_CONVOLUTION_H
#define REPORT_OPS_CONVOLUTION_H

#include "report/ops/input_shapes.h"
#include "report/ops/op.h"

/* Are the first two inputs an image, or several, and weights? */
bool convolution_is(const struct input_shapes *inputs);

/*
 * The images' number times the sizes of the output, without channels; 0: unknown. Where there are
 * no strides, it is what `inputs` says of it.
 */
double convolution_positions(const struct input_shapes *inputs);

/* The tensors that a backward call gets. */
struct convolution_backward {
	const struct input_dims *output; /* its gradient */
	const struct input_dims *input, *weights;
};

/* False if it is no backward call of a convolution, or of a transposed one. */
bool convolution_backward_of(
	uint32_t name, const struct input_shapes *inputs, struct convolution_backward *backward);

/* The positions of the gradient of the output. */
double convolution_backward_positions(const struct convolution_backward *backward);

/* ---- where strides are not recorded ---- */

#define CONVOLUTION_LATER 16u

/* The operators that a thread runs after the current one; starts with all zeros. */
struct convolution_later {
	struct convolution_later_op {
		uint32_t shape;
		bool is_convolution;
	} ops[CONVOLUTION_LATER];
	unsigned int nr; /* all that were ever added */
};

/* The outputs of a process; starts with all zeros. */
struct convolution_outputs {
	struct convolution_output *known;
};

/*
 * Takes the operators with shapes, from the last end to the first. Sets `positions` of a
 * convolution, also where it calls others to do its work.
 */
void convolution_outputs_take(
	struct convolution_outputs *outputs, struct convolution_later *later, struct op *op);

void convolution_outputs_fini(struct convolution_outputs *outputs);

#endif
