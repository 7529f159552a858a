/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of CUDA and CUPTI that streams contain, and their names. */
#ifndef REPORT_MODEL_API_H
#define REPORT_MODEL_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "runtime", "driver", "thread", "nccl" or "other", by enum gprof_api. */
const char *api_name(uint32_t api);

/* False for "not ready" as well, which is an answer rather than an error. */
bool api_is_failure(uint64_t result);

/*
 * A copy kind of CUPTI: "HtoD" and so on, "copy" if unknown; the second as nsys names it,
 * "Host-to-Device".
 */
const char *api_copy_name(uint32_t copy_kind);
const char *api_copy_long_name(uint32_t copy_kind);

/* A memory kind of CUPTI: "Pageable", "Pinned", "Device" and so on, or "Unknown". */
const char *api_memory_name(uint32_t memory_kind);

/*
 * Adds a name from a trace of another device. Returns a memory kind from API_OTHER up that
 * api_memory_name knows, the same for equal texts; 0 if there are too many or the text is too long.
 *
 * is_whole: it names the whole copy or set, and then stands for a copy kind, or for the memory of a
 * set.
 */
uint32_t api_add_name(const char *text, size_t nr_bytes, bool is_whole);

/* The text of a kind that was added as a whole name, else NULL. */
const char *api_whole_name(uint32_t kind);

/* A synchronization type of CUPTI: "Stream Sync" and so on. */
const char *api_sync_name(uint32_t type);

/* An overhead kind of CUPTI: "Buffer Flush" and so on. */
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
	API_MAX_MEMORY_NAME = 32, /* bytes */
	API_SYNC_CONTEXT = 4,
};

#endif
