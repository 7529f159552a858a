/* SPDX-License-Identifier: Apache-2.0 */
/* What names of calls, operators and kernels mean to the rules of `advice`. */
#ifndef REPORT_ADVICE_NAMES_H
#define REPORT_ADVICE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum advice_call {
	ADVICE_CALL_OTHER = 1,
	ADVICE_CALL_WAIT,  /* for a stream, an event, a device */
	ADVICE_CALL_LOAD,  /* code: modules, libraries, linking, compiling */
	ADVICE_CALL_ALLOC, /* memory, not from a pool of streams, which costs little */
};

/* Of a number of names.h. Copies and launches are OTHER. */
enum advice_call advice_call_of(uint32_t name);

/* Does the call return before a copy or set is done? By its name. */
bool advice_call_is_async(uint32_t name);

enum {
	ADVICE_OP_KNOWN = 1,
	ADVICE_OP_TENSOR = 2, /* could use tensor cores */
	ADVICE_OP_DATA_PARALLEL = 4,
	ADVICE_OP_DDP = 8,
	ADVICE_OP_NCCL = 16,
	ADVICE_OP_GLOO = 32,
	ADVICE_OP_STEP = 64, /* the range of a step: says nothing of where */
};

/* Bits of the above. */
uint32_t advice_op_of(uint32_t name);

/* Does a kernel multiply matrices or convolve? Tensor cores do nothing else. */
bool advice_is_multiply(uint32_t kernel);

#endif
