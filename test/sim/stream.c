/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: their order, the default streams, and waiting for them. */
#include "test/sim/model.h"

#include <stdlib.h>

#include "test/sim/cupti_abi.h"

pthread_mutex_t sim_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sim_changed = PTHREAD_COND_INITIALIZER;

static struct sim_stream *streams; /* all of them, under sim_lock */
static _Atomic uint32_t next_id = SIM_FIRST_STREAM_ID;

static struct sim_stream *stream_new(
	struct sim_context *context, unsigned int flags, int priority, uint32_t id)
{
	struct sim_stream *s = calloc(1, sizeof(*s));

	if (!s) {
		return NULL;
	}
	s->magic = SIM_STREAM_MAGIC;
	s->id = id ? id : atomic_fetch_add(&next_id, 1);
	s->context = context;
	s->flags = flags;
	s->priority = priority;
	s->is_legacy = id == SIM_LEGACY_STREAM_ID;
	pthread_mutex_lock(&sim_lock);
	s->next = streams;
	streams = s;
	pthread_mutex_unlock(&sim_lock);
	return s;
}

struct sim_context *sim_context_create(struct sim_device *device, unsigned int flags)
{
	static _Atomic uint32_t next_uid = 1;
	struct sim_context *c = calloc(1, sizeof(*c));

	if (!c) {
		return NULL;
	}
	c->device = device;
	c->flags = flags;
	c->uid = atomic_fetch_add(&next_uid, 1);
	c->legacy = stream_new(c, 0, 0, SIM_LEGACY_STREAM_ID);
	return c;
}

static struct sim_stream *per_thread_stream(struct sim_context *context)
{
	struct sim_thread *t = sim_thread();
	struct sim_stream **slot = &t->per_thread[context->device->index];

	if (!*slot) {
		*slot = stream_new(context, 0, 0, SIM_PER_THREAD_STREAM_ID);
		if (*slot) {
			(*slot)->is_per_thread = true;
		}
	}
	return *slot;
}

struct sim_stream *sim_resolve(void *handle)
{
	struct sim_context *context = sim_context();

	if (!context) {
		return NULL;
	}
	if (!handle && sim_thread()->is_ptsz) {
		handle = CUDA_STREAM_PER_THREAD;
	}
	if (!handle || handle == CUDA_STREAM_LEGACY) {
		return context->legacy;
	}
	if (handle == CUDA_STREAM_PER_THREAD) {
		return per_thread_stream(context);
	}
	struct sim_stream *s = handle;

	return s->magic == SIM_STREAM_MAGIC ? s : NULL;
}

static void announce(uint32_t cbid, struct sim_stream *s)
{
	struct sim_trace *trace = atomic_load(&sim_core.trace);

	if (trace) {
		trace->resource(cbid, s->context, s);
	}
}

int sim_stream_create(void **out, unsigned int flags, int priority)
{
	struct sim_context *context = sim_context();

	if (!context) {
		return SIM_NOT_INITIALIZED;
	}
	if (!out || flags > 1) {
		return SIM_INVALID_VALUE;
	}
	struct sim_stream *s = stream_new(context, flags, priority, 0);

	if (!s) {
		return SIM_OUT_OF_MEMORY;
	}
	*out = s;
	announce(CUPTI_RESOURCE_STREAM_CREATED, s);
	return SIM_OK;
}

int sim_stream_destroy(void *handle)
{
	struct sim_stream *s = sim_resolve(handle);

	if (!s || s->is_legacy || s->is_per_thread) {
		return SIM_INVALID_HANDLE;
	}
	announce(CUPTI_RESOURCE_STREAM_DESTROY_STARTING, s);
	pthread_mutex_lock(&sim_lock);
	while (s->nr_pending) {
		pthread_cond_wait(&sim_changed, &sim_lock);
	}
	for (struct sim_stream **p = &streams; *p; p = &(*p)->next) {
		if (*p == s) {
			*p = s->next;
			break;
		}
	}
	pthread_mutex_unlock(&sim_lock);
	s->magic = 0;
	free(s);
	return SIM_OK;
}

void sim_streams_each_locked(
	struct sim_device *device, void (*fn)(struct sim_stream *stream, void *data), void *data)
{
	for (struct sim_stream *s = streams; s; s = s->next) {
		if (s->context->device == device) {
			fn(s, data);
		}
	}
}

/* The legacy stream orders itself against every blocking stream, both ways. */
uint64_t sim_stream_ready_locked(struct sim_stream *s, uint64_t now_ns)
{
	struct sim_device *d = s->context->device;
	uint64_t ready = sim_max(now_ns, sim_max(s->tail_ns, s->wait_ns));

	if (s->is_legacy) {
		ready = sim_max(ready, d->blocking_tail_ns);
	} else if (!(s->flags & 1)) {
		ready = sim_max(ready, d->legacy_tail_ns);
	}
	return ready;
}

void sim_stream_advance_locked(struct sim_stream *s, uint64_t end_ns)
{
	struct sim_device *d = s->context->device;

	s->tail_ns = sim_max(s->tail_ns, end_ns);
	if (s->is_legacy) {
		d->legacy_tail_ns = sim_max(d->legacy_tail_ns, end_ns);
	} else if (!(s->flags & 1)) {
		d->blocking_tail_ns = sim_max(d->blocking_tail_ns, end_ns);
	}
}

uint64_t sim_stream_drain_locked(struct sim_stream *s)
{
	while (s->nr_pending) {
		pthread_cond_wait(&sim_changed, &sim_lock);
	}
	uint64_t tail = sim_max(s->tail_ns, s->wait_ns);

	return s->is_legacy ? sim_max(tail, s->context->device->blocking_tail_ns) : tail;
}

static void add_pending(struct sim_stream *s, void *data)
{
	*(uint32_t *)data += s->nr_pending;
}

static void latest_tail(struct sim_stream *s, void *data)
{
	*(uint64_t *)data = sim_max(*(uint64_t *)data, sim_max(s->tail_ns, s->wait_ns));
}

uint64_t sim_device_drain_locked(struct sim_device *device)
{
	uint64_t tail = 0;

	for (;;) {
		uint32_t pending = 0;

		sim_streams_each_locked(device, add_pending, &pending);
		if (!pending) {
			break;
		}
		pthread_cond_wait(&sim_changed, &sim_lock);
	}
	sim_streams_each_locked(device, latest_tail, &tail);
	return tail;
}

/* A host's wait or question: on the stream, or on the whole context where stream is NULL. */
static void report_sync(
	struct sim_context *context, struct sim_stream *stream, uint64_t start, int result)
{
	struct sim_op op = {
		.kind = SIM_OP_SYNC, .start_ns = start, .end_ns = sim_now(), .result = result};

	op.sync_type = stream ? CUPTI_SYNC_STREAM_SYNCHRONIZE : CUPTI_SYNC_CONTEXT_SYNCHRONIZE;
	op.stream = stream ? stream : context->legacy;
	sim_op_identify(&op);
	op.stream_id = stream ? stream->id : UINT32_MAX;
	sim_report(&op);
}

int sim_stream_sync(void *handle)
{
	uint64_t start = sim_now();
	struct sim_stream *s = sim_resolve(handle);

	if (!s) {
		return SIM_INVALID_HANDLE;
	}
	if (s->capture) {
		return SIM_CAPTURE_UNSUPPORTED;
	}
	pthread_mutex_lock(&sim_lock);
	if (s->is_legacy) {
		sim_device_drain_locked(s->context->device);
	}
	uint64_t tail = sim_stream_drain_locked(s);

	pthread_mutex_unlock(&sim_lock);
	sim_wait_until(tail);
	report_sync(s->context, s, start, SIM_OK);
	return SIM_OK;
}

int sim_device_sync(void)
{
	uint64_t start = sim_now();
	struct sim_context *context = sim_context();

	if (!context) {
		return SIM_NOT_INITIALIZED;
	}
	pthread_mutex_lock(&sim_lock);
	uint64_t tail = sim_device_drain_locked(context->device);

	pthread_mutex_unlock(&sim_lock);
	sim_wait_until(tail);
	report_sync(context, NULL, start, SIM_OK);
	return SIM_OK;
}

int sim_stream_query(void *handle)
{
	uint64_t start = sim_now();
	struct sim_stream *s = sim_resolve(handle);

	if (!s) {
		return SIM_INVALID_HANDLE;
	}
	if (s->capture) {
		return SIM_CAPTURE_UNSUPPORTED;
	}
	pthread_mutex_lock(&sim_lock);
	uint64_t tail = sim_max(s->tail_ns, s->wait_ns);
	bool is_busy = s->nr_pending > 0 || tail > sim_now();

	pthread_mutex_unlock(&sim_lock);
	if (is_busy) {
		report_sync(s->context, s, start, SIM_NOT_READY);
	}
	return is_busy ? SIM_NOT_READY : SIM_OK;
}
