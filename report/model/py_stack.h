/* SPDX-License-Identifier: Apache-2.0 */
/* Python stacks as texts. */
#ifndef REPORT_MODEL_PY_STACK_H
#define REPORT_MODEL_PY_STACK_H

#include "report/model/model.h"

/*
 * "train.py(12): step <- train.py(40): <module>", the innermost frame first, as a number of
 * names.h. Of files of installed packages the path within the package's folder is told.
 */
uint32_t py_stack_text(struct process *process, uint32_t stack);

/* "train.py(42): step", all of them numbers of names.h; line 0: not known. */
uint32_t py_frame_text(uint32_t file, uint32_t line, uint32_t function);

/* "train.py(5): step": a function and the line where it begins. */
uint32_t py_code_text(struct process *process, uint32_t code);

#endif
