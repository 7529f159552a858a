/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of memory an address was at a moment, from the allocations that the host made: a replay
 * of table api_alloc. Used where no device records tell it.
 */
#ifndef REPORT_MODEL_ADDRESS_KINDS_H
#define REPORT_MODEL_ADDRESS_KINDS_H

#include "report/model/model.h"

struct address_kinds;

/*
 * The tick to order a row of table api_alloc by: an address is given when the call returns, and
 * taken back from when it begins. So the next owner of an address never comes before its free,
 * whichever thread called first.
 */
uint64_t address_kinds_tick(const struct batch *batch, uint32_t row);

/* Reads all allocations of the process. */
struct address_kinds *address_kinds_create(struct process *process);
void address_kinds_destroy(struct address_kinds *pointers);

/* API_MEMORY_..., UNKNOWN if no allocation that lived at that tick holds the address. */
uint32_t address_kinds_find(const struct address_kinds *pointers, uint64_t address, uint64_t tick);

#endif
