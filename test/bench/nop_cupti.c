/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUPTI that lets itself be subscribed to and does nothing: the bench fills the buffers itself.
 * Records have the sizes of our own declarations.
 */
#include <string.h>
#include <time.h>

#include "collector/cupti/pm_abi.h"
#include "test/sim/cupti_abi.h"

#define EXPORT __attribute__((visibility("default")))

struct nop_callbacks {
	cupti_buffer_requested_fn requested;
	cupti_buffer_completed_fn completed;
};

EXPORT struct nop_callbacks nop_callbacks;

#define CUPTI(need, name, params) EXPORT uint32_t name params;
#include "collector/cupti/cupti.def"
#undef CUPTI

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

uint32_t cuptiSubscribe(cupti_subscriber *subscriber, cupti_callback_fn callback, void *userdata)
{
	(void)callback;
	(void)userdata;
	*subscriber = &nop_callbacks;
	return CUPTI_OK;
}

uint32_t cuptiSubscribe_v2(cupti_subscriber *subscriber, cupti_callback_fn callback, void *userdata,
	struct cupti_subscriber_params *params)
{
	(void)params;
	return cuptiSubscribe(subscriber, callback, userdata);
}

uint32_t cuptiEnableCallback(
	uint32_t enable, cupti_subscriber subscriber, uint32_t domain, uint32_t cbid)
{
	(void)enable;
	(void)subscriber;
	(void)domain;
	(void)cbid;
	return CUPTI_OK;
}

uint32_t cuptiActivityRegisterCallbacks(
	cupti_buffer_requested_fn requested, cupti_buffer_completed_fn completed)
{
	nop_callbacks = (struct nop_callbacks){requested, completed};
	return CUPTI_OK;
}

/* Switches that have nothing to switch. */
#define ACCEPT(name, type)        \
	uint32_t name(type value) \
	{                         \
		(void)value;      \
		return CUPTI_OK;  \
	}

ACCEPT(cuptiActivityEnable, uint32_t)
ACCEPT(cuptiActivityEnableAndDump, uint32_t)
ACCEPT(cuptiActivityDisable, uint32_t)
ACCEPT(cuptiActivityFlushAll, uint32_t)
ACCEPT(cuptiActivityEnableAllSyncRecords, uint8_t)
ACCEPT(cuptiSetThreadIdType, uint32_t)

static size_t record_bytes(uint32_t kind)
{
	switch (kind) {
	case CUPTI_KIND_CONCURRENT_KERNEL:
		return sizeof(struct cupti_kernel);
	case CUPTI_KIND_MEMCPY:
		return sizeof(struct cupti_memcpy);
	default:
		return 0;
	}
}

uint32_t cuptiActivityGetNextRecord(
	uint8_t *buffer, size_t valid_bytes, struct cupti_record **record)
{
	uint8_t *next = buffer;

	if (*record) {
		next = (uint8_t *)*record + record_bytes((*record)->kind);
	}
	if (next >= buffer + valid_bytes) {
		return CUPTI_MAX_LIMIT_REACHED;
	}
	*record = (struct cupti_record *)next;
	return record_bytes((*record)->kind) ? CUPTI_OK : CUPTI_INVALID_KIND;
}

uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream_id, size_t *dropped)
{
	(void)context;
	(void)stream_id;
	*dropped = 0;
	return CUPTI_OK;
}
