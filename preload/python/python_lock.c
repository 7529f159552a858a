/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPython's lock is two condition variables with their mutexes. They are members of _PyRuntime, the
 * variable with all of the interpreter's state, and nothing else in there is what a thread can wait
 * for (3.8 to 3.15). So the address shows that a thread waits for the lock.
 */
#include "preload/python/python_lock.h"

#include <stdatomic.h>

#include "preload/base/modules.h"

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
