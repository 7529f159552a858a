/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out how much of the C stack is left: threads may have small ones, and coroutines their own.
 * Python allows threads with 32 KiB.
 */
#ifndef PRELOAD_PYTHON_PYTHON_ROOM_H
#define PRELOAD_PYTHON_PYTHON_ROOM_H

#include <stdint.h>

/* The functions of this folder may use this much of the stack, with some to spare. */
#define PYTHON_ROOM_BYTES 12288u

/* On the main thread, before python_room. */
void python_room_start(void);

/*
 * The bytes below `here`, an address on the calling thread's present stack, down to its end or as
 * far as we look. Keeps errno; takes no lock.
 */
uint32_t python_room(uintptr_t here);

#endif
