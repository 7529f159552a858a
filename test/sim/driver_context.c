/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's start, devices, contexts and peers, over the model. */
#include "test/sim/api.h"
#include "test/sim/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/sim/cupti_abi.h"

enum { DRIVER_VERSION = 13000, STACK_DEPTH = 16 };

cu_result api_cuInit(unsigned int flags)
{
	return flags ? SIM_INVALID_VALUE : sim_init();
}

cu_result api_cuDriverGetVersion(int *driver_version)
{
	if (!driver_version) {
		return SIM_INVALID_VALUE;
	}
	*driver_version = DRIVER_VERSION;
	return SIM_OK;
}

static int check_device(int device)
{
	if (!sim_is_initialized()) {
		return SIM_NOT_INITIALIZED;
	}
	return sim_device(device) ? SIM_OK : SIM_INVALID_DEVICE;
}

cu_result api_cuDeviceGet(cu_device *device, int ordinal)
{
	int r = check_device(ordinal);

	if (r == SIM_OK) {
		*device = ordinal;
	}
	return r;
}

cu_result api_cuDeviceGetCount(int *count)
{
	if (!sim_is_initialized()) {
		return SIM_NOT_INITIALIZED;
	}
	*count = sim_device_count();
	return SIM_OK;
}

cu_result api_cuDeviceGetName(char *name, int len, cu_device device)
{
	int r = check_device(device);

	if (r == SIM_OK) {
		snprintf(name, (size_t)len, "%s", sim_device(device)->name);
	}
	return r;
}

cu_result api_cuDeviceGetUuid_v2(cu_uuid *uuid, cu_device device)
{
	int r = check_device(device);

	if (r == SIM_OK) {
		memcpy(uuid->bytes, sim_device(device)->uuid, sizeof(uuid->bytes));
	}
	return r;
}

cu_result api_cuDeviceGetUuid(cu_uuid *uuid, cu_device device)
{
	return api_cuDeviceGetUuid_v2(uuid, device);
}

cu_result api_cuDeviceTotalMem_v2(size_t *bytes, cu_device device)
{
	int r = check_device(device);

	if (r == SIM_OK) {
		*bytes = sim_device(device)->memory_bytes;
	}
	return r;
}

cu_result api_cuDeviceGetAttribute(int *pi, cu_device_attribute attrib, cu_device device)
{
	int r = check_device(device);

	return r == SIM_OK ? sim_device_attribute(pi, attrib, device) : r;
}

cu_result api_cuDeviceGetPCIBusId(char *pci_bus_id, int len, cu_device device)
{
	int r = check_device(device);

	if (r == SIM_OK) {
		snprintf(pci_bus_id, (size_t)len, "0000:%02X:00.0", 0x18 + device);
	}
	return r;
}

cu_result api_cuDevicePrimaryCtxRetain(cu_context *pctx, cu_device device)
{
	int r = check_device(device);

	if (r == SIM_OK) {
		*pctx = sim_primary(device);
	}
	return r;
}

cu_result api_cuDevicePrimaryCtxRelease_v2(cu_device device)
{
	return check_device(device);
}

cu_result api_cuDevicePrimaryCtxReset_v2(cu_device device)
{
	return check_device(device);
}

cu_result api_cuDevicePrimaryCtxSetFlags_v2(cu_device device, unsigned int flags)
{
	int r = check_device(device);

	if (r == SIM_OK && sim_primary(device)) {
		sim_primary(device)->flags = flags;
	}
	return r;
}

cu_result api_cuDevicePrimaryCtxGetState(cu_device device, unsigned int *flags, int *active)
{
	int r = check_device(device);

	if (r == SIM_OK) {
		const struct sim_context *primary =
			__atomic_load_n(&sim_device(device)->primary, __ATOMIC_ACQUIRE);

		*flags = primary ? primary->flags : 0;
		*active = primary != NULL;
	}
	return r;
}

static int push(struct sim_context *c)
{
	struct sim_thread *t = sim_thread();

	if (!c || t->depth == STACK_DEPTH) {
		return SIM_INVALID_CONTEXT;
	}
	t->stack[t->depth++] = c;
	return SIM_OK;
}

cu_result api_cuCtxCreate_v2(cu_context *pctx, unsigned int flags, cu_device device)
{
	int r = check_device(device);
	struct sim_trace *trace = atomic_load(&sim_core.trace);

	if (r != SIM_OK) {
		return r;
	}
	struct sim_context *c = sim_context_create(sim_device(device), flags);

	if (!c) {
		return SIM_OUT_OF_MEMORY;
	}
	if (trace) {
		trace->resource(CUPTI_RESOURCE_CONTEXT_CREATED, c, c->legacy);
	}
	*pctx = c;
	return push(c);
}

cu_result api_cuCtxCreate_v4(cu_context *pctx, cu_ctx_create_params *ctx_create_params,
	unsigned int flags, cu_device device)
{
	(void)ctx_create_params;
	return api_cuCtxCreate_v2(pctx, flags, device);
}

cu_result api_cuCtxDestroy_v2(cu_context ctx)
{
	struct sim_context *c = ctx;
	struct sim_thread *t = sim_thread();
	struct sim_trace *trace = atomic_load(&sim_core.trace);

	if (!c || c->is_primary) {
		return SIM_INVALID_CONTEXT;
	}
	if (trace) {
		trace->resource(CUPTI_RESOURCE_CONTEXT_DESTROY_STARTING, c, c->legacy);
	}
	if (t->depth && t->stack[t->depth - 1] == c) {
		t->depth--;
	}
	/* Its streams may still be named by operations in flight; it stays until the process ends.
	 */
	return SIM_OK;
}

cu_result api_cuCtxPushCurrent_v2(cu_context ctx)
{
	return push(ctx);
}

cu_result api_cuCtxPopCurrent_v2(cu_context *pctx)
{
	struct sim_thread *t = sim_thread();

	if (!t->depth) {
		return SIM_INVALID_CONTEXT;
	}
	t->depth--;
	if (pctx) {
		*pctx = t->stack[t->depth];
	}
	return SIM_OK;
}

cu_result api_cuCtxSetCurrent(cu_context ctx)
{
	struct sim_thread *t = sim_thread();

	if (!sim_is_initialized()) {
		return SIM_NOT_INITIALIZED;
	}
	t->depth = t->depth ? t->depth : 1;
	t->stack[t->depth - 1] = ctx;
	return SIM_OK;
}

cu_result api_cuCtxGetCurrent(cu_context *pctx)
{
	struct sim_thread *t = sim_thread();

	if (sim_is_gone()) {
		return SIM_DEINITIALIZED;
	}
	if (!sim_is_initialized()) {
		return SIM_NOT_INITIALIZED;
	}
	*pctx = t->depth ? t->stack[t->depth - 1] : NULL;
	return SIM_OK;
}

cu_result api_cuCtxGetDevice(cu_device *device)
{
	struct sim_thread *t = sim_thread();

	if (!t->depth || !t->stack[t->depth - 1]) {
		return SIM_INVALID_CONTEXT;
	}
	*device = t->stack[t->depth - 1]->device->index;
	return SIM_OK;
}

SIM_EXPORT int cuCtxGetDevice_v2(int *device, void *context);

SIM_EXPORT int cuCtxGetDevice_v2(int *device, void *context)
{
	const struct sim_context *c = context;

	if (!c) {
		return api_cuCtxGetDevice(device);
	}
	*device = c->device->index;
	return SIM_OK;
}

cu_result api_cuCtxGetId(cu_context ctx, unsigned long long *ctx_id)
{
	struct sim_context *c = ctx ? ctx : sim_context();

	if (!c || !ctx_id) {
		return c ? SIM_INVALID_VALUE : SIM_INVALID_CONTEXT;
	}
	*ctx_id = c->uid;
	return SIM_OK;
}

cu_result api_cuCtxGetFlags(unsigned int *flags)
{
	struct sim_context *c = sim_context();

	if (!c || !flags) {
		return c ? SIM_INVALID_VALUE : SIM_INVALID_CONTEXT;
	}
	*flags = c->flags;
	return SIM_OK;
}

cu_result api_cuCtxGetStreamPriorityRange(int *least_priority, int *greatest_priority)
{
	if (least_priority) {
		*least_priority = 0;
	}
	if (greatest_priority) {
		*greatest_priority = -5;
	}
	return SIM_OK;
}

cu_result api_cuDeviceCanAccessPeer(int *can_access_peer, cu_device device, cu_device peer_dev)
{
	if (check_device(device) != SIM_OK || check_device(peer_dev) != SIM_OK) {
		return SIM_INVALID_DEVICE;
	}
	*can_access_peer = device != peer_dev;
	return SIM_OK;
}

cu_result api_cuCtxEnablePeerAccess(cu_context peer_context, unsigned int flags)
{
	struct sim_context *c = peer_context;

	return c && !flags ? sim_peer_enable(c->device->index, true) : SIM_INVALID_VALUE;
}

cu_result api_cuCtxDisablePeerAccess(cu_context peer_context)
{
	struct sim_context *c = peer_context;

	return c ? sim_peer_enable(c->device->index, false) : SIM_INVALID_VALUE;
}

cu_result api_cuIpcGetMemHandle(cu_ipc_mem_handle *p_handle, cu_deviceptr dptr)
{
	return sim_ipc_export((void *)(uintptr_t)dptr, p_handle->reserved);
}

cu_result api_cuIpcOpenMemHandle_v2(
	cu_deviceptr *pdptr, cu_ipc_mem_handle handle, unsigned int flags)
{
	void *p = NULL;
	int r = sim_ipc_import(&p, handle.reserved);

	(void)flags;
	*pdptr = (uintptr_t)p;
	return r;
}

cu_result api_cuIpcCloseMemHandle(cu_deviceptr dptr)
{
	return sim_ipc_close((void *)(uintptr_t)dptr);
}
