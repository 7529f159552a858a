/* SPDX-License-Identifier: Apache-2.0 */
/* How the functions that a program calls itself (inside.c) get the recorder going. */
#ifndef PRELOAD_ENTRY_H
#define PRELOAD_ENTRY_H

#include <stdbool.h>

/* Does this copy of the library record here? Not with GPROF_ENABLE=0, nor beside another copy. */
bool entry_is_usable(void);

/* Was it loaded by the running program, and not before its libraries? */
bool entry_is_late(void);

/*
 * Starts the recorder in a process that may have called CUDA and PyTorch before the library was
 * loaded: attaches CUPTI where the driver works already, and looks for PyTorch. Any thread.
 */
void entry_begin_inside(void);

#endif
