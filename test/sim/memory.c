/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: every kind of it is host memory, kept in a sorted table of ranges, so that an address
 * tells what it is. Device memory comes in pages of its own, which sharing between processes needs.
 */
#include "test/sim/model.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct range {
	uintptr_t base;
	size_t bytes;
	size_t mapped_bytes; /* 0: not ours to unmap */
	int space;	     /* enum sim_space */
	int device;
	bool is_pool;
	bool is_imported;
};

static struct {
	pthread_rwlock_t lock;
	struct range *of; /* by base */
	size_t nr, capacity;
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* Index of the first range whose base is above @address. */
static size_t upper_bound(uintptr_t address)
{
	size_t low = 0, high = table.nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (table.of[middle].base <= address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static int table_add(const struct range *r)
{
	pthread_rwlock_wrlock(&table.lock);
	if (table.nr == table.capacity) {
		size_t capacity = table.capacity ? table.capacity * 2 : 64;
		struct range *of = realloc(table.of, capacity * sizeof(*of));

		if (!of) {
			pthread_rwlock_unlock(&table.lock);
			return SIM_OUT_OF_MEMORY;
		}
		table.of = of;
		table.capacity = capacity;
	}
	size_t i = upper_bound(r->base);

	memmove(&table.of[i + 1], &table.of[i], (table.nr - i) * sizeof(*r));
	table.of[i] = *r;
	table.nr++;
	pthread_rwlock_unlock(&table.lock);
	return SIM_OK;
}

static bool table_find(const void *address, struct range *out)
{
	uintptr_t a = (uintptr_t)address;
	bool is_found = false;

	pthread_rwlock_rdlock(&table.lock);
	size_t i = upper_bound(a);

	if (i > 0 && a - table.of[i - 1].base < table.of[i - 1].bytes) {
		*out = table.of[i - 1];
		is_found = true;
	}
	pthread_rwlock_unlock(&table.lock);
	return is_found;
}

/* Removes the range that begins exactly at @address and has this pinnedness. */
static bool table_take(const void *address, bool is_host, struct range *out)
{
	bool is_found = false;

	pthread_rwlock_wrlock(&table.lock);
	size_t i = upper_bound((uintptr_t)address);

	if (i > 0 && table.of[i - 1].base == (uintptr_t)address &&
		(table.of[i - 1].space == SIM_PINNED) == is_host) {
		*out = table.of[i - 1];
		memmove(&table.of[i - 1], &table.of[i], (table.nr - i) * sizeof(*out));
		table.nr--;
		is_found = true;
	}
	pthread_rwlock_unlock(&table.lock);
	return is_found;
}

static void report(const struct range *r, struct sim_stream *stream, bool is_release, bool is_async)
{
	struct sim_op op = {.kind = SIM_OP_MEMORY, .stream = stream};

	op.start_ns = op.end_ns = sim_now();
	op.address = r->base;
	op.bytes = r->bytes;
	op.src_kind = (uint8_t)r->space;
	op.is_async = is_async;
	op.is_release = is_release;
	sim_op_identify(&op);
	sim_report(&op);
}

static bool account(struct sim_device *d, size_t bytes)
{
	bool is_room;

	pthread_mutex_lock(&sim_lock);
	is_room = d->memory_bytes - d->used_bytes >= bytes;
	if (is_room) {
		d->used_bytes += bytes;
	}
	pthread_mutex_unlock(&sim_lock);
	return is_room;
}

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int sim_alloc(void **out, size_t bytes, int space, bool is_async, void *stream)
{
	struct sim_stream *s = sim_resolve(stream);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct range r = {.bytes = bytes, .space = space, .is_pool = is_async};

	if (!s) {
		return sim_context() ? SIM_INVALID_HANDLE : SIM_NOT_INITIALIZED;
	}
	if (!out) {
		return SIM_INVALID_VALUE;
	}
	*out = NULL;
	if (bytes == 0) {
		return SIM_OK;
	}
	struct sim_device *d = s->context->device;

	if (bytes > SIZE_MAX - page || (space != SIM_PINNED && !account(d, bytes))) {
		return SIM_OUT_OF_MEMORY;
	}
	r.device = d->index;
	r.mapped_bytes = (bytes + page - 1) / page * page;
	void *p = map(r.mapped_bytes);

	r.base = (uintptr_t)p;
	if (!p || table_add(&r) != SIM_OK) {
		return SIM_OUT_OF_MEMORY;
	}
	*out = p;
	report(&r, s, false, is_async);
	return SIM_OK;
}

static void give_back(const struct range *r)
{
	if (r->mapped_bytes) {
		munmap((void *)r->base, r->mapped_bytes);
	}
	if (r->space != SIM_PINNED && !r->is_imported) {
		pthread_mutex_lock(&sim_lock);
		sim_device(r->device)->used_bytes -= r->bytes;
		pthread_mutex_unlock(&sim_lock);
	}
}

static void give_back_in_order(void *data)
{
	give_back(data);
	free(data);
}

/* The asynchronous form returns at once; the memory goes when the stream gets there. */
static int release_async(const struct range *r, struct sim_stream *stream)
{
	struct range *copy = malloc(sizeof(*copy));

	if (!copy) {
		return SIM_OUT_OF_MEMORY;
	}
	*copy = *r;
	report(r, stream, true, true);
	return sim_host_func(stream, give_back_in_order, copy);
}

int sim_release(void *address, int space, bool is_async, void *stream)
{
	struct sim_stream *s = sim_resolve(stream);
	struct range r;
	bool is_busy;

	if (!s) {
		return SIM_INVALID_HANDLE;
	}
	if (!address) {
		return SIM_OK;
	}
	pthread_mutex_lock(&sim_lock);
	is_busy = s->nr_pending > 0;
	/* Freeing waits for the device, as the real one does. */
	uint64_t tail = is_async ? 0 : sim_device_drain_locked(s->context->device);

	pthread_mutex_unlock(&sim_lock);
	sim_wait_until(tail);
	if (!table_take(address, space == SIM_PINNED, &r)) {
		return SIM_INVALID_VALUE;
	}
	if (is_async && is_busy) {
		return release_async(&r, s);
	}
	give_back(&r);
	report(&r, s, true, is_async);
	return SIM_OK;
}

int sim_host_register(void *address, size_t bytes)
{
	struct range old, r = {.base = (uintptr_t)address, .bytes = bytes, .space = SIM_PINNED};
	struct sim_stream *s = sim_resolve(NULL);

	if (!s) {
		return SIM_NOT_INITIALIZED;
	}
	if (!address || !bytes) {
		return SIM_INVALID_VALUE;
	}
	if (table_find(address, &old)) {
		return SIM_HOST_ALREADY_REGISTERED;
	}
	int code = table_add(&r);

	if (code == SIM_OK) {
		report(&r, s, false, false);
	}
	return code;
}

int sim_host_unregister(void *address)
{
	struct range r;
	struct sim_stream *s = sim_resolve(NULL);

	if (!s || !table_take(address, true, &r)) {
		return s ? SIM_HOST_NOT_REGISTERED : SIM_NOT_INITIALIZED;
	}
	report(&r, s, true, false);
	return SIM_OK;
}

void sim_static_register(void *address, size_t bytes, int space)
{
	struct range r = {.base = (uintptr_t)address, .bytes = bytes, .space = space};

	table_add(&r);
}

bool sim_static_unregister(void *address)
{
	struct range r;

	return table_take(address, false, &r);
}

int sim_space_of(const void *address, int *device, void **base, size_t *bytes)
{
	struct range r;

	if (!table_find(address, &r)) {
		return SIM_PAGEABLE;
	}
	if (device) {
		*device = r.device;
	}
	if (base) {
		*base = (void *)r.base;
	}
	if (bytes) {
		*bytes = r.bytes;
	}
	return r.space;
}

int sim_array_create(struct sim_array **out, const cudart_channel_format_desc *desc, size_t width,
	size_t height, size_t depth)
{
	struct sim_array *a = calloc(1, sizeof(*a));
	int code = a ? SIM_OK : SIM_OUT_OF_MEMORY;

	if (a) {
		a->magic = SIM_ARRAY_MAGIC;
		a->desc = *desc;
		a->element_bytes = (size_t)(desc->x + desc->y + desc->z + desc->w) / 8;
		a->width = width;
		a->height = height;
		a->depth = depth;
		code = sim_alloc((void **)&a->data, cudart_array_bytes(desc, width, height, depth),
			SIM_ARRAY, false, NULL);
	}
	if (code != SIM_OK) {
		free(a);
		return code;
	}
	*out = a;
	return SIM_OK;
}

int sim_array_destroy(struct sim_array *a)
{
	if (!a) {
		return SIM_OK;
	}
	if (a->magic != SIM_ARRAY_MAGIC) {
		return SIM_INVALID_HANDLE;
	}
	int code = sim_release(a->data, SIM_ARRAY, false, NULL);

	if (code == SIM_OK) {
		a->magic = 0;
		free(a);
	}
	return code;
}

/* A handle is the name of a shared file and the size; exporting moves the memory into that file. */
struct handle {
	char name[40];
	uint64_t bytes, mapped_bytes;
};

int sim_ipc_export(void *address, char out[64])
{
	struct range r;
	struct handle h = {{0}, 0, 0};

	_Static_assert(sizeof(h) <= 64, "an IPC handle has 64 bytes");
	if (!table_find(address, &r) || r.space != SIM_DEVICE || r.base != (uintptr_t)address) {
		return SIM_INVALID_VALUE;
	}
	snprintf(h.name, sizeof(h.name), "/cudasim-%d-%zx", (int)getpid(), (size_t)r.base);
	h.bytes = r.bytes;
	h.mapped_bytes = r.mapped_bytes;
	int fd = shm_open(h.name, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0 && errno == EEXIST) {
		memcpy(out, &h, sizeof(h)); /* exported before */
		return SIM_OK;
	}
	if (fd < 0 || ftruncate(fd, (off_t)r.mapped_bytes) != 0 ||
		pwrite(fd, address, r.bytes, 0) != (ssize_t)r.bytes ||
		mmap(address, r.mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			0) == MAP_FAILED) {
		if (fd >= 0) {
			close(fd);
			shm_unlink(h.name);
		}
		return SIM_NOT_SUPPORTED;
	}
	close(fd);
	memset(out, 0, 64);
	memcpy(out, &h, sizeof(h));
	return SIM_OK;
}

int sim_ipc_import(void **out, const char in[64])
{
	struct handle h;
	struct sim_stream *s = sim_resolve(NULL);

	memcpy(&h, in, sizeof(h));
	h.name[sizeof(h.name) - 1] = '\0';
	int fd = s ? shm_open(h.name, O_RDWR, 0600) : -1;

	if (fd < 0) {
		return s ? SIM_INVALID_VALUE : SIM_NOT_INITIALIZED;
	}
	void *p = mmap(NULL, h.mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct range r = {.base = (uintptr_t)p, .bytes = h.bytes, .mapped_bytes = h.mapped_bytes};

	close(fd);
	if (p == MAP_FAILED) {
		return SIM_OUT_OF_MEMORY;
	}
	shm_unlink(h.name); /* both sides have it mapped; nothing is left behind */
	r.space = SIM_DEVICE;
	r.device = s->context->device->index;
	r.is_imported = true;
	*out = p;
	return table_add(&r);
}

int sim_ipc_close(void *address)
{
	return sim_release(address, SIM_DEVICE, false, NULL);
}
