/* SPDX-License-Identifier: Apache-2.0 */
/* CPython's lock (GIL), known by its address. */
#ifndef PRELOAD_PYTHON_PYTHON_LOCK_H
#define PRELOAD_PYTHON_PYTHON_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Looks for the interpreter among the loaded objects. Takes no lock. */
void python_lock_find(void);

/* Is it the address of what a thread that waits for the lock waits for? False before it is found.
 */
bool python_lock_is(uint64_t address);

#endif
