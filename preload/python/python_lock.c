/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPython's lock is two condition variables with their mutexes. They are members of _PyRuntime, the
 * variable with all of the interpreter's state, and nothing else in there is what a thread can wait
 * for (3.8 to 3.15). So the address shows that a thread waits for the lock.
 */
#include "preload/python/python_lock.h"

#include <stdatomic.h>

#include "preload/base/modules.h"
#include "preload/python/python_frame.h"

/* _PyRuntime; 0 bytes: there is no Python. */
static struct {
	_Atomic uint64_t address, nr_bytes;
} runtime;

static bool look(const struct module *module, void *unused)
{
	uint64_t nr_bytes;
	void *address = module->has_symbols
				? elf_find_variable(&module->elf, "_PyRuntime", &nr_bytes)
				: NULL;

	(void)unused;
	if (!address) {
		return false;
	}
	atomic_store_explicit(&runtime.address, (uintptr_t)address, memory_order_relaxed);
	atomic_store_explicit(&runtime.nr_bytes, nr_bytes, memory_order_release);
	return true;
}

void python_lock_find(void)
{
	modules_each(look, NULL);
}

bool python_lock_is(uint64_t address)
{
	uint64_t nr_bytes = atomic_load_explicit(&runtime.nr_bytes, memory_order_acquire);

	return address - atomic_load_explicit(&runtime.address, memory_order_relaxed) < nr_bytes;
}

/*
 * The begin of CPython's struct _gil_runtime_state, 3.8 to 3.15:
 *
 *     0 interval    8 last_holder    16 locked    24 switch_number    32 cond
 *
 * A thread waits at one of the two __g_signals of cond, which are 40 bytes behind its begin from
 * glibc 2.25 on, and 32 bytes from 2.41 on; before, at its __futex.
 */
bool python_lock_holder(uint64_t address, uint32_t guess, uintptr_t *state)
{
	static const uint8_t signals[PYTHON_LOCK_GUESSES] = {40, 44, 32, 36, 4};
	uint64_t at = address - signals[guess] - 24;
	struct {
		uintptr_t last_holder;
		int32_t locked;
	} lock;

	if (at % sizeof(uintptr_t) || !python_lock_is(at) ||
		!python_peek(&lock, at, sizeof(lock)) || lock.locked != 1) {
		return false;
	}
	*state = lock.last_holder;
	return *state != 0;
}
