/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernels by the address of the CPU function that launches them: CUPTI names only those
 * that have ended. Modules register before the recorder runs, and register tens of thousands of
 * kernels of which few are launched. So the pairs wait here (the modules own the texts) until one
 * is launched.
 */
#ifndef PRELOAD_HOOK_KERNELS_H
#define PRELOAD_HOOK_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "collector/ring/kernel_names.h"

/* A module has registered a kernel; its name must stay until kernels_forget_module. Any thread. */
void kernels_add(const void *address, void **module, const char *name);

/* Before the module goes. Any thread. */
void kernels_forget_module(void **module);

/* The handle of the kernel that a host function launches; nothing for NULL. Any thread. */
void kernels_add_handle(const void *handle, const void *function);

/* A kernel_name_reader (kernel_names.h). */
struct kernel_name kernels_name(uint64_t address, uint64_t raw, char *text, size_t nr_bytes);

#endif
