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

/*
 * Looks through the interpreter's variables for the lock, which has a pointer to the state of the
 * thread that took it last: is_state says whether there is a state at an address. Returns 0 if the
 * lock was not found, as when that thread has ended.
 */
uintptr_t python_lock_seek(bool (*is_state)(uintptr_t state));

/* Sets *state to that of the thread that holds the lock at `at`, 0 if none does. */
bool python_lock_read(uintptr_t at, uintptr_t *state);

#endif
