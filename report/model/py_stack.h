/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the Python stacks of a process as texts: ours, and as traces of PyTorch have them. */
#ifndef REPORT_MODEL_PY_STACK_H
#define REPORT_MODEL_PY_STACK_H

#include "report/model/model.h"

/*
 * "train.py(12): step <- train.py(40): <module>", innermost frame first, as a number of
 * string_pool.h. Files of installed packages are shown from the package's folder on.
 */
uint32_t py_stack_text(struct process *process, uint32_t stack);

/* The same as PyTorch's traces have it: "train.py(12): step;train.py(40): <module>". */
uint32_t py_stack_trace_text(struct process *process, uint32_t stack);

/* Is the file one of Python's own library, such as json or threading? */
bool py_file_is_standard(uint32_t file);

/* Is it one of PyTorch, but for its data loader? */
bool py_file_is_framework(uint32_t file);

/* Is it one of that library, or of an installed package? */
bool py_file_is_library(uint32_t file);

/*
 * Returns the package or module that a file belongs to: "torch" of .../site-packages/torch/_ops.py,
 * "data" of /home/me/data.py or /home/me/data/__init__.py. A number of string_pool.h.
 */
uint32_t py_file_package(uint32_t file);

/* "train.py(42): step", all numbers of string_pool.h; line 0: unknown. */
uint32_t py_frame_text(uint32_t file, uint32_t line, uint32_t function);

/* The same; files outside of packages are shown without their folders. */
uint32_t py_frame_short_text(uint32_t file, uint32_t line, uint32_t function);

/* "train.py(5): step": a function and its first line. */
uint32_t py_code_text(struct process *process, uint32_t code);

#endif
