/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL reports its operations to its profiler plugin, which this library is. These functions write
 * them as rows of the tables nccl_op, nccl_channel and nccl_net. nccl_plugin.c has the plugin's
 * functions, which bring the versions of NCCL's interface into one form for these.
 *
 * Handles are numbers, not addresses: one that has ended, or that NCCL never got, finds nothing.
 * Most handles hold all that is needed. Only an event that lasts takes a slot of its communicator's
 * pool; nccl_profiler_open maps the pool.
 *
 * Any thread of NCCL may call them. They take no lock, and only nccl_profiler_open allocates.
 */
#ifndef PRELOAD_NCCL_NCCL_PROFILER_H
#define PRELOAD_NCCL_NCCL_PROFILER_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/abi/nccl_profiler_abi.h"

/* A communicator, as init describes it. */
struct nccl_profiled {
	int *mask;	   /* NCCL's, of the events that it sends; NULL: it has none */
	uintptr_t at;	   /* an address within NCCL's own communicator */
	uint64_t hash;	   /* 0: unknown */
	const char *name;  /* NULL: none */
	int32_t rank;	   /* -1: unknown */
	uint32_t nr_ranks; /* 0: unknown */
	uint8_t version;   /* of the interface */
};

/* An operation that begins. */
struct nccl_begun {
	uint64_t sequence;
	uint64_t hash; /* of its communicator; 0: as at its start */
	uint64_t count;
	int32_t peer;
	uint8_t kind, datatype, algorithm, protocol, channels, warps;
};

/* Handles; none is 0. */
typedef uint64_t nccl_handle;

/* A communicator is made; 0: it is not recorded. May map memory. */
nccl_handle nccl_profiler_open(const struct nccl_profiled *what);
void nccl_profiler_close(nccl_handle context);

/*
 * Each returns the handle for NCCL, 0 for none. context, parent: handles that NCCL has, or anything
 * else.
 */

/* The program calls an operation, on this thread. */
nccl_handle nccl_profiler_called(nccl_handle context, bool is_captured);

/* NCCL starts it, perhaps on another thread. parent: what nccl_profiler_called gave. */
nccl_handle nccl_profiler_began(
	nccl_handle context, nccl_handle parent, const struct nccl_begun *begun);

/* Its kernel begins on a channel. gpu_ns 0: unknown. */
nccl_handle nccl_profiler_kernel(
	nccl_handle context, nccl_handle parent, uint8_t channel, uint64_t gpu_ns);

/* Its transfers over the network on a channel. */
nccl_handle nccl_profiler_transfer(
	nccl_handle context, nccl_handle parent, const struct nccl_event_proxy_op *op);

/* One of them; transfer: what nccl_profiler_transfer gave. */
nccl_handle nccl_profiler_step(nccl_handle transfer, int step);

/* A request to the network for a step. */
nccl_handle nccl_profiler_request(nccl_handle step, const struct nccl_event_net *net);

/* bytes: of the transfer, or the GPU's time for the end of a kernel. */
void nccl_profiler_state(nccl_handle handle, int state, uint64_t number);
void nccl_profiler_stop(nccl_handle handle);

/*
 * Sets the mask of NCCL: the events that gprof records while a window is open, and those that the
 * program's own plugin wants. The drain thread calls it again and again.
 */
void nccl_profiler_set_enabled(bool is_wanted);

/* For a forked child: NCCL's communicators are the parent's. */
void nccl_profiler_forget(void);

#endif
