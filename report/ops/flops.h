/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the floating-point operations of an operator from the shapes of its inputs. A
 * multiplication and an addition count as two. The formulas follow the definitions in PyTorch's
 * documentation (torch.mm, addmm, bmm, baddbmm, conv2d, scaled_dot_product_attention):
 *
 *     mm, addmm             [m,k] x [k,n]             2 m k n    (addmm: of its 2nd and 3rd input)
 *     bmm, baddbmm          [b,m,k] x [b,k,n]         2 b m k n
 *     conv1d, conv2d, conv3d, convolution
 *                           input [N,C,...], weight [K,C/groups,k...], stride, padding, dilation
 *                           2 N K (C/groups) prod(k) prod(output); the output's size follows from
 *                           what reads it where strides are not recorded (convolution.h)
 *     conv_transpose        2 N prod(input) (C K/groups) prod(k)
 *     convolution_backward  as much as the forward call for each gradient, of input and weights;
 *                           where the mask is not recorded, of images, with up to four channels,
 *                           none is computed
 *     attention (_scaled_dot_product_...)  q [...,L,E], k [...,S,E], v [...,S,F]
 *                           2 b L S E + 2 b L S F    (without softmax and mask)
 *     its backward call     of the gradient of the result, q, k and v
 *                           3 * 2 b L S E + 2 * 2 b L S F: the scores are computed once more
 *     add, sub, mul, div, relu ... elementwise
 *                           1 for each element of the broadcast inputs
 */
#ifndef REPORT_OPS_FLOPS_H
#define REPORT_OPS_FLOPS_H

#include "report/ops/op.h"

/*
 * name and shape are numbers of string_pool.h; positions as in struct op. False if the operator or
 * its shapes are unknown, or if operators inside it have its FLOPs.
 */
bool flops_of(uint32_t name, uint32_t shape, double positions, double *flops);

/* The same of a call; false also for convolution and clamp_min within conv2d, relu ..., which have
 * their FLOPs. */
bool flops_of_op(const struct op *op, double *flops);

/* Has it none only because nothing says how large the output of a convolution is? */
bool flops_lack_size(const struct op *op);
#define FLOPS_NOTE                                                                              \
	"Some convolutions have no FLOPs: neither their strides nor the sizes of their output " \
	"are recorded."

/* Does PyTorch's profiler count any of an operator of that name? */
bool flops_in_torch(uint32_t name);

/* For op_view.op_wants: false of operators that never have any. */
bool flops_may_count(uint32_t name, uint8_t framework, uint8_t scope);

/* Used by the inline function. */
enum { FLOPS_FORMULA = 1, FLOPS_NO_FORMULA };
uint8_t flops_formula(const struct op *op);

/*
 * Does it have inputs of known shapes and a formula? If not, neither has it FLOPs nor does it lack
 * a size.
 */
static inline bool flops_may_be_of(const struct op *op)
{
	struct op_kind *kind;

	if (!op->shape) {
		return false;
	}
	kind = op_kind(op->name, op->framework, op->scope);
	if (__builtin_expect(!kind->formula, 0)) {
		kind->formula = flops_formula(op);
	}
	return kind->formula == FLOPS_FORMULA;
}

#endif
