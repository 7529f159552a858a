/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's own profiler plugin of NCCL, which would have been opened if gprof were not there:
 * it gets all events that it asks for. NCCL has one handle for both, the number of a pair. Pairs
 * are reused in turn, and last beyond the end of their event, since NCCL passes handles as parents
 * later.
 */
#ifndef PRELOAD_NCCL_NCCL_PLUGIN_NEXT_H
#define PRELOAD_NCCL_NCCL_PLUGIN_NEXT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/abi/nccl_profiler_abi.h"

/* Does NCCL_PROFILER_PLUGIN name us? Set by the constructor. */
extern bool nccl_plugin_is_ours;

/* What NCCL_PROFILER_PLUGIN named before gprof took it; "" if nothing. */
extern char nccl_plugin_next_path[PATH_MAX + 1];

struct nccl_pair {
	_Atomic uint64_t number; /* 0 before the first use */
	_Atomic uint8_t is_open; /* the event, or communicator, has not ended */
	uint8_t version;
	int mask; /* of a communicator: the events that the plugin wants */
	void *theirs;
	uint64_t ours;
};

/*
 * Opens the plugin if there is one, the first time. Is it good for this version of the interface,
 * or is there none at all? Called by the loader (dlsym).
 */
bool nccl_plugin_next_allows(int version);

/* The plugin in that version; NULL if there is none. */
const void *nccl_plugin_next(int version);

/* A pair that is open, NULL (and counted) if there is none; and its handle for NCCL. */
struct nccl_pair *nccl_pair_make(int version, void *theirs, uint64_t ours);
void *nccl_pair_handle(const struct nccl_pair *pair);

/* The pair of a handle; NULL for any other value. */
struct nccl_pair *nccl_pair_find(const void *handle);

/* Ends it; false if it has ended before. */
bool nccl_pair_close(struct nccl_pair *pair);

/* Would NCCL send an event of that type to a plugin with that mask? */
bool nccl_plugin_next_wants(uint64_t type, int mask);

#endif
