/* SPDX-License-Identifier: Apache-2.0 */
/* The functions behind init are in the same places in all versions of the interface. */
#include "test/sim/nccl_plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/abi/nccl_profiler_abi.h"
#include "test/sim/nccl_comm.h"

enum { NR_CHANNELS = 2, NR_STEPS = 2 };

static const char *const names[NCCL_KINDS] = {"AllReduce", "Reduce", "Broadcast", "AllGather",
	"ReduceScatter", "AlltoAll", "Gather", "Scatter", "Send", "Recv"};

/* Of version 1. */
static const uint8_t numbers[NCCL_KINDS] = {4, 1, 0, 2, 3, 5, 5, 5, 6, 7};

static struct {
	pthread_once_t once;
	int version;
	const void *plugin;
	struct nccl_profiler_v1 functions;
	int mask;
} state = {.once = PTHREAD_ONCE_INIT};

struct event {
	struct nccl_event head;
	union {
		struct nccl_event_coll_v1 coll1;
		struct nccl_event_coll_v2 coll2;
		struct nccl_event_coll_v3 coll3;
		struct nccl_event_coll_v4 coll4;
		struct nccl_event_p2p_v1 p2p1;
		struct nccl_event_p2p_v2 p2p2;
		struct nccl_event_p2p_v4 p2p4;
		struct nccl_event_proxy_op transfer;
		struct nccl_event_proxy_step step;
		struct nccl_event_kernel kernel;
		char room[256];
	};
};

static void find(void)
{
	const char *version = getenv("SIM_NCCL_PROFILER"), *path = getenv("NCCL_PROFILER_PLUGIN");
	void *library = version && path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	char name[32];

	if (!library) {
		return;
	}
	state.version = atoi(version);
	snprintf(name, sizeof(name), "ncclProfiler_v%d", state.version);
	state.plugin = dlsym(library, name);
	if (state.plugin) {
		memcpy(&state.functions, state.plugin, sizeof(state.functions));
	}
}

void nccl_plugin_open(struct nccl_comm *comm)
{
	const struct nccl_profiler_v1 *v1;
	const struct nccl_profiler_v4 *v4;
	const struct nccl_profiler_v5 *v5;
	int nr_ranks = comm->clique->nr_ranks;

	pthread_once(&state.once, find);
	v1 = state.plugin;
	v4 = state.plugin;
	v5 = state.plugin;
	if (!state.plugin) {
		return;
	}
	if (state.version < 4) {
		v1->init(&comm->profiler, &state.mask);
	} else if (state.version == 4) {
		v4->init(&comm->profiler, &state.mask, "simulated", nccl_comm_hash(comm), 1,
			nr_ranks, comm->rank, NULL);
	} else {
		v5->init(&comm->profiler, nccl_comm_hash(comm), &state.mask, "simulated", 1,
			nr_ranks, comm->rank, NULL);
	}
}

void nccl_plugin_close(struct nccl_comm *comm)
{
	if (comm->profiler) {
		state.functions.finalize(comm->profiler);
	}
}

static void *start(struct nccl_comm *comm, struct event *event, uint64_t type, void *parent)
{
	void *handle = NULL;

	if (state.version < 5) {
		event->head.type.narrow = (uint8_t)type;
	} else {
		event->head.type.wide = type;
	}
	event->head.parent = parent;
	event->head.rank = comm->rank;
	state.functions.start(comm->profiler, &handle, &event->head);
	return handle;
}

static void change(void *handle, int to, uint64_t number)
{
	union nccl_event_state arguments = {.gpu_ns = number};

	state.functions.record(handle, to, &arguments);
}

static bool is_on(const struct nccl_op *op)
{
	return op->comm->profiler && __atomic_load_n(&state.mask, __ATOMIC_RELAXED);
}

void nccl_plugin_called(struct nccl_op *op)
{
	struct event event = {0};

	if (is_on(op) && state.version >= 5) {
		op->called = start(op->comm, &event,
			op->kind >= NCCL_SEND ? NCCL_PROFILE_P2P_API : NCCL_PROFILE_COLL_API, NULL);
		state.functions.stop(op->called);
	}
}

static void *start_coll(struct nccl_op *op)
{
	uint64_t sequence = op->comm->sequences[op->kind]++, hash = nccl_comm_hash(op->comm);
	struct event event = {0};

#define COLL(e)                                                                          \
	(e).sequence = sequence, (e).function = names[op->kind], (e).count = op->count,  \
	(e).root = op->peer, (e).datatype = op->type == 7 ? "ncclFloat32" : "ncclInt32", \
	(e).nr_channels = NR_CHANNELS, (e).algorithm = op->count > 1 ? "RING" : "TREE",  \
	(e).protocol = "SIMPLE"
	switch (state.version) {
	case 1:
		event.coll1 = (struct nccl_event_coll_v1){.sequence = sequence,
			.comm_hash = hash,
			.function = numbers[op->kind],
			.count = op->count,
			.root = op->peer,
			.datatype = (uint8_t)op->type,
			.nr_channels = NR_CHANNELS,
			.algorithm = 1,
			.protocol = 2};
		break;
	case 2:
		COLL(event.coll2);
		event.coll2.comm_hash = hash;
		break;
	case 3:
		COLL(event.coll3);
		event.coll3.comm_hash = hash;
		break;
	default:
		COLL(event.coll4);
	}
	return start(op->comm, &event, NCCL_PROFILE_COLL, op->called);
}

static void *start_p2p(struct nccl_op *op)
{
	struct event event = {0};

	if (state.version < 4) {
		event.p2p2 = (struct nccl_event_p2p_v2){.comm_hash = nccl_comm_hash(op->comm),
			.function = names[op->kind],
			.datatype = "ncclFloat32",
			.count = op->count,
			.peer = op->peer};
	} else {
		event.p2p4 = (struct nccl_event_p2p_v4){.function = names[op->kind],
			.datatype = "ncclFloat32",
			.count = op->count,
			.peer = op->peer,
			.nr_channels = NR_CHANNELS};
	}
	if (state.version == 1) {
		memset(&event, 0, sizeof(event));
		event.p2p1 = (struct nccl_event_p2p_v1){.comm_hash = nccl_comm_hash(op->comm),
			.function = numbers[op->kind],
			.datatype = (uint8_t)op->type,
			.count = op->count,
			.peer = op->peer};
	}
	return start(op->comm, &event, NCCL_PROFILE_P2P, op->called);
}

static void play_channel(struct nccl_comm *comm, void *parent, int channel)
{
	struct event kernel = {.kernel = {.channel = (uint8_t)channel, .gpu_ns = 1000}};
	struct event transfer = {.transfer = {.pid = getpid(),
					 .channel = (uint8_t)channel,
					 .peer = (comm->rank + 1) % comm->clique->nr_ranks,
					 .nr_steps = NR_STEPS,
					 .is_send = 1}};
	void *handle;

	if (__atomic_load_n(&state.mask, __ATOMIC_RELAXED) & NCCL_PROFILE_KERNEL_CH) {
		handle = start(comm, &kernel, NCCL_PROFILE_KERNEL_CH, parent);
		change(handle, NCCL_STATE_KERNEL_STOP, 3000);
		state.functions.stop(handle);
	}
	handle = start(comm, &transfer, NCCL_PROFILE_PROXY_OP, parent);
	for (int i = 0; i < NR_STEPS; i++) {
		struct event event = {.step = {.step = i}};
		void *step = start(comm, &event, NCCL_PROFILE_PROXY_STEP, handle);

		change(step, NCCL_STATE_SEND_GPU_WAIT, 0);
		change(step, NCCL_STATE_SEND_PEER_WAIT, 0);
		change(step, NCCL_STATE_SEND_WAIT, 512);
		state.functions.stop(step);
	}
	state.functions.stop(handle);
}

void nccl_plugin_launched(struct nccl_op *op)
{
	void *handle;

	if (!is_on(op)) {
		return;
	}
	handle = op->kind >= NCCL_SEND ? start_p2p(op) : start_coll(op);
	state.functions.stop(handle);
	for (int i = 0; handle && i < NR_CHANNELS; i++) {
		play_channel(op->comm, handle, i);
	}
}
