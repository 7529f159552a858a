/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What domains and registered strings are called, kept for forked children: they go on using the
 * handles, but have streams of their own. Any thread, no lock. Of the first 4,096, in 256 KB.
 */
#ifndef PRELOAD_NVTX_NVTX_NAMES_H
#define PRELOAD_NVTX_NVTX_NAMES_H

#include "preload/nvtx/nvtx_record.h"

struct nvtx_name {
	uint32_t domain, registered; /* registered is 0 for a domain */
	const char *bytes;
	uint32_t nr_bytes;
};

void nvtx_names_keep(uint32_t domain, uint32_t registered, const struct nvtx_text *text);

/* The next one from *place on, which begins at 0; false if there are no more. */
bool nvtx_names_next(uint32_t *place, struct nvtx_name *name);

#endif
