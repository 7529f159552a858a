/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's devices: choosing, properties, limits, peers. */
#include "test/sim/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cudart_error api_cudaGetDeviceCount(int *count)
{
	if (!count) {
		return SIM_INVALID_VALUE;
	}
	*count = runtime_model->device_count();
	return *count ? SIM_OK : SIM_NO_DEVICE;
}

cudart_error api_cudaSetDevice(int device)
{
	return runtime_model->set_device(device);
}

cudart_error api_cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
	(void)device_flags;
	(void)flags;
	return runtime_model->primary(device) ? SIM_OK : SIM_INVALID_DEVICE;
}

cudart_error api_cudaGetDevice(int *device)
{
	const struct sim_thread *t = runtime_model->thread();

	if (!device) {
		return SIM_INVALID_VALUE;
	}
	if (!runtime_model->device_count()) {
		return SIM_NO_DEVICE;
	}
	*device = t->depth && t->stack[t->depth - 1] ? t->stack[t->depth - 1]->device->index : 0;
	return SIM_OK;
}

cudart_error api_cudaDeviceReset(void)
{
	struct sim_context *c = runtime_model->context();

	return c ? runtime_model->device_sync() : SIM_NOT_INITIALIZED;
}

cudart_error api_cudaThreadExit(void)
{
	return api_cudaDeviceReset();
}

cudart_error api_cudaSetDeviceFlags(unsigned int flags)
{
	struct sim_context *c = runtime_model->context();

	if (!c) {
		return SIM_NOT_INITIALIZED;
	}
	c->flags = flags;
	return SIM_OK;
}

cudart_error api_cudaGetDeviceFlags(unsigned int *flags)
{
	struct sim_context *c = runtime_model->context();

	if (!c || !flags) {
		return c ? SIM_INVALID_VALUE : SIM_NOT_INITIALIZED;
	}
	*flags = c->flags;
	return SIM_OK;
}

/* Where the fields of cudaDeviceProp lie: before 13, three that 13 dropped come in between. */
struct field {
	uint16_t at_13, at_12;
	int16_t attribute; /* of cudaDeviceGetAttribute */
	uint8_t bytes;
};

static const struct field fields[] = {
	{296, 296, 8, 8},
	{304, 304, 12, 4},
	{308, 308, 10, 4},
	{312, 312, 11, 8},
	{320, 320, 1, 4},
	{324, 324, 2, 4},
	{328, 328, 3, 4},
	{332, 332, 4, 4},
	{336, 336, 5, 4},
	{340, 340, 6, 4},
	{344, 344, 7, 4},
	{0, 348, 13, 4},
	{352, 352, 9, 8},
	{360, 360, 75, 4},
	{364, 364, 76, 4},
	{368, 368, 14, 8},
	{0, 384, 15, 4},
	{384, 388, 16, 4},
	{392, 400, 19, 4},
	{560, 576, 31, 4},
	{564, 580, 32, 4},
	{568, 584, 33, 4},
	{584, 600, 40, 4},
	{588, 604, 41, 4},
	{592, 612, 37, 4},
	{596, 616, 38, 4},
	{604, 624, 39, 4},
	{608, 628, 78, 4},
	{624, 640, 81, 8},
	{632, 648, 82, 4},
	{636, 652, 83, 4},
	{656, 676, 89, 4},
	{668, 688, 95, 4},
	{672, 696, 97, 8},
	{688, 712, 106, 4},
	{720, 0, 115, 4},
	{704, 0, 99, 4},
};

static int properties(void *prop, int device, bool is_13)
{
	const struct sim_device *d = runtime_model->device(device);
	char *p = prop;

	if (!d || !p) {
		return d ? SIM_INVALID_VALUE : SIM_INVALID_DEVICE;
	}
	memset(p, 0, is_13 ? 1008 : 720);
	snprintf(p, 256, "%s", d->name);
	memcpy(p + 256, d->uuid, sizeof(d->uuid));
	memcpy(p + 288, &d->memory_bytes, 8);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct field *f = &fields[i];
		uint16_t at = is_13 ? f->at_13 : f->at_12;
		int value = 0;

		if (at) {
			uint64_t wide;

			runtime_model->device_attribute(&value, f->attribute, device);
			wide = (uint64_t)value;
			memcpy(p + at, &wide, f->bytes);
		}
	}
	return SIM_OK;
}

cudart_error api_cudaGetDeviceProperties(cudart_device_prop *prop, int device)
{
	return properties(prop, device, runtime_level >= 13000);
}

cudart_error api_cudaGetDeviceProperties_v2(cudart_device_prop *prop, int device)
{
	return properties(prop, device, runtime_level >= 13000);
}

cudart_error api_cudaChooseDevice(int *device, const cudart_device_prop *prop)
{
	if (!device || !prop) {
		return SIM_INVALID_VALUE;
	}
	*device = 0;
	return SIM_OK;
}

cudart_error api_cudaDeviceGetAttribute(int *value, cudart_device_attr attr, int device)
{
	return runtime_model->device_attribute(value, attr, device);
}

cudart_error api_cudaDeviceGetPCIBusId(char *pci_bus_id, int len, int device)
{
	if (!runtime_model->device(device) || !pci_bus_id || len < 13) {
		return SIM_INVALID_VALUE;
	}
	snprintf(pci_bus_id, (size_t)len, "0000:%02X:00.0", 0x18 + device);
	return SIM_OK;
}

cudart_error api_cudaDeviceGetByPCIBusId(int *device, const char *pci_bus_id)
{
	unsigned int domain, bus;

	if (!device || !pci_bus_id || sscanf(pci_bus_id, "%x:%x", &domain, &bus) != 2 ||
		!runtime_model->device((int)bus - 0x18)) {
		return SIM_INVALID_VALUE;
	}
	*device = (int)bus - 0x18;
	return SIM_OK;
}

static size_t limits[8] = {1024, 1048576, 8388608, 0, 2048, 128, 0, 0};

cudart_error api_cudaDeviceGetLimit(size_t *p_value, cudart_limit limit)
{
	if (!p_value || limit < 0 || limit >= 8) {
		return SIM_INVALID_VALUE;
	}
	*p_value = limits[limit];
	return SIM_OK;
}

cudart_error api_cudaDeviceSetLimit(cudart_limit limit, size_t value)
{
	if (limit < 0 || limit >= 8) {
		return SIM_INVALID_VALUE;
	}
	limits[limit] = value;
	return SIM_OK;
}

cudart_error api_cudaDeviceGetCacheConfig(cudart_func_cache *p_cache_config)
{
	*p_cache_config = 0;
	return SIM_OK;
}

cudart_error api_cudaDeviceSetCacheConfig(cudart_func_cache cache_config)
{
	return cache_config >= 0 && cache_config <= 3 ? SIM_OK : SIM_INVALID_VALUE;
}

cudart_error api_cudaDeviceGetStreamPriorityRange(int *least_priority, int *greatest_priority)
{
	if (least_priority) {
		*least_priority = 0;
	}
	if (greatest_priority) {
		*greatest_priority = -5;
	}
	return SIM_OK;
}

cudart_error api_cudaDeviceGetP2PAttribute(
	int *value, cudart_device_p2p_attr attr, int src_device, int dst_device)
{
	if (!value || !runtime_model->device(src_device) || !runtime_model->device(dst_device)) {
		return SIM_INVALID_VALUE;
	}
	*value = attr != 1 && src_device != dst_device;
	return SIM_OK;
}

cudart_error api_cudaDriverGetVersion(int *driver_version)
{
	if (!driver_version) {
		return SIM_INVALID_VALUE;
	}
	*driver_version = 13000;
	return SIM_OK;
}

cudart_error api_cudaRuntimeGetVersion(int *runtime_version)
{
	if (!runtime_version) {
		return SIM_INVALID_VALUE;
	}
	*runtime_version = runtime_level;
	return SIM_OK;
}

cudart_error api_cudaDeviceCanAccessPeer(int *can_access_peer, int device, int peer_device)
{
	if (!can_access_peer || !runtime_model->device(device) ||
		!runtime_model->device(peer_device)) {
		return SIM_INVALID_DEVICE;
	}
	*can_access_peer = device != peer_device;
	return SIM_OK;
}

cudart_error api_cudaDeviceEnablePeerAccess(int peer_device, unsigned int flags)
{
	return flags ? SIM_INVALID_VALUE : runtime_model->peer_enable(peer_device, true);
}

cudart_error api_cudaDeviceDisablePeerAccess(int peer_device)
{
	return runtime_model->peer_enable(peer_device, false);
}
