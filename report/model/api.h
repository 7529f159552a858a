/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of CUDA and CUPTI that streams hand through, and what to call them. */
#ifndef REPORT_MODEL_API_H
#define REPORT_MODEL_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "runtime", "driver", "thread", "nccl", or "other". Index: enum gprof_api. */
const char *api_name(uint32_t api);

/* False also for "not ready", which is an answer. */
bool api_is_failure(uint64_t result);

/* Of CUPTI's copy kinds: "HtoD" ..., "copy" if unknown; and as nsys says it, "Host-to-Device". */
const char *api_copy_name(uint32_t copy_kind);
const char *api_copy_long_name(uint32_t copy_kind);

/* Of CUPTI's memory kinds: "Pageable", "Pinned", "Device" ..., "Unknown". */
const char *api_memory_name(uint32_t memory_kind);

/*
 * Other names, of traces of other devices: gives a kind of memory from API_OTHER on that
 * api_memory_name knows; the same for the same text, 0 if there are too many or it is too long.
 * is_whole: it is the name of the whole copy or set, which then stands as a kind of copy, or as the
 * memory of a set.
 */
uint32_t api_add_name(const char *text, size_t nr_bytes, bool is_whole);

/* The text of a kind of copy or memory that was added as a whole name, else NULL. */
const char *api_whole_name(uint32_t kind);

/* Of CUPTI's synchronisation types: "Stream Sync" ... */
const char *api_sync_name(uint32_t type);

/* Of CUPTI's overhead kinds: "Buffer Flush" ... */
const char *api_overhead_name(uint32_t kind);

enum {
	API_COPY_HTOD = 1,
	API_COPY_DTOH = 2,
	API_COPY_DTOD = 8,
	API_COPY_HTOH = 9,
	API_COPY_PTOP = 10,
	API_MEMORY_UNKNOWN = 0,
	API_MEMORY_PAGEABLE = 1,
	API_MEMORY_PINNED = 2,
	API_MEMORY_DEVICE = 3,
	API_MEMORY_ARRAY = 4,
	API_MEMORY_MANAGED = 5,
	API_SYNC_EVENT = 1,
	API_SYNC_STREAM_WAITS = 2,
	API_SYNC_STREAM = 3,
	API_OTHER = 128,
	API_MOST_MEMORY_NAME = 32, /* bytes */
	API_SYNC_CONTEXT = 4,
};

#endif
