/* SPDX-License-Identifier: Apache-2.0 */
/* Events: recording, waiting, elapsed time. */
#include "test/sim/model.h"

#include <stdlib.h>

#include "test/sim/cupti_abi.h"

static _Atomic uint32_t next_id = 1;

static struct sim_event *event_of(void *handle)
{
	struct sim_event *e = handle;

	return e && e->magic == SIM_EVENT_MAGIC ? e : NULL;
}

int sim_event_create(void **out, unsigned int flags)
{
	if (!sim_context()) {
		return SIM_NOT_INITIALIZED;
	}
	struct sim_event *e = out ? calloc(1, sizeof(*e)) : NULL;

	if (!e) {
		return out ? SIM_OUT_OF_MEMORY : SIM_INVALID_VALUE;
	}
	e->magic = SIM_EVENT_MAGIC;
	e->id = atomic_fetch_add(&next_id, 1);
	e->flags = flags;
	*out = e;
	return SIM_OK;
}

int sim_event_destroy(void *handle)
{
	struct sim_event *e = event_of(handle);

	if (!e) {
		return SIM_INVALID_HANDLE;
	}
	pthread_mutex_lock(&sim_lock);
	while (e->nr_pending) {
		pthread_cond_wait(&sim_changed, &sim_lock);
	}
	pthread_mutex_unlock(&sim_lock);
	e->magic = 0;
	free(e);
	return SIM_OK;
}

int sim_event_record(void *handle, void *stream)
{
	struct sim_event *e = event_of(handle);
	struct sim_stream *s = sim_resolve(stream);
	struct sim_op op = {.kind = SIM_OP_RECORD, .event = e, .stream = s};

	if (!e || !s) {
		return SIM_INVALID_HANDLE;
	}
	if (s->capture) {
		pthread_mutex_lock(&sim_lock);
		int r = sim_capture_record_locked(s, e);

		pthread_mutex_unlock(&sim_lock);
		return r;
	}
	pthread_mutex_lock(&sim_lock);
	e->stream = s;
	e->capture = NULL;
	pthread_mutex_unlock(&sim_lock);
	op.event_id = e->id;
	return sim_submit(&op);
}

int sim_event_query(void *handle)
{
	struct sim_event *e = event_of(handle);

	if (!e) {
		return SIM_INVALID_HANDLE;
	}
	pthread_mutex_lock(&sim_lock);
	bool is_busy = e->nr_pending > 0 || e->time_ns > sim_now();

	pthread_mutex_unlock(&sim_lock);
	return is_busy ? SIM_NOT_READY : SIM_OK;
}

int sim_event_sync(void *handle)
{
	uint64_t start = sim_now();
	struct sim_event *e = event_of(handle);

	if (!e) {
		return SIM_INVALID_HANDLE;
	}
	pthread_mutex_lock(&sim_lock);
	while (e->nr_pending) {
		pthread_cond_wait(&sim_changed, &sim_lock);
	}
	uint64_t time_ns = e->time_ns;
	struct sim_stream *s = e->stream;

	pthread_mutex_unlock(&sim_lock);
	sim_wait_until(time_ns);
	if (s) {
		struct sim_op op = {.kind = SIM_OP_SYNC, .stream = s, .start_ns = start};

		op.end_ns = sim_now();
		op.sync_type = CUPTI_SYNC_EVENT_SYNCHRONIZE;
		op.event_id = e->id;
		sim_op_identify(&op);
		sim_report(&op);
	}
	return SIM_OK;
}

int sim_event_elapsed(float *ms, void *start, void *end)
{
	struct sim_event *a = event_of(start), *b = event_of(end);

	if (!a || !b) {
		return SIM_INVALID_HANDLE;
	}
	if (!ms || (a->flags & 2) || (b->flags & 2)) {
		return ms ? SIM_INVALID_HANDLE : SIM_INVALID_VALUE;
	}
	if (sim_event_query(a) != SIM_OK || sim_event_query(b) != SIM_OK) {
		return SIM_NOT_READY;
	}
	if (!a->time_ns || !b->time_ns) {
		return SIM_INVALID_HANDLE;
	}
	*ms = (float)((double)((int64_t)(b->time_ns - a->time_ns)) / 1e6);
	return SIM_OK;
}

int sim_stream_wait(void *handle, void *event)
{
	struct sim_stream *s = sim_resolve(handle);
	struct sim_event *e = event_of(event);
	struct sim_op op = {.kind = SIM_OP_WAIT, .stream = s, .event = e};

	if (!s || !e) {
		return SIM_INVALID_HANDLE;
	}
	pthread_mutex_lock(&sim_lock);
	/* An event keeps the capture that it was recorded in; that counts only while it lasts. */
	if (e->capture && e->stream->capture != e->capture) {
		e->capture = NULL;
	}
	if (s->capture || e->capture) {
		int r = sim_capture_wait_locked(s, e);

		pthread_mutex_unlock(&sim_lock);
		return r;
	}
	pthread_mutex_unlock(&sim_lock);
	op.event_id = e->id;
	int r = sim_submit(&op);

	if (r == SIM_OK) {
		struct sim_op sync = op;

		sync.kind = SIM_OP_SYNC;
		sync.sync_type = CUPTI_SYNC_STREAM_WAIT_EVENT;
		sync.start_ns = op.queued_ns;
		sync.end_ns = sim_now();
		sim_report(&sync);
	}
	return r;
}
