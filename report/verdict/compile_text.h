/* SPDX-License-Identifier: Apache-2.0 */
/* Words of compilations: which compiler takes most time, and where the program calls it. */
#ifndef REPORT_VERDICT_COMPILE_TEXT_H
#define REPORT_VERDICT_COMPILE_TEXT_H

#include "report/verdict/code_form.h"
#include "report/verdict/verdict.h"

/*
 * Appends "PyTorch compiles in 5 of 22 steps, 4.40 s in each (TORCH_LOGS=recompiles says why)", or
 * by samples "JAX compiles in 5 of 22 steps for train.py(31): step, about 4.40 s in each (...)".
 * The form (code_form.h) may leave out the setting that says why, as it does shares. Returns the
 * change that saves the time: "compiling once".
 */
const char *compile_text_add(
	const struct verdict *verdict, const struct code_form *form, struct buf *out);

/* Appends what start-up is in, as "torch.compile". */
void compile_text_add_startup(const struct verdict *verdict, struct buf *out);

#endif
