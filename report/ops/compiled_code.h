/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what a kernel of torch.compile stands for: the ATen operators that it replaces, and the
 * nodes of the traced program. The recorder reads both from the modules that Inductor generates
 * (table compiled_call), of which each call is one line.
 *
 *     Python stack of the launch   the call at that line: exact, and also for kernels of libraries
 *     name of the kernel           all calls of that name; two graphs may name different kernels
 *                                  alike, and then the operators of both are given
 */
#ifndef REPORT_OPS_COMPILED_CODE_H
#define REPORT_OPS_COMPILED_CODE_H

#include "report/model/model.h"

struct compiled_code;

/* Texts are numbers of string_pool.h. */
struct compiled_work {
	/* Without "aten.": "addmm, relu"; of several kernels with " or " between; 0: unknown. */
	uint32_t operators;
	uint32_t nodes;	     /* "h, h_1": of the first call; 0: none */
	uint32_t file, line; /* of the first call */
	uint32_t nr_calls;   /* lines that call it */
};

/* Of one process, which must stay. NULL if no such module was read. The caller destroys it. */
struct compiled_code *compiled_code_create(const struct process *process);
void compiled_code_destroy(struct compiled_code *code);

/*
 * The work of a kernel of that name (of string_pool.h) whose launch has that Python stack (0:
 * none). Returns NULL if it is not known. `code` may be NULL. Valid until compiled_code_destroy.
 */
const struct compiled_work *compiled_code_find(
	struct compiled_code *code, uint32_t kernel, uint32_t py_stack);

#endif
