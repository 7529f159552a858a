/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real NCCL without a GPU: its adapter of an older version of the profiler interface. NCCL speaks
 * version 5 with itself (2.28), and getNcclProfiler_vN, a function that it does not export, turns a
 * plugin of version N into one of 5. So NCCL's own code reads the symbols of the plugin and makes
 * the events.
 *
 *	nccl_adapter LIBNCCL OFFSET VERSION
 *
 * OFFSET: of that function in the file, in hexadecimal.
 */
#include <link.h>
#include <unistd.h>

#include "test/nccl_host.h"

int cudaGetDeviceCount(int *nr);
int cudaDeviceSynchronize(void);

static struct nccl_host host;
static void *context;

static void *start(struct nccl_host_event *event, uint64_t type, void *parent)
{
	return nccl_host_start(&host, context, event, type, parent);
}

static void play(void)
{
	const struct nccl_host_op coll = {.sequence = 6,
		.function = "ReduceScatter",
		.count = 1000,
		.peer = 3,
		.datatype = "ncclFloat64",
		.nr_channels = 12,
		.nr_warps = 16,
		.algorithm = "NVLS_TREE",
		.protocol = "LL"};
	const struct nccl_host_op p2p = {.function = "Recv",
		.count = 10,
		.datatype = "ncclInt8",
		.peer = 2,
		.nr_channels = 4};
	struct nccl_host_event kernel = {.kernel = {.channel = 11, .gpu_ns = 500}};
	struct nccl_host_event transfer = {.transfer = {.pid = getpid(), .channel = 9, .peer = 2}};
	struct nccl_host_event step = {.step = {.step = 1}};
	void *parent = nccl_host_start_coll(&host, context, &coll, NULL), *handle, *inner;

	host.functions.stop(nccl_host_start_p2p(&host, context, &p2p, NULL));
	handle = start(&kernel, NCCL_PROFILE_KERNEL_CH, parent);
	nccl_host_change(&host, handle, NCCL_STATE_KERNEL_STOP, 1300);
	host.functions.stop(handle);
	handle = start(&transfer, NCCL_PROFILE_PROXY_OP, parent);
	inner = start(&step, NCCL_PROFILE_PROXY_STEP, handle);
	nccl_host_change(&host, inner, NCCL_STATE_RECV_WAIT, 1300);
	usleep(1000);
	nccl_host_change(&host, inner, NCCL_STATE_RECV_GPU_WAIT, 1300);
	host.functions.stop(inner);
	host.functions.stop(handle);
	host.functions.stop(parent);
}

int main(int argc, char **argv)
{
	void *nccl = argc > 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void *plugin = dlopen(getenv("NCCL_PROFILER_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
	const struct nccl_profiler_v5 *(*get)(void *library) = NULL, *adapter;
	struct link_map *map;
	int nr;

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
	host = (struct nccl_host){.version = 5, .plugin = adapter};
	nccl_host_init(&host, &context, 77, "real", 4, 1);
	memcpy(&host.functions, adapter, sizeof(host.functions)); /* init has completed them */
	for (int i = 0; i < 3000 && !nccl_host_mask(&host); i++) {
		usleep(10000);
	}
	play();
	host.functions.finalize(context);
	return 0;
}
