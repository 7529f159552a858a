/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point operations of an operator from the shapes of its inputs, a multiplication and an
 * addition counted as two. Formulas are those of the definitions of the operators (PyTorch's
 * documentation of torch.mm, addmm, bmm, baddbmm, conv2d and scaled_dot_product_attention):
 *
 *     mm, addmm             [m,k] x [k,n]             2 m k n    (addmm: of its 2nd and 3rd input)
 *     bmm, baddbmm          [b,m,k] x [b,k,n]         2 b m k n
 *     convolution           input [N,C,...], weight [K,C/groups,k...]
 *                           2 N K (C/groups) prod(k) prod(output)
 *                           stride and padding are not recorded: the output is taken as large as
 *                           the input, so with a stride, or without padding, it is an upper bound
 *     attention (_scaled_dot_product_...)  q [...,L,E], k [...,S,E], v [...,S,F]
 *                           2 b L S E + 2 b L S F    (no softmax, and as if there were no mask)
 *     add, sub, mul, div, relu ... elementwise
 *                           1 for each element of the broadcast inputs
 */
#ifndef REPORT_OPS_FLOPS_H
#define REPORT_OPS_FLOPS_H

#include <stdbool.h>
#include <stdint.h>

/* name and shape are numbers of string_pool.h. False if the operator or its shapes are unknown. */
bool flops_of(uint32_t name, uint32_t shape, double *flops);

#endif
