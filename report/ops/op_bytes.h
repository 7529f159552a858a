/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that an operator of PyTorch moves in memory, from the shapes and types of its inputs:
 * each input is read once, and the result, of the type of the first, written once. That is an
 * estimate: caches save nothing below it, but real traffic may be higher. Known for matrix products
 * (mm, addmm, bmm, baddbmm), convolutions, attention (_scaled_dot_product_...), for elementwise
 * operators, whose result is as large as the broadcast inputs, for softmax, and for fill_ and
 * zero_, which only write.
 */
#ifndef REPORT_OPS_OP_BYTES_H
#define REPORT_OPS_OP_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/gpu_peak.h"

/* name and shape are numbers of string_pool.h, positions as in struct op. False if the operator or
 * its shapes are unknown. */
bool op_bytes(uint32_t name, uint32_t shape, double positions, double *bytes);

/* The type of its first tensor; NR_GPU_FLOATS if that is no floating-point number of 2 to 8 bytes.
 */
enum gpu_float op_float(uint32_t shape);

#endif
