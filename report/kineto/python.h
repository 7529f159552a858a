/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python functions and stacks of a trace. A function is written "file(line): name". The line is
 * that of its definition in python_function events, and the current line in an operator's "Call
 * stack" (innermost first, separated by semicolons). "<built-in ...>" is a C function without a
 * file.
 */
#ifndef REPORT_KINETO_PYTHON_H
#define REPORT_KINETO_PYTHON_H

#include "collector/format/intern.h"
#include "report/kineto/out.h"

struct kineto_python {
	struct intern files, codes, stacks, texts;
	uint32_t *text_stacks; /* by the id in `texts` */
	size_t capacity;
};

/* Zero-initialized. */
void kineto_python_fini(struct kineto_python *python);

/* The id of a py_code row for the name of a python_function event; 0 if there is no memory. */
uint32_t kineto_python_code(
	struct kineto_python *python, struct kineto_out *out, const char *name, size_t nr_bytes);

/*
 * The id of a py_stack row: `code` at `line` (0: unknown), called from the stack `parent` (0:
 * none).
 */
uint32_t kineto_python_stack(struct kineto_python *python, struct kineto_out *out, uint32_t parent,
	uint32_t code, uint32_t line);

/* Does the same for a "Call stack"; 0 for an empty one. */
uint32_t kineto_python_text(
	struct kineto_python *python, struct kineto_out *out, const char *text, size_t nr_bytes);

#endif
