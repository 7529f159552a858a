/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPython's lock is two condition variables with their mutexes. They are members of _PyRuntime, the
 * variable with all of the interpreter's state, and nothing else in there is what a thread can wait
 * for (3.8 to 3.15). So the address shows that a thread waits for the lock.
 */
#include "preload/python/python_lock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

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

/* The beginning of CPython's struct _gil_runtime_state, 3.8 to 3.15. */
struct lock {
	uint64_t interval_us;  /* after which a thread that waits asks for the lock */
	uintptr_t last_holder; /* a thread's state */
	uint64_t locked;       /* 32 bits, and padding */
	uint64_t nr_switches;
	uint64_t nr_waits; /* the first word of a condition variable */
};

#define MAX_INTERVAL_US 10000000000u
#define BLOCK_BYTES	4096u

/* The holder has been counted as one, which nothing else beside a pointer to a state counts. */
static bool is_like_lock(const struct lock *lock)
{
	return lock->interval_us && lock->interval_us <= MAX_INTERVAL_US && lock->locked <= 1 &&
	       lock->last_holder && lock->nr_switches && lock->nr_switches >> 48 == 0;
}

/*
 * Is it something else with the state of a thread as its second word? That may be the main thread's
 * state, which begins with the next one in the list; or the list, before a pointer to all of the
 * variables, and from 3.14 on with another state as its fourth word.
 */
static bool is_other(const struct lock *lock, uintptr_t at, bool (*is_state)(uintptr_t state))
{
	return lock->nr_waits == atomic_load_explicit(&runtime.address, memory_order_relaxed) ||
	       is_state(at + offsetof(struct lock, last_holder)) || is_state(lock->nr_switches);
}

/* Returns the only place of a block that looks like the lock; 0 if there is none, 1 if several. */
static uintptr_t look_in_block(uintptr_t at, uint32_t nr_bytes, bool (*is_state)(uintptr_t state))
{
	static uint64_t words[BLOCK_BYTES / sizeof(uint64_t)];
	uintptr_t found = 0;
	struct lock lock;

	if (!python_peek(words, at, nr_bytes)) {
		return 0;
	}
	for (uint32_t i = 0; i + sizeof(lock) <= nr_bytes; i += sizeof(*words)) {
		memcpy(&lock, (const char *)words + i, sizeof(lock));
		if (is_like_lock(&lock) && is_state(lock.last_holder) &&
			!is_other(&lock, at + i, is_state)) {
			found = found ? 1 : at + i;
		}
	}
	return found;
}

uintptr_t python_lock_seek(bool (*is_state)(uintptr_t state))
{
	uint64_t nr_bytes = atomic_load_explicit(&runtime.nr_bytes, memory_order_acquire);
	uint64_t begin = atomic_load_explicit(&runtime.address, memory_order_relaxed);
	uint64_t stride = BLOCK_BYTES - sizeof(struct lock) + sizeof(uint64_t);
	uintptr_t found = 0;

	for (uint64_t at = 0; at + sizeof(struct lock) <= nr_bytes; at += stride) {
		uint64_t rest = nr_bytes - at;
		uintptr_t here = look_in_block(
			begin + at, (uint32_t)(rest < BLOCK_BYTES ? rest : BLOCK_BYTES), is_state);

		if (here == 1 || (here && found)) {
			return 0;
		}
		found = here ? here : found;
	}
	return found;
}

bool python_lock_read(uintptr_t at, uintptr_t *state)
{
	struct lock lock;

	if (!python_peek(&lock, at, sizeof(lock))) {
		return false;
	}
	*state = (uint32_t)lock.locked == 1 ? lock.last_holder : 0;
	return true;
}
