/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program linked with the driver: memory of every kind, an address range that grows as an
 * allocator's does, copies, sets, a launch, a captured graph.
 */
#include "test/prog/driver.h"

#define HOOK_RT(ret, name, params)
#define HOOK_DRV(ret, name, params)			ret name params;
#define HOOK(api, need, ret, name, params, args, facts) HOOK_##api(ret, name, params)
#define HOOK_MANUAL(api, need, ret, name, params, args)
#include "preload/hook/hooks.def"
cu_result cuMemGetAllocationGranularity(size_t *bytes, const void *prop, int option);

enum { N = 4096 };

/* A device allocation's properties, and access to it: the words that matter. */
static const int pinned_on_device_0[8] = {1, 0, 1, 0};
static const int read_write_on_device_0[3] = {1, 0, 3};

static void growing(void)
{
	cu_mem_generic_allocation_handle parts[2];
	size_t part = 0;
	cu_deviceptr range;
	int host[N], sum = 0;

	CHECK(cuMemGetAllocationGranularity(&part, pinned_on_device_0, 0));
	CHECK(cuMemAddressReserve(&range, part * 4, 0, 0, 0));
	for (int i = 0; i < 2; i++) {
		CHECK(cuMemCreate(&parts[i], part, pinned_on_device_0, 0));
		CHECK(cuMemMap(range + part * (size_t)i, part, 0, parts[i], 0));
		CHECK(cuMemSetAccess(range + part * (size_t)i, part, read_write_on_device_0, 1));
	}
	/* The last two integers of the first part and the first two of the second. */
	CHECK(cuMemsetD32_v2(range, 7, part / 4));
	CHECK(cuMemsetD32_v2(range + part, 9, part / 4));
	CHECK(cuMemcpyDtoH_v2(host, range + part - 8, 8));
	CHECK(cuMemcpyDtoH_v2(host + 2, range + part, 8));
	for (int i = 0; i < 4; i++) {
		sum += host[i];
	}
	printf("across the parts %d\n", sum);
	for (int i = 0; i < 2; i++) {
		CHECK(cuMemUnmap(range + part * (size_t)i, part));
		CHECK(cuMemRelease(parts[i]));
	}
	CHECK(cuMemAddressFree(range, part * 4));
}

static void launching(void)
{
	static const char image[] = ".version 8.0\n.visible .entry nothing(.param .u64 x)\n{\n}\n";
	cu_module module;
	cu_function function;
	cu_stream stream;
	cu_graph graph;
	cu_graph_exec exec;
	cu_event event;
	cu_deviceptr pooled, managed;
	void *pinned, *args[] = {&pooled};
	unsigned char byte = 0;

	CHECK(cuModuleLoadData(&module, image));
	CHECK(cuModuleGetFunction(&function, module, "nothing"));
	CHECK(cuStreamCreate(&stream, 1));
	CHECK(cuEventCreate(&event, 2));
	CHECK(cuMemAllocAsync(&pooled, N, stream));
	CHECK(cuMemAllocManaged(&managed, N, 1));
	CHECK(cuMemAllocHost_v2(&pinned, N));
	CHECK(cuMemsetD8Async(pooled, 0x42, N, stream));
	CHECK(cuMemcpyDtoHAsync_v2(pinned, pooled, N, stream));
	CHECK(cuStreamSynchronize(stream));
	byte = ((unsigned char *)pinned)[N - 1];
	CHECK(cuStreamBeginCapture_v2(stream, 0));
	CHECK(cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, stream, args, NULL));
	CHECK(cuMemcpyDtoDAsync_v2(managed, pooled, N, stream));
	CHECK(cuStreamEndCapture(stream, &graph));
	CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	CHECK(cuGraphLaunch(exec, stream));
	CHECK(cuEventRecord(event, stream));
	CHECK(cuEventSynchronize(event));
	printf("pinned %x managed %x query %d\n", byte, ((unsigned char *)(uintptr_t)managed)[1],
		cuStreamQuery(stream));
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuMemFreeAsync(pooled, stream));
	CHECK(cuMemFree_v2(managed));
	CHECK(cuMemFreeHost(pinned));
	CHECK(cuEventDestroy_v2(event));
	CHECK(cuStreamDestroy_v2(stream));
	CHECK(cuModuleUnload(module));
}

int main(void)
{
	cu_device device;
	cu_context context;
	char name[64] = "";

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDeviceGetName(name, sizeof(name), device));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	growing();
	launching();
	CHECK(cuCtxSynchronize());
	CHECK(cuDevicePrimaryCtxRelease_v2(device));
	return 0;
}
