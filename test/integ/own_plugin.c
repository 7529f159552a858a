/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's own profiler plugin of NCCL, of versions 3 and 5. It wants collectives, network
 * transfers and channels of kernels, and sets its mask at the first communicator alone, as NVIDIA's
 * example does. It prints its events by type, their ends, and how often it got what it must never
 * get, such as a handle that it has not given. Under OWN_PLUGIN_BARE it has no contexts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/abi/nccl_profiler_abi.h"

enum { NR = 100000, MASK = NCCL_PROFILE_COLL | NCCL_PROFILE_PROXY_OP | NCCL_PROFILE_KERNEL_CH };

static struct {
	char handles[NR]; /* 1: given, 2: ended */
	uint32_t nr, ended, states, wrong, parents, comms;
	uint32_t types[32];
} state;

static void *own_context(void)
{
	return getenv("OWN_PLUGIN_BARE") ? NULL : &state.comms;
}

static int is_given(const void *handle)
{
	const char *at = handle;

	return at > state.handles && at < state.handles + NR && *at;
}

static nccl_profiler_result start(void *context, void **handle, struct nccl_event *event)
{
	uint64_t type = event->type.narrow | (uint64_t)event->type.wide % 0x10000;
	char *made = &state.handles[++state.nr % NR];

	state.wrong += context != own_context() || (event->parent && !is_given(event->parent));
	state.parents += event->parent != NULL;
	state.types[__builtin_ctzll(type)]++;
	*made = 1;
	*handle = made;
	return 0;
}

static nccl_profiler_result stop(void *handle)
{
	state.wrong += !is_given(handle) || *(char *)handle != 1;
	state.ended++;
	if (is_given(handle)) {
		*(char *)handle = 2;
	}
	return 0;
}

static nccl_profiler_result record(
	void *handle, int changed, const union nccl_event_state *arguments)
{
	(void)arguments;
	state.wrong += !is_given(handle) || changed <= 0;
	state.states++;
	return 0;
}

static nccl_profiler_result finalize(void *context)
{
	state.wrong += context != &state.comms; /* NCCL finalizes none without a context */
	if (--state.comms == 0) {
		printf("theirs: group %u coll %u p2p %u transfer %u step %u kernel %u api %u, "
		       "ended %u, "
		       "states %u, parents %u, wrong %u\n",
			state.types[0], state.types[1], state.types[2], state.types[3],
			state.types[4], state.types[6], state.types[9], state.ended, state.states,
			state.parents, state.wrong);
	}
	return 0;
}

static nccl_profiler_result init(void **context, int *mask)
{
	*context = own_context();
	if (!state.comms++) {
		*mask = MASK;
	}
	return 0;
}

static nccl_profiler_result init_v5(void **context, uint64_t comm_hash, int *mask,
	const char *comm_name, int nr_nodes, int nr_ranks, int rank, nccl_logger *log)
{
	(void)comm_name;
	(void)log;
	state.wrong += comm_hash < 77 || nr_nodes != 1 || nr_ranks != 4 || rank != 1;
	return init(context, mask);
}

extern const struct nccl_profiler_v1 ncclProfiler_v3;
extern const struct nccl_profiler_v5 ncclProfiler_v5;
const struct nccl_profiler_v1 ncclProfiler_v3 = {"theirs", init, start, stop, record, finalize};
const struct nccl_profiler_v5 ncclProfiler_v5 = {"theirs", init_v5, start, stop, record, finalize};
