/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's own profiler plugin of NCCL, which NCCL would open without gprof. It gets all
 * events that it asks for. NCCL holds one handle for both plugins, the number of a pair. A pair
 * outlives its event, because NCCL passes handles as parents later; pairs are reused in turn.
 */
#ifndef PRELOAD_NCCL_NCCL_PLUGIN_NEXT_H
#define PRELOAD_NCCL_NCCL_PLUGIN_NEXT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/abi/nccl_profiler_abi.h"

/* Set by the constructor. */
extern enum nccl_plugin_role {
	NCCL_PLUGIN_UNNAMED, /* NCCL_PROFILER_PLUGIN does not name us: there are no symbols. */
	NCCL_PLUGIN_PASSES,  /* It names us, but this process is not recorded, or NCCL is not. */
	NCCL_PLUGIN_OURS,
} nccl_plugin_role;

/* The value of NCCL_PROFILER_PLUGIN before gprof took it; "" if there was none. */
extern char nccl_plugin_next_path[PATH_MAX + 1];

/* The events that the plugin wants. Like NCCL's own mask, it is one for all communicators. */
extern int nccl_plugin_next_mask;

struct nccl_pair {
	_Atomic uint64_t number; /* 0 before the first use */
	_Atomic uint8_t is_open; /* the event, or communicator, has not ended */
	uint8_t version;
	void *theirs;
	uint64_t ours;
};

/*
 * Opens the plugin if there is one, the first time. Returns true if it has this version of the
 * interface, or if there is none. The loader (dlsym) calls this.
 */
bool nccl_plugin_next_allows(int version);

/* The plugin in that version; NULL if there is none. */
const void *nccl_plugin_next(int version);

/* The mask now: the plugin may change it at any time. */
int nccl_plugin_next_wanted(void);

/* A pair that is open, NULL (and counted) if there is none; and its handle for NCCL. */
struct nccl_pair *nccl_pair_make(int version, uint64_t ours);
void *nccl_pair_handle(const struct nccl_pair *pair);

/* The pair of a handle; NULL for any other value. */
struct nccl_pair *nccl_pair_find(const void *handle);

/* Was it the handle of a pair that has been reused? */
bool nccl_pair_is_gone(const void *handle);

/* Ends it; false if it has ended before. */
bool nccl_pair_close(struct nccl_pair *pair);

/* Would NCCL send an event of that type to the plugin? */
bool nccl_plugin_next_wants(uint64_t type);

#endif
