/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of Python functions and of PyTorch's modules: our function wraps the one that evaluates
 * frames (PEP 523). The program's profile and trace functions do not notice it; one of ours would
 * be visible to them.
 */
#ifndef PRELOAD_PYTHON_PYTHON_CALL_H
#define PRELOAD_PYTHON_PYTHON_CALL_H

#include <stdbool.h>

/* With the GIL, before the program begins: NULL, or why it is impossible. */
const char *python_call_start(unsigned int minor_version);

/* Has another tool (torch.compile) replaced our function? */
bool python_call_is_replaced(void);

/*
 * With the GIL, for good: from 3.12 on a call that our function evaluates is one of C's to what
 * traces or monitors the program's Python, which would see other events.
 */
void python_call_stop(void);

/* With the GIL: reinstalls our function if a jump has left the call that removed it. */
void python_call_mend(void);

/*
 * An operator begins, before it is on the stack: counts a loss if it is inside a module whose call
 * was too deep to record.
 */
struct op_stack;
void python_call_look(const struct op_stack *stack);

/* In a forked child, whose stream is new. */
void python_call_forget(void);

#endif
