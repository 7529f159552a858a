/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the hand-written hooks for entry.c. */
#ifndef PRELOAD_HOOKS_H
#define PRELOAD_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#include "collector/format/format.h"

/* The handle of the kernel that a host function launches; nothing for NULL. Any thread. */
void hooks_add_kernel(const void *handle, const void *function);

/* A kernel_name_reader (kernel_names.h): knows the kernels that modules have registered. */
size_t hooks_kernel_name(uint64_t address, char *name, size_t nr_bytes);

/*
 * This process ends in that way: marks it, writes the last events, closes the stream, in bounded
 * time. Any thread, any number of times; nothing happens in a child that only shares our memory.
 */
void hooks_end_process(enum gprof_end_kind kind, int code);

#endif
