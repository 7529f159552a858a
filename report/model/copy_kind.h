/* SPDX-License-Identifier: Apache-2.0 */
/* The `kind` of memcpy and memset rows: a packed copy kind, and the memory kind of an address. */
#ifndef REPORT_MODEL_COPY_KIND_H
#define REPORT_MODEL_COPY_KIND_H

#include <stdint.h>

#include "report/model/model.h"

enum {
	COPY_IS_ASYNC = 1u << 24,
	COPY_IS_HOST_CALL = 1u << 25, /* the times are those of the host call, not of the copy */
	COPY_IS_SET = 1u << 26,
	COPY_IS_OF_TRACE = 1u << 27, /* from a trace: has a name only, asynchronous or not */
	COPY_FLAGS = 0xffu << 24,    /* the flags, which the name does not show */
};

/*
 * copy_kind, source and target are CUPTI's numbers, see api.h. A memset has its memory as target.
 */
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

/* A call of a trace: the trace has neither direction nor bytes of it. */
static inline bool copy_is_bare(uint32_t kind)
{
	return (kind & COPY_IS_HOST_CALL) && (kind & COPY_IS_OF_TRACE);
}

/* The name as Kineto writes it: "Memcpy HtoD (Pinned -> Device)", "Memset (Device)". */
uint32_t copy_name(uint32_t kind);

/*
 * The memory kind of an address at a given time, from a replay of table api_alloc. It is for
 * processes without device records.
 */

struct address_kinds;

/*
 * The tick by which rows of table api_alloc are replayed: the end of a call that allocates, the
 * begin of one that frees. So a new owner of an address never precedes the free, whichever thread
 * was first.
 */
uint64_t address_kinds_tick(const struct batch *batch, uint32_t row);

/* Reads all allocations of the process. */
struct address_kinds *address_kinds_create(struct process *process);
void address_kinds_destroy(struct address_kinds *pointers);

/* API_MEMORY_..., or UNKNOWN if no allocation alive at that tick contains the address. */
uint32_t address_kinds_find(const struct address_kinds *pointers, uint64_t address, uint64_t tick);

#endif
