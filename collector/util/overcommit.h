/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the kernel promises no more memory than there is (vm.overcommit_memory=2), what is mapped
 * counts, and not only what is used: what gprof maps, the target cannot.
 */
#ifndef COLLECTOR_UTIL_OVERCOMMIT_H
#define COLLECTOR_UTIL_OVERCOMMIT_H

#include <stdint.h>

/* Bytes that all processes may still map. UINT64_MAX: any number, or unknown. root: for tests. */
uint64_t overcommit_left(const char *root);

#endif
