/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUPTI; see cold.h. It writes the record of each launch into buffers of its subscriber, and
 * clears a new one unless it is told not to, as the real one does. A record has RECORD_BYTES bytes
 * in the environment if that is more than 216: buffers are full sooner then. One thread launches.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/cupti/pm_abi.h"
#include "test/bench/cold/cold.h"

#define EXPORT __attribute__((visibility("default")))

static struct {
	cupti_buffer_requested_fn requested;
	cupti_buffer_completed_fn completed;
	uint8_t *buffer;
	size_t buffer_bytes, used;
	size_t record_bytes;
	bool is_zeroed; /* by the subscriber */
	bool is_recording;
} state;

#define CUPTI(need, name, params) EXPORT uint32_t name params;
#include "collector/cupti/cupti.def"
#undef CUPTI

static __attribute__((constructor)) void start(void)
{
	const char *bytes = getenv("RECORD_BYTES");

	state.record_bytes = bytes ? strtoul(bytes, NULL, 10) : sizeof(struct cupti_kernel);
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Clears what it gets, with the first touch of its pages; so a change is paid here as a whole. */
static void change_buffer(void)
{
	uint64_t begin = cold_cupti.has_times ? thread_cpu_ns() : 0;
	size_t most_records;

	cold_mark(COLD_CHANGE);
	if (state.buffer) {
		state.completed(NULL, 0, state.buffer, state.buffer_bytes, state.used);
	}
	state.requested(&state.buffer, &state.buffer_bytes, &most_records);
	state.used = 0;
	if (state.buffer && !state.is_zeroed) {
		memset(state.buffer, 0, state.buffer_bytes);
	}
	cold_mark(COLD_TARGET);
	if (cold_cupti.has_times && cold_cupti.nr_changes < 1024) {
		cold_cupti.changes_ns[cold_cupti.nr_changes++] = thread_cpu_ns() - begin;
	}
}

static void record(uint32_t correlation)
{
	struct cupti_kernel *kernel;
	uint64_t now_ns;

	if (!state.is_recording || !state.requested) {
		return;
	}
	if (!state.buffer || state.used + state.record_bytes > state.buffer_bytes) {
		change_buffer();
	}
	if (!state.buffer) {
		return;
	}
	kernel = (void *)(state.buffer + state.used);
	state.used += state.record_bytes;
	cuptiGetTimestamp(&now_ns);
	kernel->kind = CUPTI_KIND_CONCURRENT_KERNEL;
	kernel->start_ns = now_ns;
	kernel->end_ns = now_ns + 1000;
	kernel->context_id = 1;
	kernel->stream_id = 7;
	kernel->correlation_id = correlation;
	kernel->name = "kernel";
	for (unsigned int i = 0; i < 3; i++) {
		kernel->grid[i] = kernel->block[i] = 1;
	}
}

uint32_t cuptiSubscribe(cupti_subscriber *subscriber, cupti_callback_fn callback, void *userdata)
{
	cold_cupti.is_on[0] = cold_cupti.is_on[1] = 0;
	cold_cupti.callback = callback;
	cold_cupti.userdata = userdata;
	cold_cupti.record = record;
	*subscriber = &state;
	return CUPTI_OK;
}

uint32_t cuptiSubscribe_v2(cupti_subscriber *subscriber, cupti_callback_fn callback, void *userdata,
	struct cupti_subscriber_params *params)
{
	(void)params;
	return cuptiSubscribe(subscriber, callback, userdata);
}

uint32_t cuptiUnsubscribe(cupti_subscriber subscriber)
{
	(void)subscriber;
	cold_cupti.is_on[0] = cold_cupti.is_on[1] = 0;
	return CUPTI_OK;
}

uint32_t cuptiEnableCallback(
	uint32_t enable, cupti_subscriber subscriber, uint32_t domain, uint32_t cbid)
{
	(void)subscriber;
	if ((domain == CUPTI_DOMAIN_RUNTIME && cbid == COLD_RUNTIME_LAUNCH) ||
		(domain == CUPTI_DOMAIN_DRIVER && cbid == COLD_DRIVER_LAUNCH)) {
		cold_cupti.is_on[domain - CUPTI_DOMAIN_DRIVER] = enable;
	}
	return CUPTI_OK;
}

uint32_t cuptiActivityRegisterCallbacks(
	cupti_buffer_requested_fn requested, cupti_buffer_completed_fn completed)
{
	state.requested = requested;
	state.completed = completed;
	return CUPTI_OK;
}

uint32_t cuptiActivityEnable(uint32_t kind)
{
	state.is_recording |= kind == CUPTI_KIND_CONCURRENT_KERNEL;
	return CUPTI_OK;
}

uint32_t cuptiActivityEnableAndDump(uint32_t kind)
{
	return cuptiActivityEnable(kind);
}

uint32_t cuptiActivityDisable(uint32_t kind)
{
	state.is_recording &= kind != CUPTI_KIND_CONCURRENT_KERNEL;
	return CUPTI_OK;
}

uint32_t cuptiActivitySetAttribute(int attribute, size_t *nr_bytes, void *value)
{
	(void)nr_bytes;
	if (attribute == CUPTI_ATTR_ZEROED_OUT_BUFFER) {
		state.is_zeroed = *(uint8_t *)value;
	}
	return CUPTI_OK;
}

uint32_t cuptiActivityGetAttribute(int attribute, size_t *nr_bytes, void *value)
{
	if (attribute == CUPTI_ATTR_ZEROED_OUT_BUFFER) {
		*(uint8_t *)value = state.is_zeroed;
		*nr_bytes = 1;
	} else {
		memset(value, 0, *nr_bytes);
	}
	return CUPTI_OK;
}

uint32_t cuptiGetVersion(uint32_t *version)
{
	*version = 130001;
	return CUPTI_OK;
}

uint32_t cuptiGetTimestamp(uint64_t *time_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	return CUPTI_OK;
}

uint32_t cuptiGetResultString(uint32_t result, const char **text)
{
	*text = result ? "error" : "ok";
	return CUPTI_OK;
}

/* Switches that have nothing to switch. */
#define ACCEPT(name, type)        \
	uint32_t name(type value) \
	{                         \
		(void)value;      \
		return CUPTI_OK;  \
	}

ACCEPT(cuptiActivityFlushAll, uint32_t)
ACCEPT(cuptiActivityEnableAllSyncRecords, uint8_t)
ACCEPT(cuptiSetThreadIdType, uint32_t)

uint32_t cuptiActivityGetStructSize(uint32_t kind, uint32_t version, size_t *bytes)
{
	(void)kind;
	(void)version;
	(void)bytes;
	return CUPTI_INVALID_PARAMETER;
}

uint32_t cuptiActivityGetNextRecord(
	uint8_t *buffer, size_t valid_bytes, struct cupti_record **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + state.record_bytes : buffer;

	if (next >= buffer + valid_bytes) {
		return CUPTI_MAX_LIMIT_REACHED;
	}
	*record = (struct cupti_record *)next;
	return (*record)->kind == CUPTI_KIND_CONCURRENT_KERNEL ? CUPTI_OK : CUPTI_INVALID_KIND;
}

uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream_id, size_t *dropped)
{
	(void)context;
	(void)stream_id;
	*dropped = 0;
	return CUPTI_OK;
}
