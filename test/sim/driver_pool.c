/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools. A pool is no more than its settings: memory comes from the device all the same. */
#include "test/sim/api.h"
#include "test/sim/model.h"

#include <stdlib.h>
#include <string.h>

struct pool {
	uint64_t attributes[16];
};

static struct pool default_pools[SIM_MAX_DEVICES];
static struct pool *current_pools[SIM_MAX_DEVICES];

int sim_pool_default(void **pool, int device)
{
	if (!pool || !sim_device(device)) {
		return pool ? SIM_INVALID_DEVICE : SIM_INVALID_VALUE;
	}
	*pool = &default_pools[device];
	return SIM_OK;
}

int sim_pool_current(void **pool, int device)
{
	int r = sim_pool_default(pool, device);

	if (r == SIM_OK && current_pools[device]) {
		*pool = current_pools[device];
	}
	return r;
}

int sim_pool_set(void *pool, int device)
{
	if (!sim_device(device)) {
		return SIM_INVALID_DEVICE;
	}
	current_pools[device] = pool;
	return SIM_OK;
}

int sim_pool_create(void **pool)
{
	if (!pool) {
		return SIM_INVALID_VALUE;
	}
	*pool = calloc(1, sizeof(struct pool));
	return *pool ? SIM_OK : SIM_OUT_OF_MEMORY;
}

int sim_pool_destroy(void *pool)
{
	for (size_t i = 0; i < SIM_MAX_DEVICES; i++) {
		if (pool == &default_pools[i]) {
			return SIM_INVALID_VALUE;
		}
		current_pools[i] = current_pools[i] == pool ? NULL : current_pools[i];
	}
	free(pool);
	return pool ? SIM_OK : SIM_INVALID_VALUE;
}

/* Attributes 1 to 3 are int, the rest 64 bits. */
int sim_pool_attribute(void *pool, int attribute, void *value, bool is_set)
{
	struct pool *p = pool;

	if (!p || !value || attribute < 1 || attribute > 15) {
		return SIM_INVALID_VALUE;
	}
	uint64_t *kept = &p->attributes[attribute];

	memcpy(is_set ? (void *)kept : value, is_set ? value : (void *)kept,
		attribute <= 3 ? sizeof(int) : sizeof(uint64_t));
	return SIM_OK;
}

cu_result api_cuDeviceGetDefaultMemPool(cu_memory_pool *pool_out, cu_device device)
{
	return sim_pool_default(pool_out, device);
}

cu_result api_cuDeviceGetMemPool(cu_memory_pool *pool, cu_device device)
{
	return sim_pool_current(pool, device);
}

cu_result api_cuDeviceSetMemPool(cu_device device, cu_memory_pool pool)
{
	return sim_pool_set(pool, device);
}

cu_result api_cuMemPoolCreate(cu_memory_pool *pool, const cu_mem_pool_props *pool_props)
{
	return pool_props ? sim_pool_create(pool) : SIM_INVALID_VALUE;
}

cu_result api_cuMemPoolDestroy(cu_memory_pool pool)
{
	return sim_pool_destroy(pool);
}

cu_result api_cuMemPoolTrimTo(cu_memory_pool pool, size_t min_bytes_to_keep)
{
	(void)min_bytes_to_keep;
	return pool ? SIM_OK : SIM_INVALID_VALUE;
}

cu_result api_cuMemPoolSetAttribute(cu_memory_pool pool, cu_mem_pool_attribute attr, void *value)
{
	return sim_pool_attribute(pool, attr, value, true);
}

cu_result api_cuMemPoolGetAttribute(cu_memory_pool pool, cu_mem_pool_attribute attr, void *value)
{
	return sim_pool_attribute(pool, attr, value, false);
}

cu_result api_cuMemPoolSetAccess(
	cu_memory_pool pool, const cu_mem_access_desc *map, size_t nr_descs)
{
	return pool && (map || !nr_descs) ? SIM_OK : SIM_INVALID_VALUE;
}

cu_result api_cuMemAllocFromPoolAsync(
	cu_deviceptr *dptr, size_t bytesize, cu_memory_pool pool, cu_stream stream)
{
	return pool ? api_cuMemAllocAsync(dptr, bytesize, stream) : SIM_INVALID_VALUE;
}
