/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels, which a source sees when modules register them. */
#ifndef COLLECTOR_RING_KERNEL_NAMES_H
#define COLLECTOR_RING_KERNEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies the mangled name of the kernel that the CPU function at `address` launches to `name`.
 * Returns its length; 0 if it is unknown or has no room in nr_bytes. For the drain thread.
 */
typedef size_t (*kernel_name_reader)(uint64_t address, char *name, size_t nr_bytes);

/* A source sets it, at any time; NULL if there is none. */
extern _Atomic(kernel_name_reader) kernel_name_read __attribute__((visibility("hidden")));

#endif
