/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's virtual memory: physical allocations are anonymous files, address ranges are
 * reserved without access, and mapping puts one into the other.
 */
#include "test/sim/api.h"
#include "test/sim/model.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PHYSICAL_MAGIC 0x70687973u

enum { GRANULARITY = 2 << 20 };

struct physical {
	uint32_t magic;
	int fd;
	size_t bytes;
	struct sim_device *device;
};

SIM_EXPORT int cuMemGetAllocationGranularity(size_t *bytes, const void *prop, int option);

SIM_EXPORT int cuMemGetAllocationGranularity(size_t *bytes, const void *prop, int option)
{
	(void)option;
	if (!bytes || !prop) {
		return SIM_INVALID_VALUE;
	}
	*bytes = GRANULARITY;
	return SIM_OK;
}

cu_result api_cuMemCreate(cu_mem_generic_allocation_handle *handle, size_t size,
	const cu_mem_allocation_prop *prop, unsigned long long flags)
{
	/* The location's device number is the fourth word. */
	const int *words = prop;
	struct sim_device *d = prop && sim_is_initialized() ? sim_device(words[3]) : NULL;

	if (!handle || !d || flags || !size || size % GRANULARITY) {
		return SIM_INVALID_VALUE;
	}
	struct physical *p = calloc(1, sizeof(*p));
	int fd = p ? memfd_create("simulated-device-memory", MFD_CLOEXEC) : -1;

	if (fd < 0 || ftruncate(fd, (off_t)size) != 0) {
		if (fd >= 0) {
			close(fd);
		}
		free(p);
		return SIM_OUT_OF_MEMORY;
	}
	p->magic = PHYSICAL_MAGIC;
	p->fd = fd;
	p->bytes = size;
	p->device = d;
	pthread_mutex_lock(&sim_lock);
	d->used_bytes += size;
	pthread_mutex_unlock(&sim_lock);
	*handle = (uintptr_t)p;
	return SIM_OK;
}

static struct physical *physical_of(cu_mem_generic_allocation_handle handle)
{
	struct physical *p = (struct physical *)(uintptr_t)handle;

	return p && p->magic == PHYSICAL_MAGIC ? p : NULL;
}

/* What is mapped stays mapped: the file lives as long as its mappings. */
cu_result api_cuMemRelease(cu_mem_generic_allocation_handle handle)
{
	struct physical *p = physical_of(handle);

	if (!p) {
		return SIM_INVALID_VALUE;
	}
	pthread_mutex_lock(&sim_lock);
	p->device->used_bytes -= p->bytes;
	pthread_mutex_unlock(&sim_lock);
	close(p->fd);
	p->magic = 0;
	free(p);
	return SIM_OK;
}

cu_result api_cuMemAddressReserve(cu_deviceptr *ptr, size_t size, size_t alignment,
	cu_deviceptr addr, unsigned long long flags)
{
	size_t align = alignment > GRANULARITY ? alignment : GRANULARITY;

	if (!ptr || !size || size % GRANULARITY || flags) {
		return SIM_INVALID_VALUE;
	}
	char *p = mmap((void *)(uintptr_t)addr, size + align, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		return SIM_OUT_OF_MEMORY;
	}
	char *start = (char *)(((uintptr_t)p + align - 1) / align * align);

	/* Give back what alignment cost, on both sides. */
	if (start > p) {
		munmap(p, (size_t)(start - p));
	}
	if (start + size < p + size + align) {
		munmap(start + size, (size_t)(p + align - start));
	}
	*ptr = (uintptr_t)start;
	return SIM_OK;
}

cu_result api_cuMemAddressFree(cu_deviceptr ptr, size_t size)
{
	return munmap((void *)(uintptr_t)ptr, size) == 0 ? SIM_OK : SIM_INVALID_VALUE;
}

cu_result api_cuMemMap(cu_deviceptr ptr, size_t size, size_t offset,
	cu_mem_generic_allocation_handle handle, unsigned long long flags)
{
	struct physical *p = physical_of(handle);

	if (!p || flags || offset % GRANULARITY || offset > p->bytes || size > p->bytes - offset) {
		return SIM_INVALID_VALUE;
	}
	void *at = mmap((void *)(uintptr_t)ptr, size, PROT_NONE, MAP_SHARED | MAP_FIXED, p->fd,
		(off_t)offset);

	if (at == MAP_FAILED) {
		return SIM_INVALID_VALUE;
	}
	sim_static_register(at, size, SIM_DEVICE);
	return SIM_OK;
}

cu_result api_cuMemSetAccess(
	cu_deviceptr ptr, size_t size, const cu_mem_access_desc *desc, size_t nr_descs)
{
	if (!desc || !nr_descs) {
		return SIM_INVALID_VALUE;
	}
	return mprotect((void *)(uintptr_t)ptr, size, PROT_READ | PROT_WRITE) == 0
		       ? SIM_OK
		       : SIM_INVALID_VALUE;
}

cu_result api_cuMemUnmap(cu_deviceptr ptr, size_t size)
{
	struct sim_context *c = sim_context();

	if (!c) {
		return SIM_NOT_INITIALIZED;
	}
	pthread_mutex_lock(&sim_lock);
	uint64_t tail = sim_device_drain_locked(c->device);

	pthread_mutex_unlock(&sim_lock);
	sim_wait_until(tail);
	if (!sim_static_unregister((void *)(uintptr_t)ptr)) {
		return SIM_INVALID_VALUE;
	}
	void *at = mmap((void *)(uintptr_t)ptr, size, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

	return at == MAP_FAILED ? SIM_INVALID_VALUE : SIM_OK;
}
