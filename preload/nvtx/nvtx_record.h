/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX's events as rows. Every range begin, range end and mark is one row of table nvtx; names are
 * in the row, domains and registered strings are ids that other rows define. Any thread; nothing
 * here blocks. Domain 0 is the domain of calls without one.
 */
#ifndef PRELOAD_NVTX_NVTX_RECORD_H
#define PRELOAD_NVTX_NVTX_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/abi/nvtx_abi.h"

struct nvtx_text {
	const char *bytes;
	size_t nr_bytes;
	bool is_cut;
	char buffer[256]; /* for names that come as wide characters */
};

/* Return `text`. */
struct nvtx_text *nvtx_text_of_narrow(struct nvtx_text *text, const char *name);
struct nvtx_text *nvtx_text_of_wide(struct nvtx_text *text, const wchar_t *name);

void nvtx_mark(uint32_t domain, const struct nvtx_attributes *attributes);

/* Return the depth of the thread's ranges, as NVTX wants it; -1 where nothing was pushed. */
int nvtx_push(uint32_t domain, const struct nvtx_attributes *attributes);
int nvtx_pop(uint32_t domain, const struct nvtx_payload_data *payloads, size_t nr_payloads);

/* theirs: the id that another tool has given the range, NULL if none has. Returns the range's id.
 */
uint64_t nvtx_start_range(
	uint32_t domain, const struct nvtx_attributes *attributes, const uint64_t *theirs);
void nvtx_end_range(uint32_t domain, uint64_t range, bool is_theirs);

/* Definitions are kept also while nothing is recorded. The first two return the new id. */
uint32_t nvtx_create_domain(const struct nvtx_text *text);
uint32_t nvtx_register_string(uint32_t domain, const struct nvtx_text *text);
void nvtx_register_schema(uint32_t domain, const struct nvtx_schema *schema);
void nvtx_name_category(uint32_t domain, uint32_t category, const struct nvtx_text *text);
void nvtx_name_thread(uint32_t tid, const struct nvtx_text *text);

/* In a forked child, whose stream is new; handles keep their meaning. */
void nvtx_forget(void);

#endif
