/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of Python functions, and of modules of PyTorch: a function of ours stands around the one
 * that evaluates frames (PEP 523). Profile and trace functions of the program know nothing of it;
 * one of ours would leave its mark in theirs.
 */
#ifndef PRELOAD_PYTHON_PYTHON_CALL_H
#define PRELOAD_PYTHON_PYTHON_CALL_H

#include <stdbool.h>

/* With the GIL, before the program begins: NULL, or why it cannot be. */
const char *python_call_start(unsigned int minor_version);

/* Has somebody else (torch.compile) taken our place meanwhile? */
bool python_call_is_replaced(void);

/* With the GIL: comes back to our place if a jump has left the call that has given it up. */
void python_call_mend(void);

/*
 * An operator begins, before it is on the stack: counts as lost that it lies in a module which was
 * not seen, since it was called too deep in others.
 */
struct op_stack;
void python_call_look(const struct op_stack *stack);

/* In a forked child, whose stream begins anew. */
void python_call_forget(void);

#endif
