/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of memory an address was at a moment, from the allocations that the host made: a replay
 * of table api_alloc. Used where no device records tell it.
 */
#ifndef REPORT_POINTERS_H
#define REPORT_POINTERS_H

#include "report/model.h"

struct pointers;

/* Reads all allocations of the process. */
struct pointers *pointers_create(struct process *process);
void pointers_destroy(struct pointers *pointers);

/* API_MEMORY_..., UNKNOWN if no allocation that lived at that tick holds the address. */
uint32_t pointers_find(const struct pointers *pointers, uint64_t address, uint64_t tick);

#endif
