/* SPDX-License-Identifier: Apache-2.0 */
/* How the rows of the memcpy and memset views pack what they are into `kind`. */
#ifndef REPORT_MODEL_COPY_KIND_H
#define REPORT_MODEL_COPY_KIND_H

#include <stdint.h>

#include "report/model/model.h"

enum {
	COPY_IS_ASYNC = 1u << 24,
	COPY_IS_HOST_CALL = 1u << 25, /* times of the host's call, not of the copy */
	COPY_IS_SET = 1u << 26,
	COPY_IS_OF_TRACE = 1u << 27, /* which has them by name alone, asynchronous or not */
	COPY_FLAGS = 0xffu << 24,    /* what the name does not tell */
};

/* copy_kind, source and target are CUPTI's numbers, see api.h. A set has its memory as target. */
static inline uint32_t copy_pack(uint32_t copy_kind, uint32_t source, uint32_t target)
{
	return (copy_kind & 0xffu) | (source & 0xffu) << 8 | (target & 0xffu) << 16;
}

static inline uint32_t copy_kind_of(uint32_t kind)
{
	return kind & 0xffu;
}

static inline uint32_t copy_source_of(uint32_t kind)
{
	return kind >> 8 & 0xffu;
}

static inline uint32_t copy_target_of(uint32_t kind)
{
	return kind >> 16 & 0xffu;
}

/* "yes", "no", or "?" where it is not known. */
const char *copy_async(uint32_t kind);

/* The name as Kineto has it: "Memcpy HtoD (Pinned -> Device)", "Memset (Device)". */
uint32_t copy_name(uint32_t kind);

/*
 * What kind of memory an address was at a moment, from the allocations that the host made: a replay
 * of table api_alloc. Used where no device records tell it.
 */

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
