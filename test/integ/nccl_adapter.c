/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real NCCL without a GPU: its adapter of an older version of the profiler interface. NCCL speaks
 * version 5 with itself (2.28), and getNcclProfiler_vN, a function that it does not export, turns a
 * plugin of version N into one of 5. So NCCL's own code reads the symbols of the plugin and makes
 *the events.
 *
 *	nccl_adapter LIBNCCL OFFSET VERSION
 *
 * OFFSET: of that function in the file, in hexadecimal.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/abi/nccl_profiler_abi.h"

int cudaGetDeviceCount(int *nr);
int cudaDeviceSynchronize(void);

struct event {
	struct nccl_event head;
	union {
		struct nccl_event_coll_v4 coll;
		struct nccl_event_p2p_v4 p2p;
		struct nccl_event_proxy_op transfer;
		struct nccl_event_proxy_step step;
		struct nccl_event_kernel kernel;
		char room[256];
	};
};

static const struct nccl_profiler_v5 *adapter;
static void *context;

static void *start(struct event *event, uint64_t type, void *parent)
{
	void *handle = NULL;

	event->head.type.wide = type;
	event->head.parent = parent;
	adapter->start(context, &handle, &event->head);
	return handle;
}

static void play(void)
{
	struct event coll = {.coll = {.sequence = 6,
				     .function = "ReduceScatter",
				     .count = 1000,
				     .root = 3,
				     .datatype = "ncclFloat64",
				     .nr_channels = 12,
				     .nr_warps = 16,
				     .algorithm = "NVLS_TREE",
				     .protocol = "LL"}};
	struct event p2p = {.p2p = {.function = "Recv",
				    .count = 10,
				    .datatype = "ncclInt8",
				    .peer = 2,
				    .nr_channels = 4}};
	struct event kernel = {.kernel = {.channel = 11, .gpu_ns = 500}};
	struct event transfer = {.transfer = {.pid = getpid(), .channel = 9, .peer = 2}};
	struct event step = {.step = {.step = 1}};
	union nccl_event_state state = {.gpu_ns = 1300};
	void *parent = start(&coll, NCCL_PROFILE_COLL, NULL), *handle, *inner;

	adapter->stop(start(&p2p, NCCL_PROFILE_P2P, NULL));
	handle = start(&kernel, NCCL_PROFILE_KERNEL_CH, parent);
	adapter->record(handle, NCCL_STATE_KERNEL_STOP, &state);
	adapter->stop(handle);
	handle = start(&transfer, NCCL_PROFILE_PROXY_OP, parent);
	inner = start(&step, NCCL_PROFILE_PROXY_STEP, handle);
	adapter->record(inner, NCCL_STATE_RECV_WAIT, &state);
	usleep(1000);
	adapter->record(inner, NCCL_STATE_RECV_GPU_WAIT, &state);
	adapter->stop(inner);
	adapter->stop(handle);
	adapter->stop(parent);
}

int main(int argc, char **argv)
{
	void *nccl = argc > 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void *plugin = dlopen(getenv("NCCL_PROFILER_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
	const struct nccl_profiler_v5 *(*get)(void *library) = NULL;
	struct link_map *map;
	int mask = 0, nr;

	if (!nccl || dlinfo(nccl, RTLD_DI_LINKMAP, &map)) {
		printf("no NCCL: %s\n", dlerror());
		return 1;
	}
	cudaGetDeviceCount(&nr);
	cudaDeviceSynchronize();
	get = (const struct nccl_profiler_v5 *(*)(void *))(
		map->l_addr + strtoull(argv[2], NULL, 16));
	adapter = get(plugin);
	printf("%s\n", adapter ? adapter->name : "none");
	if (!adapter) {
		return 1;
	}
	adapter->init(&context, 77, &mask, "real", 1, 4, 1, NULL);
	for (int i = 0; i < 3000 && !__atomic_load_n(&mask, __ATOMIC_RELAXED); i++) {
		usleep(10000);
	}
	play();
	adapter->finalize(context);
	return 0;
}
