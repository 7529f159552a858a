/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels, which a source sees when modules register them. */
#ifndef COLLECTOR_RING_KERNEL_NAMES_H
#define COLLECTOR_RING_KERNEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Functions can have the same address one after the other, as modules are closed and opened. */
enum kernel_turn {
	KERNEL_ALONE, /* there was no other so far */
	KERNEL_FIRST,
	KERNEL_LATER,
};

struct kernel_name {
	enum kernel_turn turn;
	uint32_t number; /* unique for each function */
	size_t nr_bytes; /* length of the mangled name; 0 if it is unknown or too long */
};

/*
 * Finds the kernel that a call at the time `raw` (clock_raw) has launched by the CPU function at
 * `address`, and copies its name to `text`, unless that is NULL. For the drain thread.
 */
typedef struct kernel_name (*kernel_name_reader)(
	uint64_t address, uint64_t raw, char *text, size_t nr_bytes);

/* A source sets it, at any time; NULL if there is none. */
extern _Atomic(kernel_name_reader) kernel_name_read __attribute__((visibility("hidden")));

/* The source changes it before an address can mean another kernel than before. */
extern _Atomic uint32_t kernel_names_era __attribute__((visibility("hidden")));

#endif
