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

/* How many places the lock may have its holder at, as python_lock_holder() counts them. */
#define PYTHON_LOCK_GUESSES 5u

/*
 * Reads from the lock that a thread waits for at that address what may be the state of the thread
 * that holds it. Returns false if it is none for that guess, or the lock is free.
 */
bool python_lock_holder(uint64_t address, uint32_t guess, uintptr_t *state);

#endif
